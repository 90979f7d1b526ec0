/** One's own account through HTTP: profile, password, deletion and activity. A fresh sign-in is at most 15 minutes old. */
import {
  changePassword,
  createImageSession,
  deleteAccount,
  getActivity,
  getImageSessionStats,
  getProfile,
  promoteUser,
  register,
  setUserPassword,
  signIn,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { findUser, listUsers } from '../store/users.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const minute = 60_000;
const newPassword = 'yepyeni-şifre';

async function auditEntries({ services }: TestServer, action: string) {
  return services.db.selectFrom('audit').selectAll().where('action', '=', action).orderBy('seq').execute();
}

describe.each(databaseKinds)('GET /user/profile (database: %s)', (database) => {
  it('returns exactly the documented fields of the account', async () => {
    const { as, fixtures } = await testServer({ database });
    const user = await fixtures.user({ displayName: 'Ayşe' });
    const { password: _, ...account } = user;
    const response = await as(user).call(getProfile);
    expect(response).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(response.body).toEqual({ user: { ...account, decisionReason: null } });
  });

  it('returns status and role as they are now, not as they were at the sign-in', async () => {
    const { as, fixtures } = await testServer({ database });
    const admin = await fixtures.admin();
    const user = await fixtures.user({ status: 'pending' });
    const client = as(user);
    expect((await client.call(getProfile)).body.user.status).toBe('pending');
    await as(admin).inject({ method: 'POST', url: `/admin/users/${user.uid}/approve` });
    expect((await client.call(getProfile)).body.user).toMatchObject({ status: 'active', role: 'user' });
  });
});

describe.each(databaseKinds)("change of the user's own password (database: %s)", (database) => {
  it('requires no current password within 15 minutes after the sign-in, and ends every other sign-in', async () => {
    const server = await testServer({ database });
    const { as, fixtures, clock, services, outbox } = server;
    const user = await fixtures.user();
    const [thisSignIn, otherSignIn] = [await fixtures.token(user), await fixtures.token(user)];
    const sessions = [
      await as(thisSignIn).call(createImageSession),
      await as(otherSignIn).call(createImageSession),
    ];
    expect(sessions.map(({ status }) => status)).toEqual([201, 201]);
    clock.advance(15 * minute);

    const response = await as(thisSignIn).call(changePassword, { body: { new_password: newPassword } });
    expect(response).toMatchObject({ status: 200, body: { message: 'Şifre başarıyla değiştirildi' } });
    expect((await as(thisSignIn).call(getProfile)).status).toBe(200);
    expect((await as(otherSignIn).call(getProfile)).status).toBe(401);
    expect((await as(thisSignIn).call(getImageSessionStats)).body.active_sessions).toBe(1);
    expect((await as(null).call(signIn, { body: user })).status).toBe(401);
    await fixtures.token({ ...user, password: newPassword });

    expect(await findUser(services.db, user.uid)).toMatchObject({ updatedAt: clock.now().toISOString() });
    expect(await auditEntries(server, 'password-changed')).toMatchObject([
      { result: 'done', actor_uid: user.uid, target: user.uid, detail: '{}' },
    ]);
    const emails = await outbox();
    expect(emails).toHaveLength(1);
    expect(emails[0]).toContain(`To: ${user.email}`);
    expect(emails[0]).toContain('şifresi değiştirildi');
  });

  it('returns 403 without the right current password when the sign-in is older than 15 minutes, even for an invalid new password', async () => {
    const { as, fixtures, clock } = await testServer({ database });
    const user = await fixtures.user();
    const token = await fixtures.token(user);
    clock.advance(15 * minute + 1);
    for (const body of [{ new_password: newPassword }, { new_password: 'kısa' }, {}]) {
      expect(await as(token).call(changePassword, { body })).toMatchObject({
        status: 403,
        body: { code: 'reauth_required', message: 'Güvenliğiniz için mevcut şifrenizi de girin.' },
      });
    }
    const withWrongPassword = { new_password: newPassword, current_password: 'yanlış-şifre' };
    expect(await as(token).call(changePassword, { body: withWrongPassword })).toMatchObject({
      status: 403,
      body: { code: 'reauth_required', message: 'Mevcut şifreniz hatalı.' },
    });
    expect((await as(token).call(getProfile)).status).toBe(200);
    const withRightPassword = { new_password: newPassword, current_password: user.password };
    expect((await as(token).call(changePassword, { body: withRightPassword })).status).toBe(200);
    await fixtures.token({ ...user, password: newPassword });
  });

  it('returns 403 for a wrong current password even when the sign-in is so recent that no current password is required', async () => {
    const { as, fixtures } = await testServer({ database });
    const user = await fixtures.user();
    const body = { new_password: newPassword, current_password: 'yanlış-şifre' };
    expect(await as(user).call(changePassword, { body })).toMatchObject({
      status: 403,
      body: { code: 'reauth_required' },
    });
    await fixtures.token(user);
  });

  it.each([
    ['no new password', {}, 'Yeni şifre gerekli.'],
    ['an empty new password', { new_password: '' }, 'Yeni şifre gerekli.'],
    [
      'a new password of 7 characters (the minimum is 8)',
      { new_password: 'yedi-7!' },
      'Yeni şifre en az 8 karakter olmalı.',
    ],
    [
      'a new password of 1,025 bytes (the maximum is 1,024)',
      { new_password: 'x'.repeat(1025) },
      'Yeni şifre çok uzun.',
    ],
  ])('returns 400 and keeps the old password for a request with %s', async (_, body, message) => {
    const { as, fixtures } = await testServer({ database });
    const user = await fixtures.user();
    expect(await as(user).call(changePassword, { body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', message, field: 'new_password' },
    });
    await fixtures.token(user);
  });
});

describe.each(databaseKinds)("deletion of the user's own account (database: %s)", (database) => {
  it.each(['active', 'pending'] as const)(
    'erases the personal data of an account with the status %s, and keeps its uid in the audit log',
    async (status) => {
      const server = await testServer({ database });
      const { as, fixtures, services } = server;
      const user = await fixtures.user({ status, displayName: 'Ayşe Yılmaz' });
      const token = await fixtures.token(user);
      const response = await as(token).call(deleteAccount);
      expect(response).toMatchObject({ status: 200, body: { message: 'Hesap başarıyla silindi' } });

      expect((await as(token).call(getProfile)).status).toBe(401);
      expect((await as(null).call(signIn, { body: user })).status).toBe(401);
      expect(await auditEntries(server, 'account-deleted')).toMatchObject([
        { actor_uid: user.uid, target: user.uid },
      ]);
      const tables = ['users', 'identities', 'tokens', 'image_sessions', 'password_resets', 'audit'] as const;
      const rows = await Promise.all(
        tables.map((table) => services.db.selectFrom(table).selectAll().execute()),
      );
      expect(rows.slice(0, 5)).toEqual([[], [], [], [], []]); // all tables except `audit`
      expect(JSON.stringify(rows)).not.toContain(user.email);
      expect(JSON.stringify(rows)).not.toContain('Yılmaz');
    },
  );

  it('allows a new registration with the e-mail address of the deleted account', async () => {
    const { as, fixtures } = await testServer({ database });
    const user = await fixtures.user();
    await as(user).call(deleteAccount);
    const { email, password } = user;
    const newRegistration = await as(null).call(register, { body: { email, password } });
    expect(newRegistration).toMatchObject({ status: 201, body: { user: { status: 'pending' } } });
    expect(newRegistration.body.user.uid).not.toBe(user.uid);
  });

  it('returns 409 for the last active administrator', async () => {
    const { as, fixtures, services } = await testServer({ database });
    const admin = await fixtures.admin();
    await fixtures.admin({ status: 'suspended' });
    expect(await as(admin).call(deleteAccount)).toMatchObject({
      status: 409,
      body: { code: 'last_admin', message: 'Son aktif yönetici kaldırılamaz.' },
    });
    await fixtures.admin();
    expect((await as(admin).call(deleteAccount)).status).toBe(200);
    expect(await listUsers(services.db)).toHaveLength(2);
  });

  it('returns 409 to one of the last two administrators when both delete their accounts at the same time', async () => {
    const { as, fixtures } = await testServer({ database });
    const tokens = [
      await fixtures.token(await fixtures.admin()),
      await fixtures.token(await fixtures.admin()),
    ];
    const responses = await Promise.all(tokens.map((token) => as(token).call(deleteAccount)));
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
  });

  it('returns 403 without the right current password when the sign-in is older than 15 minutes', async () => {
    const { as, fixtures, clock } = await testServer({ database });
    const user = await fixtures.user();
    const token = await fixtures.token(user);
    clock.advance(16 * minute);
    expect(await as(token).call(deleteAccount)).toMatchObject({
      status: 403,
      body: { code: 'reauth_required' },
    });
    const withWrongPassword = await as(token).call(deleteAccount, {
      body: { current_password: 'yanlış-şifre' },
    });
    expect(withWrongPassword).toMatchObject({ status: 403, body: { message: 'Mevcut şifreniz hatalı.' } });
    const withRightPassword = await as(token).call(deleteAccount, {
      body: { current_password: user.password },
    });
    expect(withRightPassword.status).toBe(200);
  });
});

describe.each(databaseKinds)('GET /user/activity (database: %s)', (database) => {
  it('lists registration, approval, sign-ins and password changes, newest first', async () => {
    const { as, fixtures } = await testServer({ database });
    const admin = await fixtures.admin();
    const person = { email: 'ayse@example.org', password: 'uzun-bir-şifre' };
    const { body } = await as(null).call(register, { body: person });
    const { uid } = body.user;
    await as(admin).inject({ method: 'POST', url: `/admin/users/${uid}/approve` });
    await as(null).call(signIn, { body: { ...person, password: 'yanlış-şifre' } });
    await as({ ...body.user, ...person }).call(changePassword, { body: { new_password: newPassword } });
    await as(admin).call(promoteUser, { params: { uid } });
    await as(admin).call(setUserPassword, { params: { uid }, body: { new_password: person.password } });

    const { activity } = (await as({ ...body.user, ...person }).call(getActivity)).body;
    expect(activity.map(({ action }) => action)).toEqual([
      'sign-in',
      'password-changed',
      'promoted',
      'password-changed',
      'sign-in',
      'approved',
      'registered',
    ]);
    expect(activity[0]).toEqual({ at: expect.any(String), action: 'sign-in', subject: null, imageId: null });
  });

  it('lists the file names of the slides that the account opened, with an image id only for slides still in the catalogue', async () => {
    const { as, fixtures, services } = await testServer({ database });
    const user = await fixtures.user();
    const listedImage = await fixtures.image({ file_name: 'a-slide.svs' });
    const removedImage = await fixtures.image({ removed_at: '2026-05-01T00:00:00.000Z' });
    for (const { id } of [listedImage, removedImage]) {
      await services.audit.recordSeparately({
        action: 'image-opened',
        actor: user.uid,
        target: id,
        detail: { file_name: 'its-name-then.svs' },
        origin: null,
      });
    }
    const { activity } = (await as(user).call(getActivity)).body;
    expect(activity.slice(1)).toMatchObject([
      { action: 'image-opened', subject: 'its-name-then.svs', imageId: null },
      { action: 'image-opened', subject: 'a-slide.svs', imageId: listedImage.id },
    ]);
  });

  it('lists the last twenty actions of the account, and none of other accounts', async () => {
    const { as, fixtures } = await testServer({ database });
    const user = await fixtures.user();
    await fixtures.token(await fixtures.user()); // each call signs the account in
    for (let i = 0; i < 22; i++) await fixtures.token(user);
    const { activity } = (await as(user).call(getActivity)).body;
    expect(activity).toHaveLength(20);
    const newcomer = await fixtures.user({ status: 'pending' });
    expect((await as(newcomer).call(getActivity)).body.activity).toHaveLength(1);
  });
});
