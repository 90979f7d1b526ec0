/** Signing in with the ID token of a real OpenID Connect provider, through HTTP. */
import { randomUUID } from 'node:crypto';
import {
  approveUser,
  changePassword,
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
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { restoreAdmin } from '../first-admin.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type OidcProvider, startOidcProvider } from '../testing/oidc-provider.ts';
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

async function server({ database = 'SQLite', embedded = true, linkByEmail = false }: Settings = {}) {
  const { issuer, clientId } = oidc;
  const external = { issuer, clientId, audience: clientId, name: null, linkByEmail };
  const made = await testServer({ database, config: { signIn: { embedded, external } } });
  // The provider's clock is the real one.
  made.clock.advance(Date.now() - made.clock.now().getTime());
  return made;
}

async function verify({ as }: Pick<TestServer, 'as'>, login: string) {
  const nonce = randomUUID();
  return as(null).call(verifyToken, { body: { token: await oidc.signIn(login, nonce), nonce } });
}

const trail = ({ services }: TestServer) =>
  services.db.selectFrom('audit').select(['action', 'result', 'target', 'detail']).orderBy('seq').execute();

describe.each(databaseKinds)('an external sign-in, on %s,', (database) => {
  it('makes an account that waits for approval, and gives a token of ours', async () => {
    const given = await server({ database });
    const { status, body } = await verify(given, 'ipek');
    expect(status).toBe(200);
    expect(body.user).toMatchObject({
      email: 'ipek@example.org',
      displayName: 'ipek',
      status: 'pending',
      role: 'unassigned',
      adminApproved: false,
    });
    expect(body.token).toMatch(/^[\w-]{43}$/);
    const me = given.as(body.token);
    expect((await me.call(getProfile)).body.user.uid).toBe(body.user.uid);
    expect((await me.call(listImages)).status).toBe(403);
    expect((await trail(given)).filter(({ result }) => result === 'done')).toMatchObject([
      { action: 'registered', result: 'done', target: body.user.uid },
      { action: 'sign-in', result: 'done', target: body.user.uid },
    ]);
  });

  it('finds the account again, whatever the provider now says of the person', async () => {
    const given = await server({ database });
    const first = await verify(given, 'ipek');
    await given.as(await given.given.admin()).call(approveUser, { params: { uid: first.body.user.uid } });
    oidc.people.set('ipek', { email: 'other@example.org', email_verified: true, role: 'admin' });
    const second = await verify(given, 'ipek');
    expect(second.body.user).toMatchObject({
      uid: first.body.user.uid,
      email: 'ipek@example.org',
      status: 'active',
      role: 'user',
    });
    expect((await given.as(second.body.token).call(createImageSession)).status).toBe(201);
  });

  it('makes one account of a person who comes twice at once', async () => {
    const given = await server({ database });
    const [one, other] = await Promise.all([verify(given, 'ipek'), verify(given, 'ipek')]);
    expect([one.status, other.status, one.body.user.uid]).toEqual([200, 200, other.body.user.uid]);
  });

  it('takes each ID token once', async () => {
    const given = await server({ database });
    const token = await oidc.signIn('ipek', 'n-1');
    const answers = await Promise.all(
      [1, 2, 3].map(() => given.as(null).call(verifyToken, { body: { token } })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 401, 401]);
  });

  it('does not take over an account that has the same address', async () => {
    const given = await server({ database });
    const there = await given.given.user({ email: 'Ipek@Example.org' });
    const answer = await verify(given, 'ipek');
    expect(answer).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    expect(await given.services.db.selectFrom('identities').select('uid').execute()).toEqual([
      { uid: there.uid },
    ]);
  });

  it('takes it up where the setting allows it and the address is verified, and ends its password', async () => {
    const given = await server({ database, linkByEmail: true });
    const there = await given.given.user({ email: 'ipek@example.org' });
    const before = await given.given.token(there);
    const session = (await given.as(before).call(createImageSession)).body.session_id;

    oidc.people.set('ipek', { email: 'ipek@example.org', email_verified: false });
    expect((await verify(given, 'ipek')).status).toBe(409);
    oidc.people.set('ipek', { email: 'ipek@example.org', email_verified: true });
    const { status, body } = await verify(given, 'ipek');
    expect([status, body.user.uid]).toEqual([200, there.uid]);

    expect((await given.as(before).call(getProfile)).status).toBe(401);
    const pixels = await given.as(null).inject({
      method: 'GET',
      url: `/image-catalog/proxy/00000000-0000-4000-8000-000000000000/image.dzi?session=${session}`,
    });
    expect(pixels.status).toBe(401);
    const { email, password } = there;
    expect((await given.as(null).call(signIn, { body: { email, password } })).status).toBe(401);
    await given.as(null).call(requestPasswordReset, { body: { email } });
    expect((await given.outbox()).filter((letter) => letter.includes('#code='))).toEqual([]);
    expect((await trail(given)).map(({ action }) => action)).toContain('identity-linked');
  });

  it('lets a suspended account see that it is, and a deactivated one not in', async () => {
    const given = await server({ database });
    const { uid } = (await verify(given, 'ipek')).body.user;
    const admin = given.as(await given.given.admin());
    await admin.call(suspendUser, { params: { uid } });
    expect(await verify(given, 'ipek')).toMatchObject({
      status: 200,
      body: { user: { status: 'suspended' } },
    });
    await admin.call(deactivateUser, { params: { uid } });
    expect(await verify(given, 'ipek')).toMatchObject({
      status: 403,
      body: { code: 'account_not_active', message: 'Hesabınız devre dışı bırakılmış.' },
    });
  });

  it('makes accounts whose password cannot be set here', async () => {
    const given = await server({ database });
    const { token, user } = (await verify(given, 'ipek')).body;
    const admin = given.as(await given.given.admin());
    await admin.call(approveUser, { params: { uid: user.uid } });
    const body = { new_password: 'yepyeni-şifre' };
    for (const answer of [
      await given.as(token).call(changePassword, { body }),
      await admin.call(setUserPassword, { params: { uid: user.uid }, body }),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { code: 'password_elsewhere' } });
    }
    expect((await given.as(token).call(getProfile)).status).toBe(200); // nothing was revoked either
  });

  it('of somebody whom the command line restores goes on beside the new password', async () => {
    const given = await server({ database });
    const { uid, email } = (await verify(given, 'ipek')).body.user;
    const { password } = await restoreAdmin(given.services, email);
    expect((await given.as(null).call(signIn, { body: { email, password } })).status).toBe(200);
    const again = await verify(given, 'ipek');
    expect(again.body.user).toMatchObject({ uid, status: 'active', role: 'admin' });
  });

  it('of somebody who has left begins anew', async () => {
    const given = await server({ database });
    const { token, user } = (await verify(given, 'ipek')).body;
    expect((await given.as(token).call(deleteAccount)).status).toBe(200);
    const again = await verify(given, 'ipek');
    expect(again.body.user.uid).not.toBe(user.uid);
    expect(again.body.user.status).toBe('pending');
  });
});

