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

const unknownAccount = { email: 'unknown@example.org', password: 'bir-başka-şifre' };
const validAccount = { email: 'ayse@example.org', password: 'uzun-bir-şifre' };
const shortPassword = { email: 'ayse@example.org', password: 'yedi-7!' };

type Call = Pick<Endpoint, 'method' | 'path'>;
const unknownPath: Call = { method: 'GET', path: '/nowhere' };

/** Sends a call without a bearer token. @returns the message of the response */
async function messageOf({ method, path }: Call, payload: object, language?: string): Promise<string> {
  const { as } = await testServer();
  const headers: Record<string, string> = language === undefined ? {} : { 'accept-language': language };
  const answer = await as(null).inject({ method, url: path, headers, payload });
  return (answer.body as { message: string }).message;
}

describe('the language of an error message', () => {
  it.each([
    ['the request has no Accept-Language', undefined],
    ['Accept-Language is "*"', '*'],
    ['Accept-Language is "en-US,en;q=0.9", as a browser sends it', 'en-US,en;q=0.9'],
    ['Accept-Language is "de", a language that the server does not have', 'de'],
  ])('is Turkish, the default of POST /auth/login, when %s', async (_, language) => {
    expect(await messageOf(signIn, unknownAccount, language)).toBe('Geçersiz e-posta veya şifre.');
  });
});

describe('the language of a response', () => {
  it.each([
    [
      'a sign-in with an unknown e-mail address',
      signIn,
      unknownAccount,
      'en',
      'The e-mail address or the password is wrong.',
    ],
    [
      'a registration with a password of 7 characters',
      register,
      shortPassword,
      'en',
      'The password must have at least 8 characters.',
    ],
    [
      'a registration with a password of 7 characters',
      register,
      shortPassword,
      'tr',
      'Şifre en az 8 karakter olmalı.',
    ],
    [
      'a registration without an e-mail address',
      register,
      { email: '' },
      'en',
      'An e-mail address is required.',
    ],
    [
      'a registration whose display name is a number',
      register,
      { ...validAccount, displayName: 7 },
      'en',
      /^displayName: Invalid input: .*number/,
    ],
    [
      'a registration whose display name is a number',
      register,
      { ...validAccount, displayName: 7 },
      'tr',
      /^displayName: Geçersiz değer: .*number/,
    ],
    ['a successful registration', register, validAccount, 'en', /^You are registered!/],
    ['a request without a bearer token', requestDataset, {}, 'tr', 'Lütfen giriş yapın.'],
    [
      'a request without a bearer token',
      updateDataset,
      {},
      'en',
      'Authentication error. Please log in again.',
    ],
    ['an unknown path', unknownPath, {}, 'en', 'Not found.'],
  ] as const)(
    'is $3 for %s when the header Accept-Language is $3',
    async (_, call, payload, language, text) => {
      expect(await messageOf(call, payload, language)).toEqual(
        typeof text === 'string' ? text : expect.stringMatching(text),
      );
    },
  );

  it('is en for the column headings of the audit log as CSV when the header Accept-Language is en', async () => {
    const { as, fixtures } = await testServer();
    const answer = await as(await fixtures.admin()).call(exportAudit, {
      query: {},
      headers: { 'accept-language': 'en' },
    });
    expect(answer.headers['content-disposition']).toContain('audit-log-');
    expect(answer.body).toContain("No.,Time (UTC),Action,Result,Actor,Actor's e-mail");
  });
});
