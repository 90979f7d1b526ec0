/**
 * The forms for signing in, registering and changing the password, with their messages (docs/requirements.md, sections 3, 4, 9
 * and 11). The screens are in Turkish: 'Giriş Yap' signs in, 'Kayıt Ol' registers, 'Şifre' is the password.
 */
import type { Page } from '@playwright/test';
import { callApi, signIn } from './accounts.ts';
import { holdRequests } from './hold-requests.ts';
import { administrator } from './product.ts';
import { expect, test } from './test.ts';

const toastsOf = (page: Page) => page.locator('.Toastify').getByRole('alert');

async function logIn(page: Page, { email, password }: { readonly email: string; readonly password: string }) {
  await page.getByLabel('E-posta').fill(email);
  await page.getByLabel('Şifre', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Giriş Yap' }).click();
}

async function fillRegistration(page: Page, email: string, password = 'bir lam, bir lamel') {
  await page.goto('/auth/register');
  await page.getByLabel('E-posta').fill(email);
  await page.getByLabel('Şifre', { exact: true }).fill(password);
  await page.getByLabel('Şifre (Tekrar)').fill(password);
}

let addressCount = 0;
/** Returns an e-mail address that has no account yet. */
function newEmail(): string {
  addressCount += 1;
  return `form-${process.pid}-${addressCount}@example.org`;
}

test('the layout of the login page has a centred title and card, and a footer with the current year', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  await page.goto('/auth/login');
  const title = page.getByRole('banner').getByText('Lamina', { exact: true });
  const card = page.getByRole('main');
  await expect(card.getByLabel('E-posta')).toBeVisible();
  for (const part of [title, card]) {
    const box = await part.boundingBox();
    if (box === null) throw new Error('The element is not visible.');
    const middleOfWindow = 1280 / 2; // the window is 1280 px wide
    const distance = Math.abs(box.x + box.width / 2 - middleOfWindow);
    expect(distance, 'distance to the middle of the window').toBeLessThan(40);
  }
  const footer = page.getByRole('contentinfo');
  await expect(footer).toContainText('Tüm hakları saklıdır.');
  await expect(footer).toContainText(String(new Date().getFullYear()));
});

test('the login page links to registration and password reset', async ({ openPageAs }) => {
  const page = await openPageAs('anonymous');
  await page.goto('/auth/login');
  await expect(page.getByRole('link', { name: 'Kayıt ol' })).toHaveAttribute('href', '/auth/register');
  await page.getByRole('link', { name: 'Şifreni mi unuttun?' }).click();
  await expect(page).toHaveURL(/\/auth\/password-reset$/);
});

test('the login form disables its button during the request, then shows a success toast and the dashboard', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  await page.goto('/auth/login');
  const release = await holdRequests(page, '**/api/v1/auth/login');
  await logIn(page, administrator);
  const button = page.getByRole('main').locator('button[type=submit]');
  await expect(button).toBeDisabled();
  await release();
  await expect(toastsOf(page)).toHaveText(['Giriş başarılı!']);
  await expect(page).toHaveURL(/\/dashboard$/);
});

test('the login form sends the e-mail address without surrounding spaces, and sends nothing for an invalid address', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  const sentBodies: unknown[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/auth/login'))
      sentBodies.push(request.postDataJSON());
  });
  await page.goto('/auth/login');
  await logIn(page, { email: 'adres değil', password: '' });
  await expect(page.getByText('Geçerli bir e-posta adresi girin.')).toBeVisible();
  await expect(page.getByText('Şifre gerekli.')).toBeVisible();
  expect(sentBodies).toEqual([]);
  await logIn(page, { ...administrator, email: `  ${administrator.email}  ` });
  await expect(page).toHaveURL(/\/dashboard$/);
  expect(sentBodies).toEqual([administrator]);
});

