/**
 * Deletes the safety copies of the embedded database and of its encryption key, which upgrades and restores leave in
 * the data folder. The copies may contain accounts that have been erased since, so the server keeps them only for a
 * limited time (setting SAFETY_COPY_DAYS).
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';

/**
 * Names of safety copies, for example lamina.db.before-migration, lamina.db.before-restore-wal or
 * secret.key.before-restore. A number after `migration` is the id of the process that was killed while it copied.
 */
const copyNamePattern =
  /^(lamina\.db\.before-(migration(\.\d+)?|restore)(-wal|-shm|-journal)?|secret\.key\.before-restore)$/;

const dayMs = 86_400_000;
/** Delay of the first deletion: one hour, so that the copies still exist if a new version fails soon after its start. */
const firstDeletionAfterMs = 3_600_000;

interface Settings {
  readonly dataDir: string;
  /** Days after which a copy is deleted. */
  readonly safetyCopyDays: number;
}

/** Deletes the copies that were made more than `safetyCopyDays` ago. @returns the names of the deleted files */
export async function deleteOldCopies(
  { dataDir, safetyCopyDays }: Settings,
  now: Date,
): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (const name of (await fs.readdir(dataDir)).filter((name) => copyNamePattern.test(name))) {
    const file = path.join(dataDir, name);
    // The change time (ctime) is when the file was copied or renamed; the modification time is that of the original.
    const { ctimeMs } = await fs.stat(file);
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

/** Deletes old copies one hour after the start and then daily. The timer does not keep the process alive. */
export function watchSafetyCopies({ config, now, log }: Dependencies): void {
  const deleteAndReschedule = async () => {
    try {
      const deleted = await deleteOldCopies(config, now());
      if (deleted.length > 0)
        log.info(
          { folder: config.dataDir, files: deleted },
          'database safety copies older than SAFETY_COPY_DAYS deleted',
        );
    } catch (error) {
      log.error(
        { err: error, folder: config.dataDir },
        'deletion of old database safety copies failed; the next attempt is in 24 hours',
      );
    }
    setTimeout(() => void deleteAndReschedule(), dayMs).unref();
  };
  setTimeout(() => void deleteAndReschedule(), firstDeletionAfterMs).unref();
}
