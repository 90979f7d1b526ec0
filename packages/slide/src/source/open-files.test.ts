import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOpenFiles, type OpenFiles } from './open-files.ts';

let folder: string;
let files: OpenFiles;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'open-files-'));
  files = createOpenFiles(2);
  for (const name of ['a', 'b', 'c']) await writeFile(join(folder, name), name);
});
afterEach(async () => {
  await files.closeAll();
  await rm(folder, { recursive: true });
});

const openFile = (name: string, atLeastBytes = 1) => files.open(join(folder, name), atLeastBytes);
const textOf = async (name: string, atLeastBytes = 1) => {
  const source = await openFile(name, atLeastBytes);
  return Buffer.from(await source.read(0, source.size)).toString();
};

describe('the cache of open files', () => {
  it('opens a file once for concurrent callers', async () => {
    const [first, second] = await Promise.all([openFile('a'), openFile('a')]);
    expect(second).toBe(first);
    await rm(join(folder, 'a'));
    expect(await textOf('a')).toBe('a');
  });

  it('closes the least recently used file when the limit of open files is exceeded, and reopens it on demand', async () => {
    const [a, b] = [await openFile('a'), await openFile('b')];
    await openFile('a');
    await openFile('c');
    await expect(b.read(0, 1)).rejects.toMatchObject({ code: 'FILE_MISSING' });
    expect(Buffer.from(await a.read(0, 1)).toString()).toBe('a');
    expect(await textOf('b')).toBe('b');
  });

  it('reopens a file that has grown when the caller requests more bytes than the file had when it was opened', async () => {
    expect(await textOf('a')).toBe('a');
    await appendFile(join(folder, 'a'), 'bc');
    expect(await textOf('a')).toBe('a');
    expect(await textOf('a', 3)).toBe('abc');
  });

  it('closes a deleted file when closeFile is called, so that opening it again throws FILE_MISSING', async () => {
    await openFile('a');
    await rm(join(folder, 'a'));
    await files.closeFile(join(folder, 'a'));
    await expect(openFile('a')).rejects.toMatchObject({ code: 'FILE_MISSING' });
    await writeFile(join(folder, 'a'), 'again');
    expect(await textOf('a')).toBe('again');
  });
});
