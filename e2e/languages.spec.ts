/**
 * Languages of the web app: by default the mix of Turkish and English of docs/requirements.md (ACC-10), or the one language that a
 * user chooses.
 */
import type { Page } from '@playwright/test';
import type { AccountState } from './accounts.ts';
import { axeFindings } from './axe.ts';
import { expect, slideName, test } from './test.ts';

test.use({ expectedConsoleErrors: /status of (?:400|401|404)/ });

/** Returns all texts of the page, including those that only screen readers read. */
function textsOn(page: Page): Promise<string> {
  return page.evaluate(() => {
    const attributes = ['aria-label', 'title', 'placeholder', 'alt', 'aria-valuetext'];
    const hiddenTexts = [...document.querySelectorAll('*')].flatMap((element) =>
      attributes.map((name) => element.getAttribute(name) ?? ''),
    );
    return [document.title, document.body.innerText, ...hiddenTexts].join('\n');
  });
}

/** Label of the language selection. */
const languageLabel = 'Dil / Language';
/** Matches letters that occur only in Turkish, and two Turkish words without such letters. */
const turkish = /[ğşıİĞŞçÇ]|Yükle|Kaydet/;

/** The screens with their titles. `readyText` is a text that a screen shows when it is loaded. */
const screens: readonly (readonly [
  path: string,
  who: AccountState | 'anonymous',
  title: readonly [tr: string, en: string],
  readyText: readonly [tr: string, en: string],
])[] = [
  ['/auth/login', 'anonymous', ['Giriş', 'Log In'], ['Şifreni mi unuttun?', 'Forgot your password?']],
  [
    '/auth/register',
    'anonymous',
    ['Kayıt Ol', 'Register'],
    ['Zaten hesabınız var mı?', 'Already have an account?'],
  ],
  [
    '/auth/confirm',
    'anonymous',
    ['E-posta Doğrulama', 'E-mail Confirmation'],
    ['Girişe dön', 'Back to login'],
  ],
  [
    '/auth/password-reset',
    'anonymous',
    ['Şifre Sıfırlama', 'Password Reset'],
    ['Girişe dön', 'Back to login'],
  ],
  [
    '/no/such/page',
    'anonymous',
    ['Sayfa Bulunamadı', 'Page Not Found'],
    ['Ana sayfaya dön', 'Back to the home page'],
  ],
  [
    '/account-status',
    'pending',
    ['Hesap Durumu', 'Account Status'],
    ['Hesabınız Onay Bekliyor', 'Your Account is Pending Approval'],
  ],
  ['/dashboard', 'user', ['Ana Sayfa', 'Dashboard'], ['Hızlı Bağlantılar', 'Quick Links']],
  ['/dashboard/profile', 'user', ['Profil', 'Profile'], ['Bu oturum', 'This session']],
  [
    '/wsi-viewer',
    'user',
    ['Slayt Görüntüleyici', 'WSI Viewer'],
    ['Görüntülemek için bir görüntü seçin', 'Select an image to view'],
  ],
  ['/admin', 'admin', ['Yönetim Paneli', 'Admin Dashboard'], ['Sistem İstatistikleri', 'System Statistics']],
  [
    '/admin/users',
    'admin',
    ['Kullanıcı Yönetimi', 'User Management'],
    ['Bu kişinin kayıtları', 'Audit entries'],
  ],
  ['/admin/slides', 'admin', ['Slaytlar', 'Slides'], ['Katalog dosyası (CSV)', 'Catalogue file (CSV)']],
  ['/admin/datasets', 'admin', ['Veri Kümeleri', 'Datasets'], ['Erişimi kısıtla', 'Restrict access']],
  [
    '/admin/audit',
    'admin',
    ['Denetim Kaydı', 'Audit Log'],
    ['Kayıt zinciri sağlam', 'The chain of entries is intact'],
  ],
];

