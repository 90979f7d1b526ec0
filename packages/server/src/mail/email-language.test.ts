/** E-mails are written in the language that is stored with the recipient's account. */
import {
  approveUser,
  changeLanguage,
  confirmRegistration,
  type Language,
  register,
  requestPasswordReset,
} from '@lamina/contract';
import postalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { findLanguage, findUserByEmail } from '../store/users.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';
import * as emails from './email-texts.ts';

const person = { email: 'ayse@example.org', password: 'uzun-bir-şifre' };

/** Returns the subjects of the e-mails to an address, oldest first. */
async function subjectsTo({ outbox }: TestServer, address: string): Promise<(string | undefined)[]> {
  const all = await Promise.all((await outbox()).map((email) => postalMime.parse(email)));
  return all.filter(({ to }) => to?.[0]?.address === address).map(({ subject }) => subject);
}

async function languageOf({ services: { db } }: TestServer, email: string): Promise<Language | null> {
  const user = await findUserByEmail(db, email);
  return user && findLanguage(db, user.uid);
}

const setLanguage = ({ as }: TestServer, user: TestUser, language: Language) =>
  as(user).call(changeLanguage, { body: { language } });

describe.each(databaseKinds)('language of an account (database: %s)', (database) => {
  it.each([
    ['en', 'en', 'Lamina: Your account has been approved'],
    ['tr', 'tr', 'Lamina: Hesabınız onaylandı'],
    ['de', 'tr', 'Lamina: Hesabınız onaylandı'],
  ])(
    'is "$1", also in the approval e-mail, after a registration with the header Accept-Language: $0',
    async (header, language, subject) => {
      const server = await testServer({ database });
      const headers = { 'accept-language': header };
      const { body } = await server.as(null).call(register, { body: person, headers });
      expect(await languageOf(server, person.email)).toBe(language);
      const admin = server.as(await server.fixtures.admin());
      await admin.call(approveUser, { params: { uid: body.user.uid }, body: {} });
      expect(await subjectsTo(server, person.email)).toEqual([subject]);
    },
  );

  it('stays the language of the registration request when the e-mail address is confirmed later', async () => {
    const server = await testServer({ database, config: { registrationHideExisting: true } });
    const headers = { 'accept-language': 'en' };
    await server.as(null).call(register, { body: person, headers });
    const { subject, text } = await postalMime.parse((await server.outbox())[0] ?? '');
    expect(subject).toBe('Lamina: Confirm your e-mail address');
    const code = /auth\/confirm#code=(\S+)/.exec(text ?? '')?.[1] ?? '';
    await server.as(null).call(confirmRegistration, { body: { code, password: person.password } });
    expect(await languageOf(server, person.email)).toBe('en');
  });

  it('is changed by PUT /user/language, and is then used for e-mails instead of Accept-Language', async () => {
    const server = await testServer({ database });
    const user = await server.fixtures.user();
    expect((await setLanguage(server, user, 'en')).status).toBe(204);
    const headers = { 'accept-language': 'tr' };
    await server.as(null).call(requestPasswordReset, { body: { email: user.email }, headers });
    await server.outbox();
    await setLanguage(server, user, 'tr');
    await server.as(null).call(requestPasswordReset, { body: { email: user.email } });
    expect(await subjectsTo(server, user.email)).toEqual([
      'Lamina: Reset your password',
      'Lamina: Şifre sıfırlama',
    ]);
  });

  it('is the language of the digest e-mail about waiting applicants: English or Turkish for each administrator', async () => {
    const server = await testServer({ database });
    const [english, turkish] = [await server.fixtures.admin(), await server.fixtures.admin()];
    await setLanguage(server, english, 'en');
    await server.as(null).call(register, { body: person });
    expect(await subjectsTo(server, english.email)).toEqual(['Lamina: Requests are waiting for you']);
    expect(await subjectsTo(server, turkish.email)).toEqual(['Lamina: Onay bekleyenler var']);
  });
});

describe('PUT /user/language', () => {
  it('returns 400 for the language "de", because only Turkish and English are supported', async () => {
    const { as, fixtures } = await testServer();
    const response = await as(await fixtures.user()).call(changeLanguage, {
      body: { language: 'de' } as never,
    });
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request', field: 'language' } });
  });
});

describe('texts of e-mails', () => {
  const recipient = (language: Language) => ({
    to: 'a@example.org',
    language,
    productName: 'Lamina',
    publicUrl: 'https://slides.example.org',
  });
  const emailTexts: Readonly<Record<string, (to: emails.Recipient) => { subject: string; text: string }>> = {
    passwordReset: (to) => emails.passwordResetEmail(to, 'CODE'),
    passwordChanged: emails.passwordChangedEmail,
    secondFactorOn: (to) => emails.secondFactorEmail(to, true),
    secondFactorOff: (to) => emails.secondFactorEmail(to, false),
    confirmRegistration: (to) => emails.confirmRegistrationEmail(to, 'CODE'),
    alreadyRegistered: emails.alreadyRegisteredEmail,
    adminDigest: (to) =>
      emails.adminDigestEmail(to, { newApplications: 1, applications: 2, newDatasetRequests: 3 }),
    approved: (to) => emails.approvedEmail(to, { role: 'user', expiresAt: '2026-11-21T12:00:00.000Z' }),
    approvedForGood: (to) => emails.approvedEmail(to, { role: 'viewer', expiresAt: null }),
    rejected: (to) => emails.rejectedEmail(to, 'reason'),
    datasetGranted: (to) => emails.datasetAnswerEmail(to, { dataset: 'A', granted: true, reason: null }),
    datasetRefused: (to) => emails.datasetAnswerEmail(to, { dataset: 'A', granted: false, reason: 'b' }),
  };

  it.each(Object.entries(emailTexts))(
    'the English text of the e-mail "%s" contains no Turkish letters and has the same links as the Turkish text',
    (_, createEmail) => {
      const en = createEmail(recipient('en'));
      const tr = createEmail(recipient('tr'));
      expect(en.subject + en.text).not.toMatch(/[çğışöüÇĞİŞÖÜ]|undefined/);
      expect(en.text).toMatch(/^Hello,\n/);
      expect(tr.text).toMatch(/^Merhaba,\n/);
      const links = (text: string) => text.match(/https:\S+/g);
      expect(links(en.text)).toEqual(links(tr.text));
    },
  );

  it('the e-mail about an approval (approvedEmail) states role and end date in the language of the recipient', () => {
    expect(emailTexts.approved?.(recipient('tr')).text).toContain(
      'Rolünüz: Kullanıcı\nHesabınızın bitiş tarihi: 21 Kasım 2026',
    );
    expect(emailTexts.approved?.(recipient('en')).text).toContain(
      'Your role: User\nYour account ends on: 21 November 2026',
    );
  });
});
