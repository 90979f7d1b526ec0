/** CPU time and memory of processes, read from /proc (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

/** /proc states CPU times in ticks. Their number per second (USER_HZ) is 100 on every Linux. */
const ticksPerSecond = 100;

export interface ResourceUsage {
  /** CPU time since the processes started. */
  readonly cpuSeconds: number;
  /** Proportional set size: memory that several processes share is divided among them. */
  readonly megabytes: number;
}

/** Sums the CPU time and memory of these processes and all their descendants. */
export function usageOf(processIds: readonly number[]): ResourceUsage {
  let cpuSeconds = 0;
  let megabytes = 0;
  for (const id of withDescendants(processIds)) {
    const statFields = statFieldsOf(id);
    if (statFields === null) continue;
    // The fields utime and stime, and cutime and cstime of children that have ended (man proc_pid_stat).
    const ticks = statFields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    cpuSeconds += ticks / ticksPerSecond;
    megabytes += megabytesOf(id);
  }
  return { cpuSeconds, megabytes };
}

/** Returns the ids of these processes and of all processes that descend from them. */
function withDescendants(processIds: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const statFields = /^\d+$/.test(name) ? statFieldsOf(Number(name)) : null;
    if (statFields === null) continue;
    const parent = Number(statFields[1]); // the fourth field of the file: id of the parent process
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const all = [...processIds];
  // The list grows during the iteration, so that it also contains the children of children.
  for (const id of all) all.push(...(children.get(id) ?? []));
  return all;
}

/**
 * Returns the fields of /proc/ID/stat without the first two (id and name), so that index 0 is the state; null when the process has ended.
 */
function statFieldsOf(id: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'latin1');
    // The second field is a name in parentheses, which may contain spaces and parentheses.
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** Returns the proportional set size of a process; 0 when the process has ended. */
function megabytesOf(id: number): number {
  try {
    const text = readFileSync(`/proc/${id}/smaps_rollup`, 'latin1');
    return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // the process has ended
  }
}
