/** Tests signing in through HTTP with an ID token of a real OpenID Connect provider. */
import { randomUUID } from 'node:crypto';
import {
  approveUser,
  changePassword,
  confirmPasswordReset,
  confirmRegistration,
  createImageSession,
  deactivateUser,
  deleteAccount,
  getProfile,
  listImages,
  register,
  requestPasswordReset,
  setUserPassword,
  signIn,
  suspendUser,
  verifyToken,
} from '@lamina/contract';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { restoreAdmin } from '../accounts/first-admin.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { newKey, type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

let oidc: OidcProvider;
beforeAll(async () => {
  oidc = await startOidcProvider();
});
afterAll(() => oidc.close());
beforeEach(() => {
  oidc.fail(null);
  oidc.people.clear();
});

type Settings = { database?: 'SQLite' | 'PostgreSQL'; embedded?: boolean; linkByEmail?: boolean };

async function startServer({ database = 'SQLite', embedded = true, linkByEmail = false }: Settings = {}) {
  const { issuer, clientId } = oidc;
  const external = { issuer, clientId, audience: clientId, name: null, linkByEmail };
  const created = await testServer({ database, config: { signIn: { embedded, external } } });
  // The provider uses the real time, so the clock of the test server is set to it.
  created.clock.advance(Date.now() - created.clock.now().getTime());
  return created;
}

/** Signs in at the provider under this name, and then on the server with the ID token. */
async function signInAs({ as }: Pick<TestServer, 'as'>, login: string) {
  const nonce = randomUUID();
  const response = await as(null).call(verifyToken, {
    body: { token: await oidc.signIn(login, nonce), nonce },
  });
  return { ...response, body: { ...response.body, token: response.body.token ?? '' } }; // this server always issues a token
}

/** Order n of the P-256 group (SEC 2 section 2.4.2): if (r, s) is a valid signature of a text, so is (r, n - s). */
const p256Order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Replaces the ECDSA signature (r, s) of a token by the other valid one, (r, n - s). */
function withTwinSignature(token: string): string {
  const end = token.lastIndexOf('.') + 1;
  const signature = Buffer.from(token.slice(end), 'base64url');
  const s = BigInt(`0x${signature.subarray(32).toString('hex')}`);
  const twin = Buffer.from((p256Order - s).toString(16).padStart(64, '0'), 'hex');
  return token.slice(0, end) + Buffer.concat([signature.subarray(0, 32), twin]).toString('base64url');
}

const auditEntries = ({ services }: TestServer) =>
  services.db.selectFrom('audit').select(['action', 'result', 'target', 'detail']).orderBy('seq').execute();

