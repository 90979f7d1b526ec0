/**
 * The made tiles of one slide on the disk: a few files that only grow, and beside each a list of what it holds.
 *
 * A file for each tile would be simpler, but making and opening one costs more than the tile: of a first look at a
 * slide, a seventh of all CPU went into it. Nothing is synced: what a power failure takes is made again. A tile is
 * written before its line in the list, and one that is not whole counts as missing.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Allocate, OpenFiles } from '@lamina/slide';
import { isNotThere } from './slide-roots.ts';

export interface NamedTile {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** A complete JPEG. */
  readonly jpeg: Uint8Array;
}

export interface TileShelf {
  /** What it takes on the disk. */
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  usedAt: number;
  has(name: string): Promise<boolean>;
  /** @param allocate where it may be put */
  read(name: string, allocate: Allocate): Promise<Uint8Array | null>;
  /** One at a time. @throws what the file system does; then some of the tiles may be there */
  append(tiles: readonly NamedTile[]): Promise<void>;
  /** Removes the file that was begun first, and its list. */
  dropOldest(): Promise<void>;
}

interface Plan {
  readonly folder: string;
  /** A file that has reached this does not grow any more. */
  readonly mostFileBytes: number;
  readonly files: OpenFiles;
}

/** A file of tiles, and its list. */
interface Pack {
  /** Begins with the time it was begun, so that the order of names is that of age. */
  readonly id: string;
  tileBytes: number;
  listBytes: number;
  isFull: boolean;
}

interface Place {
  readonly pack: Pack;
  readonly at: number;
  readonly length: number;
}

/** A file takes whole blocks of the disk. */
const blockBytes = 4096;
/** Tiles of one write: systems take no more than 1,024 pieces. */
const mostAtOnce = 512;
const packName = /^([\da-z]{9}-[\da-f]{8})\.(tiles|list)$/;

/** As it is found on the disk; what is no part of it is removed. */
export async function openTileShelf(plan: Plan): Promise<TileShelf> {
  const { folder, mostFileBytes, files } = plan;
  const packs = new Map<string, Pack>();
  const names = (await namesIn(folder)).sort();
  for (const name of names) {
    const file = path.join(folder, name);
    const [, id, kind] = packName.exec(name) ?? [];
    if (id === undefined) {
      await fs.rm(file, { force: true, recursive: true });
      continue;
    }
    const { size } = await fs.stat(file);
    const pack = packs.get(id) ?? { id, tileBytes: 0, listBytes: 0, isFull: true };
    pack[kind === 'tiles' ? 'tileBytes' : 'listBytes'] = size;
    packs.set(id, pack);
  }
  const usedAt = names.length === 0 ? 0 : (await fs.stat(folder)).mtimeMs;

  const fileOf = ({ id }: Pack) => path.join(folder, `${id}.tiles`);
  const listOf = ({ id }: Pack) => path.join(folder, `${id}.list`);

  /** Null before anything was asked for. */
  let places: Map<string, Place> | Promise<Map<string, Place>> | null = null;

  async function readLists(): Promise<Map<string, Place>> {
    const found = new Map<string, Place>();
    for (const pack of packs.values()) {
      const list = await fs.readFile(listOf(pack), 'utf8').catch(emptyIfNotThere);
      for (const [, name = '', at, length] of list.matchAll(/^([\w-]+) (\d+) (\d+)\n/gm)) {
        found.set(name, { pack, at: Number(at), length: Number(length) });
      }
    }
    places = found;
    // So that a later run knows when it was in use.
    if (packs.size > 0) await fs.utimes(folder, new Date(), new Date());
    return found;
  }

  function knownPlaces(): Map<string, Place> | Promise<Map<string, Place>> {
    places ??= readLists().catch((error: unknown) => {
      places = null;
      throw error;
    });
    return places;
  }

  function newPack(): Pack {
    const begun = Date.now().toString(36).padStart(9, '0');
    const pack = { id: `${begun}-${randomUUID().slice(0, 8)}`, tileBytes: 0, listBytes: 0, isFull: false };
    packs.set(pack.id, pack);
    return pack;
  }

  async function write(pack: Pack, tiles: readonly NamedTile[], known: Map<string, Place>): Promise<void> {
    const lines: string[] = [];
    const added: [string, Place][] = [];
    const start = pack.tileBytes;
    let at = start;
    for (const { name, jpeg } of tiles) {
      lines.push(`${name} ${at} ${jpeg.byteLength}\n`);
      added.push([name, { pack, at, length: jpeg.byteLength }]);
      at += jpeg.byteLength;
    }
    const list = lines.join('');
    // Counted before: what a failure leaves of it takes its place on the disk, too.
    pack.tileBytes = at;
    pack.listBytes += list.length;
    pack.isFull = true;
    const file = await fs.open(fileOf(pack), 'a', 0o600);
    try {
      const { bytesWritten } = await file.writev(tiles.map(({ jpeg }) => jpeg));
      if (bytesWritten !== at - start) throw new Error('not all of some tiles could be written');
    } finally {
      await file.close();
    }
    await fs.appendFile(listOf(pack), list, { mode: 0o600 });
    pack.isFull = at >= mostFileBytes;
    for (const [name, place] of added) known.set(name, place);
  }

  return {
    usedAt,

    get bytes() {
      let bytes = 0;
      for (const { tileBytes, listBytes } of packs.values()) bytes += onDisk(tileBytes) + onDisk(listBytes);
      return bytes;
    },

    async has(name) {
      return (await knownPlaces()).has(name);
    },

    async read(name, allocate) {
      const known = await knownPlaces();
      const place = known.get(name);
      if (place === undefined) return null;
      const source = await files.take(fileOf(place.pack), place.at + place.length);
      const jpeg = allocate(place.length);
      await source.readInto(jpeg, 0, place.at, place.length);
      if (isWholeJpeg(jpeg)) return jpeg;
      known.delete(name);
      return null;
    },

    async append(tiles) {
      const known = await knownPlaces();
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      for (let from = 0; from < tiles.length; ) {
        const pack = [...packs.values()].find(({ isFull }) => !isFull) ?? newPack();
        let end = from;
        const last = Math.min(tiles.length, from + mostAtOnce);
        for (let size = pack.tileBytes; end < last && size < mostFileBytes; end++) {
          size += tiles[end]?.jpeg.byteLength ?? 0;
        }
        await write(pack, tiles.slice(from, end), known);
        from = end;
      }
    },

    async dropOldest() {
      const [oldest] = packs.values(); // in the order of their names
      if (oldest === undefined) return;
      packs.delete(oldest.id);
      const known = await places;
      for (const [name, { pack }] of known ?? []) if (pack === oldest) known?.delete(name);
      await files.drop(fileOf(oldest));
      await fs.rm(listOf(oldest), { force: true });
      await fs.rm(fileOf(oldest), { force: true });
      if (packs.size === 0) await fs.rm(folder, { force: true, recursive: true });
    },
  };
}

function onDisk(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

/** SOI at the start, EOI at the end: what a power failure cut short lacks the second. */
function isWholeJpeg(bytes: Uint8Array): boolean {
  return (
    bytes.length > 4 &&
    bytes[0] === 0xff &&
    bytes[1] === 0xd8 &&
    bytes.at(-2) === 0xff &&
    bytes.at(-1) === 0xd9
  );
}

export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (isNotThere(error)) return [];
    throw error;
  }
}

function emptyIfNotThere(error: unknown): string {
  if (isNotThere(error)) return '';
  throw error;
}
