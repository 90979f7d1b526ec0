/**
 * Disk cache for the rendered tiles of one slide. It consists of a few packs. A pack is a file `.tiles`, to which tiles are appended one
 * after another, and a file `.list` with one line for each tile: name, offset and length in bytes.
 *
 * One file per tile would be simpler, but creating and opening these files took a seventh of all CPU time during the first view of a
 * slide. Files are not synced, so a power failure may destroy tiles. A tile is written before its line in the list, and a tile that is
 * not a complete JPEG or PNG counts as missing and is rendered again.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { BufferAllocator, OpenFiles } from '@lamina/slide';
import { isMissingFile } from '../slide-storage/slide-roots.ts';

export interface NamedTile {
  /** Name of the tile in its slide: letters, digits, `_` and `-`. */
  readonly name: string;
  /** A complete JPEG, or the PNG of a view. */
  readonly bytes: Uint8Array;
}

export interface TileDiskCache {
  /** Disk space that the files occupy: the size of each file is rounded up to whole blocks. */
  readonly bytes: number;
  /** Time of the last use, in milliseconds since the epoch. */
  usedAt: number;
  /** Returns the size of a tile in bytes; null when it is missing. */
  sizeOf(name: string): Promise<number | null>;
  /** Returns the tile; null when it is missing or damaged. @param allocate supplies the memory that the tile is read into */
  read(name: string, allocate: BufferAllocator): Promise<Uint8Array | null>;
  /** Appends tiles. Calls must not run concurrently. @throws Error of the file system; some tiles may have been written nevertheless */
  append(tiles: readonly NamedTile[]): Promise<void>;
  /** Removes the oldest pack with all its tiles. */
  evictOldest(): Promise<void>;
}

interface TileDiskCacheOptions {
  readonly folder: string;
  /** A pack whose tiles have reached this size is full: no further tiles are appended. */
  readonly maxFileBytes: number;
  /** File handles that all disk caches share. */
  readonly files: OpenFiles;
}

interface Pack {
  /** Begins with the time of creation, so that the names of packs in alphabetical order are also in the order of age. */
  readonly id: string;
  tileBytes: number;
  listBytes: number;
  isFull: boolean;
}

/** Where a tile is stored: its pack, and the position in the file `.tiles` in bytes. */
interface TilePosition {
  readonly pack: Pack;
  readonly offset: number;
  readonly length: number;
}

const blockBytes = 4096; // the size of a disk block in most file systems
/** Maximum number of tiles of one `writev`: operating systems accept at most 1,024 buffers. */
const maxTilesPerWrite = 512;
/** For example `0lx3k2a9b-1f2e3d4c.tiles`. */
const packName = /^([\da-z]{9}-[\da-f]{8})\.(tiles|list)$/;

