import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { readDiskTree } from './disk-tree.ts';

it('the tree of readDiskTree returns null for a listed subfolder that was then replaced by a link out of the slide folder', async () => {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'disk-tree-'));
  onTestFinished(() => fs.rm(folder, { recursive: true }));
  const root = path.join(folder, 'slides');
  await fs.mkdir(path.join(root, 'study'), { recursive: true });
  await fs.mkdir(path.join(folder, 'private'));
  const tree = await readDiskTree({ root, groupFiles: async () => null, log: pino({ level: 'silent' }) });
  const [entry] = (await tree?.entriesOf('')) ?? [];
  if (entry === undefined) throw new Error('the folder is not listed');
  expect(await tree?.find('', entry)).toEqual({ kind: 'folder', resolvedPath: 'study' });
  await fs.rmdir(path.join(root, 'study'));
  await fs.symlink('../private', path.join(root, 'study'));
  expect(await tree?.find('', entry)).toBeNull();
});
