/** Jobs of one process: nothing is written down, since whoever asks for them asks again at the next start. */
import type { Logger } from 'pino';
import {
  type JobName,
  type JobPayload,
  type Jobs,
  jobKinds,
  jobNames,
  keyOfJob,
  NotYet,
  type Worker,
} from './jobs.ts';

interface Waiting {
  readonly payload: JobPayload;
  /** How often it has failed. */
  readonly failures: number;
}

/** One kind of work: what waits, and what is being done. */
interface Line {
  worker: Worker<JobName> | null;
  /** By key, in the order they were asked for. */
  readonly waiting: Map<string, Waiting>;
  /** Asked for, but not before their time. */
  readonly later: Map<string, NodeJS.Timeout>;
  underWay: string | null;
  /** Null when nobody works. */
  working: Promise<void> | null;
}

interface Ground {
  readonly log: Logger;
  readonly kinds?: typeof jobKinds;
}

export function createJobsInProcess({ log, kinds = jobKinds }: Ground): Jobs {
  const closing = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const lines = new Map<JobName, Line>();
  for (const name of jobNames) {
    lines.set(name, { worker: null, waiting: new Map(), later: new Map(), underWay: null, working: null });
  }
  const lineOf = (name: JobName): Line => lines.get(name) as Line;

  function put(name: JobName, key: string, job: Waiting): void {
    const line = lineOf(name);
    if (closing.signal.aborted || line.waiting.has(key)) return;
    if (line.underWay === key && kinds[name].whileDone === 'once') return;
    line.waiting.set(key, job);
    line.working ??= workOff(name, line).finally(() => {
      line.working = null;
    });
  }

  function putLater(name: JobName, key: string, job: Waiting, ms: number): void {
    const { later } = lineOf(name);
    if (closing.signal.aborted || later.has(key)) return;
    const timer = setTimeout(() => {
      later.delete(key);
      put(name, key, job);
    }, ms).unref();
    later.set(key, timer);
  }

  async function workOff(name: JobName, line: Line): Promise<void> {
    await Promise.resolve(); // whoever asks goes on first
    for (;;) {
      const [next] = line.waiting;
      if (next === undefined || closing.signal.aborted) return;
      const [key, job] = next;
      line.waiting.delete(key);
      line.underWay = key;
      try {
        await line.worker?.(job.payload, closing.signal);
      } catch (error) {
        afterFailure(name, key, job, error);
      } finally {
        line.underWay = null;
      }
    }
  }

  function afterFailure(name: JobName, key: string, { payload, failures }: Waiting, error: unknown): void {
    if (closing.signal.aborted) return;
    const { times, afterSeconds } = kinds[name].retry;
    const isLast = failures >= times;
    const level = isLast ? 'error' : error instanceof NotYet ? 'debug' : 'warn';
    log[level]({ err: error, job: name }, 'a job failed');
    if (!isLast) putLater(name, key, { payload, failures: failures + 1 }, afterSeconds * 1000);
  }

  return {
    on(name, worker) {
      lineOf(name).worker = worker as Worker<JobName>;
    },

    async ask(name, payloads, afterMs = 0) {
      for (const payload of [payloads].flat() as JobPayload[]) {
        const key = keyOfJob(name, payload as never);
        const job = { payload, failures: 0 };
        if (afterMs > 0) putLater(name, key, job, afterMs);
        else put(name, key, job);
      }
    },

    async start() {
      for (const name of jobNames) {
        const { byItself } = kinds[name];
        if (byItself === null) continue;
        const ask = () => put(name, '', { payload: byItself.payload, failures: 0 });
        if (byItself.atStart) ask();
        timers.push(setInterval(ask, byItself.everySeconds * 1000).unref());
      }
    },

    async idle(name) {
      for (const line = lineOf(name); line.working !== null; ) await line.working;
    },

    async close() {
      closing.abort();
      for (const timer of timers) clearInterval(timer);
      for (const { later } of lines.values()) for (const timer of later.values()) clearTimeout(timer);
      await Promise.all([...lines.values()].flatMap(({ working }) => working ?? []));
    },
  };
}
