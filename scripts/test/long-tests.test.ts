/** Tests that the lists of long tests and of short browser tests are up to date. */
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { root } from '../launcher/runtime.mjs';
import { longTests, shortBrowserTests } from './long-tests.ts';

it.each([...longTests, ...shortBrowserTests])(
  'the pattern %s, which divides the tests into short and long ones, matches at least one file',
  (pattern) => {
    expect(globSync(pattern, { cwd: root })).not.toEqual([]);
  },
);
