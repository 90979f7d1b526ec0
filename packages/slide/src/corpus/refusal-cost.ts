/** What it costs a making process to refuse files: time, and memory beyond what it had before the first of them. */
import { readFile, writeFile } from 'node:fs/promises';
import { SlideError, type SlideErrorCode, TileMaker } from '../index.ts';

export interface RefusalCost {
  readonly path: string;
  /** Null for a file that is shown. */
  readonly code: SlideErrorCode | null;
  /** From asking to the answer; on a busy machine most of it is waiting. */
  readonly ms: number;
  /** Of a processor, whoever else wants it; in steps of 10. */
  readonly processorMs: number;
  /** The most that the process took meanwhile, beyond what it took when it had loaded its program and done nothing. */
  readonly bytes: number;
}

/** A file that takes longer is stopped, and the process with it. */
const STOP_MS = 60_000;
/** Source: proc_pid_stat(5), USER_HZ. */
const TICK_MS = 10;

/**
 * Opens one file after the other, in one process that reads all of them; of one that can be opened it makes the thumbnail
 * and the first tile of full resolution. Linux alone says what a process takes.
 */
export async function* refusalCosts(paths: Iterable<string>): AsyncGenerator<RefusalCost> {
  const maker = new TileMaker({ processes: 1, queueLimit: 1, timeoutMs: STOP_MS });
  try {
    await maker.group({ path: '/' }, [], []);
    const [id = 0] = maker.processIds;
    const idle = await memoryOf(id, 'VmRSS');
    for (const path of paths) {
      // The most that it takes counts from here on. Source: proc_pid_clear_refs(5).
      await writeFile(`/proc/${id}/clear_refs`, '5');
      const [from, processorFrom] = [performance.now(), await processorMsOf(id)];
      const code = await refusalOf(maker, path);
      const ms = performance.now() - from;
      const processorMs = (await processorMsOf(id)) - processorFrom;
      yield { path, code, ms, processorMs, bytes: (await memoryOf(id, 'VmHWM')) - idle };
    }
  } finally {
    await maker.close();
  }
}

async function refusalOf(maker: TileMaker, path: string): Promise<SlideErrorCode | null> {
  try {
    const { width, height } = await maker.inspect({ path });
    await maker.thumbnail({ path }, 256);
    const dziLevel = Math.ceil(Math.log2(Math.max(width, height)));
    await maker.tile({ path }, { dziLevel, column: 0, row: 0 });
    return null;
  } catch (error) {
    if (error instanceof SlideError) return error.code;
    throw error;
  }
}

async function memoryOf(processId: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  if (kilobytes === undefined) throw new Error(`Nothing is known of ${field}`);
  return Number(kilobytes) * 1024;
}

async function processorMsOf(processId: number): Promise<number> {
  const stat = await readFile(`/proc/${processId}/stat`, 'latin1');
  // The name may hold spaces; user and system time are the 12th and 13th number after it.
  const numbers = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return ((numbers[11] ?? Number.NaN) + (numbers[12] ?? Number.NaN)) * TICK_MS;
}