/** Opens the cache of a slide and removes other files from its folder. The function is long because all calls share the packs. */
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
    // A pack of an earlier run counts as full, because its last write may have been incomplete.
    const pack = packs.get(id) ?? { id, tileBytes: 0, listBytes: 0, isFull: true };
    pack[kind === 'tiles' ? 'tileBytes' : 'listBytes'] = size;
    packs.set(id, pack);
  }
  // `readLists` sets the modification time of the folder to the time of the last use.
  const usedAt = names.length === 0 ? 0 : (await fs.stat(folder)).mtimeMs;

  const tilesFileOf = ({ id }: Pack) => path.join(folder, `${id}.tiles`);
  const listFileOf = ({ id }: Pack) => path.join(folder, `${id}.list`);

  /** Positions of all tiles by name, read from the lists at the first request; null until then. */
  let positions: Map<string, TilePosition> | Promise<Map<string, TilePosition>> | null = null;

  async function readLists(): Promise<Map<string, TilePosition>> {
    const positionByName = new Map<string, TilePosition>();
    for (const pack of packs.values()) {
      const list = await fs.readFile(listFileOf(pack), 'utf8').catch(emptyIfMissing);
      for (const [, name = '', offset, length] of list.matchAll(/^([\w-]+) (\d+) (\d+)\n/gm)) {
        positionByName.set(name, { pack, offset: Number(offset), length: Number(length) });
      }
    }
    positions = positionByName;
    // The modification time of the folder becomes `usedAt` after a restart.
    if (packs.size > 0) await fs.utimes(folder, new Date(), new Date());
    return positionByName;
  }

  function readPositions(): Map<string, TilePosition> | Promise<Map<string, TilePosition>> {
    positions ??= readLists().catch((error: unknown) => {
      positions = null;
      throw error;
    });
    return positions;
  }

  function createPack(): Pack {
    const createdAt = Date.now().toString(36).padStart(9, '0'); // milliseconds in base 36
    const pack = {
      id: `${createdAt}-${randomUUID().slice(0, 8)}`,
      tileBytes: 0,
      listBytes: 0,
      isFull: false,
    };
    packs.set(pack.id, pack);
    return pack;
  }

  /** Appends tiles to a pack, and adds their positions to the map when all bytes are written. */
  async function write(
    pack: Pack,
    tiles: readonly NamedTile[],
    positionByName: Map<string, TilePosition>,
  ): Promise<void> {
    const lines: string[] = [];
    const addedPositions: [name: string, TilePosition][] = [];
    const startOffset = pack.tileBytes;
    let offset = startOffset;
    for (const { name, bytes } of tiles) {
      lines.push(`${name} ${offset} ${bytes.byteLength}\n`);
      addedPositions.push([name, { pack, offset, length: bytes.byteLength }]);
      offset += bytes.byteLength;
    }
    const list = lines.join('');
    // The sizes grow before the write, because bytes of a failed write also occupy the disk. `isFull` stays true after a failure: no
    // tile is then appended at a wrong offset.
    pack.tileBytes = offset;
    pack.listBytes += list.length;
    pack.isFull = true;
    const file = await fs.open(tilesFileOf(pack), 'a', 0o600);
    try {
      const { bytesWritten } = await file.writev(tiles.map(({ bytes }) => bytes));
      const expectedBytes = offset - startOffset;
      if (bytesWritten !== expectedBytes)
        throw new Error(`Only ${bytesWritten} of ${expectedBytes} bytes were written to the tile cache.`);
    } finally {
      await file.close();
    }
    await fs.appendFile(listFileOf(pack), list, { mode: 0o600 });
    pack.isFull = offset >= maxFileBytes;
    for (const [name, position] of addedPositions) positionByName.set(name, position);
  }

  return {
    usedAt,

    get bytes() {
      let bytes = 0;
      for (const { tileBytes, listBytes } of packs.values())
        bytes += roundUpToBlocks(tileBytes) + roundUpToBlocks(listBytes);
      return bytes;
    },

    async sizeOf(name) {
      return (await readPositions()).get(name)?.length ?? null;
    },

    async read(name, allocate) {
      const positionByName = await readPositions();
      const position = positionByName.get(name);
      if (position === undefined) return null;
      const { pack, offset, length } = position;
      const minFileBytes = offset + length;
      const file = await files.open(tilesFileOf(pack), minFileBytes);
      const bytes = allocate(length);
      await file.readInto(bytes, 0, offset, length); // to index 0 of `bytes`
      if (isCompletePicture(bytes)) return bytes;
      positionByName.delete(name);
      return null;
    },

    async append(tiles) {
      const positionByName = await readPositions();
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      for (let start = 0; start < tiles.length; ) {
        const pack = [...packs.values()].find(({ isFull }) => !isFull) ?? createPack();
        // Selects as many of the next tiles as one write and the pack accept. The last one may exceed the limit of the pack.
        let end = start;
        const maxEnd = Math.min(tiles.length, start + maxTilesPerWrite);
        for (let packBytes = pack.tileBytes; end < maxEnd && packBytes < maxFileBytes; end++) {
          packBytes += tiles[end]?.bytes.byteLength ?? 0;
        }
        await write(pack, tiles.slice(start, end), positionByName);
        start = end;
      }
    },

    async evictOldest() {
      const [oldest] = packs.values(); // sorted by age
      if (oldest === undefined) return;
      packs.delete(oldest.id);
      const positionByName = await positions; // null when the lists have not been read
      for (const [name, { pack }] of positionByName ?? []) if (pack === oldest) positionByName?.delete(name);
      await files.closeFile(tilesFileOf(oldest));
      await fs.rm(listFileOf(oldest), { force: true });
      await fs.rm(tilesFileOf(oldest), { force: true });
      if (packs.size === 0) await fs.rm(folder, { force: true, recursive: true });
    },
  };
}

function roundUpToBlocks(bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

/**
 * First and last bytes of rendered tiles and views: JPEG (markers SOI and EOI: ITU-T T.81, annex B.1.1.3), and PNG
 * (signature, and type and CRC of the chunk IEND: PNG, sections 5.2 and 11.2.5).
 */
const pictureEnds = [
  { first: Buffer.of(0xff, 0xd8), last: Buffer.of(0xff, 0xd9) },
  { first: Buffer.of(0x89, 0x50, 0x4e, 0x47), last: Buffer.from('IEND\xae\x42\x60\x82', 'latin1') },
];

/** Returns whether the bytes start and end like a JPEG or PNG, unlike an image that a power failure has truncated. */
function isCompletePicture(bytes: Uint8Array): boolean {
  const picture = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return pictureEnds.some(
    ({ first, last }) =>
      picture.length > first.length + last.length &&
      picture.subarray(0, first.length).equals(first) &&
      picture.subarray(-last.length).equals(last),
  );
}

/** Returns the names of the files and folders in a folder; an empty list when the folder is missing. */
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
