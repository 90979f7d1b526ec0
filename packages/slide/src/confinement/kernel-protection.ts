/** Protection of the server process from other processes, and the check whether the kernel can confine render processes. */
import { landlockVersion } from './landlock.ts';
import { loadSystemCalls } from './system-calls.ts';

/** Option of prctl(2): whether the kernel may dump the memory of the process. The value 0 forbids it. */
const PR_SET_DUMPABLE = 4;

/**
 * Prevents other processes of the same user from reading the environment, the memory and the open files of this process:
 * the kernel then lets only root read them or attach a debugger. Programs that this process starts are not protected.
 *
 * Source: prctl(2), PR_SET_DUMPABLE; proc(5), ownership of the files in `/proc/[pid]`.
 *
 * @returns whether the system supports this
 */
export async function preventProcessInspection(): Promise<boolean> {
  const calls = await loadSystemCalls();
  return calls !== null && calls.prctl(PR_SET_DUMPABLE, 0) === 0;
}

/**
 * Returns the version of Landlock, the kernel feature that confines render processes to the slide folders; 0 when this
 * system does not have it.
 */
export async function kernelLandlockVersion(): Promise<number> {
  const calls = await loadSystemCalls();
  return calls ? landlockVersion(calls) : 0;
}
