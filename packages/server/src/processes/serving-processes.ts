/**
 * The processes that answer requests, where one core is not enough: each the whole program over the same database,
 * behind one port. The process that starts them answers nobody; it reads the slide folders, and makes and keeps tiles
 * for all of them.
 */
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { answerCalls, type CallTable } from '../slides/process-calls.ts';

export interface ServingProcesses {
  /** The port they all listen at. */
  readonly port: number;
  /** Tells them to end, and waits until they have. */
  stop(): Promise<void>;
}

interface Plan {
  readonly count: number;
  /** What this process answers for them. */
  readonly calls: CallTable;
  readonly log: Logger;
}

/** One that dies sooner than this after its start is started again later and later. */
const livedLongMs = 10_000;
const firstDelayMs = 200;
const longestDelayMs = 30_000;

/** @returns null when the first of them ended before it listened; it has said why by itself */
export async function startServing({ count, calls, log }: Plan): Promise<ServingProcesses | null> {
  cluster.setupPrimary({ serialization: 'advanced' });
  const serving = new Set<Worker>();
  const stopping = new AbortController();

  function start(): Worker {
    const worker = cluster.fork();
    serving.add(worker);
    worker.once('exit', () => serving.delete(worker));
    answerCalls(worker, calls, (error) => log.error({ err: error }, 'a serving process was not answered'));
    return worker;
  }

  /** Whenever it ends, starts another one in its place. */
  async function keepAlive(first: Worker): Promise<void> {
    let worker = first;
    let delayMs = firstDelayMs;
    for (;;) {
      const startedAt = performance.now();
      const { code, signal } = await endOf(worker);
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > livedLongMs) delayMs = firstDelayMs;
      log.error({ code, signal, delayMs }, 'a serving process ended; another one is started');
      await wait(delayMs);
      if (stopping.signal.aborted) return;
      delayMs = Math.min(delayMs * 2, longestDelayMs);
      worker = start();
    }
  }

  // The first one shows whether the port can be had; the others follow.
  const first = start();
  const port = await listeningPortOf(first);
  if (port === null) return null;
  const workers = [first, ...Array.from({ length: count - 1 }, start)];
  for (const worker of workers) void keepAlive(worker);

  return {
    port,
    async stop() {
      stopping.abort();
      const ends = [...serving].map(endOf);
      for (const worker of serving) worker.process.kill('SIGTERM');
      await Promise.all(ends);
    },
  };
}

function endOf(worker: Worker): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => {
    if (worker.isDead()) resolve({ code: worker.process.exitCode, signal: worker.process.signalCode });
    else worker.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** @returns null when it ended before it listened */
function listeningPortOf(worker: Worker): Promise<number | null> {
  return new Promise((resolve) => {
    worker.once('listening', ({ port }) => resolve(port));
    worker.once('exit', () => resolve(null));
  });
}
