/** Deletes older backups, for `npm run backup -- --keep number`. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { isBackupName, unfinishedSuffix } from './backup-format.ts';
import type { PrintLine } from './fill-tables.ts';

/**
 * A backup whose unfinished folder has not been modified for this long no longer runs: a running one renews the modification time every
 * minute. The limit is much longer, because the clocks of machines that share a disk differ.
 */
const abandonedAfterMs = 60 * 60_000;

/**
 * Keeps the newest `keep` complete backups, and deletes all older ones, including unfinished ones that no running backup writes. The new
 * backup stays even if the names of others contain later times, for example because the clock was wrong.
 */
export async function deleteOlderBackups(
  newFolder: string,
  keep: number,
  printLine: PrintLine,
): Promise<void> {
  const parent = path.dirname(newFolder);
  const names = (await fs.readdir(parent)).filter((name) => name !== path.basename(newFolder)).sort();
  const otherKept = keep > 1 ? names.filter(isBackupName).slice(1 - keep) : [];
  const oldestKept = otherKept[0] ?? path.basename(newFolder);
  let deletedCount = 0;
  for (const name of names) {
    if (name >= oldestKept || !isBackupName(name.replace(unfinishedSuffix, ''))) continue;
    const folder = path.join(parent, name);
    if (name.endsWith(unfinishedSuffix) && (await isBeingWritten(folder))) continue;
    await fs.rm(folder, { recursive: true, force: true }); // `force`: another backup may delete the same folder
    deletedCount++;
  }
  if (deletedCount > 0) printLine(`Deleted ${deletedCount} older backups; the last ${keep} are kept.`);
}

/** Returns whether a backup still writes into its unfinished folder. */
async function isBeingWritten(folder: string): Promise<boolean> {
  const stats = await fs.stat(folder).catch(() => null); // null: the backup has finished or failed, so there is nothing to delete
  return stats === null || Date.now() - stats.mtimeMs < abandonedAfterMs;
}
