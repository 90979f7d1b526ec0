/** A revocation is permanent. It takes effect at once in its process, and within 1 s in others: docs/permissions.md sections 5 and 8. */
import {
  approveUser,
  changePassword,
  createImageSession,
  deactivateUser,
  deleteAccount,
  type Endpoint,
  endpoints,
  endSignIns,
  getImageSessionStats,
  getProfile,
  promoteUser,
  requestPasswordReset,
  setUserPassword,
  suspendUser,
  verifyToken,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

const newPassword = 'yepyeni-şifre';

interface SignIn {
  readonly token: string;
  readonly sessionId: string;
}

async function signInOf(user: TestUser, { fixtures, as }: TestServer): Promise<SignIn> {
  const token = await fixtures.token(user);
  const { body } = await as(token).call(createImageSession);
  return { token, sessionId: body.session_id };
}

/** Returns a request to the endpoint, with a path parameter that does not exist. */
const requestTo = (endpoint: Endpoint, query = '') => ({
  method: endpoint.method,
  url: endpoint.path.replace(/:\w+/g, 'x') + query,
});

type NamedEndpoint = readonly [name: string, endpoint: Endpoint];

/** The endpoints that need a credential. */
const protectedEndpoints: readonly NamedEndpoint[] = Object.entries(endpoints).filter(
  ([, { access }]) => access !== 'anyone',
);
/** One endpoint for each combination of required access and method: http/access.ts checks the credential for all of them. */
const sampledEndpoints: readonly NamedEndpoint[] = [
  ...new Map(protectedEndpoints.map((named) => [`${named[1].access} ${named[1].method}`, named])).values(),
];

/** Expects that the endpoints reject the token and the image session of a sign-in. */
async function expectRevoked(
  { token, sessionId }: SignIn,
  { as }: Pick<TestServer, 'as'>,
  checkedEndpoints = sampledEndpoints,
): Promise<void> {
  for (const [name, endpoint] of checkedEndpoints) {
    const isPixels = endpoint.access === 'image-session';
    const answer = isPixels
      ? await as(null).inject(requestTo(endpoint, `?session=${sessionId}`))
      : await as(token).inject(requestTo(endpoint));
    expect([name, answer.status, (answer.body as { code: string }).code]).toEqual([
      name,
      401,
      isPixels ? 'session_invalid' : 'token_invalid',
    ]);
  }
  expect((await as(null).call(verifyToken, { body: { token } })).status).toBe(401);
}

async function expectValid({ token, sessionId }: SignIn, { as }: Pick<TestServer, 'as'>): Promise<void> {
  expect((await as(token).call(getProfile)).status).toBe(200);
  // The image does not exist: 404 shows that the session was accepted.
  const pixels = await as(null).inject(requestTo(endpoints.getTile as Endpoint, `?session=${sessionId}`));
  expect(pixels.status).toBe(404);
}

type Revoke = (user: TestUser, server: TestServer) => Promise<{ readonly status: number }>;
const byAdmin =
  (endpoint: Endpoint, body?: object): Revoke =>
  async ({ uid }, { as, fixtures }) =>
    as(await fixtures.admin()).inject({
      method: endpoint.method,
      url: endpoint.path.replace(':uid', uid),
      ...(body && { payload: body }),
    });

const byMail: Revoke = async ({ email }, { as, outbox }) => {
  await as(null).call(requestPasswordReset, { body: { email } });
  const code = /#code=(\S+)/.exec((await outbox()).join(''))?.[1];
  return as(null).inject({
    method: 'POST',
    url: '/auth/password-reset/confirm',
    payload: { code, new_password: newPassword },
  });
};

const revocations: readonly (readonly [string, Revoke])[] = [
  ['a suspension', byAdmin(suspendUser)],
  ['a deactivation', byAdmin(deactivateUser)],
  ['a promotion to administrator', byAdmin(promoteUser)],
  ['a new password set by an administrator', byAdmin(setUserPassword, { new_password: newPassword })],
  ['a password reset', byMail],
  [
    'a password change in a new sign-in',
    (user, { as }) => as(user).call(changePassword, { body: { new_password: newPassword } }),
  ],
  ['signing out everywhere', (user, { as }) => as(user).call(endSignIns)],
  ['deletion of the account by its owner', (user, { as }) => as(user).call(deleteAccount)],
];

describe.each(databaseKinds)('revocation of access (database: %s)', (database) => {
  it.each(revocations)(
    'by %s ends all earlier tokens and image sessions (credentials for tiles) of the account at once and permanently',
    async (_, revoke) => {
      const server = await testServer({ database });
      const user = await server.fixtures.user();
      const another = await server.another();
      const earlier = [await signInOf(user, server), await signInOf(user, server)];
      for (const each of earlier) {
        await expectValid(each, server);
        await expectValid(each, another);
      }

      expect([200, 204]).toContain((await revoke(user, server)).status);
      for (const each of earlier) await expectRevoked(each, server, protectedEndpoints);

      // A later reactivation does not make them valid again.
      await byAdmin(approveUser)(user, server);
      for (const each of earlier) await expectRevoked(each, server);
      for (const each of earlier) await expectRevoked(each, await server.another());

      server.clock.advance(1001); // another process may use its cache for at most 1 s
      for (const each of earlier) await expectRevoked(each, another);
    },
  );

  it('by a password change ends all sign-ins of the account except the one that sent the request', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    const [here, there] = [await signInOf(user, server), await signInOf(user, server)];
    const changed = await server.as(here.token).call(changePassword, { body: { new_password: newPassword } });
    expect(changed.status).toBe(200);
    await expectValid(here, server);
    await expectRevoked(there, server);
  });

  it('by a suspension does not end a token that was issued while the account was suspended: it is accepted after an approval', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user({ status: 'suspended' });
    const token = await server.fixtures.token(user);
    await byAdmin(approveUser)(user, server);
    expect((await server.as(token).call(getImageSessionStats)).status).toBe(200);
  });

  it('by a suspension also ends an image session (credential for tiles) that is created at the same moment', async () => {
    const server = await testServer({ database });
    const { fixtures, as, services } = server;
    const admin = as(await fixtures.token(await fixtures.admin()));
    for (let round = 0; round < 10; round++) {
      const user = await fixtures.user();
      const token = await fixtures.token(user);
      const [created] = await Promise.all([
        as(token).call(createImageSession),
        admin.call(suspendUser, { params: { uid: user.uid } }),
      ]);
      if (created.status === 201) await expectRevoked({ token, sessionId: created.body.session_id }, server);
    }
    expect(await services.db.selectFrom('image_sessions').selectAll().execute()).toEqual([]);
  });
});
