import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../launcher/runtime.mjs';
import { quickFolders } from './quick-folders.ts';

it.each(quickFolders)('quick test folder %s exists and contains tests', (folder) => {
  expect(existsSync(join(root, folder))).toBe(true);
  expect(globSync('**/*.test.{ts,tsx}', { cwd: join(root, folder) })).not.toEqual([]);
});
