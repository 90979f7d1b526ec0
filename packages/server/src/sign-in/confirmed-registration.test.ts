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

const hour = 60 * 60_000;
const hidden = { registrationHideExisting: true };
const person = {
  email: 'ayse@example.org',
  password: 'uzun-bir-şifre',
  displayName: 'Ayşe',
  affiliation: 'Üniversite',
  purpose: 'Tez',
};

/** Returns the e-mails to the address, oldest first. */
async function mailsTo({ outbox }: Pick<TestServer, 'outbox'>, to: string) {
  const mails = await Promise.all((await outbox()).map((mail) => postalMime.parse(mail)));
  return mails.filter((mail) => mail.to?.some(({ address }) => address?.toLowerCase() === to));
}

async function codesTo(server: TestServer, to: string): Promise<string[]> {
  const texts = (await mailsTo(server, to)).map(({ text }) => text ?? '');
  return texts.flatMap((text) => /auth\/confirm#code=(\S+)/.exec(text)?.[1] ?? []);
}

const ask = (server: TestServer, body: typeof person) => server.as(null).call(register, { body });
const confirm = (server: TestServer, code: string, password = person.password) =>
  server.as(null).call(confirmRegistration, { body: { code, password } });
const logIn = (server: TestServer, { email, password }: { email: string; password: string }) =>
  server.as(null).call(signIn, { body: { email, password } });

/** Returns the parts of a response that a caller can compare, without the request id, the date and random ids, which always differ. */
function visible({ status, body, headers }: Awaited<ReturnType<typeof ask>>) {
  const { 'x-request-id': _, 'content-length': length, date: __, ...rest } = headers;
  const { requestId: ___, user, ...others } = body as typeof body & { requestId?: string };
  return { status, length, rest, others, user: user && { ...user, uid: user.uid.length } };
}

describe.each(databaseKinds)('with REGISTRATION_HIDE_EXISTING on %s, registration', (database) => {
  it('returns the same response for a known and a new address, and so does signing in afterwards', async () => {
    const server = await testServer({ database, config: hidden });
    const existing = await server.fixtures.user({ email: 'aise@example.org' });
    const toNew = await ask(server, person);
    const toKnown = await ask(server, { ...person, email: existing.email });
    await server.outbox(); // waits until both e-mails have been sent
    expect(toNew.status).toBe(201);
    expect(visible(toKnown)).toEqual({
      ...visible(toNew),
      user: { ...visible(toNew).user, email: existing.email },
    });
    const asNew = await logIn(server, person);
    const asKnown = await logIn(server, { ...person, email: existing.email });
    expect(asNew).toMatchObject({ status: 401, body: { code: 'credentials_invalid' } });
    expect(visible(asKnown as never)).toEqual(visible(asNew as never));
  });

  it('creates a pending account with the mailed link and the password, which administrators then see', async () => {
    const server = await testServer({ database, config: hidden });
    const admin = server.as(await server.fixtures.admin());
    const { uid } = (await ask(server, person)).body.user;
    const [code = ''] = await codesTo(server, person.email);
    expect(code).toMatch(/^[\w-]{43}$/);
    expect((await admin.call(listApplications)).body.waiting).toBe(0);
    expect((await admin.call(countWaiting)).body.applications).toBe(0);
    expect((await admin.call(listUsers)).body.users.map(({ email }) => email)).not.toContain(person.email);
    expect((await admin.call(getUser, { params: { uid } })).status).toBe(404);

    server.clock.advance(hour / 2); // the administrator's sign-in ends after an hour without a call
    expect(await confirm(server, code)).toMatchObject({
      status: 200,
      body: { message: 'E-posta adresiniz doğrulandı. Yönetici onayı bekleniyor.' },
    });
    const { password: _, ...said } = person;
    expect((await admin.call(listApplications)).body.applications[0]?.user).toMatchObject({
      ...said,
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

  it('accepts a link once and voids the other links of the address', async () => {
    const server = await testServer({ database, config: hidden });
    await ask(server, person);
    await ask(server, { ...person, password: 'başka-bir-şifre' });
    const [first = '', second = ''] = await codesTo(server, person.email);
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

  it('creates one account when a link is opened twice at once', async () => {
    const server = await testServer({ database, config: hidden });
    await ask(server, person);
    const [code = ''] = await codesTo(server, person.email);
    const answers = await Promise.all([confirm(server, code), confirm(server, code)]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 400]);
  });

  it('rejects a link without the password of its registration, since a stranger may have registered the address', async () => {
    const server = await testServer({ database, config: hidden });
    await ask(server, { ...person, password: 'yabancının-şifresi' });
    const [code = ''] = await codesTo(server, person.email);
    expect(await confirm(server, code)).toMatchObject({
      status: 401,
      body: { code: 'credentials_invalid', message: 'Bu, kayıt olurken belirlediğiniz şifre değil.' },
    });
    expect((await logIn(server, { ...person, password: 'yabancının-şifresi' })).status).toBe(401);
  });

  it('expires after 24 hours and is then deleted with all personal data', async () => {
    const server = await testServer({ database, config: hidden });
    await ask(server, person);
    const [code = ''] = await codesTo(server, person.email);
    server.clock.advance(24 * hour);
    expect((await confirm(server, code)).status).toBe(400);
    await server.services.confirmedRegistration.deleteExpired();
    expect(await server.services.db.selectFrom('registrations').selectAll().execute()).toEqual([]);
  });

  it('stores only hashes of the code and of the password', async () => {
    const server = await testServer({ database, config: hidden });
    await ask(server, person);
    const [code = ''] = await codesTo(server, person.email);
    const rows = JSON.stringify(await server.services.db.selectFrom('registrations').selectAll().execute());
    expect(rows).not.toContain(code);
    expect(rows).not.toContain(person.password);
  });

  it('is rejected when the address got an account before the link was opened', async () => {
    const server = await testServer({ database, config: hidden });
    await ask(server, person);
    const [code = ''] = await codesTo(server, person.email);
    await server.fixtures.user({ email: person.email });
    expect(await confirm(server, code)).toMatchObject({ status: 409, body: { code: 'email_taken' } });
  });

  it('leaves the password reset of an unconfirmed address without effect', async () => {
    const server = await testServer({ database, config: hidden });
    await ask(server, person);
    const answer = await server.as(null).call(requestPasswordReset, { body: { email: person.email } });
    expect(answer.status).toBe(202);
    expect(await mailsTo(server, person.email)).toHaveLength(1);
  });
});

describe('with REGISTRATION_HIDE_EXISTING, the e-mail', () => {
  it('to the owner of an account reports the attempt to register and has no confirmation link', async () => {
    const server = await testServer({ config: hidden });
    const { email } = await server.fixtures.user({ email: 'ayse@example.org' });
    await ask(server, { ...person, email: 'AYSE@example.org' });
    const mails = await mailsTo(server, email);
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).toContain('yeniden kayıt olunmak istendi');
    expect(mails[0]?.text).not.toContain('#code=');
  });

  it.each(['known', 'unknown'])(
    'to an address that is %s goes out at most 20 times an hour',
    async (which) => {
      const server = await testServer({ config: hidden });
      if (which === 'known') await server.fixtures.user({ email: person.email });
      for (let n = 0; n < 25; n++) expect((await ask(server, person)).status).toBe(201);
      expect(await mailsTo(server, person.email)).toHaveLength(20);
    },
  );
});

describe('confirmation of a registration', () => {
  it('answers 429 after 100 wrong codes from one network', async () => {
    const server = await testServer({ config: hidden });
    for (let n = 0; n < 100; n++) expect((await confirm(server, 'x'.repeat(43))).status).toBe(400);
    expect((await confirm(server, 'x'.repeat(43))).status).toBe(429);
  });

  it('answers 429 after 10 wrong passwords of one registration', async () => {
    const server = await testServer({ config: hidden });
    await ask(server, person);
    const [code = ''] = await codesTo(server, person.email);
    for (let n = 0; n < 10; n++) expect((await confirm(server, code, 'yanlış-şifre')).status).toBe(401);
    expect((await confirm(server, code)).status).toBe(429);
  });
});

describe('without REGISTRATION_HIDE_EXISTING, registration', () => {
  it('creates the account at once and sends no e-mail to the applicant', async () => {
    const server = await testServer();
    expect(await ask(server, person)).toMatchObject({
      status: 201,
      body: { message: 'Kayıt başarılı! Yönetici onayı bekleniyor.' },
    });
    expect((await logIn(server, person)).status).toBe(200);
    expect(await mailsTo(server, person.email)).toEqual([]);
    expect(await ask(server, person)).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    expect(await server.services.db.selectFrom('registrations').selectAll().execute()).toEqual([]);
  });
});
