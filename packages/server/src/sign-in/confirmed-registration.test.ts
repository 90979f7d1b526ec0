/** Registration with REGISTRATION_HIDE_EXISTING=on, through HTTP: no response may reveal whether an address already has an account. */
import {
  confirmRegistration,
  countWaiting,
  getUser,
  listApplications,
  listUsers,
  register,
  requestPasswordReset,
  signIn,
} from '@lamina/contract';
import postalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, testServer } from '../testing/test-server.ts';

const hourMs = 60 * 60_000;
const hidingExisting = { registrationHideExisting: true };
const person = {
  email: 'ayse@example.org',
  password: 'uzun-bir-şifre',
  displayName: 'Ayşe',
  affiliation: 'Üniversite',
  purpose: 'Tez',
};

/** Returns the e-mails to the address, oldest first. */
async function emailsTo({ outbox }: Pick<TestServer, 'outbox'>, to: string) {
  const mails = await Promise.all((await outbox()).map((mail) => postalMime.parse(mail)));
  return mails.filter((mail) => mail.to?.some(({ address }) => address?.toLowerCase() === to));
}

/** Returns the codes of the confirmation links in the e-mails to the address, oldest first. */
async function confirmationCodesTo(server: TestServer, to: string): Promise<string[]> {
  const texts = (await emailsTo(server, to)).map(({ text }) => text ?? '');
  return texts.flatMap((text) => /auth\/confirm#code=(\S+)/.exec(text)?.[1] ?? []);
}

const registerAs = (server: TestServer, body: typeof person) => server.as(null).call(register, { body });
const confirm = (server: TestServer, code: string, password = person.password) =>
  server.as(null).call(confirmRegistration, { body: { code, password } });
const logIn = (server: TestServer, { email, password }: { email: string; password: string }) =>
  server.as(null).call(signIn, { body: { email, password } });

/** Returns the parts of a response that a caller can compare, without the request id, the date and random ids, which always differ. */
function comparable({ status, body, headers }: Awaited<ReturnType<typeof registerAs>>) {
  const { 'x-request-id': _, 'content-length': length, date: __, ...rest } = headers;
  const { requestId: ___, user, ...others } = body as typeof body & { requestId?: string };
  return { status, length, rest, others, user: user && { ...user, uid: user.uid.length } };
}

describe.each(databaseKinds)(
  'registration with REGISTRATION_HIDE_EXISTING, which conceals whether an account exists (database: %s)',
  (database) => {
    it('returns equal responses for a known and a new e-mail address, and sign-ins with both then get equal 401 responses', async () => {
      const server = await testServer({ database, config: hidingExisting });
      const existing = await server.fixtures.user({ email: 'aise@example.org' });
      const newResponse = await registerAs(server, person);
      const knownResponse = await registerAs(server, { ...person, email: existing.email });
      await server.outbox(); // waits until both e-mails have been sent
      expect(newResponse.status).toBe(201);
      expect(comparable(knownResponse)).toEqual({
        ...comparable(newResponse),
        user: { ...comparable(newResponse).user, email: existing.email },
      });
      const newSignIn = await logIn(server, person);
      const knownSignIn = await logIn(server, { ...person, email: existing.email });
      expect(newSignIn).toMatchObject({ status: 401, body: { code: 'credentials_invalid' } });
      expect(comparable(knownSignIn as never)).toEqual(comparable(newSignIn as never));
    });

    it('creates a pending account only when the applicant opens the link of the e-mail and enters the password', async () => {
      const server = await testServer({ database, config: hidingExisting });
      const admin = server.as(await server.fixtures.admin());
      const { uid } = (await registerAs(server, person)).body.user;
      const [code = ''] = await confirmationCodesTo(server, person.email);
      expect(code).toMatch(/^[\w-]{43}$/);
      expect((await admin.call(listApplications)).body.waiting).toBe(0);
      expect((await admin.call(countWaiting)).body.applications).toBe(0);
      expect((await admin.call(listUsers)).body.users.map(({ email }) => email)).not.toContain(person.email);
      expect((await admin.call(getUser, { params: { uid } })).status).toBe(404);

      server.clock.advance(hourMs / 2); // the administrator's sign-in ends after an hour without a call
      expect(await confirm(server, code)).toMatchObject({
        status: 200,
        body: { message: 'E-posta adresiniz doğrulandı. Yönetici onayı bekleniyor.' },
      });
      const { password: _, ...submittedFields } = person;
      expect((await admin.call(listApplications)).body.applications[0]?.user).toMatchObject({
        ...submittedFields,
        uid,
        status: 'pending',
        role: 'unassigned',
        createdAt: server.clock.now().toISOString(),
      });
      expect((await logIn(server, person)).status).toBe(200);
      const auditEntries = await server.services.db
        .selectFrom('audit')
        .select(['action', 'result'])
        .where('target', '=', uid)
        .where('action', '!=', 'sign-in')
        .orderBy('seq')
        .execute();
      expect(auditEntries).toEqual([
        { action: 'registration-requested', result: 'done' },
        { action: 'registered', result: 'done' },
      ]);
    });

    it('returns 400 for every confirmation link sent to an e-mail address after one of the links was used', async () => {
      const server = await testServer({ database, config: hidingExisting });
      await registerAs(server, person);
      await registerAs(server, { ...person, password: 'başka-bir-şifre' });
      const [first = '', second = ''] = await confirmationCodesTo(server, person.email);
      expect((await confirm(server, second, 'başka-bir-şifre')).status).toBe(200);
      for (const [code, password] of [
        [first, person.password],
        [second, 'başka-bir-şifre'],
      ] as const) {
        expect(await confirm(server, code, password)).toMatchObject({
          status: 400,
          body: { code: 'confirmation_link_invalid' },
        });
      }
      expect((await logIn(server, { ...person, password: 'başka-bir-şifre' })).status).toBe(200);
    });

    it('returns 200 and 400 when the same confirmation link is used twice at the same time', async () => {
      const server = await testServer({ database, config: hidingExisting });
      await registerAs(server, person);
      const [code = ''] = await confirmationCodesTo(server, person.email);
      const responses = await Promise.all([confirm(server, code), confirm(server, code)]);
      expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 400]);
    });

    it('returns 401 for a confirmation link with a password that differs from that of the registration', async () => {
      const server = await testServer({ database, config: hidingExisting });
      await registerAs(server, { ...person, password: 'yabancının-şifresi' });
      const [code = ''] = await confirmationCodesTo(server, person.email);
      expect(await confirm(server, code)).toMatchObject({
        status: 401,
        body: { code: 'credentials_invalid', message: 'Bu, kayıt olurken belirlediğiniz şifre değil.' },
      });
      expect((await logIn(server, { ...person, password: 'yabancının-şifresi' })).status).toBe(401);
    });

    it('deletes a registration with all its data when it is not confirmed within 24 hours', async () => {
      const server = await testServer({ database, config: hidingExisting });
      await registerAs(server, person);
      const [code = ''] = await confirmationCodesTo(server, person.email);
      server.clock.advance(24 * hourMs);
      expect((await confirm(server, code)).status).toBe(400);
      await server.services.confirmedRegistration.deleteExpired();
      expect(await server.services.db.selectFrom('registrations').selectAll().execute()).toEqual([]);
    });

    it('stores only hashes of the confirmation code and of the password', async () => {
      const server = await testServer({ database, config: hidingExisting });
      await registerAs(server, person);
      const [code = ''] = await confirmationCodesTo(server, person.email);
      const rows = JSON.stringify(await server.services.db.selectFrom('registrations').selectAll().execute());
      expect(rows).not.toContain(code);
      expect(rows).not.toContain(person.password);
    });

    it('returns 409 for a confirmation link when the e-mail address got an account meanwhile', async () => {
      const server = await testServer({ database, config: hidingExisting });
      await registerAs(server, person);
      const [code = ''] = await confirmationCodesTo(server, person.email);
      await server.fixtures.user({ email: person.email });
      expect(await confirm(server, code)).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    });

    it('sends no password reset e-mail to an address whose registration is not confirmed', async () => {
      const server = await testServer({ database, config: hidingExisting });
      await registerAs(server, person);
      const resetResponse = await server
        .as(null)
        .call(requestPasswordReset, { body: { email: person.email } });
      expect(resetResponse.status).toBe(202);
      expect(await emailsTo(server, person.email)).toHaveLength(1); // the confirmation e-mail
    });
  },
);

