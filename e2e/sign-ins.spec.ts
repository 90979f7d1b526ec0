/** The list of sign-ins of an account, and ending them from another browser. */
import { expect, test } from './test.ts';

test.use({ expectedComplaints: /status of 40[01]/ });

test('another browser ends a sign-in from the list', async ({ visit, account }) => {
  const person = await account('user');
  const leftOpen = await visit(person);
  await leftOpen.goto('/dashboard');
  const here = await visit(person);
  await here.goto('/dashboard/profile');

  const card = here.getByRole('region', { name: 'Oturumlar' });
  await expect(card.getByRole('listitem')).toHaveCount(2);
  await expect(card.getByText('Bu oturum')).toHaveCount(1);
  await card.getByRole('button', { name: /^Oturumu kapat:/ }).click();
  await expect(here.getByText('Oturum kapatıldı.')).toBeVisible();
  await expect(card.getByRole('listitem')).toHaveCount(1);

  await leftOpen.getByRole('link', { name: 'WSI Viewer' }).first().click();
  await expect(leftOpen).toHaveURL(/\/auth\/login$/);
  await here.reload();
  await expect(card.getByRole('listitem')).toHaveCount(1);
});

test('signing out everywhere also ends the sign-in of this browser', async ({ visit, account }) => {
  const person = await account('user');
  const there = await visit(person);
  await there.goto('/dashboard');
  const here = await visit(person);
  await here.goto('/dashboard/profile');
  await here.getByRole('button', { name: 'Tüm oturumlardan çık' }).click();
  await expect(here).toHaveURL(/\/auth\/login$/);
  await there.goto('/dashboard/profile');
  await expect(there).toHaveURL(/\/auth\/login$/);
});

test('a common password is rejected beside its field', async ({ visit }) => {
  const page = await visit('user');
  await page.goto('/dashboard/profile');
  await page.getByLabel('Yeni Şifre', { exact: true }).fill('password123');
  await page.getByLabel('Yeni Şifre (Tekrar)').fill('password123');
  await page.getByRole('button', { name: 'Şifreyi Değiştir' }).click();
  await expect(page.getByText('Bu şifre çok yaygın ve kolayca tahmin edilebilir.')).toBeVisible();
});
