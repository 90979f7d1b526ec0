/** Waits until the product has rendered the tiles of all slides ahead, as it does before many people view a slide. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** Rendering has finished after this time without another tile. A new slide is rendered only after five idle seconds. */
const quietSeconds = 15;

/** @param folders data folders of the server processes */
export async function waitUntilTilesAreRendered(folders: readonly string[]): Promise<void> {
  let bytes = 0;
  for (let quietFor = 0; quietFor < quietSeconds; quietFor += 1) {
    await setTimeout(1000);
    const now = folders.reduce((sum, folder) => sum + bytesOfTiles(folder), 0);
    if (now !== bytes) quietFor = 0;
    bytes = now;
  }
  console.log(`Rendered ${(bytes / 1e6).toFixed(0)} MB of tiles.`);
}

/** The folder is missing before the first tile, and files may be removed while they are counted. */
function bytesOfTiles(folder: string): number {
  if (!existsSync(`${folder}/tiles`)) return 0;
  const entries = readdirSync(`${folder}/tiles`, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(`${parentPath}/${name}`, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}