describe('a registration e-mail of a server with REGISTRATION_HIDE_EXISTING', () => {
  it('to the owner of an account reports the attempt to register and has no confirmation link', async () => {
    const server = await testServer({ config: hidingExisting });
    const { email } = await server.fixtures.user({ email: 'ayse@example.org' });
    await registerAs(server, { ...person, email: 'AYSE@example.org' });
    const mails = await emailsTo(server, email);
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).toContain('yeniden kayıt olunmak istendi');
    expect(mails[0]?.text).not.toContain('#code=');
  });

  it.each(['with an account', 'without an account'])(
    'to an address %s is sent at most 20 times an hour',
    async (kind) => {
      const server = await testServer({ config: hidingExisting });
      if (kind === 'with an account') await server.fixtures.user({ email: person.email });
      for (let n = 0; n < 25; n++) expect((await registerAs(server, person)).status).toBe(201);
      expect(await emailsTo(server, person.email)).toHaveLength(20);
    },
  );
});

describe('POST /auth/register/confirm', () => {
  it('returns 429 after 100 wrong confirmation codes from one network', async () => {
    const server = await testServer({ config: hidingExisting });
    for (let n = 0; n < 100; n++) expect((await confirm(server, 'x'.repeat(43))).status).toBe(400);
    expect((await confirm(server, 'x'.repeat(43))).status).toBe(429);
  });

  it('returns 429 after 10 wrong passwords for one registration', async () => {
    const server = await testServer({ config: hidingExisting });
    await registerAs(server, person);
    const [code = ''] = await confirmationCodesTo(server, person.email);
    for (let n = 0; n < 10; n++) expect((await confirm(server, code, 'yanlış-şifre')).status).toBe(401);
    expect((await confirm(server, code)).status).toBe(429);
  });
});

describe('registration on a server without REGISTRATION_HIDE_EXISTING, which would conceal existing accounts', () => {
  it('creates the account immediately and sends no e-mail to the applicant', async () => {
    const server = await testServer();
    expect(await registerAs(server, person)).toMatchObject({
      status: 201,
      body: { message: 'Kayıt başarılı! Yönetici onayı bekleniyor.' },
    });
    expect((await logIn(server, person)).status).toBe(200);
    expect(await emailsTo(server, person.email)).toEqual([]);
    expect(await registerAs(server, person)).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    expect(await server.services.db.selectFrom('registrations').selectAll().execute()).toEqual([]);
  });
});
