/**
 * Safety copies of the embedded database and its key, which upgrades and restores leave in the data folder.
 * They contain accounts that were erased later, so they are deleted when the new version or the restored data
 * have proved good.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';

const copyName =
  /^(lamina\.db\.before-(migration(\.\d+)?|restore)(-wal|-shm|-journal)?|secret\.key\.before-restore)$/;

const dayMs = 86_400_000;
/** A process that fails soon after its start has not proved the new version. */
const firstAfterMs = 3_600_000;

interface Settings {
  readonly dataDir: string;
  /** Days after which a copy is deleted. */
  readonly safetyCopyDays: number;
}

/** Deletes the copies that are older than configured. @returns the names of the deleted files */
export async function deleteOldCopies(
  { dataDir, safetyCopyDays }: Settings,
  now: Date,
): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (const name of (await fs.readdir(dataDir)).filter((name) => copyName.test(name))) {
    const file = path.join(dataDir, name);
    const { ctimeMs } = await fs.stat(file); // time of the rename; the content may be much older
    if (now.getTime() - ctimeMs < safetyCopyDays * dayMs) continue;
    await fs.rm(file, { force: true });
    deleted.push(name);
  }
  return deleted;
}

interface Dependencies {
  readonly config: Settings;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Deletes old copies daily, starting one hour after the start. Does not keep the process alive. */
export function watchSafetyCopies({ config, now, log }: Dependencies): void {
  const deleteAndReschedule = async () => {
    try {
      const deleted = await deleteOldCopies(config, now());
      if (deleted.length > 0)
        log.info({ files: deleted }, 'safety copies deleted: older than SAFETY_COPY_DAYS');
    } catch (error) {
      log.error({ err: error }, 'deleting old safety copies of the database failed; tried again in a day');
    }
    setTimeout(() => void deleteAndReschedule(), dayMs).unref();
  };
  setTimeout(() => void deleteAndReschedule(), firstAfterMs).unref();
}
