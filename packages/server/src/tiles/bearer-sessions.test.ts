/** The image session (the credential of pixel requests) of programs that load pixels with the bearer token of a sign-in. */
import { createImageSession, getProfile, signOut } from '@lamina/contract';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createImageSessions } from '../sessions/image-sessions.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { testServer } from '../testing/test-server.ts';
import { createBearerSessions } from './bearer-sessions.ts';

describe.each(databaseKinds)('image session (for tiles) of a bearer token (database: %s)', (database) => {
  /** Starts 12 processes, more than an account may have sessions. `sessionsOf` requests the session of a token at each of them. */
  async function setUp() {
    const server = await testServer({ database });
    const { config, clock, fixtures, services } = server;
    const { db, audit } = services;
    const token = await fixtures.token(await fixtures.user());
    const caller = await services.signIn.resolveToken(token);
    if (caller === null) throw new Error('the token is not valid');
    const processes = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const log = pino({ level: 'silent' });
        const imageSessions = await createImageSessions({ config, db, now: clock.now, log });
        onTestFinished(() => imageSessions.close());
        return { imageSessions, bearerSessions: createBearerSessions({ imageSessions, audit }) };
      }),
    );
    const rawHeaders = ['Authorization', `Bearer ${token}`];
    const request = { rawHeaders, origin: { address: '192.0.2.1', requestId: null } };
    /** Sends one request with the token to each process. @returns the hashes of the different sessions */
    const sessionsOfProcesses = async () => {
      const sessions = await Promise.all(
        processes.map(({ bearerSessions }) => bearerSessions.sessionOf(caller, request)),
      );
      return [...new Set(sessions.map(({ hash }) => hash))];
    };
    const countCreationEvents = async () =>
      (await db.selectFrom('audit').select('seq').where('action', '=', 'image-session-created').execute())
        .length;
    return { server, token, client: server.as(token), processes, sessionsOfProcesses, countCreationEvents };
  }

  it('is shared by 12 server processes, which together open one session instead of 12', async () => {
    const { client, processes, sessionsOfProcesses, countCreationEvents } = await setUp();
    const sessionOfWebApp = (await client.call(createImageSession)).body.session_id;
    for (let round = 0; round < 2; round++) expect(await sessionsOfProcesses()).toHaveLength(1);
    expect(await countCreationEvents()).toBe(2); // the other one is of the web app
    expect(await processes[0]?.imageSessions.resolve(sessionOfWebApp)).not.toBeNull();
  });

  it('is opened again with the same id after it has expired or was displaced by 10 newer sessions of the account', async () => {
    const { server, client, sessionsOfProcesses, countCreationEvents } = await setUp();
    const first = await sessionsOfProcesses();
    for (let minutes = 0; minutes <= 60; minutes += 30) {
      server.clock.advance(30 * 60_000);
      await client.call(getProfile); // renews the idle time of the sign-in
      expect(await sessionsOfProcesses()).toEqual(first);
    }
    expect(await countCreationEvents()).toBe(2);
    for (let n = 0; n < 10; n++) {
      server.clock.advance(1000);
      expect((await client.call(createImageSession)).status).toBe(201);
    }
    server.clock.advance(2000); // the processes query the database again
    expect(await sessionsOfProcesses()).toEqual(first);
    expect(await countCreationEvents()).toBe(13);
  });

  it('ends in all 12 server processes when the user signs out', async () => {
    const { server, token, client, processes, sessionsOfProcesses } = await setUp();
    await sessionsOfProcesses();
    await client.call(signOut);
    server.clock.advance(1100);
    for (const { bearerSessions } of processes) expect(await bearerSessions.knownSessionOf(token)).toBeNull();
    await expect(sessionsOfProcesses()).rejects.toMatchObject({ code: 'token_invalid' });
  });
});
