/**
 * Registration with REGISTRATION_HIDE_EXISTING=on: the screens do not reveal whether an e-mail address already has an
 * account. The screens are in Turkish: 'Kayıt Ol' registers, 'Doğrula' confirms, 'Giriş Yap' signs in, and 'Giriş
 * yapılamadı' reports that the sign-in failed.
 */
import type { Page } from '@playwright/test';
import { administrator } from './product.ts';
import { expect, test } from './test.ts';

test.use({
  settings: { REGISTRATION_HIDE_EXISTING: 'on' },
  expectedConsoleErrors: /status of 40[13]/,
});

const password = 'cam, boya ve ışık';

/** Registers, then signs in with the same password. @returns the texts of both screens, without the e-mail address */
async function registerAndSignIn(page: Page, email: string): Promise<(string | null)[]> {
  await page.goto('/auth/register');
  await page.getByLabel('E-posta').fill(email);
  await page.getByLabel('Şifre', { exact: true }).fill(password);
  await page.getByLabel('Şifre (Tekrar)').fill(password);
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(page).toHaveURL(/\/auth\/login$/);
  await expect(page.getByRole('button', { name: 'Giriş Yap' })).toBeVisible(); // until then, the screen may show that it loads
  const textAfterRegistration = await page.getByRole('main').textContent();
  await page.getByLabel('Şifre', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Giriş Yap' }).click();
  // Looks for the text in `main` and not for an alert, because the toast about the registration is an alert, too.
  await expect(page.getByRole('main')).toContainText('Giriş yapılamadı');
  return [textAfterRegistration, await page.getByRole('main').textContent()].map(
    (text) => text?.replaceAll(email, '') ?? null,
  );
}

test('with REGISTRATION_HIDE_EXISTING=on, registration looks the same for new and existing e-mail addresses, and a link in an e-mail completes the registration', async ({
  openPageAs,
  product,
}) => {
  const email = 'yeni-kisi@example.org';
  const page = await openPageAs('anonymous');
  const textsForExisting = await registerAndSignIn(page, administrator.email);
  expect(await registerAndSignIn(page, email)).toEqual(textsForExisting);

  /**
   * Returns the link in an e-mail to this address, for example http://127.0.0.1:3000/auth/confirm#code=…; undefined
   * when no e-mail to the address contains a link.
   */
  const linkTo = async (address: string) =>
    (await product.mailsTo(address)).map((mail) => /https?:\S+#code=\S+/.exec(mail)?.[0]).find(Boolean);
  await expect.poll(() => linkTo(email)).toBeDefined();
  const { pathname, hash } = new URL((await linkTo(email)) ?? '');
  await page.goto(`${pathname}${hash}`);
  await expect(page, 'the code is removed from the URL').toHaveURL(/\/auth\/confirm$/);
  await page.getByLabel('Şifre', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Doğrula' }).click();
  await expect(page).toHaveURL(/\/auth\/login$/);
  expect(await linkTo(administrator.email), 'an existing address gets no link').toBeUndefined();

  await page.getByLabel('E-posta').fill(email);
  await page.getByLabel('Şifre', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Giriş Yap' }).click();
  await expect(page).toHaveURL(/\/account-status$/);
});
