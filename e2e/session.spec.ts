/**
 * The sign-in that the browser stores (docs/requirements.md, section 3), and the messages of signing in and out (section 11). The screens are
 * in Turkish: 'Giriş Yap' signs in, 'Çıkış' signs out.
 */
import { callApi } from './accounts.ts';
import { administrator } from './product.ts';
import { expect, test } from './test.ts';

/** Returns the keys of the browser storage; runs in the page. */
const storedKeys = () => Object.keys(localStorage).sort();

test.describe('an invalid stored sign-in', () => {
  for (const [content, storedItems] of [
    ['user data that is not JSON', { auth_token: 'x', user_data: '{"uid":' }],
    ['user data with missing fields', { auth_token: 'x', user_data: '[]' }],
    ['a user without a token', { user_data: '{}' }],
  ] as const) {
    test(`a stored sign-in that contains ${content} is removed from the browser, and the login page appears`, async ({
      openPageAs,
    }) => {
      const page = await openPageAs('anonymous');
      await page.goto('/auth/login');
      await page.evaluate((entries) => {
        for (const [key, value] of Object.entries(entries)) localStorage.setItem(key, value);
      }, storedItems);
      await page.goto('/dashboard');
      await expect(page).toHaveURL(/\/auth\/login$/);
      await expect(page.getByRole('button', { name: 'Giriş Yap' })).toBeEnabled();
      expect(await page.evaluate(storedKeys)).toEqual([]);
    });
  }
});

test('signing in stores the token and the user in the browser under the keys auth_token and user_data', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  await page.goto('/auth/login');
  await page.getByLabel('E-posta').fill(`  ${administrator.email} `);
  await page.getByLabel('Şifre', { exact: true }).fill(administrator.password);
  await page.getByRole('button', { name: 'Giriş Yap' }).click();
  await expect(page).toHaveURL(/\/dashboard$/);
  expect(await page.evaluate(storedKeys)).toEqual(['auth_token', 'user_data']);
});

test.describe('a sign-in that is rejected', () => {
  test.use({ expectedConsoleErrors: /status of 40[13]/ });

  test('a sign-in with an unknown e-mail address shows the error that the e-mail address or the password is wrong', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('anonymous');
    await page.goto('/auth/login');
    await page.getByLabel('E-posta').fill('kimse@example.org');
    await page.getByLabel('Şifre', { exact: true }).fill('yanlış şifre');
    await page.getByRole('button', { name: 'Giriş Yap' }).click();
    await expect(page.getByText('Geçersiz e-posta veya şifre.').first()).toBeVisible();
    await expect(page).toHaveURL(/\/auth\/login$/);
    expect(await page.evaluate(storedKeys)).toEqual([]);
  });

  test('a sign-in to a deactivated account shows the error that the account is deactivated', async ({
    openPageAs,
    createAccount,
  }) => {
    const { email, password } = await createAccount('deactivated');
    const page = await openPageAs('anonymous');
    await page.goto('/auth/login');
    await page.getByLabel('E-posta').fill(email);
    await page.getByLabel('Şifre', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Giriş Yap' }).click();
    await expect(page.getByText('Hesabınız devre dışı bırakılmış.').first()).toBeVisible();
  });

  test('when the server rejects the stored token with 401, the sign-in is removed from the browser and the login page appears', async ({
    openPageAs,
    createAccount,
    product,
  }) => {
    const someone = await createAccount('user');
    const page = await openPageAs(someone);
    await page.goto('/dashboard');
    await expect(page.getByText('Hızlı Bağlantılar')).toBeVisible();
    // Otherwise the server could reject a request of the dashboard first, which would end the sign-in before the click.
    await page.waitForLoadState('networkidle');
    const { token } = await callApi(product.url, 'POST', '/auth/login', { body: administrator });
    await callApi(product.url, 'POST', `/admin/users/${someone.uid}/suspend`, { token, body: {} });
    await page.getByRole('link', { name: 'WSI Viewer', exact: true }).click();
    await expect(page).toHaveURL(/\/auth\/login$/);
    expect(await page.evaluate(storedKeys)).toEqual([]);
  });
});

test.describe('a form with empty or invalid fields', () => {
  test('the login form shows an error at each field that is empty or invalid', async ({ openPageAs }) => {
    const page = await openPageAs('anonymous');
    await page.goto('/auth/login');
    await page.getByRole('button', { name: 'Giriş Yap' }).click();
    await expect(page.getByText('E-posta adresi gerekli.')).toBeVisible();
    await expect(page.getByText('Şifre gerekli.')).toBeVisible();
    await page.getByLabel('E-posta').fill('adres değil');
    await expect(page.getByText('Geçerli bir e-posta adresi girin.')).toBeVisible();
  });

  test('the registration form shows an error at each field that is empty or invalid', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('anonymous');
    await page.goto('/auth/register');
    await page.getByRole('button', { name: 'Kayıt Ol' }).click();
    await expect(page.getByText('E-posta adresi gerekli.')).toBeVisible();
    await expect(page.getByText('Şifre gerekli.')).toBeVisible();
    await page.getByLabel('Şifre', { exact: true }).fill('yedi77.');
    await page.getByLabel(/Şifre.*tekrar/i).fill('başka');
    await expect(page.getByText('Şifre en az 8 karakter olmalı.')).toBeVisible();
    await expect(page.getByText('Şifreler eşleşmiyor.')).toBeVisible();
  });
});

test.describe('signing out', () => {
  for (const [screen, path, who, menuItem, message] of [
    ['the dashboard', '/dashboard', 'user', 'Logout', 'Successfully logged out.'],
    ['the admin area', '/admin', 'admin', 'Çıkış', 'Başarıyla çıkış yapıldı.'],
  ] as const) {
    test(`signing out from ${screen} removes the stored sign-in, shows a message and opens the login page`, async ({
      openPageAs,
      createAccount,
    }) => {
      const someone = await createAccount(who);
      const page = await openPageAs(someone);
      await page.goto(path);
      await page.waitForLoadState('networkidle'); // a request after signing out would be rejected, which is a console error
      await page.getByRole('button', { name: someone.displayName }).click();
      await page.getByRole('menuitem', { name: menuItem }).click();
      await expect(page.getByText(message)).toBeVisible();
      await expect(page).toHaveURL(/\/auth\/login$/);
      expect(await page.evaluate(storedKeys)).toEqual([]);
      await page.goto('/dashboard');
      await expect(page).toHaveURL(/\/auth\/login$/);
    });
  }
});
