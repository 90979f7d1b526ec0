/** Tests that the tests which docs/interface-review.md cites exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../launcher/runtime.mjs';

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
/** A citation: the path of a test file (`web`, `server` and `slide` stand for `packages/…/src`), then a part of the test's name. */
const citationPattern = /`((?:web|server|slide|e2e)\/[^`› ]+\.(?:test|spec)\.tsx?)`? › ([^<|`\n]+)/g;

it('docs/interface-review.md cites only tests that exist', () => {
  const citations = [...textOf('docs/interface-review.md').matchAll(citationPattern)].map(
    ([, file = '', name = '']) => ({
      file: file.replace(/^(web|server|slide)\//, 'packages/$1/src/'),
      name: name.trim(),
    }),
  );
  expect(citations.length).toBeGreaterThan(90);
  const missing = citations.filter(({ file, name }) => !textOf(file).replaceAll("\\'", "'").includes(name));
  expect(missing).toEqual([]);
});
