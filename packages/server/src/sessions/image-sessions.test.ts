/**
 * Image sessions against a real database, with a clock that the tests advance and with several processes that share the database.
 */
import { randomUUID } from 'node:crypto';
import type { User } from '@lamina/contract';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../platform/config.ts';
import { hashSecret, newSecret } from '../platform/secrets.ts';
import { databaseKinds, openTestDatabase } from '../store/testing/test-database.ts';
import { deleteTokensOf, insertToken } from '../store/tokens.ts';
import { insertUser, updateUser } from '../store/users.ts';
import { createImageSessions, type ImageSessions } from './image-sessions.ts';
import type { ResolvedToken } from './sign-in-service.ts';

/** Returns an active account with the role `viewer`. */
function viewer(uid: string, createdAt: Date): User {
  const time = createdAt.toISOString();
  return {
    uid,
    email: `${uid}@example.org`,
    displayName: null,
    status: 'active',
    role: 'viewer',
    adminApproved: true,
    createdAt: time,
    updatedAt: time,
    approvalDate: time,
    expiresAt: null,
  };
}

const minute = 60_000;
const hour = 60 * minute;

describe.each(databaseKinds)('image sessions (credentials for tiles; database: %s)', (kind) => {
  /** Creates a database and a clock, shared by all server processes that the test starts with `startProcess`. */
  async function setUp({ ttlSeconds = 3600 } = {}) {
    const { db, close } = await openTestDatabase(kind);
    let clockMs = Date.UTC(2026, 4, 1, 9);
    const now = () => new Date(clockMs);
    const config = { ...readConfig({}, '/'), imageSessionTtlSeconds: ttlSeconds };
    const started: ImageSessions[] = [];
    onTestFinished(async () => {
      for (const sessions of started) await sessions.close();
      await close();
    });
    async function signIn({ user }: Pick<ResolvedToken, 'user'>): Promise<ResolvedToken> {
      const tokenHash = hashSecret(newSecret());
      await insertToken(db, {
        hash: tokenHash,
        uid: user.uid,
        created_at: now().toISOString(),
        last_used_at: now().toISOString(),
        expires_at: new Date(clockMs + 12 * hour).toISOString(),
        address: null,
        browser: null,
      });
      return { user, tokenHash, signedInAt: now() };
    }
    return {
      db,
      signIn,
      advance: (ms: number) => {
        clockMs += ms;
      },
      /** Simulates another server process: image sessions with a cache of their own. */
      async startProcess() {
        const sessions = await createImageSessions({ config, db, now, log: pino({ level: 'silent' }) });
        started.push(sessions);
        return sessions;
      },
      /** Creates an account and signs it in. */
      async createCaller(): Promise<ResolvedToken> {
        const user = viewer(randomUUID(), now());
        await insertUser(db, user);
        return signIn({ user });
      },
    };
  }

  const isAlive = async (sessions: ImageSessions, id: string) => (await sessions.resolve(id)) !== null;

  it('have a random id and belong to the account and the sign-in that created them', async () => {
    const { startProcess, createCaller } = await setUp();
    const sessions = await startProcess();
    const caller = await createCaller();
    const { sessionId, expiresInSeconds } = await sessions.create(caller);
    expect(sessionId).toMatch(/^[\w-]{43}$/);
    expect(expiresInSeconds).toBe(3600);
    expect(await sessions.resolve(sessionId)).toMatchObject({
      uid: caller.user.uid,
      tokenHash: caller.tokenHash,
    });
  });

  it('need no database query for the second request with them', async () => {
    const { startProcess, createCaller } = await setUp();
    const sessions = await startProcess();
    const { sessionId } = await sessions.create(await createCaller());
    await sessions.resolve(sessionId);
    expect(sessions.resolve(sessionId)).not.toBeInstanceOf(Promise);
  });

  it('are also valid in a server process that did not create them', async () => {
    const { startProcess, createCaller } = await setUp();
    const { sessionId } = await (await startProcess()).create(await createCaller());
    expect(await isAlive(await startProcess(), sessionId)).toBe(true);
  });

  it.each([
    ['one character too short', (id: string) => id.slice(1)],
    ['one character too long', (id: string) => `${id}A`],
    ['different in one character', (id: string) => (id.startsWith('A') ? 'B' : 'A') + id.slice(1)],
    ['not base64url in one character', (id: string) => `${id.slice(1)}=`],
    ['empty', () => ''],
    ['4 KiB long', () => 'A'.repeat(4096)],
  ])('are not found for an id that is %s', async (_, tamper) => {
    const { startProcess, createCaller } = await setUp();
    const sessions = await startProcess();
    const { sessionId } = await sessions.create(await createCaller());
    expect(await isAlive(sessions, tamper(sessionId))).toBe(false);
  });

  describe('an image session', () => {
    it('ends when its lifetime has passed, in the process that created it and in others', async () => {
      const { startProcess, createCaller, advance } = await setUp({ ttlSeconds: 60 });
      const sessions = await startProcess();
      const { sessionId } = await sessions.create(await createCaller());
      advance(59_999);
      expect(await isAlive(sessions, sessionId)).toBe(true);
      advance(1);
      expect(await isAlive(sessions, sessionId)).toBe(false);
      expect(await isAlive(await startProcess(), sessionId)).toBe(false);
    });

    it('ends no later than the sign-in that created it', async () => {
      const { startProcess, createCaller, advance } = await setUp({ ttlSeconds: 24 * 3600 });
      const sessions = await startProcess();
      const { sessionId, expiresInSeconds } = await sessions.create(await createCaller());
      expect(expiresInSeconds).toBe(12 * 3600);
      for (let used = 0; used < 12 * hour - 30 * minute; used += 30 * minute) {
        expect(await isAlive(sessions, sessionId)).toBe(true);
        advance(30 * minute);
      }
      advance(30 * minute);
      expect(await isAlive(sessions, sessionId)).toBe(false);
    });

    it('ends when neither an API call nor a tile request has used its sign-in for an hour', async () => {
      const { startProcess, createCaller, advance } = await setUp({ ttlSeconds: 24 * 3600 });
      const sessions = await startProcess();
      const { sessionId } = await sessions.create(await createCaller());
      advance(hour - 1);
      expect(await isAlive(sessions, sessionId)).toBe(true);
      advance(hour - 1);
      expect(await isAlive(sessions, sessionId)).toBe(true);
      advance(hour);
      expect(await isAlive(sessions, sessionId)).toBe(false);
    });

    it('ends when its owner revokes it, but not when another account tries to revoke it', async () => {
      const { startProcess, createCaller } = await setUp();
      const sessions = await startProcess();
      const [owner, stranger] = [await createCaller(), await createCaller()];
      const { sessionId } = await sessions.create(owner);
      await expect(sessions.revoke(stranger.user.uid, sessionId)).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await isAlive(sessions, sessionId)).toBe(true);
      await sessions.revoke(owner.user.uid, sessionId);
      expect(await isAlive(sessions, sessionId)).toBe(false);
      await expect(sessions.revoke(owner.user.uid, sessionId)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('ends when its account has created ten newer image sessions', async () => {
      const { startProcess, createCaller, advance } = await setUp();
      const sessions = await startProcess();
      const [caller, other] = [await createCaller(), await createCaller()];
      const untouched = await sessions.create(other);
      const ids: string[] = [];
      for (let i = 0; i < 11; i++) {
        ids.push((await sessions.create(caller)).sessionId);
        await sessions.resolve(ids[i] ?? '');
        advance(1);
      }
      expect(await Promise.all(ids.map((id) => isAlive(sessions, id)))).toEqual([
        false,
        ...Array.from({ length: 10 }, () => true),
      ]);
      expect(await isAlive(sessions, untouched.sessionId)).toBe(true);
      expect((await sessions.statsOf(caller.user.uid)).active_sessions).toBe(10);
    });

    it('ends with its sign-in: at once in the process that ends the sign-in, within a second in other processes', async () => {
      const { db, startProcess, createCaller, signIn, advance } = await setUp();
      const [endingProcess, otherProcess] = [await startProcess(), await startProcess()];
      const first = await createCaller();
      const second = await signIn(first);
      const ended = await endingProcess.create(first);
      const kept = await endingProcess.create(second);
      for (const { sessionId } of [ended, kept]) {
        expect(await isAlive(endingProcess, sessionId)).toBe(true);
        expect(await isAlive(otherProcess, sessionId)).toBe(true);
      }
      await deleteTokensOf(db, first.user.uid, second.tokenHash);
      endingProcess.evictEnded({ uid: first.user.uid, exceptTokenHash: second.tokenHash });
      expect(endingProcess.resolve(ended.sessionId)).toBeNull();
      expect(await isAlive(endingProcess, kept.sessionId)).toBe(true);
      advance(1001);
      expect(await isAlive(otherProcess, ended.sessionId)).toBe(false);
      expect(await isAlive(otherProcess, kept.sessionId)).toBe(true);
    });

    it('ends within a second of the deletion of its sign-in, although a process uses it continuously', async () => {
      const { db, startProcess, createCaller, advance } = await setUp();
      const sessions = await startProcess();
      const caller = await createCaller();
      const { sessionId } = await sessions.create(caller);
      await sessions.resolve(sessionId);
      await deleteTokensOf(db, caller.user.uid);
      let usedForMs = 0;
      while (await isAlive(sessions, sessionId)) {
        advance(100);
        usedForMs += 100;
        expect(usedForMs).toBeLessThanOrEqual(1000);
      }
    });

    it.each([
      ['status suspended', { status: 'suspended' }],
      ['status deactivated', { status: 'deactivated' }],
      ['role unassigned', { role: 'unassigned' }],
      ['unknown status "unheard-of"', { status: 'unheard-of' }],
      ['unknown role "unheard-of"', { role: 'unheard-of' }],
    ])(
      'ends within a second when another program writes the %s to its account in the database',
      async (_, fields) => {
        const { db, startProcess, createCaller, advance } = await setUp();
        const sessions = await startProcess();
        const caller = await createCaller();
        const { sessionId } = await sessions.create(caller);
        await sessions.resolve(sessionId);
        await updateUser(db, { ...caller.user, ...fields } as User);
        advance(1001);
        expect(await isAlive(sessions, sessionId)).toBe(false);
      },
    );

    it('stays ended after its account was suspended and reactivated', async () => {
      const { db, startProcess, createCaller, advance } = await setUp();
      const sessions = await startProcess();
      const caller = await createCaller();
      const { sessionId } = await sessions.create(caller);
      const setStatus = (status: User['status']) => updateUser(db, { ...caller.user, status });
      await sessions.resolve(sessionId);
      await setStatus('suspended');
      advance(1001);
      expect(await isAlive(sessions, sessionId)).toBe(false);
      await setStatus('active');
      advance(1001);
      expect(await isAlive(sessions, sessionId)).toBe(false);
    });
  });

  it('are not created for a sign-in that has ended since the access check of the request', async () => {
    const { db, startProcess, createCaller } = await setUp();
    const sessions = await startProcess();
    const caller = await createCaller();
    await deleteTokensOf(db, caller.user.uid);
    await expect(sessions.create(caller)).rejects.toMatchObject({ code: 'token_invalid' });
  });

  it('are revoked or not created when they are requested while all sign-ins of the account end', async () => {
    const { db, startProcess, createCaller } = await setUp();
    const sessions = await startProcess();
    for (let round = 0; round < 20; round++) {
      const caller = await createCaller();
      const creating = Array.from({ length: 5 }, () => sessions.create(caller));
      const using = creating.map(async (created) => {
        const { sessionId } = await created;
        await sessions.resolve(sessionId);
        return sessionId;
      });
      const [revoked, ...outcomes] = await Promise.allSettled([
        deleteTokensOf(db, caller.user.uid).then(() => sessions.evictEnded({ uid: caller.user.uid })),
        ...using,
      ]);
      expect(revoked.status).toBe('fulfilled');
      const outcomesOfSessions = await Promise.all(
        outcomes.map(async (outcome) => {
          if (outcome.status === 'fulfilled')
            return (await isAlive(sessions, outcome.value)) ? 'alive' : 'revoked';
          return (outcome.reason as { code: string }).code;
        }),
      );
      // token_invalid: the session was not created.
      for (const outcome of outcomesOfSessions) expect(['revoked', 'token_invalid']).toContain(outcome);
    }
  });

  describe('statistics of image sessions', () => {
    it('list the age, the remaining lifetime and the number of requests of each session, newest first', async () => {
      const { startProcess, createCaller, advance } = await setUp();
      const sessions = await startProcess();
      const [caller, other] = [await createCaller(), await createCaller()];
      await sessions.create(other);
      const first = await sessions.create(caller);
      advance(90_500);
      const second = await sessions.create(caller);
      for (let i = 0; i < 3; i++) await sessions.resolve(first.sessionId);
      expect(await sessions.statsOf(caller.user.uid)).toEqual({
        active_sessions: 2,
        sessions: [
          {
            session_id: second.sessionId.slice(0, 8),
            created_at: '2026-05-01T09:01:30.500Z',
            expires_in: 3600,
            age: 0,
            request_count: 0,
          },
          {
            session_id: first.sessionId.slice(0, 8),
            created_at: '2026-05-01T09:00:00.000Z',
            expires_in: 3509,
            age: 90,
            request_count: 3,
          },
        ],
      });
    });

    it('include the requests from before a restart of the server', async () => {
      const { startProcess, createCaller } = await setUp();
      const sessions = await startProcess();
      const caller = await createCaller();
      const { sessionId } = await sessions.create(caller);
      for (let i = 0; i < 7; i++) await sessions.resolve(sessionId);
      await sessions.close();
      const [session] = (await (await startProcess()).statsOf(caller.user.uid)).sessions;
      expect(session?.request_count).toBe(7);
    });
  });

  it('need no database query for a request within 10 s after the previous one, and one query for a later request', async () => {
    const { startProcess, createCaller, advance } = await setUp();
    const sessions = await startProcess();
    const [idleSession, busySession] = [
      await sessions.create(await createCaller()),
      await sessions.create(await createCaller()),
    ];
    const needsQuery = () => sessions.resolve(idleSession.sessionId) instanceof Promise;
    await sessions.resolve(idleSession.sessionId);
    /** Advances the clock while another session is in use, and waits for the queries that its requests start. */
    async function passTime(seconds: number): Promise<void> {
      for (let half = 0; half < 2 * seconds; half++) {
        advance(500);
        await sessions.resolve(busySession.sessionId);
        await sessions.resolve(newSecret()); // its query also includes the sessions in use
      }
    }
    await passTime(6); // less than 10 s after the last request
    expect(needsQuery()).toBe(false);
    await passTime(12);
    expect(needsQuery()).toBe(true);
  });

  it('have a request count that is the sum over three processes, which write it at the same time', async () => {
    const { startProcess, createCaller } = await setUp();
    const processes = [await startProcess(), await startProcess(), await startProcess()];
    const callers = await Promise.all(Array.from({ length: 12 }, createCaller));
    const created = await Promise.all(
      callers.map((caller) => (processes[0] as ImageSessions).create(caller)),
    );
    // One process uses the sessions in reverse order, because updates in different orders could deadlock.
    for (const [index, sessions] of processes.entries()) {
      const inOrderOfUse = index === 1 ? created.toReversed() : created;
      for (const { sessionId } of inOrderOfUse) await sessions.resolve(sessionId);
    }
    await Promise.all(processes.map((sessions) => sessions.close()));
    const after = await startProcess();
    for (const { user } of callers) {
      expect(await after.statsOf(user.uid)).toMatchObject({ sessions: [{ request_count: 3 }] });
    }
  });

  it('set the time of last use of their sign-in when they are used', async () => {
    const { db, startProcess, createCaller, advance } = await setUp();
    const sessions = await startProcess();
    const caller = await createCaller();
    const { sessionId } = await sessions.create(caller);
    advance(30 * minute);
    await sessions.resolve(sessionId);
    await sessions.close();
    const token = await db
      .selectFrom('tokens')
      .select('last_used_at')
      .where('hash', '=', caller.tokenHash)
      .executeTakeFirst();
    expect(token?.last_used_at).toBe('2026-05-01T09:30:00.000Z');
  });
});

describe('image sessions (credentials for tiles) while the database is unavailable', () => {
  it('stay valid for 30 s; then requests fail with the code unavailable, not with session_invalid', async () => {
    const { db, close } = await openTestDatabase('SQLite');
    let clockMs = Date.UTC(2026, 4, 1, 9);
    const sessions = await createImageSessions({
      config: readConfig({}, '/'),
      db,
      now: () => new Date(clockMs),
      log: pino({ level: 'silent' }),
    });
    const start = new Date(clockMs);
    const user = viewer('u', start);
    await insertUser(db, user);
    await insertToken(db, {
      hash: 't',
      uid: 'u',
      created_at: start.toISOString(),
      last_used_at: start.toISOString(),
      expires_at: new Date(clockMs + 12 * hour).toISOString(),
      address: null,
      browser: null,
    });
    const { sessionId } = await sessions.create({ user, tokenHash: 't', signedInAt: start });
    await sessions.resolve(sessionId);
    await close();

    clockMs += 20_000;
    expect(await sessions.resolve(sessionId)).toMatchObject({ uid: 'u' });
    await expect(sessions.resolve(newSecret())).rejects.toMatchObject({ code: 'unavailable' });
    clockMs += 20_000; // 40 s after the last query
    await expect(sessions.resolve(sessionId)).rejects.toMatchObject({ code: 'unavailable' });
    await sessions.close();
  });
});
