import { once } from 'node:events';
import net from 'node:net';
import pino from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { databaseKinds, openTestDatabase } from '../store/testing/test-database.ts';
import { type Jobs, jobKinds } from './jobs.ts';
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
const atStart = { atStart: true };
const slide = (imageId: string) => ({ imageId, again: false });

/** Opens the job queue for a number of processes that share it; a queue in memory has only one. */
async function openQueues(kind: (typeof databaseKinds)[number], processes = 1): Promise<Jobs[]> {
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
  while (queues.length < processes) queues.push(await createJobsInPostgres({ url, log, kinds }));
  return queues;
}

/** Returns a promise that resolves when `open` is called, with which a test holds a worker back. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

describe.each(databaseKinds)('job queue on %s', (kind) => {
  it('runs a job once when it is enqueued again before it starts', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const read: string[] = [];
    const hold = gate();
    jobs.setWorker('read-slide', async ({ imageId }) => {
      await hold.opened;
      read.push(imageId);
    });
    await jobs.start();
    await jobs.enqueue('read-slide', [slide('a'), slide('b'), slide('a')]);
    await jobs.enqueue('read-slide', slide('b'));
    await jobs.enqueue('read-slide', slide('c'));
    hold.open();
    await jobs.idle('read-slide');
    expect(read.sort()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['rescan', 2],
    ['draw-demo-slides', 1],
  ] as const)(
    'runs the job %s %i time(s) in total when it is enqueued three times while it runs',
    async (name, times) => {
      const [jobs] = (await openQueues(kind)) as [Jobs];
      const began = gate();
      const hold = gate();
      let done = 0;
      jobs.setWorker(name, async () => {
        began.open();
        await hold.opened;
        done++;
      });
      await jobs.start();
      await jobs.enqueue(name, atStart);
      await began.opened;
      for (let count = 0; count < 3; count++) await jobs.enqueue(name, atStart);
      hold.open();
      await jobs.idle(name);
      expect(done).toBe(times);
    },
  );

  it('retries a failed job until it succeeds or its retries are used up', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const attempted: string[] = [];
    jobs.setWorker('read-slide', async ({ imageId }) => {
      attempted.push(imageId);
      if (imageId === 'bad' || attempted.length < 2) throw new Error('not today');
    });
    await jobs.start();
    await jobs.enqueue('read-slide', slide('good'));
    await jobs.enqueue('read-slide', slide('bad'));
    await vi.waitFor(
      () => expect(attempted.toSorted()).toEqual(['bad', 'bad', 'bad', 'good', 'good']),
      waitOptions,
    );
    await jobs.idle('read-slide');
  });

  /** Longer than a turn of the event loop, from whose start Node counts the delay of a timer. */
  const turnMs = 100;

  it('starts a delayed job once, and not before its delay has passed', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const enqueuedAt = Date.now();
    const doneAt: number[] = [];
    jobs.setWorker('tell-who-waits', async () => void doneAt.push(Date.now()));
    await jobs.start();
    await jobs.enqueue('tell-who-waits', {}, 1500);
    await jobs.enqueue('tell-who-waits', {}, 3000);
    await vi.waitFor(() => expect(doneAt).toHaveLength(1), waitOptions);
    expect(doneAt[0]).toBeGreaterThanOrEqual(enqueuedAt + 1500 - turnMs);
  });

  it('aborts the signal of running jobs when the queue is closed', async () => {
    const [jobs] = (await openQueues(kind)) as [Jobs];
    const began = gate();
    let wasAborted = false;
    jobs.setWorker('rescan', async (_, signal) => {
      began.open();
      await once(signal, 'abort');
      wasAborted = true;
    });
    await jobs.start();
    await jobs.enqueue('rescan', atStart);
    await began.opened;
    await jobs.close();
    expect(wasAborted).toBe(true);
  });
});

const hasPostgres = databaseKinds.includes('PostgreSQL');

describe.skipIf(!hasPostgres)(
  'job queue in PostgreSQL shared by several processes (needs TEST_DATABASE_URL)',
  () => {
    it('runs a job in another process when the first one has lost its connection', async () => {
      const database = await openTestDatabase('PostgreSQL');
      onTestFinished(() => database.close());
      const proxy = await startProxy(database.url ?? '');
      onTestFinished(proxy.close);
      const cutOff = await createJobsInPostgres({ url: proxy.url, log, kinds });
      onTestFinished(() => cutOff.close());
      const other = await createJobsInPostgres({ url: database.url ?? '', log, kinds });
      onTestFinished(() => other.close());
      const began = gate();
      const hold = gate();
      cutOff.setWorker('read-slide', async () => {
        began.open();
        await hold.opened;
      });
      await cutOff.start();
      await cutOff.enqueue('read-slide', slide('a'));
      await began.opened;
      proxy.cut();

      const read: string[] = [];
      other.setWorker('read-slide', async ({ imageId }) => void read.push(imageId));
      await other.start();
      await vi.waitFor(() => expect(read).toEqual(['a']), waitOptions);
      hold.open();
    });

    it('runs a scheduled job once in all processes together', async () => {
      const all = await openQueues('PostgreSQL', 3);
      let done = 0;
      for (const jobs of all) jobs.setWorker('sweep', async () => void done++);
      for (const jobs of all) await jobs.start();
      await vi.waitFor(() => expect(done).toBe(1), waitOptions);
      for (const jobs of all) await jobs.idle('sweep');
      expect(done).toBe(1);
    });

    it('distributes jobs among the processes and runs each job once', async () => {
      const all = await openQueues('PostgreSQL', 2);
      const read: { processIndex: number; imageId: string }[] = [];
      all.forEach((jobs, processIndex) => {
        jobs.setWorker('read-slide', async ({ imageId }) => {
          read.push({ processIndex, imageId });
          // Waits until the other process has run a job too.
          await vi.waitFor(
            () => expect(new Set(read.map((job) => job.processIndex)).size).toBe(2),
            waitOptions,
          );
        });
      });
      for (const jobs of all) await jobs.start();
      const imageIds = Array.from({ length: 20 }, (_, i) => `slide ${i}`);
      await all[0]?.enqueue('read-slide', imageIds.map(slide));
      await all[0]?.idle('read-slide');
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

    it('can be closed while the database is unavailable', async () => {
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
async function startProxy(address: string) {
  const { hostname, port } = new URL(address);
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
  const url = new URL(address);
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
