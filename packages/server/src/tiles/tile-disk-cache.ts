/**
 * Disk cache of the rendered tiles of one slide: a few append-only pack files, each with an index file.
 *
 * One file per tile would be simpler, but creating and opening so many files took a seventh of all CPU
 * time when a slide was viewed for the first time. Nothing is synced: tiles that a power failure destroys are rendered again. A tile is
 * written before its index line, and a truncated tile counts as missing.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Allocate, OpenFiles } from '@lamina/slide';
import { isMissingFile } from '../slide-storage/slide-roots.ts';

export interface NamedTile {
  /** Name of the tile in its slide: letters, digits, `_` and `-`. */
  readonly name: string;
  /** A complete JPEG. */
  readonly jpeg: Uint8Array;
}

export interface TileDiskCache {
  /** Used disk space, in whole blocks of the file system. */
  readonly bytes: number;
  /** Time of the last use, in milliseconds since the epoch. */
  usedAt: number;
  has(name: string): Promise<boolean>;
  /** @param allocate supplies the memory that the tile is read into */
  read(name: string, allocate: Allocate): Promise<Uint8Array | null>;
  /** Must not run concurrently. @throws Error of the file system; some of the tiles may have been written */
  append(tiles: readonly NamedTile[]): Promise<void>;
  /** Removes the oldest pack and its index. */
  evictOldest(): Promise<void>;
}

interface TileDiskCacheOptions {
  readonly folder: string;
  /** A pack that has reached this size is full. */
  readonly maxFileBytes: number;
  readonly files: OpenFiles;
}

/** A pack file (`.tiles`), which contains tiles one after another, and its index file (`.list`). */
interface Pack {
  /** Begins with the time of creation, so that sorted names are sorted by age. */
  readonly id: string;
  tileBytes: number;
  listBytes: number;
  isFull: boolean;
}

/** Position of a tile: its pack, and offset and length in bytes. */
interface Place {
  readonly pack: Pack;
  readonly offset: number;
  readonly length: number;
}

/** Size of a disk block; files occupy whole blocks. */
const blockBytes = 4096;
/** Maximum number of tiles of one `writev`: operating systems accept at most 1,024 buffers. */
const maxTilesPerWrite = 512;
const packName = /^([\da-z]{9}-[\da-f]{8})\.(tiles|list)$/;

/**
 * Opens the cache of a slide and removes unknown files from its folder. The function is long because all calls
 * share the packs.
 */
export async function openTileDiskCache({
  folder,
  maxFileBytes,
  files,
}: TileDiskCacheOptions): Promise<TileDiskCache> {
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

  /** Positions by name; null until the first request. */
  let places: Map<string, Place> | Promise<Map<string, Place>> | null = null;

  async function readLists(): Promise<Map<string, Place>> {
    const found = new Map<string, Place>();
    for (const pack of packs.values()) {
      const list = await fs.readFile(listOf(pack), 'utf8').catch(emptyIfMissing);
      for (const [, name = '', offset, length] of list.matchAll(/^([\w-]+) (\d+) (\d+)\n/gm)) {
        found.set(name, { pack, offset: Number(offset), length: Number(length) });
      }
    }
    places = found;
    // After a restart, the time of the last use is read from the folder's modification time.
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
    const createdAt = Date.now().toString(36).padStart(9, '0');
    const pack = {
      id: `${createdAt}-${randomUUID().slice(0, 8)}`,
      tileBytes: 0,
      listBytes: 0,
      isFull: false,
    };
    packs.set(pack.id, pack);
    return pack;
  }

  async function write(
    pack: Pack,
    tiles: readonly NamedTile[],
    placesByName: Map<string, Place>,
  ): Promise<void> {
    const lines: string[] = [];
    const added: [string, Place][] = [];
    const startOffset = pack.tileBytes;
    let offset = startOffset;
    for (const { name, jpeg } of tiles) {
      lines.push(`${name} ${offset} ${jpeg.byteLength}\n`);
      added.push([name, { pack, offset, length: jpeg.byteLength }]);
      offset += jpeg.byteLength;
    }
    const list = lines.join('');
    // The sizes grow before the write, because the remains of a failed write also occupy the disk.
    pack.tileBytes = offset;
    pack.listBytes += list.length;
    pack.isFull = true;
    const file = await fs.open(fileOf(pack), 'a', 0o600);
    try {
      const { bytesWritten } = await file.writev(tiles.map(({ jpeg }) => jpeg));
      if (bytesWritten !== offset - startOffset) throw new Error('Only a part of the tiles was written.');
    } finally {
      await file.close();
    }
    await fs.appendFile(listOf(pack), list, { mode: 0o600 });
    pack.isFull = offset >= maxFileBytes;
    for (const [name, place] of added) placesByName.set(name, place);
  }

  return {
    usedAt,

    get bytes() {
      let bytes = 0;
      for (const { tileBytes, listBytes } of packs.values())
        bytes += blocksOf(tileBytes) + blocksOf(listBytes);
      return bytes;
    },

    async has(name) {
      return (await knownPlaces()).has(name);
    },

    async read(name, allocate) {
      const placesByName = await knownPlaces();
      const place = placesByName.get(name);
      if (place === undefined) return null;
      const source = await files.take(fileOf(place.pack), place.offset + place.length);
      const jpeg = allocate(place.length);
      await source.readInto(jpeg, 0, place.offset, place.length);
      if (isCompleteJpeg(jpeg)) return jpeg;
      placesByName.delete(name);
      return null;
    },

    async append(tiles) {
      const placesByName = await knownPlaces();
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      for (let start = 0; start < tiles.length; ) {
        const pack = [...packs.values()].find(({ isFull }) => !isFull) ?? newPack();
        let end = start;
        const maxEnd = Math.min(tiles.length, start + maxTilesPerWrite);
        for (let size = pack.tileBytes; end < maxEnd && size < maxFileBytes; end++) {
          size += tiles[end]?.jpeg.byteLength ?? 0;
        }
        await write(pack, tiles.slice(start, end), placesByName);
        start = end;
      }
    },

    async evictOldest() {
      const [oldest] = packs.values(); // sorted by age
      if (oldest === undefined) return;
      packs.delete(oldest.id);
      const placesByName = await places;
      for (const [name, { pack }] of placesByName ?? []) if (pack === oldest) placesByName?.delete(name);
      await files.drop(fileOf(oldest));
      await fs.rm(listOf(oldest), { force: true });
      await fs.rm(fileOf(oldest), { force: true });
      if (packs.size === 0) await fs.rm(folder, { force: true, recursive: true });
    },
  };
}

function blocksOf(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

/** Whether the bytes begin with SOI and end with EOI; a tile that a power failure has truncated lacks the second. */
function isCompleteJpeg(bytes: Uint8Array): boolean {
  return (
    bytes.length > 4 &&
    bytes[0] === 0xff &&
    bytes[1] === 0xd8 &&
    bytes.at(-2) === 0xff &&
    bytes.at(-1) === 0xd9
  );
}

/** Returns the names in a folder; none when the folder is missing. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
}

function emptyIfMissing(error: unknown): string {
  if (isMissingFile(error)) return '';
  throw error;
}
