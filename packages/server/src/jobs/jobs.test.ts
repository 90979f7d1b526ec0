import { once } from 'node:events';
import net from 'node:net';
import pino from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { databaseKinds, openTestDatabase } from '../store/testing/test-database.ts';
import { type Jobs, jobKinds } from './jobs.ts';
import { createJobsInPostgres } from './jobs-in-postgres.ts';
import { createJobsInProcess } from './jobs-in-process.ts';

const log = pino({ level: 'silent' });
const patience = { timeout: 50_000, interval: 20 };
/** As they are, but for the pauses. */
const kinds = {
  ...jobKinds,
  'read-slide': { ...jobKinds['read-slide'], retry: { times: 2, afterSeconds: 1 } },
  sweep: { ...jobKinds.sweep, byItself: { everySeconds: 3600, payload: {}, atStart: true } },
};
const atStart = { atStart: true };
const slide = (imageId: string) => ({ imageId, again: false });

/** Jobs of so many processes that work together; in one process there is one. */
async function given(kind: (typeof databaseKinds)[number], processes = 1): Promise<Jobs[]> {
  const made: Jobs[] = [];
  onTestFinished(async () => {
    for (const jobs of made) await jobs.close();
  });
  if (kind === 'SQLite') {
    made.push(createJobsInProcess({ log, kinds }));
    return made;
  }
  const database = await openTestDatabase(kind);
  onTestFinished(() => database.close());
  const url = database.url ?? '';
  while (made.length < processes) made.push(await createJobsInPostgres({ url, log, kinds }));
  return made;
}