describe('an ID token', () => {
  it('is no bearer token of the API', async () => {
    const given = await server();
    const idToken = await oidc.signIn('ipek', 'n-1');
    expect(await given.as(idToken).call(getProfile)).toMatchObject({
      status: 401,
      body: { code: 'token_invalid' },
    });
  });

  it('that is refused is on record with its reason, and leaves no account', async () => {
    const given = await server();
    const idToken = await oidc.signIn('ipek', 'n-1');
    const answer = await given.as(null).call(verifyToken, { body: { token: idToken, nonce: 'n-2' } });
    expect(answer).toMatchObject({
      status: 401,
      body: { code: 'token_invalid', message: 'Geçersiz token veya kullanıcı bulunamadı' },
    });
    const refusals = (await trail(given)).filter(({ action }) => action === 'token-refused');
    expect(refusals).toMatchObject([
      { result: 'refused', detail: JSON.stringify({ code: 'token_invalid', reason: 'nonce' }) },
    ]);
    expect(await given.services.db.selectFrom('users').selectAll().execute()).toEqual([]);
  });

  it('without an address makes no account', async () => {
    const given = await server();
    oidc.people.set('ipek', { name: 'İpek' });
    expect(await verify(given, 'ipek')).toMatchObject({
      status: 401,
      body: { message: 'Kimlik hizmeti e-posta adresinizi bildirmedi.' },
    });
  });

  it('cannot be verified while the provider is out of reach, and nobody is signed out by that', async () => {
    const given = await server();
    const user = await given.given.user();
    const idToken = await oidc.signIn('ipek', 'n-1');
    oidc.fail('silence');
    expect(await given.as(null).call(verifyToken, { body: { token: idToken } })).toMatchObject({
      status: 503,
      body: { code: 'token_unverifiable', message: 'Token doğrulanamadı' },
    });
    expect((await given.as(user).call(getProfile)).status).toBe(200);
    oidc.fail(null);
    expect((await given.as(null).call(verifyToken, { body: { token: idToken } })).status).toBe(200);
  });

  it('is refused where no provider is set', async () => {
    const given = await testServer();
    const body = { token: await oidc.signIn('ipek', 'n-1') };
    expect((await given.as(null).call(verifyToken, { body })).status).toBe(401);
  });
});

describe('where the provider is the only way in', () => {
  it('e-mail and password open nothing', async () => {
    const given = await server({ embedded: false });
    const { email, password } = await given.given.user();
    const nobody = given.as(null);
    for (const answer of [
      await nobody.call(signIn, { body: { email, password } }),
      await nobody.call(register, { body: { email: 'new@example.org', password: 'uzun-bir-şifre' } }),
      await nobody.call(requestPasswordReset, { body: { email } }),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect((await verify(given, 'ipek')).status).toBe(200);
  });
});

describe('the page', () => {
  it('may ask the provider beside ourselves, and nobody else', async () => {
    const policyOf = async ({ app }: TestServer) =>
      /connect-src ([^;]*)/.exec(
        String((await app.inject('/auth/login')).headers['content-security-policy']),
      )?.[1];
    expect(await policyOf(await server())).toBe(`'self' ${oidc.issuer}`);
    expect(await policyOf(await testServer())).toBe(`'self'`);
  });
});
