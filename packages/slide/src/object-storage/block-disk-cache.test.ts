import { randomBytes } from 'node:crypto';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlockDiskCache, createBlockDiskCache } from './block-disk-cache.ts';

const fingerprint = 'abcdefghijklmnopqrstuv';
const block = randomBytes(10_000);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'block-disk-cache-'));
});
const diskCaches: BlockDiskCache[] = [];
afterEach(async () => {
  await Promise.all(diskCaches.splice(0).map((diskCache) => diskCache.close()));
  await rm(folder, { recursive: true });
});

const warnings: unknown[] = [];
function createDiskCache(maxBytes = 2 ** 20): BlockDiskCache {
  const diskCache = createBlockDiskCache({ folder, maxBytes, warn: (error) => warnings.push(error) });
  diskCaches.push(diskCache);
  return diskCache;
}
const fileOf = (index: number) => join(folder, 'ab', fingerprint, String(index));
/** Returns the whole block with this index; null when it is not cached. */
async function readFrom(
  diskCache: BlockDiskCache,
  index: number,
  objectFingerprint = fingerprint,
): Promise<Buffer | null> {
  const target = Buffer.alloc(block.length);
  const blockAt = { name: `${objectFingerprint}/${index}`, byteCount: block.length };
  return (await diskCache.readInto(target, 0, blockAt, 0, block.length)) ? target : null;
}
const cachedIndices = async () =>
  (await readdir(join(folder, 'ab', fingerprint))).map(Number).sort((a, b) => a - b);

describe('the disk cache for blocks of objects in object storage', () => {
  it('returns a stored block, also through a second cache over the same folder, and null for other blocks', async () => {
    const diskCache = createDiskCache();
    diskCache.put(`${fingerprint}/3`, block);
    await diskCache.settled();
    for (const cache of [diskCache, createDiskCache()]) {
      expect(await readFrom(cache, 3)).toEqual(block);
    }
    expect(await readFrom(diskCache, 4)).toBeNull();
    expect(await readFrom(diskCache, 3, 'another-object-------')).toBeNull();
  });

  it('copies the requested part of a block and leaves the other bytes of the target buffer unchanged', async () => {
    const diskCache = createDiskCache();
    diskCache.put(`${fingerprint}/0`, block);
    await diskCache.settled();
    for (const _ of ['checksum verified', 'already verified']) {
      const target = Buffer.alloc(30, 0xaa);
      const blockAt = { name: `${fingerprint}/0`, byteCount: block.length };
      expect(await diskCache.readInto(target, 10, blockAt, 9_000, 15)).toBe(true);
      expect(target.subarray(10, 25)).toEqual(block.subarray(9_000, 9_015));
      expect([...target.subarray(0, 10), ...target.subarray(25)].every((byte) => byte === 0xaa)).toBe(true);
    }
  });

  it('returns a block from its open file after the file was deleted, until the cache is closed', async () => {
    const diskCache = createDiskCache();
    diskCache.put(`${fingerprint}/0`, block);
    await diskCache.settled();
    await readFrom(diskCache, 0);
    await rm(fileOf(0));
    expect(await readFrom(diskCache, 0)).toEqual(block);
    await diskCache.close();
    expect(await readFrom(diskCache, 0)).toBeNull();
  });

  it('returns null for a block whose file was truncated while it was open, and stores the block again at the next put', async () => {
    const diskCache = createDiskCache();
    diskCache.put(`${fingerprint}/0`, block);
    await diskCache.settled();
    await readFrom(diskCache, 0);
    await truncate(fileOf(0), 100);
    expect(await readFrom(diskCache, 0)).toBeNull();
    diskCache.put(`${fingerprint}/0`, block);
    await diskCache.settled();
    expect(await readFrom(diskCache, 0)).toEqual(block);
  });

  it.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, 5000)],
    ['emptied', () => Buffer.alloc(0)],
    ['filled with zeros', (bytes: Buffer) => Buffer.alloc(bytes.length)],
    [
      'changed in one bit',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]),
    ],
  ])('returns null for a block whose file was %s, and deletes the file', async (_, damage) => {
    const diskCache = createDiskCache();
    diskCache.put(`${fingerprint}/0`, block);
    await diskCache.settled();
    await writeFile(fileOf(0), damage(await readFile(fileOf(0))));
    expect(await readFrom(diskCache, 0)).toBeNull();
    await expect(stat(fileOf(0))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('evicts the least recently used blocks when the size limit is exceeded', async () => {
    const filled = createDiskCache();
    for (let index = 0; index < 10; index++) filled.put(`${fingerprint}/${index}`, block);
    await filled.settled();
    // Block 0 is used again after all blocks were written.
    for (let index = 0; index < 10; index++) await utimes(fileOf(index), 1000 + index, 1000 + index);
    await readFrom(filled, 0);
    await expect.poll(async () => (await stat(fileOf(0))).mtimeMs).toBeGreaterThan(1e9);
    // Five files of a block and its checksum fit; eviction leaves at most 90 % of the limit in use, which is four files.
    const limited = createDiskCache(5 * 10_100);
    await limited.settled();
    expect(await cachedIndices()).toEqual([0, 7, 8, 9]);
    limited.put(`${fingerprint}/10`, block);
    limited.put(`${fingerprint}/11`, block);
    await limited.settled();
    expect(await cachedIndices()).toEqual([0, 9, 10, 11]);
  });

  it('stores no blocks when its size limit is 0 bytes', async () => {
    const disabled = createDiskCache(0);
    disabled.put(`${fingerprint}/0`, block);
    await disabled.settled();
    expect(await readdir(folder)).toEqual([]);
  });

  it('deletes partial files (.part) that are older than an hour when it starts, and keeps newer ones', async () => {
    await mkdir(join(folder, 'ab', fingerprint), { recursive: true });
    for (const [name, modifiedSeconds] of [
      ['1.old.part', 1000],
      ['2.new.part', Date.now() / 1000],
    ] as const) {
      await writeFile(join(folder, 'ab', fingerprint, name), block);
      await utimes(join(folder, 'ab', fingerprint, name), modifiedSeconds, modifiedSeconds);
    }
    await createDiskCache().settled();
    expect(await readdir(join(folder, 'ab', fingerprint))).toEqual(['2.new.part']);
  });

  it('logs one warning and stores no blocks while the disk returns errors', async () => {
    await writeFile(join(folder, 'ab'), 'a file where a folder should be');
    await chmod(join(folder, 'ab'), 0o600);
    const diskCache = createDiskCache();
    warnings.length = 0;
    for (let index = 0; index < 3; index++) {
      diskCache.put(`${fingerprint}/${index}`, block);
      await diskCache.settled();
    }
    expect(warnings).toHaveLength(1);
    expect(await readFrom(diskCache, 0)).toBeNull();
  });
});
