/**
 * Jobs that several processes share, kept by pg-boss in a schema of its own in the database: each is done by one of
 * them, and by another one when that dies. A database that is away for a while loses none and ends nobody.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Job, PgBoss, type QueuePolicy } from 'pg-boss';
import type { Logger } from 'pino';
import { openPatientPostgresPool, openPostgresPool, type WatchedPool } from '../store/postgres-pool.ts';
import {
  type JobKind,
  type JobName,
  type JobPayload,
  type Jobs,
  jobKinds,
  jobNames,
  keyOfJob,
  NotYet,
  type Worker,
} from './jobs.ts';

const schema = 'jobs';
/** Beside the connections of the process; work itself uses those. */
const maxConnections = 3;
const lookEverySeconds = 1;
/** A process that has not been heard of for so long is dead, and what it was doing is given to another one. */
const heartbeatSeconds = 10;
const superviseEverySeconds = 5;
const askAgainAfterMs = 2000;
const toldOfOutageEveryMs = 30_000;
const endWithinMs = 8000;
/** With a database that does not answer there is no end in order. */
const giveUpAfterMs = endWithinMs + 2000;
/** Jobs that are written down in one statement. */
const atOnce = 500;

const policies: Readonly<Record<JobKind['whileDone'], QueuePolicy>> = { once: 'exclusive', again: 'stately' };

interface Ground {
  /** postgres://… */
  readonly url: string;
  readonly log: Logger;
  readonly kinds?: typeof jobKinds;
}

/** @throws when PostgreSQL cannot be reached */
export async function createJobsInPostgres({ url, log, kinds = jobKinds }: Ground): Promise<Jobs> {
  const closing = new AbortController();
  const workers = new Map<JobName, Worker<JobName>>();
  const timers: NodeJS.Timeout[] = [];
  let toldAt = Number.NEGATIVE_INFINITY;

  /** While the database is away every look for work fails. */
  function tell(error: unknown): void {
    if (closing.signal.aborted || performance.now() - toldAt < toldOfOutageEveryMs) return;
    toldAt = performance.now();
    log.warn({ err: error }, 'the queue of jobs cannot be reached');
  }

  const db = createConnections(url);
  const boss = new PgBoss({
    db,
    schema,
    schedule: false,
    superviseIntervalSeconds: superviseEverySeconds,
    monitorIntervalSeconds: superviseEverySeconds,
  });
  boss.on('error', tell);
  boss.on('warning', ({ message }) => log.warn({ warning: message }, 'the queue of jobs warns'));
  try {
    await boss.start();
    for (const name of jobNames) {
      const { policy, ...settings } = settingsOf(kinds[name]);
      await boss.createQueue(name, { policy, ...settings });
      await boss.updateQueue(name, settings); // one that an earlier version has made
    }
    await db.waitForNobody();
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => {});
    await db.end();
    throw error;
  }

  /** Again and again while the database is away. */
  async function keep(write: () => Promise<unknown>): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await write();
        return;
      } catch (error) {
        tell(error);
        await wait(askAgainAfterMs, undefined, { ref: false, signal: closing.signal }).catch(() => {});
      }
    }
  }

  async function write(
    name: JobName,
    payloads: readonly JobPayload[],
    startAfter: Date | null,
  ): Promise<void> {
    const jobs = payloads.map((data) => ({
      data,
      singletonKey: keyOfJob(name, data as never),
      ...(startAfter !== null && { startAfter }),
    }));
    await boss.insert(name, jobs);
  }

  /** Once in so many seconds, whichever process asks first. */
  function askByItself(name: JobName, { everySeconds, payload }: NonNullable<JobKind['byItself']>): void {
    boss.send(name, payload, { singletonSeconds: everySeconds }).catch(tell);
  }

  async function doIt(name: JobName, { data, signal }: Job<JobPayload>): Promise<void> {
    try {
      await workers.get(name)?.(data, AbortSignal.any([signal, closing.signal]));
    } catch (error) {
      const level = error instanceof NotYet || closing.signal.aborted ? 'debug' : 'warn';
      log[level]({ err: error, job: name }, 'a job failed');
      throw error;
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    for (const timer of timers) clearInterval(timer);
    const stopped = boss.stop({ graceful: true, timeout: endWithinMs }).catch(() => {});
    await Promise.race([stopped, wait(giveUpAfterMs, undefined, { ref: false })]);
    await db.end();
  }
  let closed: Promise<void> | null = null;

  return {
    on(name, worker) {
      workers.set(name, worker as Worker<JobName>);
    },

    async ask(name, payloads, afterMs = 0) {
      const all = [payloads].flat() as JobPayload[];
      const startAfter = afterMs > 0 ? new Date(Date.now() + afterMs) : null;
      for (let from = 0; from < all.length; from += atOnce) {
        await keep(() => write(name, all.slice(from, from + atOnce), startAfter));
      }
    },

    async start() {
      for (const name of workers.keys()) {
        const id = await boss.work<JobPayload>(
          name,
          { pollingIntervalSeconds: lookEverySeconds },
          async ([job]) => {
            if (job === undefined) return;
            boss.notifyWorker(id); // the next one at once, without the pause of whoever found nothing
            await doIt(name, job);
          },
        );
      }
      for (const name of jobNames) {
        const { byItself } = kinds[name];
        if (byItself === null) continue;
        if (byItself.atStart) askByItself(name, byItself);
        timers.push(setInterval(() => askByItself(name, byItself), byItself.everySeconds * 1000).unref());
      }
    },

    async idle(name) {
      while (!closing.signal.aborted && (await isAnythingLeft(boss, name))) await wait(100);
    },

    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** Patient while the tables are made, for another process may be making them; later nobody waits for a database that is gone. */
function createConnections(url: string) {
  const patient = openPatientPostgresPool(url);
  let watched: WatchedPool | null = null;
  return {
    async executeSql(text: string, values: unknown[] = []) {
      if (watched === null) return patient.query(text, values);
      const client = await watched.connect();
      try {
        // As it comes: of several statements in one text pg-boss wants all answers.
        return await client.query<unknown>(text, values);
      } finally {
        client.release();
      }
    },
    async waitForNobody() {
      watched = openPostgresPool(url, maxConnections);
      await patient.end();
    },
    async end() {
      await (watched ?? patient).end();
    },
  };
}

async function isAnythingLeft(boss: PgBoss, name: JobName): Promise<boolean> {
  const { rows } = await boss
    .getDb()
    .executeSql(`select 1 from ${schema}.job where name = $1 and state < 'completed' limit 1`, [name]);
  return rows.length > 0;
}

function settingsOf({ whileDone, retry, longestSeconds, byItself }: JobKind) {
  return {
    policy: policies[whileDone],
    retryLimit: retry.times,
    retryDelay: retry.afterSeconds,
    expireInSeconds: longestSeconds,
    heartbeatSeconds,
    // What was done stays as long as it keeps others from asking for the same by themselves.
    deleteAfterSeconds: 2 * Math.max(3600, byItself?.everySeconds ?? 0),
  };
}