for (const [path, who, titles, readyTexts] of screens) {
  test(`the screen ${path} contains no Turkish text when its language is English, and axe finds no accessibility violation in either language`, async ({
    openPageAs,
  }) => {
    const page = await openPageAs(who);
    // Removes the accounts of other tests, because their Turkish names would count as untranslated texts.
    await page.route(/\/api\/v1\/admin\/users\/?$/, async (route) => {
      const response = await route.fetch();
      const { users, ...otherFields } = (await response.json()) as {
        users: { displayName: string | null }[];
      };
      const ownUsers = users.filter(({ displayName }) => displayName === `Deniz ${who}`);
      await route.fulfill({ response, json: { ...otherFields, users: ownUsers } });
    });
    // Removes audit entries of other tests with Turkish names of people, slides or datasets, for the same reason.
    await page.route(/\/api\/v1\/admin\/audit(\?|$)/, async (route) => {
      const response = await route.fetch();
      const { entries, ...otherFields } = (await response.json()) as { entries: readonly unknown[] };
      const ownEntries = entries.filter((entry) => !turkish.test(JSON.stringify(entry)));
      await route.fulfill({ response, json: { ...otherFields, entries: ownEntries } });
    });
    for (const [index, language] of (['tr', 'en'] as const).entries()) {
      await page.addInitScript((choice) => localStorage.setItem('language', choice), language);
      await page.goto(path);
      await expect(page.getByText(readyTexts[index] ?? '').first()).toBeVisible();
      await expect(page).toHaveTitle(`${titles[index]} - Lamina`);
      await expect(page.locator('html')).toHaveAttribute('lang', language);
      expect(await axeFindings(page)).toEqual([]);
    }
    expect((await textsOn(page)).replaceAll(/Türkçe|Dil/g, '')).not.toMatch(turkish);
    // Turkish names on the English page are marked as Turkish for screen readers.
    expect(await page.locator('[lang="tr"]').allInnerTexts()).toEqual(
      who === 'anonymous' || who === 'pending' ? ['Türkçe + English', 'Türkçe'] : [`Deniz ${who}`],
    );
  });
}

test('when a visitor chooses English before the sign-in, the error messages of the server are also in English', async ({
  openPageAs,
  createAccount,
}) => {
  const person = await createAccount('user');
  const page = await openPageAs('anonymous');
  await page.goto('/auth/login');
  await page
    .getByRole('navigation', { name: languageLabel })
    .getByRole('button', { name: 'English', exact: true })
    .click();
  await expect(page.getByRole('heading', { name: 'Log In' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'English', exact: true })).toBeFocused();

  await page.getByRole('button', { name: 'Log In' }).click();
  await expect(page.getByText('A password is required.')).toBeVisible();
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByLabel('Password', { exact: true }).fill('a thick slice of kidney');
  await page.getByRole('button', { name: 'Log In' }).click();
  await expect(page.getByText('The e-mail address or the password is wrong.')).toBeVisible();
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Log In' }).click();
  await expect(page.getByRole('heading', { name: `Welcome, ${person.displayName}` })).toBeVisible();
  await expect(page.getByText('You are logged in.')).toBeVisible();

  await page.goto('/dashboard/profile');
  await page.getByLabel('New Password', { exact: true }).fill('password');
  await page.getByLabel('New Password (again)').fill('password');
  await page.getByRole('button', { name: 'Change Password' }).click();
  await expect(page.getByText('This password is very common and easily guessed.')).toBeVisible();
});

test('a user changes the language of the viewer by keyboard to Turkish and later back, while the same slide stays open', async ({
  openPageAs,
  createAccount,
}) => {
  const person = await createAccount('user');
  const page = await openPageAs(person);
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByRole('button', { name: 'Zoom in' })).toBeVisible();
  const urlBefore = page.url();

  const menu = page.getByRole('button', { name: person.displayName });
  await menu.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitemradio', { name: 'Türkçe + English' })).toBeChecked();
  await page.getByRole('menuitemradio', { name: 'Türkçe', exact: true }).focus();
  await page.keyboard.press('Enter');

  await expect(menu).toBeFocused();
  await expect(page.getByText('Dil: Türkçe')).toBeAttached();
  await expect(page.getByRole('button', { name: 'Yakınlaştır' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Seçilen Görüntü' })).toBeVisible();
  await expect(page).toHaveTitle('Slayt Görüntüleyici - Lamina');
  expect(new URL(page.url()).searchParams.get('image')).toBe(new URL(urlBefore).searchParams.get('image'));
  await page.reload();
  await expect(page.getByRole('button', { name: 'Yakınlaştır' })).toBeVisible();

  await menu.click();
  await page.getByRole('menuitemradio', { name: 'Türkçe + English' }).click();
  await expect(page.getByRole('button', { name: 'Zoom in' })).toBeVisible();
  await page.getByRole('link', { name: 'Lamina' }).click();
  await expect(page.getByRole('heading', { name: 'Son Etkinlikler' })).toBeVisible();
});
