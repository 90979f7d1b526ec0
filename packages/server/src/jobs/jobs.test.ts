import { once } from 'node:events';
import net from 'node:net';
import pino from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { everyDatabaseKind, openTestDatabase } from '../store/testing/test-database.ts';
import { type JobPayloads, type Jobs, jobKinds, nextRunOf } from './jobs.ts';
import { createJobsInPostgres } from './jobs-in-postgres.ts';
import { createJobsInProcess } from './jobs-in-process.ts';

const log = pino({ level: 'silent' });
const waitOptions = { timeout: 50_000, interval: 20 };
/** The real kinds of jobs, with fewer retries, shorter pauses and a longer interval. */
const kinds = {
  ...jobKinds,
  'read-slide': { ...jobKinds['read-slide'], retry: { times: 2, afterSeconds: 1 } },
  sweep: { ...jobKinds.sweep, schedule: { everySeconds: 3600, payload: {}, atStart: true } },
};
const rescanAtStart = { atStart: true };
/** Returns the payload of a job `read-slide`. */
const slide = (imageId: string) => ({ imageId, again: false });

/** Opens the job queue for several processes that share it; the queue of SQLite, in memory, belongs to one process. */
async function openQueues(kind: (typeof everyDatabaseKind)[number], processCount = 1): Promise<Jobs[]> {
  const queues: Jobs[] = [];
  onTestFinished(async () => {
    for (const jobs of queues) await jobs.close();
  });
  if (kind === 'SQLite') {
    queues.push(createJobsInProcess({ log, kinds }));
    return queues;
  }
  const database = await openTestDatabase(kind);
  onTestFinished(() => database.close());
  const url = database.url ?? '';
  while (queues.length < processCount) queues.push(await createJobsInPostgres({ url, log, kinds }));
  return queues;
}

/** Returns a promise `opened` that resolves when `open` is called. A worker waits for it until the test lets it continue. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

describe.each(everyDatabaseKind)('job queue (database: %s)', (kind) => {
  it('runs a job once when it is enqueued again before it starts', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const read: string[] = [];
    const workerGate = gate();
    jobs.setWorker('read-slide', async ({ imageId }) => {
      await workerGate.opened;
      read.push(imageId);
    });
    await jobs.start();
    await jobs.enqueue('read-slide', [slide('a'), slide('b'), slide('a')]);
    await jobs.enqueue('read-slide', slide('b'));
    await jobs.enqueue('read-slide', slide('c'));
    workerGate.open();
    await jobs.idle('read-slide');
    expect(read.sort()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['rescan', 2], // `whenRunning` is `again`
    ['draw-demo-slides', 1], // `whenRunning` is `once`
  ] as const)(
    'runs the job "%s" %i time(s) in total when it is enqueued three more times while it runs',
    async (name, expectedRuns) => {
      const [jobs] = (await openQueues(kind)) as [Jobs];
      const jobStarted = gate();
      const workerGate = gate();
      let runs = 0;
      jobs.setWorker(name, async () => {
        jobStarted.open();
        await workerGate.opened;
        runs++;
      });
      await jobs.start();
      await jobs.enqueue(name, rescanAtStart);
      await jobStarted.opened;
      for (let count = 0; count < 3; count++) await jobs.enqueue(name, rescanAtStart);
      workerGate.open();
      await jobs.idle(name);
      expect(runs).toBe(expectedRuns);
    },
  );

  it('combines several waiting scans into one scan with atStart: true when one of them has atStart: true', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const firstStarted = gate();
    const workerGate = gate();
    const scans: JobPayloads['rescan'][] = [];
    jobs.setWorker('rescan', async (payload) => {
      scans.push(payload);
      firstStarted.open();
      await workerGate.opened;
    });
    await jobs.start();
    await jobs.enqueue('rescan', { atStart: false });
    await firstStarted.opened;
    for (const atStart of [false, true, false]) await jobs.enqueue('rescan', { atStart });
    workerGate.open();
    await jobs.idle('rescan');
    expect(scans).toEqual([{ atStart: false }, { atStart: true }]);
  });

  it('retries a failed job until it succeeds or its retries are used up', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const attempted: string[] = [];
    jobs.setWorker('read-slide', async ({ imageId }) => {
      attempted.push(imageId);
      if (imageId === 'bad' || attempted.length < 2) throw new Error('failed attempt');
    });
    await jobs.start();
    await jobs.enqueue('read-slide', slide('good'));
    await jobs.enqueue('read-slide', slide('bad'));
    // `good` succeeds at its second attempt; `bad` fails at the first attempt and at both retries.
    await vi.waitFor(
      () => expect(attempted.toSorted()).toEqual(['bad', 'bad', 'bad', 'good', 'good']),
      waitOptions,
    );
    await jobs.idle('read-slide');
  });

  /** Node counts the delay of a timer from the start of the current turn of the event loop, which takes less time than this. */
  const timerToleranceMs = 100;

  it('starts a delayed job once, and not before its delay has passed', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const enqueuedAt = Date.now();
    const doneAt: number[] = [];
    jobs.setWorker('tell-who-waits', async () => void doneAt.push(Date.now()));
    await jobs.start();
    await jobs.enqueue('tell-who-waits', {}, 1500);
    await jobs.enqueue('tell-who-waits', {}, 3000);
    await vi.waitFor(() => expect(doneAt).toHaveLength(1), waitOptions);
    expect(doneAt[0]).toBeGreaterThanOrEqual(enqueuedAt + 1500 - timerToleranceMs);
  });

  it('starts a delayed job at once, and only once, when a job with the same key is enqueued without a delay', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const doneAt: number[] = [];
    jobs.setWorker('tell-who-waits', async () => void doneAt.push(Date.now()));
    await jobs.start();
    await jobs.enqueue('tell-who-waits', {}, 4000);
    await jobs.enqueue('tell-who-waits', {});
    await vi.waitFor(() => expect(doneAt).toHaveLength(1), { timeout: 3500, interval: 20 });
    const enqueuedAgainAt = Date.now();
    await jobs.enqueue('tell-who-waits', {}, 6000); // without effect if the first delayed job still waited
    await vi.waitFor(() => expect(doneAt).toHaveLength(2), waitOptions);
    expect(doneAt[1]).toBeGreaterThanOrEqual(enqueuedAgainAt + 6000 - timerToleranceMs);
  });

  it('starts a job of the kind "once" that waits one minute for a retry at once when it is enqueued again', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const secondRun = gate();
    let runs = 0;
    jobs.setWorker('prune-audit', async () => {
      runs++;
      if (runs === 1) throw new Error('failed attempt');
      await secondRun.opened;
    });
    await jobs.start(); // enqueues the scheduled job
    await vi.waitFor(() => expect(runs).toBe(1), waitOptions);
    await vi.waitFor(async () => {
      await jobs.enqueue('prune-audit', {}); // dropped until the queue has recorded the failure
      expect(runs).toBe(2);
    }, waitOptions);
    secondRun.open();
    await jobs.idle('prune-audit');
    expect(runs).toBe(2);
  });

  it('aborts the signal of running jobs when the queue is closed', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const jobStarted = gate();
    let wasAborted = false;
    jobs.setWorker('rescan', async (_, signal) => {
      jobStarted.open();
      await once(signal, 'abort');
      wasAborted = true;
    });
    await jobs.start();
    await jobs.enqueue('rescan', rescanAtStart);
    await jobStarted.opened;
    await jobs.close();
    expect(wasAborted).toBe(true);
  });
});

