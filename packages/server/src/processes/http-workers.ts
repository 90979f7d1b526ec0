/**
 * Runs several HTTP worker processes behind one port, for machines with several cores. All use the same database. The primary
 * process, which starts them, answers no requests; it scans the slide folders, and renders and caches tiles for the HTTP workers.
 */
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createEndedProcessMetrics } from '../metrics/metrics-page.ts';
import type { MetricNow } from '../metrics/prometheus-types.ts';
import { answerCalls, type Caller, type CallTable, createCaller } from '../tiles/process-calls.ts';
import { pathInCall } from '../tiles/remote-tile-client.ts';

/** Functions of an HTTP worker process that the primary process calls. */
export interface HttpWorkerCalls extends CallTable {
  readonly metrics: (signal: AbortSignal) => Promise<readonly MetricNow[]>;
}

export interface HttpWorkers {
  /** The port on which all HTTP worker processes listen. */
  readonly port: number;
  /** Returns the metrics of each HTTP worker process, and the sums of the counters of those that have exited. */
  metrics(): Promise<readonly (readonly MetricNow[])[]>;
  /** Sends SIGTERM to all HTTP worker processes and waits until they have exited. */
  stop(): Promise<void>;
}

interface HttpWorkersOptions {
  readonly count: number;
  /** Functions of this process that HTTP worker processes call. */
  readonly calls: CallTable;
  readonly log: Logger;
}

/** Delay before the first restart of a process. Each restart doubles the delay before the next one, up to `longestDelayMs`. */
const firstDelayMs = 200;
const longestDelayMs = 30_000;
/** After a process has run for this time, the delay is `firstDelayMs` again. */
const stableAfterMs = 10_000;
/** If a process does not return its metrics within this time, the primary process uses the last ones that it knows. */
const metricsTimeoutMs = 1000;

const startFailureMessage =
  'HTTP worker process could not be started; the primary process tries again, but exits if it is the first one';

/** State of a running HTTP worker process, which the primary process keeps. */
interface HttpWorkerState {
  readonly caller: Caller<HttpWorkerCalls>; // calls functions of the process
  /** The metrics that the process has returned last; empty before the first read. */
  lastMetrics: readonly MetricNow[];
}

/** Starts the HTTP worker processes. @returns null when the first one logged an error and exited before it listened */
export async function startHttpWorkers({
  count,
  calls,
  log,
}: HttpWorkersOptions): Promise<HttpWorkers | null> {
  cluster.setupPrimary({ serialization: 'advanced' }); // structured clone instead of JSON
  const states = new Map<Worker, HttpWorkerState>();
  const exitedMetrics = createEndedProcessMetrics();
  const stopping = new AbortController();

  /** Starts a process. @returns null when the system could not create one, for example for lack of memory */
  function start(): Worker | null {
    let worker: Worker;
    try {
      worker = cluster.fork();
    } catch (error) {
      log.error({ err: error }, startFailureMessage);
      return null;
    }
    // Without a listener, this event would end the primary process, and with it all others.
    worker.on('error', (error) => {
      const isStartFailure = worker.process.pid === undefined;
      log.error(
        { err: error, workerPid: worker.process.pid },
        isStartFailure ? startFailureMessage : 'HTTP worker process could not be controlled',
      );
    });
    const state: HttpWorkerState = { caller: createCaller<HttpWorkerCalls>(worker), lastMetrics: [] };
    states.set(worker, state);
    void exitOf(worker).then(() => {
      states.delete(worker);
      exitedMetrics.add(state.lastMetrics);
    });
    answerCalls(worker, calls, (error, { name, args }) =>
      log.error(
        { err: error, call: name, slidePath: pathInCall(args) },
        'internal call (field `call`) from an HTTP worker process to the primary process failed; the HTTP request that caused it gets an error response',
      ),
    );
    return worker;
  }

  /** Restarts a process whenever it exits, until the program stops. */
  async function superviseWorker(first: Worker | null): Promise<void> {
    let worker = first;
    let delayMs = firstDelayMs;
    for (;;) {
      const startedAt = performance.now();
      const { code, signal } = worker === null ? notStarted : await exitOf(worker);
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > stableAfterMs) delayMs = firstDelayMs;
      log.error(
        { workerPid: worker?.process.pid, code, signal, delayMs },
        'HTTP worker process exited unexpectedly; the primary process restarts it in `delayMs` milliseconds',
      );
      await wait(delayMs);
      if (stopping.signal.aborted) return;
      delayMs = Math.min(delayMs * 2, longestDelayMs);
      worker = start();
    }
  }

  // The first process starts alone, to find out whether the port is free.
  const first = start();
  const port = first && (await listeningPortOf(first));
  if (port === null) return null;
  const startedWorkers = [first, ...Array.from({ length: count - 1 }, start)];
  for (const worker of startedWorkers) void superviseWorker(worker);

  return {
    port,
    async metrics() {
      await Promise.all([...states.values()].map(readMetrics));
      return [exitedMetrics.now(), ...[...states.values()].map(({ lastMetrics }) => lastMetrics)];
    },
    async stop() {
      stopping.abort();
      const exits = [...states.keys()].map(exitOf);
      for (const worker of states.keys()) worker.process.kill('SIGTERM');
      await Promise.all(exits);
    },
  };
}

async function readMetrics(state: HttpWorkerState): Promise<void> {
  try {
    state.lastMetrics = await state.caller.call('metrics', [], AbortSignal.timeout(metricsTimeoutMs));
  } catch {
    // The process is exiting or too busy to answer, so its last known metrics stay.
  }
}

/** How a process exited: exit code or signal; both null when it could not be started. */
interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

const notStarted: Exit = { code: null, signal: null };

function exitOf(worker: Worker): Promise<Exit> {
  return new Promise((resolve) => {
    if (worker.isDead()) resolve({ code: worker.process.exitCode, signal: worker.process.signalCode });
    worker.once('exit', (code, signal) => resolve({ code, signal }));
    // A process that could not be started emits no `exit`.
    worker.on('error', () => {
      if (worker.process.pid === undefined) resolve(notStarted);
    });
  });
}

/** Returns the port as soon as the process listens; null when the process exits first. */
function listeningPortOf(worker: Worker): Promise<number | null> {
  return new Promise((resolve) => {
    worker.once('listening', ({ port }) => resolve(port));
    void exitOf(worker).then(() => resolve(null));
  });
}