describe.each(databaseKinds)('sign-in through an OpenID Connect provider (database: %s)', (database) => {
  it('creates a pending account for a new person and issues a token of this server', async () => {
    const server = await startServer({ database });
    const { status, body } = await signInAs(server, 'ipek');
    expect(status).toBe(200);
    expect(body.user).toMatchObject({
      email: 'ipek@example.org',
      displayName: 'ipek',
      status: 'pending',
      role: 'unassigned',
      adminApproved: false,
    });
    expect(body.token).toMatch(/^[\w-]{43}$/);
    const me = server.as(body.token);
    expect((await me.call(getProfile)).body.user.uid).toBe(body.user.uid);
    expect((await me.call(listImages)).status).toBe(403);
    expect((await auditEntries(server)).filter(({ result }) => result === 'done')).toMatchObject([
      { action: 'registered', result: 'done', target: body.user.uid },
      { action: 'sign-in', result: 'done', target: body.user.uid },
    ]);
  });

  it('signs in to the same account after the provider has changed the e-mail address and name of the user', async () => {
    const server = await startServer({ database });
    const first = await signInAs(server, 'ipek');
    await server
      .as(await server.fixtures.admin())
      .call(approveUser, { params: { uid: first.body.user.uid } });
    oidc.people.set('ipek', { email: 'other@example.org', email_verified: true, role: 'admin' });
    const second = await signInAs(server, 'ipek');
    expect(second.body.user).toMatchObject({
      uid: first.body.user.uid,
      email: 'ipek@example.org',
      status: 'active',
      role: 'user',
    });
    expect((await server.as(second.body.token).call(createImageSession)).status).toBe(201);
  });

  it('creates one account for two concurrent sign-ins of a new person', async () => {
    const server = await startServer({ database });
    const [first, second] = await Promise.all([signInAs(server, 'ipek'), signInAs(server, 'ipek')]);
    expect([first.status, second.status, first.body.user.uid]).toEqual([200, 200, second.body.user.uid]);
  });

  it('accepts an ID token only once', async () => {
    const server = await startServer({ database });
    const token = await oidc.signIn('ipek', 'n-1');
    const responses = await Promise.all(
      [1, 2, 3].map(() => server.as(null).call(verifyToken, { body: { token } })),
    );
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 401, 401]);
  });

  it('returns 409 for a new person whose e-mail address already has an account', async () => {
    const server = await startServer({ database });
    const existingUser = await server.fixtures.user({ email: 'Ipek@Example.org' });
    const response = await signInAs(server, 'ipek');
    expect(response).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    expect(await server.services.db.selectFrom('identities').select('uid').execute()).toEqual([
      { uid: existingUser.uid },
    ]);
  });

  it('with OIDC_LINK_BY_EMAIL links the user to the account with the verified address, ends its sign-ins and deletes its password', async () => {
    const server = await startServer({ database, linkByEmail: true });
    const existingUser = await server.fixtures.user({ email: 'ipek@example.org' });
    const before = await server.fixtures.token(existingUser);
    const session = (await server.as(before).call(createImageSession)).body.session_id;

    oidc.people.set('ipek', { email: 'ipek@example.org', email_verified: false });
    expect((await signInAs(server, 'ipek')).status).toBe(409);
    oidc.people.set('ipek', { email: 'ipek@example.org', email_verified: true });
    const { status, body } = await signInAs(server, 'ipek');
    expect([status, body.user.uid]).toEqual([200, existingUser.uid]);

    expect((await server.as(before).call(getProfile)).status).toBe(401);
    const pixels = await server.as(null).inject({
      method: 'GET',
      url: `/image-catalog/proxy/00000000-0000-4000-8000-000000000000/image.dzi?session=${session}`,
    });
    expect(pixels.status).toBe(401);
    const { email, password } = existingUser;
    expect((await server.as(null).call(signIn, { body: { email, password } })).status).toBe(401);
    await server.as(null).call(requestPasswordReset, { body: { email } });
    expect((await server.outbox()).filter((mail) => mail.includes('#code='))).toEqual([]);
    expect((await auditEntries(server)).map(({ action }) => action)).toContain('identity-linked');
  });

  describe('with OIDC_LINK_BY_EMAIL and an account linked to its owner at the provider', () => {
    /** Starts a server with an administrator whose account is linked to the user `ipek` of the provider. */
    async function serverWithLinkedAdmin() {
      const server = await startServer({ database, linkByEmail: true });
      const admin = await server.fixtures.admin({ email: 'ipek@example.org' });
      expect((await signInAs(server, 'ipek')).body.user.uid).toBe(admin.uid);
      return { server, admin };
    }

    it.each(['ipek@example.org', 'Ipek@Example.ORG'])(
      "returns 409 and ends no sign-in when another user has the owner's e-mail address, written as %s",
      async (email) => {
        const { server, admin } = await serverWithLinkedAdmin();
        const token = (await signInAs(server, 'ipek')).body.token;
        oidc.people.set('newcomer', { email, email_verified: true });
        expect(await signInAs(server, 'newcomer')).toMatchObject({
          status: 409,
          body: {
            code: 'email_taken',
            message:
              'Bu e-posta adresinin hesabı, kurumunuzdaki başka bir kimliğe bağlı. Lütfen bir yöneticiyle iletişime geçin.',
          },
        });
        expect((await server.as(token).call(getProfile)).body.user.uid).toBe(admin.uid);
        const linked = (await auditEntries(server)).filter(({ action }) => action === 'identity-linked');
        expect(linked).toMatchObject([
          { result: 'done', target: admin.uid },
          {
            result: 'refused',
            target: admin.uid,
            detail: JSON.stringify({ code: 'email_taken', issuer: oidc.issuer }),
          },
        ]);
      },
    );

    it("returns 409 to another user who has the owner's earlier e-mail address, and still signs in the owner", async () => {
      const { server, admin } = await serverWithLinkedAdmin();
      oidc.people.set('ipek', { email: 'ipek.yilmaz@example.org', email_verified: true });
      oidc.people.set('newcomer', { email: 'ipek@example.org', email_verified: true });
      expect((await signInAs(server, 'newcomer')).status).toBe(409);
      expect((await signInAs(server, 'ipek')).body.user).toMatchObject({
        uid: admin.uid,
        email: admin.email,
      });
    });

    it('returns 409 to another user with the address of an account that a sign-in through the provider created', async () => {
      const server = await startServer({ database, linkByEmail: true });
      const { uid } = (await signInAs(server, 'ipek')).body.user;
      oidc.people.set('newcomer', { email: 'ipek@example.org', email_verified: true });
      expect((await signInAs(server, 'newcomer')).status).toBe(409);
      expect((await signInAs(server, 'ipek')).body.user.uid).toBe(uid);
    });

    it('returns 409 to another user with the address of an account whose owner also has a password', async () => {
      const { server, admin } = await serverWithLinkedAdmin();
      const { password } = await restoreAdmin(server.services, admin.email);
      oidc.people.set('newcomer', { email: 'ipek@example.org', email_verified: true });
      expect((await signInAs(server, 'newcomer')).status).toBe(409);
      const body = { email: admin.email, password };
      expect((await server.as(null).call(signIn, { body })).status).toBe(200);
    });
  });

  it.each([
    ['says that the address is not verified', { email: 'ipek@example.org', email_verified: false }],
    ['does not say whether the address is verified', { email: 'ipek@example.org' }],
    ['sends the address as the user name only', { preferred_username: 'ipek@example.org' }],
    ['sends the address in full-width characters', { email: 'ｉｐｅｋ@example.org', email_verified: true }],
    ['sends the address with a Turkish capital İ', { email: 'İpek@example.org', email_verified: true }],
  ])(
    'with OIDC_LINK_BY_EMAIL returns 401 or 409 and links no account when the provider %s',
    async (_, claims) => {
      const server = await startServer({ database, linkByEmail: true });
      const existingUser = await server.fixtures.user({ email: 'ipek@example.org' });
      oidc.people.set('newcomer', claims);
      expect([401, 409]).toContain((await signInAs(server, 'newcomer')).status);
      expect(await server.services.db.selectFrom('identities').select('uid').execute()).toEqual([
        { uid: existingUser.uid },
      ]);
    },
  );

  it('rejects the second use of an ID token even if the bits of its text that base64url decoders ignore were changed', async () => {
    const server = await startServer({ database });
    const token = await oidc.signIn('ipek', 'n-1');
    const ask = (spelling: string) => server.as(null).call(verifyToken, { body: { token: spelling } });
    expect((await ask(token)).status).toBe(200);
    // 342 characters of base64url contain 2052 bits, four more than the signature: decoders ignore the last four bits.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(token.at(-1) ?? '');
    for (let bits = 0; bits < 16; bits++) {
      const spelling = token.slice(0, -1) + alphabet[(last & ~15) | bits];
      expect([spelling.at(-1), (await ask(spelling)).status]).toEqual([spelling.at(-1), 401]);
    }
  });

  it('rejects the second use of an ID token even if its ECDSA signature (r, s) was replaced by the equally valid (r, n − s)', async () => {
    const server = await startServer({ database });
    const key = await newKey('ES256');
    oidc.publish(key);
    const claims = { sub: 'ipek', email: 'ipek@example.org', email_verified: true };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: key.kid })
      .setIssuer(oidc.issuer)
      .setAudience(oidc.clientId)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(key.privateKey);
    const ask = (spelling: string) => server.as(null).call(verifyToken, { body: { token: spelling } });
    expect((await ask(token)).status).toBe(200);
    const twin = withTwinSignature(token);
    expect(twin).not.toBe(token);
    expect((await ask(twin)).status).toBe(401);
    const refusals = (await auditEntries(server)).filter(({ action }) => action === 'token-refused');
    expect(refusals.map(({ detail }) => JSON.parse(detail).reason)).toEqual(['the ID token was used before']);
  });

  it('signs in to a suspended account and returns 403 for a deactivated one', async () => {
    const server = await startServer({ database });
    const { uid } = (await signInAs(server, 'ipek')).body.user;
    const admin = server.as(await server.fixtures.admin());
    await admin.call(suspendUser, { params: { uid } });
    expect(await signInAs(server, 'ipek')).toMatchObject({
      status: 200,
      body: { user: { status: 'suspended' } },
    });
    await admin.call(deactivateUser, { params: { uid } });
    expect(await signInAs(server, 'ipek')).toMatchObject({
      status: 403,
      body: { code: 'account_not_active', message: 'Hesabınız devre dışı bırakılmış.' },
    });
  });

  it('creates an account for which a password change by the user or an administrator returns 409', async () => {
    const server = await startServer({ database });
    const { token, user } = (await signInAs(server, 'ipek')).body;
    const admin = server.as(await server.fixtures.admin());
    await admin.call(approveUser, { params: { uid: user.uid } });
    const body = { new_password: 'yepyeni-şifre' };
    for (const response of [
      await server.as(token).call(changePassword, { body }),
      await admin.call(setUserPassword, { params: { uid: user.uid }, body }),
    ]) {
      expect(response).toMatchObject({ status: 409, body: { code: 'password_elsewhere' } });
    }
    expect((await server.as(token).call(getProfile)).status).toBe(200); // the existing sign-in stays valid
  });

  it('still signs in to the same account after the command restore-admin has set a password for it', async () => {
    const server = await startServer({ database });
    const { uid, email } = (await signInAs(server, 'ipek')).body.user;
    const { password } = await restoreAdmin(server.services, email);
    expect((await server.as(null).call(signIn, { body: { email, password } })).status).toBe(200);
    const again = await signInAs(server, 'ipek');
    expect(again.body.user).toMatchObject({ uid, status: 'active', role: 'admin' });
  });

  it('creates a new account after the user has deleted the earlier one', async () => {
    const server = await startServer({ database });
    const { token, user } = (await signInAs(server, 'ipek')).body;
    expect((await server.as(token).call(deleteAccount)).status).toBe(200);
    const again = await signInAs(server, 'ipek');
    expect(again.body.user.uid).not.toBe(user.uid);
    expect(again.body.user.status).toBe('pending');
  });
});

