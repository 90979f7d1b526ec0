/** Tests two-step verification (TOTP codes and recovery codes) through HTTP. */
import {
  changePassword,
  confirmSecondFactor,
  getProfile,
  getSecondFactor,
  getUser,
  removeSecondFactor,
  resetSecondFactor,
  signIn,
  startSecondFactor,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { restoreAdmin } from '../accounts/first-admin.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { oneTimeCode } from '../testing/one-time-code.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

const secondMs = 1000;
const stepMs = 30 * secondMs;

interface ProtectedAccount {
  readonly user: TestUser;
  readonly token: string;
  /** Returns the code of an authenticator app, `stepsAway` steps of 30 s from now. */
  readonly code: (stepsAway?: number) => string;
  readonly recoveryCodes: readonly string[];
}

/** Creates a user who switched two-step verification on a minute ago, with the code of that time. */
async function accountWithSecondFactor({ fixtures, as, clock }: TestServer): Promise<ProtectedAccount> {
  const user = await fixtures.user();
  const token = await fixtures.token(user);
  const { body: setUp } = await as(token).call(startSecondFactor);
  const code = (stepsAway = 0) =>
    oneTimeCode(setUp.secret, new Date(clock.now().getTime() + stepsAway * stepMs));
  const { status, body } = await as(token).call(confirmSecondFactor, { body: { code: code() } });
  expect(status).toBe(200);
  clock.advance(2 * stepMs);
  return { user, token, code, recoveryCodes: body.recovery_codes };
}

function signInWith({ as }: Pick<TestServer, 'as'>, { email, password }: TestUser, code?: string) {
  return as(null).call(signIn, { body: { email, password, ...(code !== undefined && { code }) } });
}

const required = { status: 401, body: { code: 'second_factor_required' } };
const invalid = { status: 401, body: { code: 'second_factor_invalid' } };

describe('setup of two-step verification', () => {
  it('returns a secret for the authenticator app, as text and as an otpauth URI', async () => {
    const { fixtures, as } = await testServer();
    const user = await fixtures.user({ email: 'ayse@example.org' });
    const { status, body } = await as(user).call(startSecondFactor);
    expect(status).toBe(201);
    expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(body.uri).toMatch(/^otpauth:\/\/totp\/Lamina:ayse%40example\.org\?/);
    expect(Object.fromEntries(new URL(body.uri).searchParams)).toEqual({
      issuer: 'Lamina',
      secret: body.secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });

  it('does not make sign-in require a code before the first code is confirmed', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    await server.as(user).call(startSecondFactor);
    expect((await signInWith(server, user)).status).toBe(200);
    expect((await server.as(user).call(getSecondFactor)).body).toEqual({
      enabled: false,
      recovery_codes_left: 0,
    });
  });

  it('rejects a wrong code and a code of a secret that a later setup has replaced', async () => {
    const { fixtures, as, clock } = await testServer();
    const user = await fixtures.user();
    const { body: first } = await as(user).call(startSecondFactor);
    await as(user).call(startSecondFactor);
    const old = oneTimeCode(first.secret, clock.now());
    for (const code of [old, '000000', 'abcdef']) {
      expect(await as(user).call(confirmSecondFactor, { body: { code } })).toMatchObject(invalid);
    }
    expect((await as(user).call(getProfile)).status).toBe(200); // a wrong code does not end the sign-in
  });

  it('returns ten recovery codes when the first code is confirmed, and sends an e-mail to the owner', async () => {
    const server = await testServer();
    const { token, recoveryCodes } = await accountWithSecondFactor(server);
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const code of recoveryCodes) expect(code).toMatch(/^(?:[2-9a-z]{4}-){3}[2-9a-z]{4}$/);
    expect((await server.as(token).call(getSecondFactor)).body).toEqual({
      enabled: true,
      recovery_codes_left: 10,
    });
    expect((await server.outbox()).join('')).toContain('iki adımlı doğrulama açıldı');
    const restart = await server.as(token).call(startSecondFactor);
    expect(restart).toMatchObject({ status: 409, body: { code: 'second_factor_on' } });
    expect(restart.headers['www-authenticate']).toBeUndefined(); // no credentials are missing
  });

  it('requires a sign-in within the last 15 minutes or the current password', async () => {
    const { fixtures, as, clock } = await testServer();
    const user = await fixtures.user();
    const token = await fixtures.token(user);
    clock.advance(16 * 60 * secondMs);
    expect(await as(token).call(startSecondFactor)).toMatchObject({ body: { code: 'reauth_required' } });
    const body = { current_password: user.password };
    expect((await as(token).call(startSecondFactor, { body })).status).toBe(201);
  });

  it('stores the secret encrypted and the recovery codes hashed', async () => {
    const server = await testServer();
    const user = await server.fixtures.user();
    const { body } = await server.as(user).call(startSecondFactor);
    const code = oneTimeCode(body.secret, server.clock.now());
    const confirmed = await server.as(user).call(confirmSecondFactor, { body: { code } });
    const { db } = server.services;
    const stored = JSON.stringify([
      await db.selectFrom('second_factors').selectAll().execute(),
      await db.selectFrom('recovery_codes').selectAll().execute(),
      await db.selectFrom('audit').selectAll().execute(),
    ]);
    for (const secret of [body.secret, ...confirmed.body.recovery_codes]) {
      expect(stored).not.toContain(secret);
      expect(server.logged()).not.toContain(secret);
    }
  });
});

describe.each(databaseKinds)('sign-in with two-step verification (database: %s)', (database) => {
  it('asks for the code only after the right password', async () => {
    const server = await testServer({ database });
    const { user, code } = await accountWithSecondFactor(server);
    expect(await signInWith(server, user)).toMatchObject({
      ...required,
      headers: { 'www-authenticate': 'Credentials' },
    });
    expect(await signInWith(server, { ...user, password: 'yanlış-şifre' })).toMatchObject({
      body: { code: 'credentials_invalid' },
    });
    expect(await signInWith(server, { ...user, password: 'yanlış-şifre' }, code())).toMatchObject({
      body: { code: 'credentials_invalid' },
    });
    const { status, body } = await signInWith(server, user, code());
    expect(status).toBe(200);
    expect((await server.as(body.token).call(getProfile)).status).toBe(200);
  });

  it('accepts each code of the authenticator app only once', async () => {
    const server = await testServer({ database });
    const { user, code } = await accountWithSecondFactor(server);
    const usedCode = code();
    const responses = await Promise.all(Array.from({ length: 5 }, () => signInWith(server, user, usedCode)));
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 401, 401, 401, 401]);
    server.clock.advance(stepMs);
    expect(await signInWith(server, user, usedCode)).toMatchObject(invalid);
    expect((await signInWith(server, user, code())).status).toBe(200);
  });

  it('accepts codes of the previous and the next 30 s, and rejects older and newer codes', async () => {
    const server = await testServer({ database });
    const { user, code } = await accountWithSecondFactor(server);
    expect(await signInWith(server, user, code(-2))).toMatchObject(invalid);
    expect(await signInWith(server, user, code(2))).toMatchObject(invalid);
    expect((await signInWith(server, user, code(-1))).status).toBe(200);
    expect((await signInWith(server, user, code(1))).status).toBe(200);
    expect(await signInWith(server, user, code()), 'older than an accepted code').toMatchObject(invalid);
  });

  it('accepts each recovery code once, with or without hyphens, spaces and capitals', async () => {
    const server = await testServer({ database });
    const { user, token, recoveryCodes } = await accountWithSecondFactor(server);
    const [first = '', another = ''] = recoveryCodes;
    expect((await signInWith(server, user, first)).status).toBe(200);
    expect(await signInWith(server, user, first)).toMatchObject(invalid);
    expect((await signInWith(server, user, another.toUpperCase().replaceAll('-', ' '))).status).toBe(200);
    expect((await server.as(token).call(getSecondFactor)).body.recovery_codes_left).toBe(8);
  });

  it('rejects a recovery code of another account', async () => {
    const server = await testServer({ database });
    const { user } = await accountWithSecondFactor(server);
    const { recoveryCodes } = await accountWithSecondFactor(server);
    expect(await signInWith(server, user, recoveryCodes[0])).toMatchObject(invalid);
  });

  it('does not consume a code when the sign-in fails because the account is deactivated', async () => {
    const server = await testServer({ database });
    const { user, recoveryCodes, code } = await accountWithSecondFactor(server);
    const { db } = server.services;
    const setStatus = (status: 'deactivated' | 'active') =>
      db.updateTable('users').set({ status }).where('uid', '=', user.uid).execute();
    await setStatus('deactivated');
    for (const each of [code(), recoveryCodes[0]]) {
      expect(await signInWith(server, user, each)).toMatchObject({ body: { code: 'account_not_active' } });
    }
    await setStatus('active');
    expect((await signInWith(server, user, code())).status).toBe(200);
    expect((await signInWith(server, user, recoveryCodes[0])).status).toBe(200);
  });

  it('returns 429 after ten wrong codes from one network, and after twenty from several networks', async () => {
    const server = await testServer({ database });
    const { user } = await accountWithSecondFactor(server);
    const guess = async (remoteAddress: string) => {
      const payload = { email: user.email, password: user.password, code: '000000' };
      const url = '/api/v1/auth/login';
      return (await server.app.inject({ method: 'POST', url, payload, remoteAddress })).statusCode;
    };
    for (let n = 0; n < 10; n++) expect(await guess('192.0.2.1')).toBe(401);
    expect(await guess('192.0.2.1')).toBe(429);
    for (let n = 0; n < 10; n++) expect(await guess(`192.0.2.${n + 2}`)).toBe(401);
    expect(await guess('192.0.2.99')).toBe(429);
  });

  it('returns 429 after 60 right passwords without a code from one network', async () => {
    const server = await testServer({ database });
    const { user } = await accountWithSecondFactor(server);
    server.clock.advance(15 * 60 * secondMs); // the earlier sign-in no longer counts
    for (let n = 0; n < 60; n++) expect(await signInWith(server, user)).toMatchObject(required);
    expect(await signInWith(server, user)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  });

  it('does not reset the count of wrong codes when the password is right but the code is wrong', async () => {
    const server = await testServer({ database });
    const { user } = await accountWithSecondFactor(server);
    for (let n = 0; n < 10; n++) {
      expect(await signInWith(server, user)).toMatchObject(required);
      expect(await signInWith(server, user, '000000')).toMatchObject(invalid);
    }
    expect((await signInWith(server, user, '000000')).status).toBe(429);
  });

  it('still accepts recovery codes when the encryption key of the authenticator secret is lost', async () => {
    const server = await testServer({ database });
    const { user, recoveryCodes, code } = await accountWithSecondFactor(server);
    await server.services.db.updateTable('second_factors').set({ secret: 'of another key' }).execute();
    expect(await signInWith(server, user, code())).toMatchObject(invalid);
    expect((await signInWith(server, user, recoveryCodes[0])).status).toBe(200);
    expect(server.logged()).toContain('second-factor secret of an account could not be decrypted');
  });
});

