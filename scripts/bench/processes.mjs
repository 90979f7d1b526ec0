/** What processes take of the machine, as Linux tells it in /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Ticks in a second of the times in /proc, on every Linux there is. */
const ticksPerSecond = 100;

/**
 * What these processes and all that they have started take.
 *
 * @returns CPU seconds since their starts, and megabytes of memory in which shared pages count by their share
 */
export function usageOf(roots) {
  let cpuSeconds = 0;
  let megabytes = 0;
  for (const id of withDescendants(roots)) {
    const stat = statOf(id);
    if (stat === null) continue;
    // Their own, and that of children who have ended.
    const ticks = stat.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    cpuSeconds += ticks / ticksPerSecond;
    megabytes += megabytesOf(id);
  }
  return { cpuSeconds, megabytes };
}

function withDescendants(roots) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(name) : null;
    if (stat === null) continue;
    const parent = Number(stat[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const all = [...roots];
  for (const id of all) all.push(...(children.get(id) ?? [])); // grows while it is walked
  return all;
}

/** Fields of /proc/ID/stat from the third on (state); null when the process is gone. */
function statOf(id) {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

function megabytesOf(id) {
  try {
    const text = readFileSync(`/proc/${id}/smaps_rollup`, 'latin1');
    return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // gone meanwhile
  }
}
