import { errors } from '@lamina/contract';
import { screen, within } from '@testing-library/react';
import { act } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { formatDate, formatDateAndTime } from '../formatting/dates.ts';
import { formatMeasuredValue, formatNumber } from '../formatting/numbers.ts';
import { account } from '../testing/accounts.ts';
import { openApp } from '../testing/open-app.tsx';
import { errorResponse } from '../testing/stub-api.ts';
import {
  acceptLanguage,
  adoptStoredLanguage,
  chooseLanguage,
  chosenLanguageOr,
  wording,
} from './language.ts';

const user = account();
const api = { 'GET /user/activity': { activity: [] }, 'GET /user/profile': { user } };

describe('wording (texts of the interface)', () => {
  const texts = wording({
    languageBeforeChoice: 'tr',
    exceptions: ['viewer'],
    tr: { greeting: (name: string) => `Hoş geldiniz, ${name}`, viewer: 'Görüntüleyici' },
    en: { greeting: (name) => `Welcome, ${name}`, viewer: 'Viewer' },
  });
  const currentTexts = () => [texts.greeting('İpek'), texts.viewer];

  it('returns Turkish texts for the language choice "mixed", except the listed exceptions, which are in English', () => {
    expect(currentTexts()).toEqual(['Hoş geldiniz, İpek', 'Viewer']);
    chooseLanguage('en');
    expect(currentTexts()).toEqual(['Welcome, İpek', 'Viewer']);
    chooseLanguage('tr');
    expect(currentTexts()).toEqual(['Hoş geldiniz, İpek', 'Görüntüleyici']);
    chooseLanguage('mixed');
    expect(currentTexts()).toEqual(['Hoş geldiniz, İpek', 'Viewer']);
  });
});

it.each([
  ['mixed', '*', '21 Kasım 2026', '12.345', '2.5', 'N/A'],
  ['tr', 'tr', '21 Kasım 2026', '12.345', '2,5', 'Yok'],
  ['en', 'en', '21 November 2026', '12,345', '2.5', 'N/A'],
] as const)(
  'the language choice "$0" sets the header "Accept-Language: $1" and the formats "$2" for dates and "$3" for numbers',
  (choice, header, date, number, figure, notAvailable) => {
    chooseLanguage(choice);
    expect(acceptLanguage()).toBe(header);
    expect(formatDate('2026-11-21T09:05:00Z')).toBe(date);
    expect(formatNumber(12_345)).toBe(number);
    expect(formatMeasuredValue(2.5)).toBe(figure);
    expect(formatDateAndTime(null)).toBe(notAvailable);
  },
);

describe('the language choice', () => {
  function simulateChoiceInOtherTab(language: string | null) {
    if (language === null) localStorage.removeItem('language');
    else localStorage.setItem('language', language);
    adoptStoredLanguage();
  }

  it('of another tab is adopted only when the user opens another screen, so that typed text is not lost', async () => {
    const { person, goTo } = openApp('/auth/login');
    await person.type(await screen.findByLabelText('E-posta'), 'ipek@example.org');
    localStorage.setItem('language', 'en');
    window.dispatchEvent(new StorageEvent('storage', { key: 'language', newValue: 'en' }));
    expect(screen.getByLabelText<HTMLInputElement>('E-posta').value).toBe('ipek@example.org');
    await act(() => goTo('/auth/register'));
    await screen.findByRole('heading', { name: 'Register' });
  });

  it('is the mix of Turkish and English again after another tab has removed the stored choice', () => {
    chooseLanguage('en');
    simulateChoiceInOtherTab(null);
    expect(chosenLanguageOr('tr')).toBe('tr');
  });

  it.each(['de', '', '{"language":"en"}', 'mixed'])(
    'is the mix of Turkish and English after another tab has stored the value %o, which is not a language',
    (stored) => {
      chooseLanguage('en');
      simulateChoiceInOtherTab(stored);
      expect(chosenLanguageOr('tr')).toBe('tr');
      expect(chosenLanguageOr('en')).toBe('en');
    },
  );

  it('made on the login page is stored and changes the title and the error messages', async () => {
    const { person } = openApp('/auth/login', {
      api: {
        'POST /auth/login': errorResponse('credentials_invalid', errors.credentials_invalid.en),
      },
    });
    const choices = await screen.findByRole('navigation', { name: 'Dil / Language' });
    expect(within(choices).getByRole('button', { pressed: true }).textContent).toBe('Türkçe + English');
    await person.click(within(choices).getByRole('button', { name: 'English' }));

    await screen.findByRole('heading', { name: 'Log In' });
    screen.getByText('Language: English');
    expect(document.activeElement?.textContent).toBe('English');
    expect(document.documentElement.lang).toBe('en');
    expect(document.title).toBe('Log In - Lamina');
    expect(localStorage.getItem('language')).toBe('en');
    await person.click(screen.getByRole('button', { name: 'Log In' }));
    await screen.findByText('An e-mail address is required.');
    await person.type(screen.getByLabelText('E-mail'), 'ipek@example.org');
    await person.type(screen.getByLabelText('Password'), 'secret');
    await person.click(screen.getByRole('button', { name: 'Log In' }));
    await screen.findByText('The e-mail address or the password is wrong.');
  });

  it('made in the user menu keeps the user signed in on the same page', async () => {
    const { person, address } = openApp('/dashboard/profile', { signedInAs: user, api });
    await person.click(await screen.findByRole('button', { name: 'İpek Işık' }));
    const choices = await screen.findByRole('group', { name: 'Dil / Language' });
    expect(within(choices).getByRole('menuitemradio', { checked: true }).textContent).toBe(
      'Türkçe + English',
    );
    await person.click(within(choices).getByRole('menuitemradio', { name: 'Türkçe' }));

    await screen.findByText('Dil: Türkçe');
    await screen.findByRole('link', { name: 'Slayt Görüntüleyici' });
    expect(address()).toBe('/dashboard/profile');
    expect(document.title).toBe('Profil - Lamina');
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'İpek Işık' }));
    await person.keyboard('{Enter}');
    await person.click(await screen.findByRole('menuitemradio', { name: 'Türkçe + English' }));
    await screen.findByRole('link', { name: 'WSI Viewer' });
    expect(localStorage.getItem('language')).toBeNull();
  });

  it('translates a page that is already shown when the user changes the language', async () => {
    openApp('/dashboard/profile', { signedInAs: user, api });
    await screen.findByText('Kayıt Tarihi');
    act(() => chooseLanguage('en'));
    await screen.findByText('Registered');
    await vi.waitFor(() => expect(screen.queryByText('Kayıt Tarihi')).toBeNull());
  });
});
