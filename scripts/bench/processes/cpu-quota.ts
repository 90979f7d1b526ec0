/** A limit of the CPU time of a process and its children, set with a Linux control group (cgroup v1 or v2). */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const controlGroups = '/sys/fs/cgroup';
/**
 * Interval for which the quota holds. With the default of 100 ms, a process that has used up its quota would wait much
 * longer for the next period.
 */
const periodMicroseconds = 10_000;

export interface CpuQuota {
  /** Returns a command line that runs the program in the control group. */
  wrap(commandLine: readonly string[]): string[];
  /** Sets the limit. @param share share of one processor; null removes the limit */
  set(share: number | null): void;
  /** Removes the control group after its processes have ended. */
  remove(): Promise<void>;
}

/** Creates a control group without a limit. @returns null when this process may not create control groups */
export function createCpuQuota(name: string): CpuQuota | null {
  const isVersion2 = existsSync(join(controlGroups, 'cgroup.controllers'));
  const parent = isVersion2 ? controlGroups : join(controlGroups, 'cpu');
  const folder = join(parent, `lamina-bench-${process.pid}-${name}`);
  const set = (share: number | null) => {
    const quota = share === null ? null : Math.round(share * periodMicroseconds);
    if (isVersion2) {
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
    // The shell adds itself to the group and then becomes the program. The argument `sh` after the script is its name ($0).
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
