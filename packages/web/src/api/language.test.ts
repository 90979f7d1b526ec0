import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseLanguage, chosenLanguageOr, setLocalChoiceListener } from '../language/language.ts';
import { account } from '../testing/accounts.ts';
import { errorResponse, stubApi } from '../testing/stub-api.ts';
import { connectLanguage } from './language.ts';
import { storeSignIn } from './stored-sign-in.ts';

const ok = () => new Response(null, { status: 204 });

beforeEach(connectLanguage);
afterEach(() => {
  setLocalChoiceListener(null);
  localStorage.clear();
});

describe('connectLanguage (saves the chosen language in the account)', () => {
  it('sends no request when the language is changed while no user is signed in', () => {
    const calls = stubApi({});
    chooseLanguage('en');
    expect(chosenLanguageOr('tr')).toBe('en');
    expect(calls).toEqual([]);
  });

  it.each([
    ['en', 'en'],
    ['tr', 'tr'],
    ['mixed', 'tr'],
  ] as const)(
    'saves the language choice "%s" of a signed-in user in the account as the language "%s"',
    async (choice, language) => {
      storeSignIn({ token: 'token-1', user: account() });
      const calls = stubApi({ 'PUT /user/language': ok });
      chooseLanguage(choice);
      await vi.waitFor(() =>
        expect(calls).toMatchObject([
          { name: 'PUT /user/language', body: { language }, authorization: 'Bearer token-1' },
        ]),
      );
    },
  );

  it('keeps the new language of the interface when the server rejects the request', async () => {
    storeSignIn({ token: 'token-1', user: account() });
    const calls = stubApi({ 'PUT /user/language': () => errorResponse('unavailable') });
    chooseLanguage('en');
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    expect(chosenLanguageOr('tr')).toBe('en');
  });
});
