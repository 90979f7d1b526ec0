import { hideProcess, landlockVersionHere } from '@lamina/slide';
import type { Logger } from 'pino';

/**
 * Denies render workers, which read untrusted files as the same user, access to the environment and the memory of this
 * process, because both contain passwords. docs/security.md describes systems on which that is not possible.
 */
export async function hideEnvironment(): Promise<void> {
  await hideProcess();
}

/** Logs a warning when the system cannot confine render workers to the slide folders. */
export async function warnWhenUnconfined(log: Logger): Promise<void> {
  if ((await landlockVersionHere()) > 0) return;
  log.warn(
    'Landlock unavailable: render processes can read every file of the server’s user (docs/security.md)',
  );
}
