import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PartStore } from './part-store.ts';

const folderOf = () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-parts-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** A disk of one megabyte; null where none may be mounted. */
function smallDisk(): string | null {
  const folder = folderOf();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  if (status !== 0) return null;
  onTestFinished(() => void execFileSync('umount', [folder]));
  return folder;
}

describe('the parts of a file', () => {
  it('are written where they belong, also twice', async () => {
    const parts = new PartStore({ directory: folderOf() });
    await parts.begin('f', 6);
    expect(await parts.received('f')).toBe(0);
    expect(await parts.write(Readable.from([Buffer.from('abcd')]), 'f', 0)).toBe(4);
    expect(await parts.write(Readable.from([Buffer.from('cdef')]), 'f', 2)).toBe(6);
    expect(fs.readFileSync(parts.pathOf('f'), 'utf8')).toBe('abcdef');
    await parts.discard('f');
    await parts.discard('f');
    expect([await parts.received('f'), fs.readdirSync(parts.directory)]).toEqual([null, []]);
  });

  it('stop where the disk is full, with a sentence, and go on when there is room', async ({ skip }) => {
    const disk = smallDisk();
    if (disk === null) return skip('no file system may be mounted here');
    const parts = new PartStore({ directory: disk });
    const size = 900 * 1024;
    await parts.begin('f', size);
    fs.writeFileSync(path.join(disk, 'other'), Buffer.alloc(512 * 1024));
    const from = (offset: number) => Readable.from(chunksOf(Buffer.alloc(size, 'x').subarray(offset)));
    await expect(parts.write(from(0), 'f', 0)).rejects.toMatchObject({ code: 'storage_full', status: 507 });
    fs.rmSync(path.join(disk, 'other'));
    const come = (await parts.received('f')) ?? 0;
    expect(come).toBeGreaterThan(0);
    expect(await parts.write(from(come), 'f', come)).toBe(size);
    expect(fs.readFileSync(parts.pathOf('f')).equals(Buffer.alloc(size, 'x'))).toBe(true);
  });
});

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += 16_384) yield bytes.subarray(from, from + 16_384);
}
