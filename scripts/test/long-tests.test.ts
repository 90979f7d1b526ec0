/** Tests that the lists of long tests and of short browser tests are up to date. */
import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { root } from '../launcher/runtime.mjs';
import { longTests, shortBrowserTests } from './long-tests.ts';

it.each([...longTests, ...shortBrowserTests])(
  'the file pattern %s, by which long-tests.ts separates long from short tests, matches at least one file',
  (pattern) => {
    expect(globSync(pattern, { cwd: root })).not.toEqual([]);
  },
);
