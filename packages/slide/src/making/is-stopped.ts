import { readFile } from 'node:fs/promises';

/**
 * Whether the system holds a process still (SIGSTOP, a debugger): it does nothing then, and no error says so.
 *
 * Source: proc(5), `/proc/[pid]/stat`; other systems than Linux are not asked.
 *
 * @returns false where that cannot be told
 */
export async function isStopped(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const state = stat[stat.lastIndexOf(')') + 2]; // the name before it may hold anything
  return state === 'T' || state === 't';
}
