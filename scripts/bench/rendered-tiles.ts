/**
 * Waits for the end of prerendering (the idle server renders tiles in advance), for measurements that need warm caches
 * or that background rendering would disturb.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/**
 * Rendering counts as finished after this time without a new tile. It is longer than the 5 idle seconds after which the server
 * begins to prerender.
 */
const quietSeconds = 15;

/** Waits until the disk caches stop growing. @param folders data folders of the server processes */
export async function waitUntilTilesAreRendered(folders: readonly string[]): Promise<void> {
  let bytes = 0;
  let quietFor = 0; // seconds without growth
  while (quietFor < quietSeconds) {
    await setTimeout(1000);
    const currentBytes = folders.reduce((sum, folder) => sum + bytesOfTiles(folder), 0);
    quietFor = currentBytes === bytes ? quietFor + 1 : 0;
    bytes = currentBytes;
  }
  console.log(`Rendered ${(bytes / 1e6).toFixed(0)} MB of tiles.`);
}

/** Returns the size of the disk cache in a data folder; 0 before the first tile. Files may vanish during the count. */
function bytesOfTiles(folder: string): number {
  if (!existsSync(`${folder}/tiles`)) return 0;
  const entries = readdirSync(`${folder}/tiles`, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(`${parentPath}/${name}`, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}
