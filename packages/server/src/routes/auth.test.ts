/** Registration, sign-in with e-mail and password, bearer tokens, sign-out and password reset through HTTP. */
import {
  confirmPasswordReset,
  getProfile,
  register,
  requestPasswordReset,
  signIn,
  signOut,
  suspendUser,
  verifyToken,
} from '@lamina/contract';
import postalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { listUsers } from '../store/users.ts';
import { testServer } from '../testing/test-server.ts';

const minute = 60_000;
const hour = 60 * minute;
const person = { email: 'Ayse@Example.org', password: 'uzun-bir-şifre', displayName: 'Ayşe Yılmaz' };

/** Returns a response without the fields that differ each time. */
function withoutVaryingFields({ status, body, headers }: { status: number; body: unknown; headers: object }) {
  const { requestId: _, ...otherFields } = body as { requestId: string };
  const { date: __, 'x-request-id': ___, ...otherHeaders } = headers as Record<string, unknown>;
  return { status, body: otherFields, headers: otherHeaders };
}

describe('registration (POST /auth/register)', () => {
  it('creates a pending account without a role, and returns the message that an administrator must approve it', async () => {
    const { as, clock } = await testServer();
    const response = await as(null).call(register, { body: person });
    const now = clock.now().toISOString();
    expect(response).toMatchObject({
      status: 201,
      body: {
        message: 'Kayıt başarılı! Yönetici onayı bekleniyor.',
        user: {
          uid: expect.any(String),
          email: person.email,
          displayName: person.displayName,
          status: 'pending',
          role: 'unassigned',
          adminApproved: false,
          createdAt: now,
          updatedAt: now,
          approvalDate: null,
          expiresAt: null,
        },
      },
    });
    expect(Object.keys(response.body.user)).toHaveLength(10); // no other fields
  });

  it.each([
    ['no display name', { displayName: undefined }, { displayName: null }],
    ['an empty display name', { displayName: '  ' }, { displayName: null }],
    [
      'spaces around the e-mail address, which are removed',
      { email: '  ayse@example.org ' },
      { email: 'ayse@example.org' },
    ],
  ])('accepts a request with %s', async (_, sent, stored) => {
    const { as } = await testServer();
    const response = await as(null).call(register, { body: { ...person, ...sent } });
    expect(response).toMatchObject({ status: 201, body: { user: stored } });
  });

  it.each([
    [
      'a password of 7 characters (the minimum is 8)',
      { password: 'yedi-7!' },
      'Şifre en az 8 karakter olmalı.',
    ],
    [
      'a password of 7 characters (the minimum is 8) that are 8 bytes in UTF-8',
      { password: 'şifreee' },
      'Şifre en az 8 karakter olmalı.',
    ],
    ['a password of 1,025 bytes (the maximum is 1,024)', { password: 'x'.repeat(1025) }, 'Şifre çok uzun.'],
    [
      'a password of 129 characters (the maximum is 128)',
      { password: 'ş'.repeat(129) },
      'Şifre en fazla 128 karakter olabilir.',
    ],
    [
      'one of the commonest passwords',
      { password: 'Password1' },
      'Bu şifre çok yaygın ve kolayca tahmin edilebilir. Lütfen başka bir şifre seçin.',
    ],
    [
      'the e-mail address of the account as password',
      { password: 'AYSE@example.org' },
      'Şifreniz e-posta adresiniz veya adınız olamaz. Lütfen başka bir şifre seçin.',
    ],
    ['a password that is a number', { password: 12345678 }, 'Şifre gerekli.'],
    ['a password that is a list', { password: ['uzun-bir-şifre'] }, 'Şifre gerekli.'],
    ['no e-mail address', { email: undefined }, 'E-posta adresi gerekli.'],
    ['an e-mail address that is only a space', { email: ' ' }, 'E-posta adresi gerekli.'],
    ['no password', { password: undefined }, 'Şifre gerekli.'],
    ['an e-mail address without @', { email: 'ayse' }, 'Geçersiz e-posta formatı.'],
    [
      'an e-mail address of 256 characters (the maximum is 254)',
      { email: `${'a'.repeat(250)}@b.org` },
      'Geçersiz e-posta formatı.',
    ],
  ])('returns 400 and creates no account for a request with %s', async (_, sent, message) => {
    const { as, services } = await testServer();
    const response = await as(null).call(register, { body: { ...person, ...sent } as never });
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request', message } });
    expect(await listUsers(services.db)).toEqual([]);
  });

  it.each(['ayse@example.org', ' AYSE@EXAMPLE.ORG ', 'Ayse@Example.org'])(
    'returns 409 and changes nothing when ayse@example.org has an account and the request has the e-mail address %o',
    async (email) => {
      const { as, services, fixtures } = await testServer();
      await as(null).call(register, { body: person });
      const before = await listUsers(services.db);
      const response = await as(null).call(register, { body: { email, password: 'başka-bir-şifre' } });
      expect(response).toMatchObject({
        status: 409,
        body: { code: 'email_taken', message: 'Bu e-posta adresiyle daha önce kayıt olunmuş.' },
      });
      expect(await listUsers(services.db)).toEqual(before);
      await fixtures.token({ ...before[0], ...person } as never);
    },
  );

  it('creates one account, and returns 409 to nine of ten concurrent requests with the same e-mail address', async () => {
    const { as, services } = await testServer();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => as(null).call(register, { body: person })),
    );
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, ...Array(9).fill(409)]);
    expect(await listUsers(services.db)).toHaveLength(1);
  });

  it('ignores a bearer token of an administrator and unknown fields of the body, such as role and status', async () => {
    const { as, fixtures, services } = await testServer();
    const admin = await fixtures.admin();
    const ignoredFields = {
      role: 'admin',
      status: 'active',
      adminApproved: true,
      uid: 'x',
      createdAt: '2000-01-01',
    };
    const payload = `{"__proto__":{"role":"admin"},${JSON.stringify({ ...person, ...ignoredFields }).slice(1)}`;
    const response = await as(admin).inject({
      method: 'POST',
      url: '/auth/register',
      payload,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(201);
    const stored = (await listUsers(services.db)).find(({ email }) => email === person.email);
    expect(stored).toMatchObject({ status: 'pending', role: 'unassigned', adminApproved: false });
    expect(stored?.uid).not.toBe('x');
    expect(stored?.createdAt).not.toBe('2000-01-01');
  });
});

