/** Tests a server whose PostgreSQL stops, hangs, has no free connection or loses its connections while users view slides (REL-5). */
import {
  createImageSession,
  type Endpoint,
  endpoints,
  errors,
  getProfile,
  listImages,
  signIn,
  signOut,
} from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase, runLockedTransaction } from '../../store/database.ts';
import { expectedStatuses } from '../../testing/permission-matrix.ts';
import { type PostgresServer, startPostgresServer } from '../../testing/postgres-server.ts';
import { type SlideServer, slideServer } from '../../testing/slide-server.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { wellFormedRequests } from '../../testing/well-formed-requests.ts';
import { type RequestPixels, startPixelClient } from '../../testing/wire.ts';

/** Null when PostgreSQL is not installed; all tests are skipped then. */
const found = await startPostgresServer(['max_connections=20']);
afterAll(() => found?.stop());
const postgres = found as PostgresServer;
const waitOptions = { timeout: 50_000, interval: 50 };
const unavailable = { status: 503, code: 'unavailable', retryAfter: '2' };
const svs = await buildSvs({ width: 480, height: 400, tileSize: 128, downsamples: [1, 4] });

interface Viewing extends SlideServer {
  readonly db: SlideServer['services']['db'];
  readonly user: TestUser;
  readonly token: string;
  readonly imageId: string;
  readonly session: string;
  readonly ask: RequestPixels;
  /** Addresses of native and rendered tiles, the descriptor and the thumbnail of the slide. */
  readonly addresses: readonly string[];
}

/** Starts a server with a slide and an own database, and opens an image session. */
async function startViewing(): Promise<Viewing> {
  const url = await postgres.newDatabase();
  const db = await openDatabase({ url, file: null });
  const database = { db, close: () => db.destroy() };
  const server = await slideServer({ hasOwnRenderPool: true, database, config: { logLevel: 'info' } });
  await server.put('Tissue/a.svs', svs);
  await server.rescan();
  const imageId = await server.idOf('a.svs');
  const user = await server.fixtures.user();
  const token = await server.fixtures.token(user);
  const session = await server.sessionOf(token);
  const ask = await startPixelClient(server);
  const addresses = ['image.dzi', 'thumbnail.jpg', 'image_files/9/1_1.jpg', 'image_files/8/0_0.jpg'].map(
    (name) => `${imageId}/${name}`,
  );
  for (const address of addresses) expect(await ask(address, session)).toMatchObject({ status: 200 });
  return { ...server, db, user, token, imageId, session, ask, addresses };
}

const statusOf = async ({ as, token }: Viewing) => (await as(token).call(getProfile)).status;
const untilItWorks = (server: Viewing) =>
  vi.waitFor(async () => expect(await statusOf(server)).toBe(200), waitOptions);

/** Returns the number of connections to the database, without the connection of this query. */
async function connectionsOf({ db }: Viewing): Promise<number> {
  const [row] = await postgres.ask<{ count: number }>(
    'select count(*) from pg_stat_activity where datname = $1',
    [await nameOf(db)],
  );
  return Number(row?.count);
}

async function nameOf(db: Viewing['db']): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  return rows[0]?.name ?? '';
}

/** Opens connections until PostgreSQL accepts no more. */
async function fillUp(): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    try {
      taken.push(await postgres.connect());
    } catch (error) {
      expect(error).toMatchObject({ code: '53300' });
      return taken;
    }
  }
}