test.describe('a failed login', () => {
  test.use({ expectedConsoleErrors: /status of [45]\d\d|ERR_FAILED/ });

  for (const [shown, urlPattern, response, message] of [
    [
      'the message of the error response',
      '**/api/v1/auth/login',
      { status: 418, json: { message: 'Çaydanlık.' } },
      'Çaydanlık.',
    ],
    [
      'a general message when the error response contains no message',
      '**/api/v1/auth/login',
      { status: 502, body: '' },
      'Giriş başarısız oldu. Lütfen bilgilerinizi kontrol edin.',
    ],
    [
      'that the token is invalid when the verification of the new token returns 401',
      '**/api/v1/auth/verify',
      {
        status: 401,
        json: { message: 'Geçersiz token veya kullanıcı bulunamadı', code: 'token_invalid', status: 401 },
      },
      'Geçersiz token veya kullanıcı bulunamadı',
    ],
    [
      'that the token could not be verified when its verification returns 503',
      '**/api/v1/auth/verify',
      { status: 503, json: { message: 'Token doğrulanamadı', code: 'token_unverifiable', status: 503 } },
      'Token doğrulanamadı',
    ],
  ] as const) {
    test(`a failed login shows ${shown}`, async ({ openPageAs }) => {
      const page = await openPageAs('anonymous');
      await page.route(urlPattern, (route) => route.fulfill(response));
      await page.goto('/auth/login');
      await logIn(page, administrator);
      await expect(toastsOf(page)).toHaveText([message]);
      await expect(page).toHaveURL(/\/auth\/login$/);
      await expect(page.getByRole('button', { name: 'Giriş Yap' })).toBeEnabled();
    });
  }

  test('a failed login shows that the format of the e-mail address is invalid when the server rejects the address', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('anonymous');
    // The form does not send an address that the server would reject, so the test replaces the body of the request.
    await page.route('**/api/v1/auth/login', (route) =>
      route.continue({ postData: JSON.stringify({ email: 'adres değil', password: 'şifre şifre' }) }),
    );
    await page.goto('/auth/login');
    await logIn(page, administrator);
    await expect(toastsOf(page)).toHaveText(['Geçersiz e-posta formatı.']);
  });
});

test('the registration form disables its button during the request, omits an empty display name, and then shows the login page', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  await fillRegistration(page, newEmail());
  const release = await holdRequests(page, '**/auth/register');
  const sent = page.waitForRequest('**/api/v1/auth/register');
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  expect(Object.keys((await sent).postDataJSON()).sort()).toEqual(['email', 'password']);
  await expect(page.getByRole('main').locator('button[type=submit]')).toBeDisabled();
  await release();
  await expect(toastsOf(page)).toHaveText(['Kayıt başarılı! Yönetici onayı bekleniyor.']);
  await expect(page).toHaveURL(/\/auth\/login$/);
});

test('the registration form rejects a password of 7 characters and accepts one of 8', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  await fillRegistration(page, newEmail(), 'kesit-7');
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(page.getByText('Şifre en az 8 karakter olmalı.')).toBeVisible();
  await page.getByLabel('Şifre', { exact: true }).fill('kesit-88');
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(page.getByText('Şifreler eşleşmiyor.')).toBeVisible();
  await page.getByLabel('Şifre (Tekrar)').fill('kesit-88');
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(page).toHaveURL(/\/auth\/login$/);
});

test.describe('a failed registration', () => {
  test.use({ expectedConsoleErrors: /status of [45]\d\d|ERR_FAILED/ });

  for (const [shown, response, message] of [
    [
      'a general message when the error response contains no message',
      { status: 502, body: '' },
      'Kayıt başarısız.',
    ],
    ['that an unexpected error occurred when there is no response', null, 'Beklenmeyen bir hata oluştu.'],
    ['the message of the error response', { status: 400, json: { message: 'Olmaz.' } }, 'Olmaz.'],
  ] as const) {
    test(`a failed registration shows ${shown}`, async ({ openPageAs }) => {
      const page = await openPageAs('anonymous');
      await page.route('**/api/v1/auth/register', (route) =>
        response === null ? route.abort() : route.fulfill(response),
      );
      await fillRegistration(page, newEmail());
      await page.getByRole('button', { name: 'Kayıt Ol' }).click();
      await expect(toastsOf(page)).toHaveText([message]);
      await expect(page).toHaveURL(/\/auth\/register$/);
    });
  }
});