const hasPostgres = everyDatabaseKind.includes('PostgreSQL');

describe.skipIf(!hasPostgres)(
  'job queue in PostgreSQL shared by several processes (needs TEST_DATABASE_URL)',
  () => {
    it('runs a job in another process when the process that ran it has lost its connection', async () => {
      const database = await openTestDatabase('PostgreSQL');
      onTestFinished(() => database.close());
      const proxy = await startProxy(database.url ?? '');
      onTestFinished(proxy.close);
      const cutOffQueue = await createJobsInPostgres({ url: proxy.url, log, kinds });
      onTestFinished(() => cutOffQueue.close());
      const otherQueue = await createJobsInPostgres({ url: database.url ?? '', log, kinds });
      onTestFinished(() => otherQueue.close());
      const jobStarted = gate();
      const workerGate = gate();
      cutOffQueue.setWorker('read-slide', async () => {
        jobStarted.open();
        await workerGate.opened;
      });
      await cutOffQueue.start();
      await cutOffQueue.enqueue('read-slide', slide('a'));
      await jobStarted.opened;
      proxy.cut();

      const read: string[] = [];
      otherQueue.setWorker('read-slide', async ({ imageId }) => void read.push(imageId));
      await otherQueue.start();
      await vi.waitFor(() => expect(read).toEqual(['a']), waitOptions);
      workerGate.open();
    });

    it('runs a scheduled job in only one of three processes', async () => {
      const queues = await openQueues('PostgreSQL', 3);
      let runs = 0;
      for (const jobs of queues) jobs.setWorker('sweep', async () => void runs++);
      for (const jobs of queues) await jobs.start();
      await vi.waitFor(() => expect(runs).toBe(1), waitOptions);
      for (const jobs of queues) await jobs.idle('sweep');
      expect(runs).toBe(1);
    });

    it('distributes jobs over all processes, and runs each job in only one of them', async () => {
      const queues = await openQueues('PostgreSQL', 2);
      const read: { processIndex: number; imageId: string }[] = [];
      queues.forEach((jobs, processIndex) => {
        jobs.setWorker('read-slide', async ({ imageId }) => {
          read.push({ processIndex, imageId });
          // Waits until the other process has run a job too.
          await vi.waitFor(
            () => expect(new Set(read.map((job) => job.processIndex)).size).toBe(2),
            waitOptions,
          );
        });
      });
      for (const jobs of queues) await jobs.start();
      const imageIds = Array.from({ length: 20 }, (_, i) => `slide ${i}`);
      await queues[0]?.enqueue('read-slide', imageIds.map(slide));
      await queues[0]?.idle('read-slide');
      expect(read.map(({ imageId }) => imageId).sort()).toEqual(imageIds.sort());
    });

    it('runs a job that was enqueued while the database was unavailable', async () => {
      const database = await openTestDatabase('PostgreSQL');
      onTestFinished(() => database.close());
      const proxy = await startProxy(database.url ?? '');
      onTestFinished(proxy.close);
      const jobs = await createJobsInPostgres({ url: proxy.url, log, kinds });
      onTestFinished(() => jobs.close());
      const read: string[] = [];
      jobs.setWorker('read-slide', async ({ imageId }) => void read.push(imageId));
      await jobs.start();
      await jobs.enqueue('read-slide', slide('before'));
      await jobs.idle('read-slide');

      proxy.cut();
      const enqueuing = jobs.enqueue('read-slide', slide('meanwhile'));
      await expect(jobs.idle('read-slide')).rejects.toThrow();
      proxy.restore();
      await enqueuing;
      await jobs.idle('read-slide');
      expect(read).toEqual(['before', 'meanwhile']);
    });

    it('closes without an error while the database is unavailable', async () => {
      const database = await openTestDatabase('PostgreSQL');
      onTestFinished(() => database.close());
      const proxy = await startProxy(database.url ?? '');
      onTestFinished(proxy.close);
      const jobs = await createJobsInPostgres({ url: proxy.url, log, kinds });
      jobs.setWorker('read-slide', async () => {});
      await jobs.start();
      proxy.cut();
      const enqueuing = jobs.enqueue('read-slide', slide('never'));
      await expect(jobs.close()).resolves.toBeUndefined();
      await expect(enqueuing).resolves.toBeUndefined();
    });
  },
);

