import { readFile } from 'node:fs/promises';

/** The state of a process as the kernel reports it. */
export interface ProcessState {
  /** Whether the process is stopped by SIGSTOP or a debugger, so that it neither continues nor fails. */
  readonly isSuspended: boolean;
  /** Resident memory (RSS). */
  readonly residentBytes: number;
}

/** Bytes of a page on x86-64. On systems with larger pages the result is too small. */
const PAGE_BYTES = 4096;

/**
 * Reads the state of a process from the kernel.
 *
 * Source: proc(5), `/proc/[pid]/stat`, fields 3 (state) and 24 (rss).
 *
 * @returns null on systems other than Linux, and when the process does not exist
 */
export async function readProcessState(pid: number): Promise<ProcessState | null> {
  if (process.platform !== 'linux') return null;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  if (stat === '') return null;
  // Field 2, the program name, is in parentheses and may contain any character, so parsing starts after the last
  // parenthesis. The first parsed field is field 3, so field 24 has the index 21.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    isSuspended: fields[0] === 'T' || fields[0] === 't',
    residentBytes: Number(fields[21]) * PAGE_BYTES,
  };
}