describe('an ID token of the OpenID Connect provider', () => {
  it('is not accepted as a bearer token of the API', async () => {
    const server = await startServer();
    const idToken = await oidc.signIn('ipek', 'n-1');
    expect(await server.as(idToken).call(getProfile)).toMatchObject({
      status: 401,
      body: { code: 'token_invalid' },
    });
  });

  it('with a wrong nonce gets 401, creates no account, and causes an audit event with the reason', async () => {
    const server = await startServer();
    const idToken = await oidc.signIn('ipek', 'n-1');
    const response = await server.as(null).call(verifyToken, { body: { token: idToken, nonce: 'n-2' } });
    expect(response).toMatchObject({
      status: 401,
      body: { code: 'token_invalid', message: 'Geçersiz token veya kullanıcı bulunamadı' },
    });
    const refusals = (await auditEntries(server)).filter(({ action }) => action === 'token-refused');
    expect(refusals).toMatchObject([
      { result: 'refused', detail: JSON.stringify({ code: 'token_invalid', reason: 'nonce' }) },
    ]);
    expect(await server.services.db.selectFrom('users').selectAll().execute()).toEqual([]);
  });

  it('without an e-mail address gets 401', async () => {
    const server = await startServer();
    oidc.people.set('ipek', { name: 'İpek' });
    expect(await signInAs(server, 'ipek')).toMatchObject({
      status: 401,
      body: { message: 'Kimlik doğrulama hizmeti e-posta adresinizi bildirmedi.' },
    });
  });

  it('gets 503 while the provider is unreachable, and existing sign-ins stay valid', async () => {
    const server = await startServer();
    const user = await server.fixtures.user();
    const idToken = await oidc.signIn('ipek', 'n-1');
    oidc.fail('disconnect');
    expect(await server.as(null).call(verifyToken, { body: { token: idToken } })).toMatchObject({
      status: 503,
      body: { code: 'token_unverifiable', message: 'Token doğrulanamadı' },
    });
    expect((await server.as(user).call(getProfile)).status).toBe(200);
    oidc.fail(null);
    expect((await server.as(null).call(verifyToken, { body: { token: idToken } })).status).toBe(200);
  });

  it('gets 401 from a server for which no provider is configured', async () => {
    const server = await testServer();
    const body = { token: await oidc.signIn('ipek', 'n-1') };
    expect((await server.as(null).call(verifyToken, { body })).status).toBe(401);
  });
});

