import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PartStore } from './part-store.ts';

const temporaryFolder = () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-parts-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Mounts a disk of one megabyte; null where mounting is not permitted. */
function mountSmallDisk(): string | null {
  const folder = temporaryFolder();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  if (status !== 0) return null;
  onTestFinished(() => void execFileSync('umount', [folder]));
  return folder;
}

describe('PartStore (writes the received parts of an uploaded file)', () => {
  it('writes parts of a file at their offsets, even when two parts overlap', async () => {
    const parts = new PartStore({ directory: temporaryFolder() });
    await parts.begin('f', 6);
    expect(await parts.received('f')).toBe(0);
    expect(await parts.write(Readable.from([Buffer.from('abcd')]), 'f', 0)).toBe(4);
    expect(await parts.write(Readable.from([Buffer.from('cdef')]), 'f', 2)).toBe(6);
    expect(fs.readFileSync(parts.pathOf('f'), 'utf8')).toBe('abcdef');
    await parts.discard('f');
    await parts.discard('f'); // has no effect the second time
    expect([await parts.received('f'), fs.readdirSync(parts.directory)]).toEqual([null, []]);
  });

  it('throws storage_full on a full disk, and accepts further parts of the file when space is free again', async ({
    skip,
  }) => {
    const disk = mountSmallDisk();
    if (disk === null) return skip('mounting a file system is not permitted');
    const parts = new PartStore({ directory: disk });
    const size = 900 * 1024;
    await parts.begin('f', size);
    fs.writeFileSync(path.join(disk, 'other'), Buffer.alloc(512 * 1024)); // leaves too little space for the rest of `f`
    const bytesFrom = (offset: number) => Readable.from(chunksOf(Buffer.alloc(size, 'x').subarray(offset)));
    await expect(parts.write(bytesFrom(0), 'f', 0)).rejects.toMatchObject({
      code: 'storage_full',
      status: 507,
    });
    fs.rmSync(path.join(disk, 'other'));
    const received = (await parts.received('f')) ?? 0;
    expect(received).toBeGreaterThan(0);
    expect(await parts.write(bytesFrom(received), 'f', received)).toBe(size);
    expect(fs.readFileSync(parts.pathOf('f')).equals(Buffer.alloc(size, 'x'))).toBe(true);
  });
});

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  const chunkBytes = 16_384;
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    yield bytes.subarray(start, start + chunkBytes);
  }
}