describe.skipIf(found === null)(
  `a server whose PostgreSQL database fails${found === null ? ' (skipped: this machine has no PostgreSQL)' : ''}`,
  () => {
    it('returns descriptor, thumbnail and tiles of open slides for 30 s after a crash of PostgreSQL, then 503', async () => {
      const server = await startViewing();
      const { ask, session, addresses, clock } = server;
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      await postgres.crash();
      try {
        for (const seconds of [0, 10, 19]) {
          clock.advance(seconds * 1000);
          vi.advanceTimersByTime(seconds * 1000);
          for (const address of addresses) {
            expect([seconds, address, (await ask(address, session)).status]).toEqual([seconds, address, 200]);
          }
        }
        clock.advance(2000);
        vi.advanceTimersByTime(2000);
        for (const address of addresses) expect(await ask(address, session)).toMatchObject(unavailable);
        vi.useRealTimers();
      } finally {
        await postgres.restart();
      }
      await untilItWorks(server);
      for (const address of addresses) expect(await ask(address, session)).toMatchObject({ status: 200 });
      expect(await connectionsOf(server)).toBeLessThanOrEqual(10);
    });

    it('writes the image-opened audit event for a tile sent during the outage when PostgreSQL is available again', async () => {
      const server = await startViewing();
      const { ask, user, token, imageId, db } = server;
      const session = await server.sessionOf(token);
      await server.put('Tissue/b.svs', svs);
      await server.rescan();
      const other = await server.idOf('b.svs');
      // Everything a tile needs is cached, but this session has shown no pixel.
      await ask(`${other}/image_files/9/1_1.jpg`, server.session);
      expect((await ask(`${imageId}/image_files/99/0_0.jpg`, session)).status).toBe(404);
      await postgres.crash();
      try {
        for (const tile of ['9/1_1', '9/1_1', '9/0_0']) {
          expect((await ask(`${other}/image_files/${tile}.jpg`, session)).status).toBe(200);
        }
        expect(server.logged()).toContain('audit event of an image opening delayed: database unavailable');
      } finally {
        await postgres.restart();
      }
      const entries = () =>
        db
          .selectFrom('audit')
          .select('actor_uid')
          .where('action', '=', 'image-opened')
          .where('target', '=', other)
          .execute();
      await vi.waitFor(async () => expect(await entries()).toHaveLength(2), waitOptions);
      expect(await entries()).toEqual([{ actor_uid: user.uid }, { actor_uid: user.uid }]);
    });

    it('returns 503 with the same message from every endpoint during the outage, and ends no sign-in', async () => {
      const server = await startViewing();
      const { caller, requestFor } = wellFormedRequests(() => server);
      const who = await caller('admin');
      const calls = [];
      for (const name of Object.keys(expectedStatuses))
        calls.push([name, await requestFor(name, who, false)] as const);
      await postgres.crash();
      const responses: Record<string, unknown> = {};
      const expected: Record<string, unknown> = {};
      try {
        for (const [name, { url, payload, query, headers }] of calls) {
          const { method, defaultMessageLanguage } = endpoints[name] as Endpoint;
          const answer = await server.as(who.token).inject({
            method,
            url,
            ...(payload && { payload }),
            ...(query && { query }),
            ...(headers && { headers }),
          });
          const { code, message } = answer.body as { code: string; message: string };
          responses[name] = [answer.status, code, message, answer.headers['retry-after']];
          expected[name] = [503, 'unavailable', errors.unavailable[defaultMessageLanguage], '2'];
        }
      } finally {
        await postgres.restart();
      }
      expect(responses).toEqual(expected);
      await vi.waitFor(
        async () => expect((await server.as(who.token).call(getProfile)).status).toBe(200),
        waitOptions,
      );
    });

    it('returns cached tiles, and 503 to other requests, while PostgreSQL hangs', async () => {
      const server = await startViewing();
      const { as, user, token, ask, session, addresses, app } = server;
      const { email, password } = user;
      await postgres.pause();
      try {
        expect(await as(null).call(signIn, { body: { email, password } })).toMatchObject({
          status: 503,
          body: { code: 'unavailable' },
        });
        expect(await as(token).call(listImages)).toMatchObject({
          status: 503,
          body: { code: 'unavailable' },
        });
        for (const address of addresses) expect(await ask(address, session)).toMatchObject({ status: 200 });
        expect((await app.inject({ url: '/health/ready' })).statusCode).toBe(503);
        expect((await app.inject({ url: '/health/live' })).statusCode).toBe(200);
      } finally {
        postgres.resume();
      }
      await untilItWorks(server);
      await vi.waitFor(
        async () => expect((await app.inject({ url: '/health/ready' })).statusCode).toBe(200),
        waitOptions,
      );
      expect(await connectionsOf(server)).toBeLessThanOrEqual(10);
    });

    it('returns no error except 503 while all its database connections are cut, and answers all requests afterwards', async () => {
      const server = await startViewing();
      const { as, token, db, ask, session, addresses } = server;
      // The new sessions of this account end its oldest ones, so another account has the session of the tiles.
      const otherToken = await server.fixtures.token(await server.fixtures.user());
      const name = await nameOf(db);
      const cut = () =>
        postgres.ask('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);

      // First the connections are cut during an idle transaction.
      const begun = Promise.withResolvers<void>();
      const isCut = Promise.withResolvers<void>();
      const changing = runLockedTransaction(db, 'accounts', async (tx) => {
        begun.resolve();
        await isCut.promise;
        await tx.selectFrom('locks').select('name').execute();
      }).catch((error: unknown) => error);
      await begun.promise;
      await cut();
      isCut.resolve();
      expect(await changing).toMatchObject({ name: 'AppError', code: 'unavailable' });

      // Then they are cut during queries.
      const statuses = new Set<number>();
      for (let round = 0; round < 5; round++) {
        server.clock.advance(60_000); // an account may create 30 sessions a minute
        const calls = Array.from({ length: 20 }, async (_, i) => {
          const calling = i % 2 === 0 ? as(token).call(getProfile) : as(otherToken).call(createImageSession);
          statuses.add((await calling).status);
        });
        await Promise.all([...calls, cut()]);
      }
      expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);

      await untilItWorks(server);
      for (const address of addresses) expect(await ask(address, session)).toMatchObject({ status: 200 });
      expect(await connectionsOf(server)).toBeLessThanOrEqual(10);
    });

    it('returns cached tiles, and 503 for a sign-out, while PostgreSQL accepts no connection, and answers all requests afterwards', async () => {
      const server = await startViewing();
      const { as, token, db, ask, session, addresses } = server;
      const last = await postgres.connect();
      const name = await nameOf(db);
      await last.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
      const taken = [last, ...(await fillUp())];
      onTestFinished(async () => {
        for (const client of taken) await client.end();
      });

      for (const address of addresses) expect(await ask(address, session)).toMatchObject({ status: 200 });
      expect(await as(token).call(signOut)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      for (const client of taken.splice(0)) await client.end();
      await untilItWorks(server);
    });
  },
);
