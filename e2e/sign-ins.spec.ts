/**
 * The list of sign-ins on the profile ('Oturumlar'): each browser in which a user is signed in, with a button that ends
 * the sign-in ('Oturumu kapat'). 'Bu oturum' marks the sign-in of the current browser.
 */
import { expect, test } from './test.ts';

test.use({ expectedConsoleErrors: /status of 40[01]/ });

test('when a user ends the sign-in of another browser on the profile, that browser shows the login page', async ({
  openPageAs,
  createAccount,
}) => {
  const person = await createAccount('user');
  const otherBrowser = await openPageAs(person);
  await otherBrowser.goto('/dashboard');
  const thisBrowser = await openPageAs(person);
  await thisBrowser.goto('/dashboard/profile');

  const card = thisBrowser.getByRole('region', { name: 'Oturumlar' });
  await expect(card.getByRole('listitem')).toHaveCount(2);
  await expect(card.getByText('Bu oturum')).toHaveCount(1);
  await card.getByRole('button', { name: /^Oturumu kapat:/ }).click();
  await expect(thisBrowser.getByText('Oturum kapatıldı.')).toBeVisible();
  await expect(card.getByRole('listitem')).toHaveCount(1);

  await otherBrowser.getByRole('link', { name: 'WSI Viewer' }).first().click();
  await expect(otherBrowser).toHaveURL(/\/auth\/login$/);
  await thisBrowser.reload();
  await expect(card.getByRole('listitem')).toHaveCount(1);
});

test('the action Sign out everywhere on the profile signs the user out in the current and in another browser', async ({
  openPageAs,
  createAccount,
}) => {
  const person = await createAccount('user');
  const otherBrowser = await openPageAs(person);
  await otherBrowser.goto('/dashboard');
  const thisBrowser = await openPageAs(person);
  await thisBrowser.goto('/dashboard/profile');
  await thisBrowser.getByRole('button', { name: 'Tüm oturumlardan çık' }).click();
  await expect(thisBrowser).toHaveURL(/\/auth\/login$/);
  await otherBrowser.goto('/dashboard/profile');
  await expect(otherBrowser).toHaveURL(/\/auth\/login$/);
});

test('a very common new password is rejected on the profile with a message at the password field', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/dashboard/profile');
  await page.getByLabel('Yeni Şifre', { exact: true }).fill('password123');
  await page.getByLabel('Yeni Şifre (Tekrar)').fill('password123');
  await page.getByRole('button', { name: 'Şifreyi Değiştir' }).click();
  await expect(page.getByText('Bu şifre çok yaygın ve kolayca tahmin edilebilir.')).toBeVisible();
});