test('a registration shows a general success message when the response of the server contains no message', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  await page.route('**/api/v1/auth/register', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), message: '' } });
  });
  await fillRegistration(page, newEmail());
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(toastsOf(page)).toHaveText(['Kayıt başarılı']);
});

test('the form for a password change requires a new password of at least 8 characters, typed twice', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/dashboard/profile');
  const submitButton = page.getByRole('button', { name: 'Şifreyi Değiştir' });
  await submitButton.click();
  await expect(page.getByText('Yeni şifre gerekli.')).toBeVisible();
  await page.getByLabel('Yeni Şifre', { exact: true }).fill('kesit-7');
  await submitButton.click();
  await expect(page.getByText('Yeni şifre en az 8 karakter olmalı.')).toBeVisible();
  await page.getByLabel('Yeni Şifre', { exact: true }).fill('yeni bir kesit');
  await submitButton.click();
  await expect(page.getByText('Şifreler eşleşmiyor.')).toBeVisible();
});

test('a password change shows a success toast, and the user can sign in with the new password', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  const someone = await createAccount('user');
  const page = await openPageAs(someone);
  await page.goto('/dashboard/profile');
  const password = 'yeni bir kesit';
  await page.getByLabel('Yeni Şifre', { exact: true }).fill(password);
  await page.getByLabel('Yeni Şifre (Tekrar)').fill(password);
  const sent = page.waitForRequest('**/user/password');
  await page.getByRole('button', { name: 'Şifreyi Değiştir' }).click();
  expect((await sent).postDataJSON()).toEqual({ new_password: password });
  await expect(toastsOf(page)).toHaveText(['Şifre başarıyla değiştirildi.']);
  await signIn(product.url, { ...someone, password });
});

test.describe('a failed action on the profile without a message from the server', () => {
  test.use({ expectedConsoleErrors: /status of 502/ });

  test('the profile shows a general error message when a password change or account deletion fails without a message from the server', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('user');
    const page = await openPageAs(someone);
    for (const address of ['**/user/password', '**/user/account']) {
      await page.route(address, (route) => route.fulfill({ status: 502, body: '' }));
    }
    await page.goto('/dashboard/profile');
    await page.getByLabel('Yeni Şifre', { exact: true }).fill('yeni bir kesit');
    await page.getByLabel('Yeni Şifre (Tekrar)').fill('yeni bir kesit');
    await page.getByRole('button', { name: 'Şifreyi Değiştir' }).click();
    await expect(toastsOf(page)).toHaveText(['Şifre değiştirilemedi']);
    await page.getByLabel(`Onaylamak için e-posta adresinizi yazın: ${someone.email}`).fill(someone.email);
    await page.getByRole('button', { name: 'Hesabı Sil' }).click();
    await expect(toastsOf(page).filter({ hasText: 'Hesap silinemedi' })).toBeVisible();
    await expect(page).toHaveURL(/\/dashboard\/profile$/);
  });
});

test('the account deletion on the profile deletes the account, shows a success toast and signs the user out', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  const someone = await createAccount('user');
  const page = await openPageAs(someone);
  await page.goto('/dashboard/profile');
  await page.getByLabel(`Onaylamak için e-posta adresinizi yazın: ${someone.email}`).fill(someone.email);
  await page.getByRole('button', { name: 'Hesabı Sil' }).click();
  await expect(toastsOf(page)).toHaveText(['Hesap başarıyla silindi']);
  await expect(page).toHaveURL(/\/auth\/login$/);
  expect(
    await page.evaluate(() => [localStorage.getItem('auth_token'), localStorage.getItem('user_data')]),
  ).toEqual([null, null]);
  await expect(callApi(product.url, 'POST', '/auth/login', { body: someone })).rejects.toThrow('401'); // no such account
});