/** Starts a proxy to PostgreSQL that can cut all its connections and reject new ones. */
async function startProxy(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  let isCut = false;
  const server = net.createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = net.connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  const destroySockets = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut() {
      isCut = true;
      destroySockets();
    },
    restore() {
      isCut = false;
    },
    close() {
      destroySockets();
      server.close();
    },
  };
}

describe('job queue in memory', () => {
  it('runs a job again when it is enqueued 0 to 8 microtasks after the end of its first run', async () => {
    for (let microtasks = 0; microtasks <= 8; microtasks += 1) {
      const [jobs] = (await openQueues('SQLite')) as [Jobs];
      const firstRun = gate();
      let runs = 0;
      jobs.setWorker('rescan', async () => {
        runs += 1;
        if (runs === 1) await firstRun.opened;
      });
      await jobs.enqueue('rescan', rescanAtStart);
      await vi.waitFor(() => expect(runs).toBe(1), waitOptions);
      const enqueued = firstRun.opened.then(async () => {
        for (let i = 0; i < microtasks; i += 1) await Promise.resolve();
        await jobs.enqueue('rescan', rescanAtStart);
      });
      firstRun.open();
      await enqueued;
      await jobs.idle('rescan');
      expect([microtasks, runs]).toEqual([microtasks, 2]);
    }
  });
});

describe('job queue in memory with a failed job', () => {
  it('runs a job of the kind "once" one more time when it is enqueued again before its retry', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const [jobs] = (await openQueues('SQLite')) as [Jobs];
    let runs = 0;
    jobs.setWorker('prune-audit', async () => {
      runs++;
      if (runs === 1) throw new Error('failed attempt');
    });
    for (const _ of ['first attempt', 'enqueued again']) {
      await jobs.enqueue('prune-audit', {});
      await jobs.idle('prune-audit');
    }
    await vi.advanceTimersByTimeAsync(60_000); // the pause before the retry
    await jobs.idle('prune-audit');
    expect(runs).toBe(2);
  });
});

describe('nextRunOf (when a failed job is tried again)', () => {
  it.each([
    ['rescan', 'next scheduled job "rescan", within 10 minutes'],
    ['import-result', 'next scheduled job "sweep", within 10 minutes'],
    ['prune-audit', 'next scheduled job "prune-audit", within 24 hours'],
    ['rescan-bucket', 'next scheduled job "rescan-bucket"'],
    ['draw-demo-slides', 'next start of the server'],
  ] as const)('returns for the job "%s" the text: %s', (name, text) => {
    expect(nextRunOf(name, jobKinds)).toBe(text);
  });

  it('returns the interval of another schedule when the settings change it', () => {
    const schedule = { everySeconds: 90, payload: { atStart: false }, atStart: false };
    const changed = { ...jobKinds, 'rescan-bucket': { ...jobKinds['rescan-bucket'], schedule } };
    expect(nextRunOf('rescan-bucket', changed)).toBe('next scheduled job "rescan-bucket", within 90 seconds');
  });
});
