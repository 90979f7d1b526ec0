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
import { type BlockShelf, createBlockShelf } from './block-shelf.ts';

const fingerprint = 'abcdefghijklmnopqrstuv';
const block = randomBytes(10_000);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'block-shelf-'));
});
const shelves: BlockShelf[] = [];
afterEach(async () => {
  await Promise.all(shelves.splice(0).map((shelf) => shelf.close()));
  await rm(folder, { recursive: true });
});

const warnings: unknown[] = [];
function shelfOf(maxBytes = 2 ** 20): BlockShelf {
  const shelf = createBlockShelf({ folder, maxBytes, warn: (error) => warnings.push(error) });
  shelves.push(shelf);
  return shelf;
}
const fileOf = (index: number) => join(folder, 'ab', fingerprint, String(index));
/** The whole block; null when it is not there. */
async function readFrom(shelf: BlockShelf, index: number, of = fingerprint): Promise<Buffer | null> {
  const target = Buffer.alloc(block.length);
  const place = { name: `${of}/${index}`, byteCount: block.length };
  return (await shelf.readInto(target, 0, place, 0, block.length)) ? target : null;
}
const indicesThere = async () =>
  (await readdir(join(folder, 'ab', fingerprint))).map(Number).sort((one, other) => one - other);

describe('blocks on the disk', () => {
  it('are found again, also by another process', async () => {
    const shelf = shelfOf();
    shelf.put(`${fingerprint}/3`, block);
    await shelf.settled();
    for (const each of [shelf, shelfOf()]) {
      expect(await readFrom(each, 3)).toEqual(block);
    }
    expect(await readFrom(shelf, 4)).toBeNull();
    expect(await readFrom(shelf, 3, 'another-object-------')).toBeNull();
  });

  it('give any part of themselves, into the midst of what is there', async () => {
    const shelf = shelfOf();
    shelf.put(`${fingerprint}/0`, block);
    await shelf.settled();
    for (const _ of ['with a look at the whole', 'alone']) {
      const target = Buffer.alloc(30, 0xaa);
      const place = { name: `${fingerprint}/0`, byteCount: block.length };
      expect(await shelf.readInto(target, 10, place, 9_000, 15)).toBe(true);
      expect(target.subarray(10, 25)).toEqual(block.subarray(9_000, 9_015));
      expect([...target.subarray(0, 10), ...target.subarray(25)].every((byte) => byte === 0xaa)).toBe(true);
    }
  });

  it('are read on when another process removes them, until they are not open any more', async () => {
    const shelf = shelfOf();
    shelf.put(`${fingerprint}/0`, block);
    await shelf.settled();
    await readFrom(shelf, 0);
    await rm(fileOf(0));
    expect(await readFrom(shelf, 0)).toEqual(block);
    await shelf.close();
    expect(await readFrom(shelf, 0)).toBeNull();
  });

  it('are not taken when they were cut short while they were open', async () => {
    const shelf = shelfOf();
    shelf.put(`${fingerprint}/0`, block);
    await shelf.settled();
    await readFrom(shelf, 0);
    await truncate(fileOf(0), 100);
    expect(await readFrom(shelf, 0)).toBeNull();
    shelf.put(`${fingerprint}/0`, block);
    await shelf.settled();
    expect(await readFrom(shelf, 0)).toEqual(block);
  });

  it.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, 5000)],
    ['emptied', () => Buffer.alloc(0)],
    ['filled with zeros', (bytes: Buffer) => Buffer.alloc(bytes.length)],
    [
      'changed in one bit',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]),
    ],
  ])('are not taken when the file was %s', async (_, damage) => {
    const shelf = shelfOf();
    shelf.put(`${fingerprint}/0`, block);
    await shelf.settled();
    await writeFile(fileOf(0), damage(await readFile(fileOf(0))));
    expect(await readFrom(shelf, 0)).toBeNull();
    await expect(stat(fileOf(0))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('take no more room than they may: what is longest out of use goes', async () => {
    const filled = shelfOf();
    for (let index = 0; index < 10; index++) filled.put(`${fingerprint}/${index}`, block);
    await filled.settled();
    // The first is used again, long after all were written.
    for (let index = 0; index < 10; index++) await utimes(fileOf(index), 1000 + index, 1000 + index);
    await readFrom(filled, 0);
    await expect.poll(async () => (await stat(fileOf(0))).mtimeMs).toBeGreaterThan(1e9);
    const narrow = shelfOf(5 * 10_100);
    await narrow.settled();
    expect(await indicesThere()).toEqual([0, 7, 8, 9]);
    narrow.put(`${fingerprint}/10`, block);
    narrow.put(`${fingerprint}/11`, block);
    await narrow.settled();
    expect(await indicesThere()).toEqual([0, 9, 10, 11]);
  });

  it('are not kept at all where there is no room for any', async () => {
    const none = shelfOf(0);
    none.put(`${fingerprint}/0`, block);
    await none.settled();
    expect(await readdir(folder)).toEqual([]);
  });

  it('are cleared of what was left half written', async () => {
    await mkdir(join(folder, 'ab', fingerprint), { recursive: true });
    for (const [name, at] of [
      ['1.old.part', 1000],
      ['2.new.part', Date.now() / 1000],
    ] as const) {
      await writeFile(join(folder, 'ab', fingerprint, name), block);
      await utimes(join(folder, 'ab', fingerprint, name), at, at);
    }
    await shelfOf().settled();
    expect(await readdir(join(folder, 'ab', fingerprint))).toEqual(['2.new.part']);
  });

  it('are left out, with one warning, while the disk refuses them', async () => {
    await writeFile(join(folder, 'ab'), 'a file where a folder should be');
    await chmod(join(folder, 'ab'), 0o600);
    const shelf = shelfOf();
    warnings.length = 0;
    for (let index = 0; index < 3; index++) {
      shelf.put(`${fingerprint}/${index}`, block);
      await shelf.settled();
    }
    expect(warnings).toHaveLength(1);
    expect(await readFrom(shelf, 0)).toBeNull();
  });
});