describe('a server with SIGN_IN=external', () => {
  it('returns 403 for sign-in with a password, registration and password reset', async () => {
    const server = await startServer({ embedded: false });
    const { email, password } = await server.fixtures.user();
    const anonymous = server.as(null);
    for (const response of [
      await anonymous.call(signIn, { body: { email, password } }),
      await anonymous.call(register, { body: { email: 'new@example.org', password: 'uzun-bir-şifre' } }),
      await anonymous.call(requestPasswordReset, { body: { email } }),
      await anonymous.call(confirmPasswordReset, { body: { code: 'x', new_password: 'uzun-bir-şifre' } }),
      await anonymous.call(confirmRegistration, { body: { code: 'x', password: 'uzun-bir-şifre' } }),
    ]) {
      expect(response).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect((await signInAs(server, 'ipek')).status).toBe(200);
  });
});

describe('the Content-Security-Policy header of the web app', () => {
  it('allows the browser to connect only to this server and to the configured identity provider', async () => {
    const policyOf = async ({ app }: TestServer) =>
      /connect-src ([^;]*)/.exec(
        String((await app.inject('/auth/login')).headers['content-security-policy']),
      )?.[1];
    expect(await policyOf(await startServer())).toBe(`'self' ${oidc.issuer}`);
    expect(await policyOf(await testServer())).toBe(`'self'`);
  });
});