describe('sign-in with e-mail and password (POST /auth/login)', () => {
  it.each([
    ['active', 'user'],
    ['active', 'unassigned'],
    ['pending', 'unassigned'],
    ['suspended', 'user'],
  ] as const)('returns a token to an account with status %s and role %s', async (status, role) => {
    const { as, fixtures } = await testServer();
    const user = await fixtures.user({ status, role });
    const response = await as(null).call(signIn, { body: user });
    expect(response).toMatchObject({ status: 200, body: { expires_in: 12 * 3600 } });

    const verified = await as(null).call(verifyToken, { body: { token: response.body.token } });
    const { password: _, ...account } = user;
    expect(verified).toMatchObject({ status: 200, body: { token: response.body.token, user: account } });
  });

  it('accepts the e-mail address with other capitals and with spaces around it', async () => {
    const { as, fixtures } = await testServer();
    const { password } = await fixtures.user({ email: 'ali@example.org' });
    const response = await as(null).call(signIn, { body: { email: ' ALI@Example.ORG', password } });
    expect(response.status).toBe(200);
  });

  it('returns the same response for a wrong password and for an unknown e-mail address', async () => {
    const { as, fixtures } = await testServer();
    const { email } = await fixtures.user();
    const wrongPassword = await as(null).call(signIn, { body: { email, password: 'yanlış-şifre' } });
    const unknownAddress = await as(null).call(signIn, {
      body: { email: 'unknown@example.org', password: 'x' },
    });
    expect(wrongPassword).toMatchObject({
      status: 401,
      body: { code: 'credentials_invalid', message: 'Geçersiz e-posta veya şifre.' },
    });
    expect(withoutVaryingFields(unknownAddress)).toEqual(withoutVaryingFields(wrongPassword));
  });

  it('returns 403 with the status of a deactivated account for the right password, and 401 for a wrong one', async () => {
    const { as, fixtures } = await testServer();
    const { email, password } = await fixtures.user({ status: 'deactivated' });
    expect(await as(null).call(signIn, { body: { email, password } })).toMatchObject({
      status: 403,
      body: {
        code: 'account_not_active',
        message: 'Hesabınız devre dışı bırakılmış.',
        status: 'deactivated',
      },
    });
    expect(await as(null).call(signIn, { body: { email, password: 'yanlış-şifre' } })).toMatchObject({
      status: 401,
      body: { message: 'Geçersiz e-posta veya şifre.' },
    });
  });

  it('returns 400 for a malformed e-mail address', async () => {
    const { as } = await testServer();
    const response = await as(null).call(signIn, { body: { email: 'ali', password: 'x' } });
    expect(response).toMatchObject({ status: 400, body: { message: 'Geçersiz e-posta formatı.' } });
  });

  it('returns a different token for each sign-in of an account', async () => {
    const { fixtures } = await testServer();
    const user = await fixtures.user();
    expect(await fixtures.token(user)).not.toBe(await fixtures.token(user));
  });

  it('writes an audit event without the e-mail address for a successful and for a failed sign-in', async () => {
    const { as, fixtures, services } = await testServer();
    const user = await fixtures.user();
    await fixtures.token(user);
    await as(null).call(signIn, { body: { email: user.email, password: 'yanlış-şifre' } });
    await as(null).call(signIn, { body: { email: 'unknown@example.org', password: 'yanlış-şifre' } });
    const auditEntries = await services.db.selectFrom('audit').selectAll().orderBy('seq').execute();
    expect(auditEntries).toMatchObject([
      {
        seq: 1,
        action: 'sign-in',
        result: 'done',
        actor_uid: user.uid,
        target: user.uid,
        address: '127.0.0.1',
      },
      { seq: 2, action: 'sign-in', result: 'refused', actor_uid: null, target: user.uid },
      { seq: 3, action: 'sign-in', result: 'refused', actor_uid: null, target: null },
    ]);
    expect(JSON.stringify(auditEntries)).not.toContain('@');
  });

  it('writes neither token nor password to the log, nor in plain text to the database', async () => {
    const { as, fixtures, services, logged } = await testServer();
    const user = await fixtures.user({ password: 'parola-kanarya' });
    const token = await fixtures.token(user);
    await as(token).call(getProfile);
    await as(null).call(signIn, { body: { email: user.email, password: 'yanlış-kanarya' } });
    const rows = await Promise.all(
      (['users', 'identities', 'tokens', 'audit'] as const).map((table) =>
        services.db.selectFrom(table).selectAll().execute(),
      ),
    );
    const storedAndLogged = JSON.stringify(rows) + logged();
    expect(storedAndLogged).toContain(user.uid);
    expect(storedAndLogged).not.toContain(token);
    expect(storedAndLogged).not.toContain('kanarya');
  });
});

