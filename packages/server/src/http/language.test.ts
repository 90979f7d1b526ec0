import {
  type Endpoint,
  exportAudit,
  register,
  requestDataset,
  signIn,
  updateDataset,
} from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { testServer } from '../testing/test-server.ts';

const wrong = { email: 'nobody@example.org', password: 'bir-başka-şifre' };
const good = { email: 'ayse@example.org', password: 'uzun-bir-şifre' };
const short = { email: 'ayse@example.org', password: 'yedi-7!' };

type Asked = Pick<Endpoint, 'method' | 'path'>;
const nowhere: Asked = { method: 'GET', path: '/nowhere' };

/** What the server says to nobody in particular. */
async function said({ method, path }: Asked, payload: object, language?: string): Promise<string> {
  const { as } = await testServer();
  const headers: Record<string, string> = language === undefined ? {} : { 'accept-language': language };
  const answer = await as(null).inject({ method, url: path, headers, payload });
  return (answer.body as { message: string }).message;
}

describe('an answer is in the language of its call', () => {
  it.each([
    ['nothing is asked for', undefined],
    ['anything will do', '*'],
    ['a browser sends its own list', 'en-US,en;q=0.9'],
    ['it is a language that there is not', 'de'],
  ])('when %s', async (_, language) => {
    expect(await said(signIn, wrong, language)).toBe('Geçersiz e-posta veya şifre.');
  });
});

describe('an answer is in the language that was chosen', () => {
  it.each([
    ['an error', signIn, wrong, 'en', 'The e-mail address or the password is wrong.'],
    ['a rule of ours', register, short, 'en', 'The password must have at least 8 characters.'],
    ['a rule of ours', register, { email: '' }, 'en', 'An e-mail address is required.'],
    ['a rule of any schema', register, { ...good, displayName: 7 }, 'en', /^displayName: Invalid input/],
    ['a rule of any schema', register, { ...good, displayName: 7 }, 'tr', /^displayName: Geçersiz değer/],
    ['a success', register, good, 'en', /^You are registered!/],
    ['a call without a sign-in', requestDataset, {}, 'tr', 'Lütfen giriş yapın.'],
    ['a call without a sign-in', updateDataset, {}, 'en', 'Authentication error. Please log in again.'],
    ['an unknown address', nowhere, {}, 'en', 'Not found.'],
  ] as const)('$0: $4', async (_, asked, payload, language, sentence) => {
    expect(await said(asked, payload, language)).toEqual(
      typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    );
  });

  it('the audit trail for spreadsheets', async () => {
    const { as, given } = await testServer();
    const answer = await as(await given.admin()).call(exportAudit, {
      query: {},
      headers: { 'accept-language': 'en' },
    });
    expect(answer.headers['content-disposition']).toContain('audit-trail-');
    expect(answer.body).toContain("No.,Time (UTC),Action,Result,Actor,Actor's e-mail");
  });
});
