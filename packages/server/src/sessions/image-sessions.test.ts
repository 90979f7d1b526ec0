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

function viewer(uid: string, at: Date): User {
  const time = at.toISOString();
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

describe.each(databaseKinds)('image sessions on %s', (kind) => {
  /** Creates a database and a clock, shared by all processes that the test starts with `process`. */
  async function setUp({ ttlSeconds = 3600 } = {}) {
    const { db, close } = await openTestDatabase(kind);
    let at = Date.UTC(2026, 4, 1, 9);
    const now = () => new Date(at);
    const config = { ...readConfig({}, '/'), imageSessionTtlSeconds: ttlSeconds };
    const processes: ImageSessions[] = [];
    onTestFinished(async () => {
      for (const sessions of processes) await sessions.close();
      await close();
    });
    async function signIn({ user }: Pick<ResolvedToken, 'user'>): Promise<ResolvedToken> {
      const tokenHash = hashSecret(newSecret());
      await insertToken(db, {
        hash: tokenHash,
        uid: user.uid,
        created_at: now().toISOString(),
        last_used_at: now().toISOString(),
        expires_at: new Date(at + 12 * hour).toISOString(),
        address: null,
        browser: null,
      });
      return { user, tokenHash, signedInAt: now() };
    }
    return {
      db,
      signIn,
      advance: (ms: number) => {
        at += ms;
      },
      async process() {
        const sessions = await createImageSessions({ config, db, now, log: pino({ level: 'silent' }) });
        processes.push(sessions);
        return sessions;
      },
      async account(): Promise<ResolvedToken> {
        const user = viewer(randomUUID(), now());
        await insertUser(db, user);
        return signIn({ user });
      },
    };
  }

  const isAlive = async (sessions: ImageSessions, id: string) => (await sessions.resolve(id)) !== null;

  it('give access to pixels to the account that created them, and have random ids', async () => {
    const { process, account } = await setUp();
    const sessions = await process();
    const caller = await account();
    const { sessionId, expiresInSeconds } = await sessions.create(caller);
    expect(sessionId).toMatch(/^[\w-]{43}$/);
    expect(expiresInSeconds).toBe(3600);
    expect(await sessions.resolve(sessionId)).toMatchObject({
      uid: caller.user.uid,
      tokenHash: caller.tokenHash,
    });
  });

  it('are read from memory from the second request on', async () => {
    const { process, account } = await setUp();
    const sessions = await process();
    const { sessionId } = await sessions.create(await account());
    await sessions.resolve(sessionId);
    expect(sessions.resolve(sessionId)).not.toBeInstanceOf(Promise);
  });

  it('are valid in every process and after a restart', async () => {
    const { process, account } = await setUp();
    const { sessionId } = await (await process()).create(await account());
    expect(await isAlive(await process(), sessionId)).toBe(true);
  });

  it.each([
    ['too short', (id: string) => id.slice(1)],
    ['too long', (id: string) => `${id}A`],
    ['different in one character', (id: string) => (id.startsWith('A') ? 'B' : 'A') + id.slice(1)],
    ['not base64url in one character', (id: string) => `${id.slice(1)}=`],
    ['empty', () => ''],
    ['4 KiB long', () => 'A'.repeat(4096)],
  ])('do not exist for an id that is %s', async (_, tamper) => {
    const { process, account } = await setUp();
    const sessions = await process();
    const { sessionId } = await sessions.create(await account());
    expect(await isAlive(sessions, tamper(sessionId))).toBe(false);
  });

  describe('expire or are revoked', () => {
    it('when their lifetime has passed, in memory and in the database', async () => {
      const { process, account, advance } = await setUp({ ttlSeconds: 60 });
      const sessions = await process();
      const { sessionId } = await sessions.create(await account());
      advance(59_999);
      expect(await isAlive(sessions, sessionId)).toBe(true);
      advance(1);
      expect(await isAlive(sessions, sessionId)).toBe(false);
      expect(await isAlive(await process(), sessionId)).toBe(false);
    });

    it('at the latest when the sign-in that created them expires', async () => {
      const { process, account, advance } = await setUp({ ttlSeconds: 24 * 3600 });
      const sessions = await process();
      const { sessionId, expiresInSeconds } = await sessions.create(await account());
      expect(expiresInSeconds).toBe(12 * 3600);
      for (let used = 0; used < 12 * hour - 30 * minute; used += 30 * minute) {
        expect(await isAlive(sessions, sessionId)).toBe(true);
        advance(30 * minute);
      }
      advance(30 * minute);
      expect(await isAlive(sessions, sessionId)).toBe(false);
    });

    it('when neither an API call nor a tile request has used the sign-in for an hour', async () => {
      const { process, account, advance } = await setUp({ ttlSeconds: 24 * 3600 });
      const sessions = await process();
      const { sessionId } = await sessions.create(await account());
      advance(hour - 1);
      expect(await isAlive(sessions, sessionId)).toBe(true);
      advance(hour - 1);
      expect(await isAlive(sessions, sessionId)).toBe(true);
      advance(hour);
      expect(await isAlive(sessions, sessionId)).toBe(false);
    });

    it('when their owner ends them, and not when another account tries to', async () => {
      const { process, account } = await setUp();
      const sessions = await process();
      const [owner, stranger] = [await account(), await account()];
      const { sessionId } = await sessions.create(owner);
      await expect(sessions.revoke(stranger.user.uid, sessionId)).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await isAlive(sessions, sessionId)).toBe(true);
      await sessions.revoke(owner.user.uid, sessionId);
      expect(await isAlive(sessions, sessionId)).toBe(false);
      await expect(sessions.revoke(owner.user.uid, sessionId)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('when the account has created ten newer image sessions', async () => {
      const { process, account, advance } = await setUp();
      const sessions = await process();
      const [caller, other] = [await account(), await account()];
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

    it('when their sign-in ends: at once in this process, within a second in every other process', async () => {
      const { db, process, account, signIn, advance } = await setUp();
      const [here, there] = [await process(), await process()];
      const first = await account();
      const second = await signIn(first);
      const ended = await here.create(first);
      const kept = await here.create(second);
      for (const { sessionId } of [ended, kept]) {
        expect(await isAlive(here, sessionId)).toBe(true);
        expect(await isAlive(there, sessionId)).toBe(true);
      }
      await deleteTokensOf(db, first.user.uid, second.tokenHash);
      here.evictEnded({ uid: first.user.uid, exceptTokenHash: second.tokenHash });
      expect(here.resolve(ended.sessionId)).toBeNull();
      expect(await isAlive(here, kept.sessionId)).toBe(true);
      advance(1001);
      expect(await isAlive(there, ended.sessionId)).toBe(false);
      expect(await isAlive(there, kept.sessionId)).toBe(true);
    });

    it('within a second in another process that uses them continuously', async () => {
      const { db, process, account, advance } = await setUp();
      const there = await process();
      const caller = await account();
      const { sessionId } = await there.create(caller);
      await there.resolve(sessionId);
      await deleteTokensOf(db, caller.user.uid);
      let usedForMs = 0;
      while (await isAlive(there, sessionId)) {
        advance(100);
        usedForMs += 100;
        expect(usedForMs).toBeLessThanOrEqual(1000);
      }
    });

    it.each([
      { status: 'suspended' },
      { status: 'deactivated' },
      { role: 'unassigned' },
      { status: 'unheard-of' },
      { role: 'unheard-of' },
    ])('when the account becomes %j by a write to the database', async (is) => {
      const { db, process, account, advance } = await setUp();
      const sessions = await process();
      const caller = await account();
      const { sessionId } = await sessions.create(caller);
      await sessions.resolve(sessionId);
      await updateUser(db, { ...caller.user, ...is } as User);
      advance(1001);
      expect(await isAlive(sessions, sessionId)).toBe(false);
    });

    it('permanently: reactivating the account does not restore them', async () => {
      const { db, process, account, advance } = await setUp();
      const sessions = await process();
      const caller = await account();
      const { sessionId } = await sessions.create(caller);
      const write = (status: User['status']) => updateUser(db, { ...caller.user, status });
      await sessions.resolve(sessionId);
      await write('suspended');
      advance(1001);
      expect(await isAlive(sessions, sessionId)).toBe(false);
      await write('active');
      advance(1001);
      expect(await isAlive(sessions, sessionId)).toBe(false);
    });
  });

  it('are not created for a sign-in that ended during the request', async () => {
    const { db, process, account } = await setUp();
    const sessions = await process();
    const caller = await account();
    await deleteTokensOf(db, caller.user.uid);
    await expect(sessions.create(caller)).rejects.toMatchObject({ code: 'token_invalid' });
  });

  it('that are requested while all sessions are being revoked are revoked too, or not created', async () => {
    const { db, process, account } = await setUp();
    const sessions = await process();
    for (let round = 0; round < 20; round++) {
      const caller = await account();
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
      const whatBecame = await Promise.all(
        outcomes.map(async (outcome) => {
          if (outcome.status === 'fulfilled')
            return (await isAlive(sessions, outcome.value)) ? 'alive' : 'dead';
          return (outcome.reason as { code: string }).code;
        }),
      );
      expect(whatBecame.filter((became) => became !== 'dead' && became !== 'token_invalid')).toEqual([]);
    }
  });

  describe('report to their owner', () => {
    it('their age, their remaining lifetime and their number of requests', async () => {
      const { process, account, advance } = await setUp();
      const sessions = await process();
      const [caller, other] = [await account(), await account()];
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

    it('a number of requests that survives a restart', async () => {
      const { process, account } = await setUp();
      const sessions = await process();
      const caller = await account();
      const { sessionId } = await sessions.create(caller);
      for (let i = 0; i < 7; i++) await sessions.resolve(sessionId);
      await sessions.close();
      const [session] = (await (await process()).statsOf(caller.user.uid)).sessions;
      expect(session?.request_count).toBe(7);
    });
  });

  it('are refreshed in the background after a request, so that the next request does not wait for the database', async () => {
    const { process, account, advance } = await setUp();
    const sessions = await process();
    const [viewerSession, busySession] = [
      await sessions.create(await account()),
      await sessions.create(await account()),
    ];
    const needsQuery = () => sessions.resolve(viewerSession.sessionId) instanceof Promise;
    await sessions.resolve(viewerSession.sessionId);
    /** Advances the clock while another session is in use, and waits for the queries that its requests start. */
    async function passTime(seconds: number): Promise<void> {
      for (let half = 0; half < 2 * seconds; half++) {
        advance(500);
        await sessions.resolve(busySession.sessionId);
        await sessions.resolve(newSecret()); // its query also includes the sessions in use
      }
    }
    await passTime(6);
    expect(needsQuery()).toBe(false);
    await passTime(12);
    expect(needsQuery()).toBe(true);
  });

  it('add up the request counts of several processes, also when all write at the same time', async () => {
    const { process, account } = await setUp();
    const processes = [await process(), await process(), await process()];
    const callers = await Promise.all(Array.from({ length: 12 }, account));
    const made = await Promise.all(callers.map((caller) => (processes[0] as ImageSessions).create(caller)));
    for (const [place, sessions] of processes.entries()) {
      for (const { sessionId } of place === 1 ? made.toReversed() : made) await sessions.resolve(sessionId);
    }
    await Promise.all(processes.map((sessions) => sessions.close()));
    const after = await process();
    for (const { user } of callers) {
      expect(await after.statsOf(user.uid)).toMatchObject({ sessions: [{ request_count: 3 }] });
    }
  });

  it('extend the idle time of their sign-in when they are used', async () => {
    const { db, process, account, advance } = await setUp();
    const sessions = await process();
    const caller = await account();
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

describe('image sessions while the database is unavailable', () => {
  it('stay valid for 30 s, then return 503 and never an error that says that they have ended', async () => {
    const { db, close } = await openTestDatabase('SQLite');
    let at = Date.UTC(2026, 4, 1, 9);
    const sessions = await createImageSessions({
      config: readConfig({}, '/'),
      db,
      now: () => new Date(at),
      log: pino({ level: 'silent' }),
    });
    const time = new Date(at).toISOString();
    const user = viewer('u', new Date(at));
    await insertUser(db, user);
    const later = new Date(at + 12 * hour).toISOString();
    const issued = { created_at: time, last_used_at: time, expires_at: later, address: null, browser: null };
    await insertToken(db, { hash: 't', uid: 'u', ...issued });
    const { sessionId } = await sessions.create({ user, tokenHash: 't', signedInAt: new Date(at) });
    await sessions.resolve(sessionId);
    await close();

    at += 20_000;
    expect(await sessions.resolve(sessionId)).toMatchObject({ uid: 'u' });
    await expect(sessions.resolve(newSecret())).rejects.toMatchObject({ code: 'unavailable' });
    at += 20_000;
    await expect(sessions.resolve(sessionId)).rejects.toMatchObject({ code: 'unavailable' });
    await sessions.close();
  });
});
