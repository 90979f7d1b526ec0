/** Measures the time and the memory that a render process needs to reject (or to open and render) a file. Linux only. */
import { readFile, writeFile } from 'node:fs/promises';
import { RenderPool, SlideError, type SlideErrorCode } from '../index.ts';

export interface RefusalCost {
  readonly path: string;
  /** The error; null for a file that can be rendered. */
  readonly code: SlideErrorCode | null;
  /** Elapsed time in milliseconds until the result; it depends on the load of the machine. */
  readonly elapsedMs: number;
  /** Processor time in milliseconds, a multiple of 10. */
  readonly processorMs: number;
  /** Peak memory while the file is read, minus the memory of the idle process. */
  readonly bytes: number;
}

/** Time limit of a job; a process that exceeds it is killed. */
const TIMEOUT_MS = 60_000;
/** Unit of processor times in /proc. Source: proc_pid_stat(5), USER_HZ. */
const TICK_MS = 10;

/**
 * Opens files one after the other in a single render process and returns the cost of each. If a file can be opened, its
 * thumbnail and the first tile of full resolution are rendered too.
 */
export async function* refusalCosts(paths: Iterable<string>): AsyncGenerator<RefusalCost> {
  const pool = new RenderPool({ processes: 1, queueLimit: 1, timeoutMs: TIMEOUT_MS });
  try {
    // The pool starts a process for its first job. This job has no files: it only starts the process.
    await pool.group({ path: '/' }, [], []);
    const [processId = 0] = pool.processIds;
    const idleBytes = await readMemoryBytes(processId, 'VmRSS');
    for (const path of paths) {
      // Writing 5 resets the peak memory. Source: proc_pid_clear_refs(5).
      await writeFile(`/proc/${processId}/clear_refs`, '5');
      const startMs = performance.now();
      const startProcessorMs = await readProcessorMs(processId);
      const code = await renderAndReturnError(pool, path);
      const elapsedMs = performance.now() - startMs;
      const processorMs = (await readProcessorMs(processId)) - startProcessorMs;
      yield {
        path,
        code,
        elapsedMs,
        processorMs,
        bytes: (await readMemoryBytes(processId, 'VmHWM')) - idleBytes,
      };
    }
  } finally {
    await pool.close();
  }
}

async function renderAndReturnError(pool: RenderPool, path: string): Promise<SlideErrorCode | null> {
  try {
    const { width, height } = await pool.inspect({ path });
    await pool.thumbnail({ path }, 256); // pixels of the longer side
    const dziLevel = Math.ceil(Math.log2(Math.max(width, height))); // the Deep Zoom level of full resolution
    await pool.tile({ path }, { dziLevel, column: 0, row: 0 });
    return null;
  } catch (error) {
    if (error instanceof SlideError) return error.code;
    throw error;
  }
}

/** Reads how much physical memory a process uses: now (`VmRSS`) or at its peak since the last reset (`VmHWM`). */
async function readMemoryBytes(processId: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  if (kilobytes === undefined) throw new Error(`The status of process ${processId} has no ${field}`);
  return Number(kilobytes) * 1024;
}

async function readProcessorMs(processId: number): Promise<number> {
  const stat = await readFile(`/proc/${processId}/stat`, 'latin1');
  // The process name in parentheses may contain spaces; user and system time are the 12th and 13th fields after it.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const userTicks = fields[11] ?? Number.NaN;
  const systemTicks = fields[12] ?? Number.NaN;
  return (userTicks + systemTicks) * TICK_MS;
}
