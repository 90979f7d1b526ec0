/**
 * Measures the cost of rejecting files in a render process: time, and memory beyond that of the idle process.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { RenderPool, SlideError, type SlideErrorCode } from '../index.ts';

export interface RefusalCost {
  readonly path: string;
  /** Null for a file that is shown. */
  readonly code: SlideErrorCode | null;
  /** Wall time until the result; on a busy machine it is mostly waiting. */
  readonly ms: number;
  /** Processor time, in steps of 10 ms. */
  readonly processorMs: number;
  /** Peak memory during the file beyond that of the process after start. */
  readonly bytes: number;
}

/** Time limit of a file, after which the process is killed. */
const STOP_MS = 60_000;
/** Source: proc_pid_stat(5), USER_HZ. */
const TICK_MS = 10;

/**
 * Opens files one after the other in a single process. Of a file that opens, it renders the thumbnail and the
 * first tile of full resolution. Linux only.
 */
export async function* refusalCosts(paths: Iterable<string>): AsyncGenerator<RefusalCost> {
  const pool = new RenderPool({ processes: 1, queueLimit: 1, timeoutMs: STOP_MS });
  try {
    await pool.group({ path: '/' }, [], []);
    const [id = 0] = pool.processIds;
    const idle = await memoryOf(id, 'VmRSS');
    for (const path of paths) {
      // Resets the peak memory. Source: proc_pid_clear_refs(5).
      await writeFile(`/proc/${id}/clear_refs`, '5');
      const [from, processorFrom] = [performance.now(), await processorMsOf(id)];
      const code = await apiErrorOf(pool, path);
      const ms = performance.now() - from;
      const processorMs = (await processorMsOf(id)) - processorFrom;
      yield { path, code, ms, processorMs, bytes: (await memoryOf(id, 'VmHWM')) - idle };
    }
  } finally {
    await pool.close();
  }
}

async function apiErrorOf(pool: RenderPool, path: string): Promise<SlideErrorCode | null> {
  try {
    const { width, height } = await pool.inspect({ path });
    await pool.thumbnail({ path }, 256);
    const dziLevel = Math.ceil(Math.log2(Math.max(width, height)));
    await pool.tile({ path }, { dziLevel, column: 0, row: 0 });
    return null;
  } catch (error) {
    if (error instanceof SlideError) return error.code;
    throw error;
  }
}

async function memoryOf(processId: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  if (kilobytes === undefined) throw new Error(`The status of process ${processId} has no ${field}`);
  return Number(kilobytes) * 1024;
}

async function processorMsOf(processId: number): Promise<number> {
  const stat = await readFile(`/proc/${processId}/stat`, 'latin1');
  // The name may contain spaces; user and system time are the 12th and 13th numbers after it.
  const numbers = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return ((numbers[11] ?? Number.NaN) + (numbers[12] ?? Number.NaN)) * TICK_MS;
}