/** Work that waits until it is told to go on. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

describe.each(databaseKinds)('jobs, where the database is %s', (kind) => {
  it('are done once, however often they are asked for while they wait', async () => {
    const [jobs] = (await given(kind)) as [Jobs];
    const read: string[] = [];
    const hold = gate();
    jobs.on('read-slide', async ({ imageId }) => {
      await hold.passed;
      read.push(imageId);
    });
    await jobs.start();
    await jobs.ask('read-slide', [slide('a'), slide('b'), slide('a')]);
    await jobs.ask('read-slide', slide('b'));
    await jobs.ask('read-slide', slide('c'));
    hold.open();
    await jobs.idle('read-slide');
    expect(read.sort()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['once more afterwards', 'rescan', 2],
    ['no more', 'draw-demo-slides', 1],
  ] as const)('that are asked for while they are done are done %s: %s', async (_, name, times) => {
    const [jobs] = (await given(kind)) as [Jobs];
    const began = gate();
    const hold = gate();
    let done = 0;
    jobs.on(name, async () => {
      began.open();
      await hold.passed;
      done++;
    });
    await jobs.start();
    await jobs.ask(name, atStart);
    await began.passed;
    for (let asked = 0; asked < 3; asked++) await jobs.ask(name, atStart);
    hold.open();
    await jobs.idle(name);
    expect(done).toBe(times);
  });

  it('that fail are tried again, and given up in the end', async () => {
    const [jobs] = (await given(kind)) as [Jobs];
    const tried: string[] = [];
    jobs.on('read-slide', async ({ imageId }) => {
      tried.push(imageId);
      if (imageId === 'bad' || tried.length < 2) throw new Error('not today');
    });
    await jobs.start();
    await jobs.ask('read-slide', slide('good'));
    await jobs.ask('read-slide', slide('bad'));
    await vi.waitFor(() => expect(tried.toSorted()).toEqual(['bad', 'bad', 'bad', 'good', 'good']), patience);
    await jobs.idle('read-slide');
  });

  it('are not done before their time, and then once', async () => {
    const [jobs] = (await given(kind)) as [Jobs];
    const askedAt = Date.now();
    const doneAt: number[] = [];
    jobs.on('tell-who-waits', async () => void doneAt.push(Date.now()));
    await jobs.start();
    await jobs.ask('tell-who-waits', {}, 1500);
    await jobs.ask('tell-who-waits', {}, 3000);
    await vi.waitFor(() => expect(doneAt).toHaveLength(1), patience);
    expect(doneAt[0]).toBeGreaterThanOrEqual(askedAt + 1500);
  });

  it('are told to leave off when the process ends', async () => {
    const [jobs] = (await given(kind)) as [Jobs];
    const began = gate();
    let wasTold = false;
    jobs.on('rescan', async (_, signal) => {
      began.open();
      await once(signal, 'abort');
      wasTold = true;
    });
    await jobs.start();
    await jobs.ask('rescan', atStart);
    await began.passed;
    await jobs.close();
    expect(wasTold).toBe(true);
  });
});

const hasPostgres = databaseKinds.includes('PostgreSQL');

describe.skipIf(!hasPostgres)('jobs that processes share (needs TEST_DATABASE_URL)', () => {
  it('of a process that was cut off are done by another one', async () => {
    const database = await openTestDatabase('PostgreSQL');
    onTestFinished(() => database.close());
    const line = await lineTo(database.url ?? '');
    onTestFinished(line.close);
    const lost = await createJobsInPostgres({ url: line.url, log, kinds });
    onTestFinished(() => lost.close());
    const other = await createJobsInPostgres({ url: database.url ?? '', log, kinds });
    onTestFinished(() => other.close());
    const began = gate();
    const hold = gate();
    lost.on('read-slide', async () => {
      began.open();
      await hold.passed;
    });
    await lost.start();
    await lost.ask('read-slide', slide('a'));
    await began.passed;
    line.cut();

    const read: string[] = [];
    other.on('read-slide', async ({ imageId }) => void read.push(imageId));
    await other.start();
    await vi.waitFor(() => expect(read).toEqual(['a']), patience);
    hold.open();
  });

  it('are asked for by time once for all', async () => {
    const all = await given('PostgreSQL', 3);
    let done = 0;
    for (const jobs of all) jobs.on('sweep', async () => void done++);
    for (const jobs of all) await jobs.start();
    await vi.waitFor(() => expect(done).toBe(1), patience);
    for (const jobs of all) await jobs.idle('sweep');
    expect(done).toBe(1);
  });

  it('are spread over them, each done by one', async () => {
    const all = await given('PostgreSQL', 2);
    const read: { by: number; imageId: string }[] = [];
    all.forEach((jobs, by) => {
      jobs.on('read-slide', async ({ imageId }) => {
        read.push({ by, imageId });
        // Until the other one has had its turn.
        await vi.waitFor(() => expect(new Set(read.map((each) => each.by)).size).toBe(2), patience);
      });
    });
    for (const jobs of all) await jobs.start();
    const imageIds = Array.from({ length: 20 }, (_, place) => `slide ${place}`);
    await all[0]?.ask('read-slide', imageIds.map(slide));
    await all[0]?.idle('read-slide');
    expect(read.map(({ imageId }) => imageId).sort()).toEqual(imageIds.sort());
  });

  it('outlive a database that is away for a while, and so does whoever asks', async () => {
    const database = await openTestDatabase('PostgreSQL');
    onTestFinished(() => database.close());
    const line = await lineTo(database.url ?? '');
    onTestFinished(line.close);
    const jobs = await createJobsInPostgres({ url: line.url, log, kinds });
    onTestFinished(() => jobs.close());
    const read: string[] = [];
    jobs.on('read-slide', async ({ imageId }) => void read.push(imageId));
    await jobs.start();
    await jobs.ask('read-slide', slide('before'));
    await jobs.idle('read-slide');

    line.cut();
    const asking = jobs.ask('read-slide', slide('meanwhile'));
    await expect(jobs.idle('read-slide')).rejects.toThrow();
    line.mend();
    await asking;
    await jobs.idle('read-slide');
    expect(read).toEqual(['before', 'meanwhile']);
  });

  it('end although the database is away', async () => {
    const database = await openTestDatabase('PostgreSQL');
    onTestFinished(() => database.close());
    const line = await lineTo(database.url ?? '');
    onTestFinished(line.close);
    const jobs = await createJobsInPostgres({ url: line.url, log, kinds });
    jobs.on('read-slide', async () => {});
    await jobs.start();
    line.cut();
    const asking = jobs.ask('read-slide', slide('never'));
    await expect(jobs.close()).resolves.toBeUndefined();
    await expect(asking).resolves.toBeUndefined();
  });
});

/** A way to PostgreSQL that can be cut. */
async function lineTo(address: string) {
  const { hostname, port } = new URL(address);
  const sockets = new Set<net.Socket>();
  let isCut = false;
  const server = net.createServer((near) => {
    if (isCut) return void near.destroy();
    const far = net.connect(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
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
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut() {
      isCut = true;
      drop();
    },
    mend() {
      isCut = false;
    },
    close() {
      drop();
      server.close();
    },
  };
}
