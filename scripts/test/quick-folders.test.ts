/** Tests that the list of folders for `npm run test:quick` is up to date. */
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../launcher/runtime.mjs';
import { quickFolders } from './quick-folders.ts';

it.each(quickFolders)(
  'the folder %s, which npm run test:quick tests, exists and contains tests',
  (folder) => {
    expect(existsSync(join(root, folder))).toBe(true);
    expect(globSync('**/*.test.{ts,tsx}', { cwd: join(root, folder) })).not.toEqual([]);
  },
);
