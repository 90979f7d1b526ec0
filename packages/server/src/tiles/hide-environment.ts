import { kernelLandlockVersion, preventProcessInspection } from '@lamina/slide';
import type { Logger } from 'pino';

/**
 * Protects the environment and the memory of this process, which contain passwords, from render workers: processes that
 * run as the same user and read untrusted files. Called when a server starts. docs/security.md names the systems on
 * which this is not possible.
 */
export async function hideEnvironment(): Promise<void> {
  await preventProcessInspection();
}

/** Logs a warning when the system has no Landlock, the Linux sandbox that confines render workers to slide folders. */
export async function warnWhenUnconfined(log: Logger): Promise<void> {
  if ((await kernelLandlockVersion()) > 0) return; // 0: the system has no Landlock
  log.warn(
    'Landlock unavailable (Linux file sandbox): render workers can read every file that the server can read; see docs/security.md',
  );
}
