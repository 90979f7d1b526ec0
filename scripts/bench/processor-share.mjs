/** Lets a group of processes have no more than a share of a processor, as Linux control groups do it. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const groups = '/sys/fs/cgroup';
/** Short, so that whoever has used up its share waits for the next some milliseconds and not a tenth of a second. */
const periodMicroseconds = 10_000;

/**
 * @returns `{ wrap, set, remove }`: what puts a command line into the group, what gives it a share (null: all it likes),
 *   what takes the group away when its processes have ended; null where this machine lets nobody make one
 */
export function makeProcessorShare(name) {
  const isUnified = existsSync(join(groups, 'cgroup.controllers'));
  const folder = join(isUnified ? groups : join(groups, 'cpu'), `lamina-bench-${process.pid}-${name}`);
  const set = (share) => {
    const quota = share === null ? null : Math.round(share * periodMicroseconds);
    if (isUnified) {
      writeFileSync(join(folder, 'cpu.max'), `${quota ?? 'max'} ${periodMicroseconds}`);
    } else {
      writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodMicroseconds));
      writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(quota ?? -1));
    }
  };
  try {
    mkdirSync(folder);
    set(null);
  } catch {
    if (existsSync(folder)) rmdirSync(folder);
    return null;
  }
  return {
    wrap: (commandLine) => [
      '/bin/sh',
      '-c',
      `echo $$ > '${join(folder, 'cgroup.procs')}' && exec "$@"`,
      'sh',
      ...commandLine,
    ],
    set,
    async remove() {
      while (readFileSync(join(folder, 'cgroup.procs'), 'utf8') !== '') await setTimeout(50);
      rmdirSync(folder);
    },
  };
}