describe('a bearer token', () => {
  it('is required in the body of POST /auth/verify, which returns 400 without it', async () => {
    const { as } = await testServer();
    expect(await as(null).inject({ method: 'POST', url: '/auth/verify' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  it('gets 401 when a character is missing, added or changed', async () => {
    const { as, fixtures } = await testServer();
    const token = await fixtures.token(await fixtures.user());
    const malformedTokens = [
      token.slice(1),
      token.slice(0, -1),
      `${token}A`,
      `${token}=`,
      token.toLowerCase(),
      ` ${token}`,
      (token.startsWith('A') ? 'B' : 'A') + token.slice(1),
    ];
    for (const malformedToken of malformedTokens) {
      expect(await as(null).call(verifyToken, { body: { token: malformedToken } })).toMatchObject({
        status: 401,
        body: { code: 'token_invalid', message: 'Geçersiz token veya kullanıcı bulunamadı' },
      });
    }
    for (const authorization of [
      token,
      `Basic ${token}`,
      `Bearer  ${token}`,
      `Bearer ${token}x`,
      'Bearer',
      '',
    ]) {
      expect(await as(null).call(getProfile, { headers: { authorization } })).toMatchObject({
        status: 401,
        body: { code: 'token_invalid' },
        headers: { 'www-authenticate': 'Bearer error="token_invalid"' },
      });
    }
    expect((await as(token).call(getProfile)).status).toBe(200);
  });

  it('expires an hour after its last use', async () => {
    const { as, fixtures, clock } = await testServer();
    const token = await fixtures.token(await fixtures.user());
    for (let use = 0; use < 3; use++) {
      clock.advance(59 * minute);
      expect((await as(token).call(getProfile)).status).toBe(200);
    }
    clock.advance(60 * minute);
    expect(await as(token).call(getProfile)).toMatchObject({ status: 401, body: { code: 'token_invalid' } });
  });

  it('expires twelve hours after the sign-in, even when requests use it continuously', async () => {
    const { as, fixtures, clock } = await testServer();
    const token = await fixtures.token(await fixtures.user());
    for (let passed = 0; passed < 12 * hour - 30 * minute; passed += 30 * minute) {
      clock.advance(30 * minute);
      expect((await as(token).call(getProfile)).status).toBe(200);
    }
    clock.advance(30 * minute);
    expect((await as(token).call(getProfile)).status).toBe(401);
  });

  it('is deleted from the database at the next sign-in after it has expired', async () => {
    const { fixtures, clock, services } = await testServer();
    const user = await fixtures.user();
    await fixtures.token(user);
    clock.advance(12 * hour);
    await fixtures.token(user);
    expect(await services.db.selectFrom('tokens').selectAll().execute()).toHaveLength(1);
  });
});

describe('sign-out', () => {
  it('invalidates the token of the request, and no other token of the account', async () => {
    const { as, fixtures } = await testServer();
    const user = await fixtures.user();
    const [thisSignIn, otherSignIn] = [await fixtures.token(user), await fixtures.token(user)];
    expect(await as(thisSignIn).call(signOut)).toMatchObject({ status: 204, body: '' });
    expect((await as(thisSignIn).call(getProfile)).status).toBe(401);
    expect((await as(thisSignIn).call(signOut)).status).toBe(401);
    expect((await as(otherSignIn).call(getProfile)).status).toBe(200);
  });
});

describe('password reset by e-mail', () => {
  const newPassword = 'yepyeni-şifre';

  /** Returns the reset code in the latest e-mail. */
  async function mailedCode(outbox: () => Promise<string[]>): Promise<string> {
    const emails = await Promise.all((await outbox()).map((mail) => postalMime.parse(mail)));
    const links = emails.flatMap(({ text }) => /password-reset#code=(\S+)/.exec(text ?? '')?.[1] ?? []);
    return links.at(-1) ?? 'no mail';
  }

  it('returns the same response for known and unknown e-mail addresses', async () => {
    const { as, fixtures, outbox } = await testServer();
    const { email } = await fixtures.user();
    const known = await as(null).call(requestPasswordReset, { body: { email } });
    const unknownAddress = await as(null).call(requestPasswordReset, {
      body: { email: 'unknown@example.org' },
    });
    expect(known.status).toBe(202);
    expect(withoutVaryingFields(unknownAddress)).toEqual(withoutVaryingFields(known));
    expect(await outbox()).toHaveLength(1);
  });

  it('sends an e-mail with a link to PUBLIC_URL, whatever Host header the request has', async () => {
    const { as, fixtures, outbox } = await testServer({
      config: { publicUrl: 'https://slides.example.org' },
    });
    const { email } = await fixtures.user();
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    await as(null).call(requestPasswordReset, { body: { email }, headers });
    const mail = await postalMime.parse((await outbox())[0] ?? '');
    expect(mail).toMatchObject({ to: [{ address: email }], subject: 'Lamina: Şifre sıfırlama' });
    expect(mail.text).toContain('\nhttps://slides.example.org/auth/password-reset#code=');
    expect(mail.text).not.toContain('evil');
  });

  it.each(['active', 'pending', 'suspended'] as const)(
    'ends all sign-ins of an account that is %s, and does not change this status',
    async (status) => {
      const { as, fixtures, outbox } = await testServer();
      const user = await fixtures.user({ status });
      const token = await fixtures.token(user);
      await as(null).call(requestPasswordReset, { body: { email: user.email } });
      const code = await mailedCode(outbox);
      const response = await as(null).call(confirmPasswordReset, {
        body: { code, new_password: newPassword },
      });
      expect(response).toMatchObject({ status: 200, body: { message: 'Şifre başarıyla değiştirildi' } });

      expect((await as(token).call(getProfile)).status).toBe(401);
      expect((await as(null).call(signIn, { body: user })).status).toBe(401);
      const profile = await as({ ...user, password: newPassword }).call(getProfile);
      expect(profile).toMatchObject({ status: 200, body: { user: { status } } });
      expect((await outbox()).at(-1)).toContain('Subject: =?UTF-8?');
      expect(await outbox()).toHaveLength(2);
    },
  );

  it('accepts each code only once, also in three concurrent requests, of which two get 400', async () => {
    const { as, fixtures, outbox } = await testServer();
    const user = await fixtures.user();
    await as(null).call(requestPasswordReset, { body: { email: user.email } });
    const code = await mailedCode(outbox);
    const confirmOnce = () =>
      as(null).call(confirmPasswordReset, { body: { code, new_password: newPassword } });
    const responses = await Promise.all([confirmOnce(), confirmOnce(), confirmOnce()]);
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 400, 400]);
    expect(await confirmOnce()).toMatchObject({
      status: 400,
      body: {
        code: 'reset_link_invalid',
        message: 'Bağlantı geçersiz veya süresi dolmuş. Lütfen yeni bir bağlantı isteyin.',
      },
    });
  });

  it('returns 400 for a code that is 30 minutes old', async () => {
    const { as, fixtures, outbox, clock } = await testServer();
    const user = await fixtures.user();
    await as(null).call(requestPasswordReset, { body: { email: user.email } });
    const code = await mailedCode(outbox);
    clock.advance(30 * minute);
    const response = await as(null).call(confirmPasswordReset, { body: { code, new_password: newPassword } });
    expect(response).toMatchObject({ status: 400, body: { code: 'reset_link_invalid' } });
    await fixtures.token(user);
  });

  it('rejects the code of the first e-mail with 400 after the user has requested a second e-mail', async () => {
    const { as, fixtures, outbox } = await testServer();
    const { email } = await fixtures.user();
    await as(null).call(requestPasswordReset, { body: { email } });
    const olderCode = await mailedCode(outbox);
    await as(null).call(requestPasswordReset, { body: { email } });
    const emails = (await outbox()).join('');
    expect(emails).toContain(olderCode);
    const response = await as(null).call(confirmPasswordReset, {
      body: { code: olderCode, new_password: newPassword },
    });
    expect(response.status).toBe(400);
  });

  it('still accepts a code after a request with this code was rejected because the new password was too short', async () => {
    const { as, fixtures, outbox } = await testServer();
    const { email } = await fixtures.user();
    await as(null).call(requestPasswordReset, { body: { email } });
    const code = await mailedCode(outbox);
    const tooShort = await as(null).call(confirmPasswordReset, { body: { code, new_password: 'kısa' } });
    expect(tooShort).toMatchObject({
      status: 400,
      body: { message: 'Yeni şifre en az 8 karakter olmalı.', field: 'new_password' },
    });
    const response = await as(null).call(confirmPasswordReset, { body: { code, new_password: newPassword } });
    expect(response.status).toBe(200);
  });

  it('sends no e-mail for a deactivated account and rejects a code that was sent before the deactivation', async () => {
    const { as, fixtures, outbox, services } = await testServer();
    const user = await fixtures.user();
    await as(null).call(requestPasswordReset, { body: { email: user.email } });
    const code = await mailedCode(outbox);
    await services.db
      .updateTable('users')
      .set({ status: 'deactivated' })
      .where('uid', '=', user.uid)
      .execute();
    await as(null).call(requestPasswordReset, { body: { email: user.email } });
    expect(await outbox()).toHaveLength(1);
    const response = await as(null).call(confirmPasswordReset, { body: { code, new_password: newPassword } });
    expect(response).toMatchObject({ status: 400, body: { code: 'reset_link_invalid' } });
  });

  it('does not write its reset code to the log, nor in plain text to the database', async () => {
    const { as, fixtures, outbox, services, logged } = await testServer();
    const { email } = await fixtures.user();
    await as(null).call(requestPasswordReset, { body: { email } });
    const code = await mailedCode(outbox);
    await as(null).call(confirmPasswordReset, { body: { code, new_password: 'kısa' } });
    const rows = await services.db.selectFrom('password_resets').selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows) + logged()).not.toContain(code);
  });
});

describe('a sign-in at the same moment as the suspension of its account', () => {
  it('returns a token that is invalid (401) or belongs to a suspended account', async () => {
    const { as, fixtures } = await testServer();
    const admin = await fixtures.admin();
    const user = await fixtures.user();
    const [response] = await Promise.all([
      as(null).call(signIn, { body: user }),
      as(admin).call(suspendUser, { params: { uid: user.uid } }),
    ]);
    const verified = await as(null).call(verifyToken, { body: { token: response.body.token } });
    const outcome = verified.status === 200 ? verified.body.user.status : verified.status;
    expect(['suspended', 401]).toContain(outcome);
  });
});
