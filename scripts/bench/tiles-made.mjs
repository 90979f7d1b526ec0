/**
 * Slides lie in the catalogue for a while before many people look at them, and the product makes their tiles in that
 * time.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** Without another tile for so long, everything has been made: a slide that was only found waits for five quiet seconds. */
const quietSeconds = 15;

/** @param folders data folders of the processes; resolves when no tile has been made in any of them for some seconds */
export async function untilTilesAreMade(folders) {
  let bytes = 0;
  for (let quietFor = 0; quietFor < quietSeconds; quietFor += 1) {
    await setTimeout(1000);
    const now = folders.reduce((sum, folder) => sum + bytesOfTiles(folder), 0);
    if (now !== bytes) quietFor = 0;
    bytes = now;
  }
  console.log(`${(bytes / 1e6).toFixed(0)} MB of tiles have been made.`);
}

/** Some of them go while they are counted, and before the first there is no place for them. */
function bytesOfTiles(folder) {
  if (!existsSync(`${folder}/tiles`)) return 0;
  const entries = readdirSync(`${folder}/tiles`, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(`${parentPath}/${name}`, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}
