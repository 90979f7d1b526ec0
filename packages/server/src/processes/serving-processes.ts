/**
 * The processes that answer requests, where one core is not enough: each the whole program over the same database,
 * behind one port. The process that starts them answers nobody; it reads the slide folders, and makes and keeps tiles
 * for all of them.
 */
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { MetricNow } from '../metrics/counted.ts';
import { createEndedMetrics } from '../metrics/metrics-page.ts';
import { answerCalls, type Caller, type CallTable, createCaller } from '../slides/process-calls.ts';

/** What each of them answers the one that started it. */
export interface ServingCalls extends CallTable {
  readonly metrics: (signal: AbortSignal) => Promise<readonly MetricNow[]>;
}

export interface ServingProcesses {
  /** The port they all listen at. */
  readonly port: number;
  /** What each has counted, and what those that have ended had. */
  metrics(): Promise<readonly (readonly MetricNow[])[]>;
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
/** Of one that does not answer in time, what it answered last counts. */
const metricsWithinMs = 1000;

interface Serving {
  readonly caller: Caller<ServingCalls>;
  lastMetrics: readonly MetricNow[];
}

/** @returns null when the first of them ended before it listened; it has said why by itself */
export async function startServing({ count, calls, log }: Plan): Promise<ServingProcesses | null> {
  cluster.setupPrimary({ serialization: 'advanced' });
  const serving = new Map<Worker, Serving>();
  const ended = createEndedMetrics();
  const stopping = new AbortController();

  function start(): Worker {
    const worker = cluster.fork();
    const served: Serving = { caller: createCaller<ServingCalls>(worker), lastMetrics: [] };
    serving.set(worker, served);
    worker.once('exit', () => {
      serving.delete(worker);
      ended.add(served.lastMetrics);
    });
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
    async metrics() {
      await Promise.all([...serving.values()].map(askForMetrics));
      return [ended.now(), ...[...serving.values()].map(({ lastMetrics }) => lastMetrics)];
    },
    async stop() {
      stopping.abort();
      const ends = [...serving.keys()].map(endOf);
      for (const worker of serving.keys()) worker.process.kill('SIGTERM');
      await Promise.all(ends);
    },
  };
}

async function askForMetrics(served: Serving): Promise<void> {
  try {
    served.lastMetrics = await served.caller.call('metrics', [], AbortSignal.timeout(metricsWithinMs));
  } catch {
    // It is about to end, or too busy to answer.
  }
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
