/** Made tiles of a process that only serves: another one keeps and makes them for all; here a few stay in memory. */
import type { DeepZoomAddress, FolderLocation, SlideLocation } from '@lamina/slide';
import { type MadeFrom, tileNameIn } from './made-from.ts';
import { type MadeTiles, thumbnailName } from './made-tiles.ts';
import type { Caller, CallTable } from './process-calls.ts';
import type { FillReason } from './tile-filler.ts';
import { createTileMemory, type TileKey } from './tile-memory.ts';

/** What the process that makes tiles answers for those that serve. */
export function madeTilesCalls(madeTiles: MadeTiles) {
  return {
    kept: (_: AbortSignal, key: TileKey) => madeTiles.kept(key),
    tile: (signal: AbortSignal, from: MadeFrom, address: DeepZoomAddress) =>
      madeTiles.tile(from, address, signal),
    thumbnail: (signal: AbortSignal, from: MadeFrom) => madeTiles.thumbnail(from, signal),
    fill: async (_: AbortSignal, from: MadeFrom, reason: FillReason) => madeTiles.fill(from, reason),
    inspect: (signal: AbortSignal, location: SlideLocation) => madeTiles.inspect(location, signal),
    group: (signal: AbortSignal, folder: FolderLocation, names: readonly string[]) =>
      madeTiles.group(folder, names, signal),
  } satisfies CallTable;
}

export type MadeTilesCalls = ReturnType<typeof madeTilesCalls>;

const memoryCacheBytes = 32 * 1024 * 1024;

export function createMadeElsewhere(caller: Caller<MadeTilesCalls>): MadeTiles {
  const memory = createTileMemory(memoryCacheBytes);
  let foundInMemory = 0;

  return {
    async kept(key) {
      const known = memory.get(key);
      if (known !== null) {
        foundInMemory++;
        return known;
      }
      const jpeg = await caller.call('kept', [key]);
      if (jpeg !== null) memory.put(key, jpeg);
      return jpeg;
    },
    async tile(from, address, signal) {
      const tile = await caller.call('tile', [from, address], signal);
      memory.put({ fingerprint: from.fingerprint, name: tileNameIn(address) }, tile.jpeg);
      return tile;
    },
    async thumbnail(from, signal) {
      const jpeg = await caller.call('thumbnail', [from], signal);
      memory.put({ fingerprint: from.fingerprint, name: thumbnailName }, jpeg);
      return jpeg;
    },
    fill(from, reason) {
      caller.call('fill', [from, reason]).catch(() => {}); // without it tiles are made when they are asked for
    },
    inspect: (location, signal) => caller.call('inspect', [location], signal),
    group: (folder, names, signal) => caller.call('group', [folder, names], signal),
    figures: () => ({
      memoryBytes: memory.bytes(),
      diskBytes: 0,
      foundInMemory,
      foundOnDisk: 0,
      queueLength: 0,
      isFull: false,
      faults: 0,
    }),
    close: async () => {},
  };
}