describe('turning off two-step verification', () => {
  it('is allowed to the owner, who gets an e-mail about it', async () => {
    const server = await testServer();
    const { user, token } = await accountWithSecondFactor(server);
    expect((await server.as(token).call(removeSecondFactor)).body.message).toBe(
      'İki adımlı doğrulama kapatıldı.',
    );
    expect((await signInWith(server, user)).status).toBe(200);
    expect((await server.outbox()).join('')).toContain('iki adımlı doğrulama kapatıldı');
  });

  it('is part of the command restore-admin, whose new password alone signs the account in', async () => {
    const server = await testServer();
    const { user } = await accountWithSecondFactor(server);
    const { password } = await restoreAdmin(server.services, user.email);
    expect((await signInWith(server, { ...user, password })).status).toBe(200);
  });

  it('requires the current password when the sign-in of the owner is older than 15 minutes', async () => {
    const server = await testServer();
    const { user, token } = await accountWithSecondFactor(server);
    server.clock.advance(16 * 60 * secondMs);
    expect(await server.as(token).call(removeSecondFactor)).toMatchObject({
      body: { code: 'reauth_required' },
    });
    const body = { current_password: user.password };
    expect((await server.as(token).call(removeSecondFactor, { body })).status).toBe(200);
  });

  it('is allowed to an administrator for another account, and returns 409 for the own account', async () => {
    const server = await testServer();
    const { user } = await accountWithSecondFactor(server);
    const admin = await server.fixtures.admin();
    const reset = (uid: string) => server.as(admin).call(resetSecondFactor, { params: { uid } });
    const isOn = async () =>
      (await server.as(admin).call(getUser, { params: { uid: user.uid } })).body.user.secondFactor;
    expect(await isOn()).toBe(true);
    expect((await reset(user.uid)).status).toBe(200);
    expect(await isOn()).toBe(false);
    expect((await signInWith(server, user)).status).toBe(200);
    expect((await server.outbox()).join('')).toContain('iki adımlı doğrulama kapatıldı');
    expect((await reset(user.uid)).status).toBe(200);
    expect(await reset(admin.uid)).toMatchObject({ status: 409, body: { code: 'self_change' } });
    const rows = await server.services.db
      .selectFrom('audit')
      .select(['actor_uid', 'target', 'result'])
      .where('action', '=', 'second-factor-reset')
      .orderBy('seq')
      .execute();
    expect(rows).toEqual([
      { actor_uid: admin.uid, target: user.uid, result: 'done' },
      { actor_uid: admin.uid, target: admin.uid, result: 'refused' },
    ]);
  });

  it('is not a side effect of a password change: the next sign-in still requires a code', async () => {
    const server = await testServer();
    const { user, token } = await accountWithSecondFactor(server);
    const password = 'yepyeni-şifre';
    await server.as(token).call(changePassword, { body: { new_password: password } });
    expect(await signInWith(server, { ...user, password })).toMatchObject(required);
  });
});
