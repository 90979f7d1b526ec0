/** Concurrent changes end in a valid state: one succeeds, the other gets an error. permissions.md section 5. */
import {
  approveUser,
  createImageSession,
  deactivateUser,
  deleteAccount,
  getProfile,
  promoteUser,
  suspendUser,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { acquireLock, runLockedTransaction } from '../store/database.ts';
import { preventSessionDeletion } from '../store/image-openings.ts';
import { recordSessionUse } from '../store/image-sessions.ts';
import { limitLockWait, waitForBlockedQuery } from '../store/testing/blocked-query.ts';
import { everyDatabaseKind } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

const rounds = 200;

describe.each(everyDatabaseKind)('concurrent changes at two server processes (database: %s)', (database) => {
  /** Starts two servers with the same database, which share no memory, like two processes. */
  async function twoServers() {
    const server = await testServer({ database });
    return { ...server, other: await server.another() };
  }

  const statusOf = async ({ services }: TestServer, { uid }: TestUser) =>
    (await services.db.selectFrom('users').select('status').where('uid', '=', uid).executeTakeFirst())
      ?.status ?? 'gone';
  const activeAdmins = async ({ services }: TestServer) =>
    (
      await services.db
        .selectFrom('users')
        .select('uid')
        .where('role', '=', 'admin')
        .where('status', '=', 'active')
        .execute()
    ).length;

  const update = ({ services }: TestServer, { uid }: TestUser, fields: object) =>
    services.db.updateTable('users').set(fields).where('uid', '=', uid).execute();

  it(`two administrators who suspend each other at the same time leave one of them active, in each of ${rounds} attempts`, {
    timeout: 120_000,
  }, async () => {
    const servers = await twoServers();
    const { fixtures, as, other } = servers;
    const [one, two] = [await fixtures.admin(), await fixtures.admin()];
    const tokens = [await fixtures.token(one), await fixtures.token(two)];
    for (let round = 0; round < rounds; round++) {
      const both = [
        as(tokens[0] ?? null).call(suspendUser, { params: { uid: two.uid } }),
        other.as(tokens[1] ?? null).call(suspendUser, { params: { uid: one.uid } }),
      ];
      const answers = (await Promise.all(both)).map(({ status }) => status);
      expect(answers.filter((status) => status === 200)).toHaveLength(1);
      // The other call gets last_admin, or its token is already invalid.
      expect(answers.filter((status) => status === 409 || status === 401)).toHaveLength(1);
      const statuses = [await statusOf(servers, one), await statusOf(servers, two)];
      expect([...statuses].sort()).toEqual(['active', 'suspended']);
      const loser = statuses.indexOf('suspended');
      const suspended = loser === 0 ? one : two;
      await update(servers, suspended, { status: 'active' });
      servers.clock.advance(20_000); // an account may sign in 60 times in 15 minutes
      tokens[loser] = await fixtures.token(suspended);
    }
  });

  it('one of the last two active administrators stays active when both delete themselves and suspend or deactivate each other at once', async () => {
    const servers = await twoServers();
    const { fixtures, as, other } = servers;
    for (let round = 0; round < 20; round++) {
      const [one, two] = [await fixtures.admin(), await fixtures.admin()];
      const [first, second] = [await fixtures.token(one), await fixtures.token(two)];
      await Promise.all([
        as(first).call(deleteAccount),
        other.as(second).call(deleteAccount),
        as(first).call(deactivateUser, { params: { uid: two.uid } }),
        other.as(second).call(suspendUser, { params: { uid: one.uid } }),
      ]);
      expect(await activeAdmins(servers)).toBe(1);
      for (const admin of [one, two]) await update(servers, admin, { role: 'user' });
    }
  });

  it('a simultaneous approval and suspension of an account leave the status of the change that the audit log records last', async () => {
    const servers = await twoServers();
    const { fixtures, as, other, services } = servers;
    const [one, two] = [
      await fixtures.token(await fixtures.admin()),
      await fixtures.token(await fixtures.admin()),
    ];
    for (let round = 0; round < 40; round++) {
      const user = await fixtures.user({ status: 'pending' });
      const token = await fixtures.token(user);
      const params = { uid: user.uid };
      const [approved, suspended] = await Promise.all([
        as(one).call(approveUser, { params }),
        other.as(two).call(suspendUser, { params }),
      ]);
      expect(suspended.status).toBe(200);
      const events = await services.db
        .selectFrom('audit')
        .select('action')
        .where('target', '=', user.uid)
        .where('action', 'in', ['approved', 'suspended'])
        .where('result', '=', 'done')
        .orderBy('seq')
        .execute();
      expect(approved.status).toBe(200); // both a pending and a suspended account can be approved
      expect(events).toHaveLength(2);
      expect(await statusOf(servers, user)).toBe(
        events.at(-1)?.action === 'approved' ? 'active' : 'suspended',
      );
      expect((await as(token).call(getProfile)).status).toBe(401);
    }
  });

  it('a simultaneous promotion and suspension of an account leave it suspended', async () => {
    const servers = await twoServers();
    const { fixtures, as, other, services } = servers;
    const [one, two] = [
      await fixtures.token(await fixtures.admin()),
      await fixtures.token(await fixtures.admin()),
    ];
    for (let round = 0; round < 40; round++) {
      const user = await fixtures.user();
      const params = { uid: user.uid };
      const [promoted, suspended] = await Promise.all([
        as(one).call(promoteUser, { params }),
        other.as(two).call(suspendUser, { params }),
      ]);
      expect(suspended.status).toBe(200);
      expect([200, 409]).toContain(promoted.status);
      const { status, role } = await services.db
        .selectFrom('users')
        .select(['status', 'role'])
        .where('uid', '=', user.uid)
        .executeTakeFirstOrThrow();
      expect([status, role]).toEqual(['suspended', promoted.status === 200 ? 'admin' : 'user']);
    }
  });

  it('image sessions (credentials for tiles) that are created during a suspension are revoked', async () => {
    const servers = await twoServers();
    const { fixtures, as, other, services } = servers;
    const admin = as(await fixtures.token(await fixtures.admin()));
    for (let round = 0; round < 40; round++) {
      const user = await fixtures.user();
      const token = await fixtures.token(user);
      const [suspended, ...created] = await Promise.all([
        admin.call(suspendUser, { params: { uid: user.uid } }),
        ...[as, other.as, as, other.as].map((each) => each(token).call(createImageSession)),
      ]);
      expect(suspended.status).toBe(200);
      for (const { status } of created) expect([201, 401]).toContain(status);
      const remaining = await services.db.selectFrom('image_sessions').select('hash').execute();
      expect(remaining).toEqual([]);
    }
  });

  it('a suspension deletes the token of a simultaneous sign-in only if the sign-in came first', async () => {
    const servers = await twoServers();
    const { fixtures, as, services } = servers;
    const admin = as(await fixtures.token(await fixtures.admin()));
    for (let round = 0; round < 20; round++) {
      const user = await fixtures.user();
      await Promise.all([
        fixtures.token(user),
        admin.call(suspendUser, { params: { uid: user.uid } }),
        fixtures.token(user),
      ]);
      const events = await services.db
        .selectFrom('audit')
        .select('action')
        .where('target', '=', user.uid)
        .where('action', 'in', ['sign-in', 'suspended'])
        .orderBy('seq')
        .execute();
      const signInsAfter = events.slice(events.findIndex(({ action }) => action === 'suspended') + 1);
      const tokens = await services.db
        .selectFrom('tokens')
        .select('hash')
        .where('uid', '=', user.uid)
        .execute();
      expect(tokens).toHaveLength(signInsAfter.length);
    }
  });

  /** Creates an image session of an active account, and an administrator. */
  async function createSession(server: TestServer) {
    const { fixtures, as, services } = server;
    const admin = as(await fixtures.token(await fixtures.admin()));
    const user = await fixtures.user();
    await as(await fixtures.token(user)).call(createImageSession);
    const { hash, token_hash } = await services.db
      .selectFrom('image_sessions')
      .select(['hash', 'token_hash'])
      .executeTakeFirstOrThrow();
    return { db: services.db, admin, user, sessionHash: hash, tokenHash: token_hash ?? '' };
  }

  it('saving the request count of an image session succeeds without a deadlock while the sign-in of the session is deleted', async () => {
    const server = await testServer({ database });
    const { db, sessionHash, tokenHash } = await createSession(server);
    let saved: Promise<void> | undefined;
    await db.transaction().execute(async (tx) => {
      // The deletion locks the token, and then the image session.
      await tx.updateTable('tokens').set({ browser: null }).where('hash', '=', tokenHash).execute();
      saved = recordSessionUse(db, {
        requests: new Map([[sessionHash, 3]]),
        tokensUsedAt: new Map([[tokenHash, server.clock.now()]]),
      });
      if (database === 'PostgreSQL') await waitForBlockedQuery(db); // on SQLite it waits for the only connection
      await tx.deleteFrom('tokens').where('hash', '=', tokenHash).execute();
    });
    await expect(saved).resolves.toBeUndefined();
  });

  it('a suspension succeeds without a deadlock while the server writes the audit event for a slide that the account opens', async () => {
    const server = await testServer({ database });
    const { db, admin, user, sessionHash } = await createSession(server);
    let suspended: Promise<{ readonly status: number }> | undefined;
    // As the audit log of opened images does: first the image session, then the lock `audit`.
    await db.transaction().execute(async (tx) => {
      await preventSessionDeletion(tx, [sessionHash]);
      suspended = admin.call(suspendUser, { params: { uid: user.uid } });
      if (database === 'PostgreSQL') {
        await waitForBlockedQuery(db);
        await limitLockWait(tx);
      }
      await acquireLock(tx, 'audit');
    });
    expect((await suspended)?.status).toBe(200);
    expect(await statusOf(server, user)).toBe('suspended');
  });

  it('runLockedTransaction commits although another transaction takes the same locks in reverse order (PostgreSQL: after a deadlock)', async () => {
    const { services } = await testServer({ database });
    const { db } = services;
    let repeated: Promise<string> | undefined;
    await db.transaction().execute(async (tx) => {
      await acquireLock(tx, 'uploads');
      repeated = runLockedTransaction(db, 'accounts', async (lockedTx) => {
        await acquireLock(lockedTx, 'uploads');
        return 'committed';
      });
      if (database === 'PostgreSQL') await waitForBlockedQuery(db);
      await acquireLock(tx, 'accounts'); // the other transaction has waited longer, so PostgreSQL aborts that one
    });
    await expect(repeated).resolves.toBe('committed');
  });
});
