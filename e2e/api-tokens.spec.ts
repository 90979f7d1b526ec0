/**
 * API tokens, the credentials of programs ('anahtar' in the Turkish screens): created on the profile, used, and revoked by an
 * administrator.
 */
import { expectNoAxeFindings } from './axe.ts';
import { expect, test } from './test.ts';

test('an API token that a user creates for a dataset on the profile gives access to the dataset until an administrator revokes it', async ({
  openPageAs,
  request,
}) => {
  test.slow(); // two browsers, and axe in both colour schemes
  const page = await openPageAs('user');
  await page.goto('/dashboard/profile');
  const card = page.getByRole('region', { name: 'API Anahtarları' });
  await card.getByRole('button', { name: 'Yeni Anahtar' }).click();
  const dialog = page.getByRole('dialog', { name: 'Yeni Anahtar' });
  const name = `Betik ${Date.now()}`;
  await dialog.getByLabel('Ad', { exact: true }).fill(name);
  await dialog.getByRole('combobox', { name: 'Veri kümeleri' }).click();
  await dialog.getByRole('option', { name: 'Aperio' }).click();
  await page.keyboard.press('Escape');
  await expectNoAxeFindings(page, 'dialog of a new token');
  await dialog.getByRole('button', { name: 'Anahtar Oluştur' }).click();
  const value = card.getByText(/^lam_[\w-]{43}$/);
  await expect(value).toBeVisible();
  const token = (await value.textContent()) ?? '';
  await expectNoAxeFindings(page, 'new token');

  const requestImages = () =>
    request.get('/api/v1/image-catalog/images', { headers: { authorization: `Bearer ${token}` } });
  const listed = await requestImages();
  expect(listed.status()).toBe(200);
  const { images } = (await listed.json()) as { images: { dataset_name: string | null }[] };
  expect(images.map(({ dataset_name: dataset }) => dataset)).toEqual(['Aperio']);

  const admin = await openPageAs('admin');
  await admin.goto('/admin');
  await admin.getByRole('link', { name: 'Anahtarları Gör' }).click();
  await expect(admin.getByText(name)).toBeVisible();
  await expectNoAxeFindings(admin, 'tokens of all accounts');
  await admin.getByRole('button', { name: `İptal et: ${name}` }).click();
  await admin.getByRole('dialog').getByRole('button', { name: 'İptal Et' }).click();
  await expect(admin.getByText('API anahtarı iptal edildi.')).toBeVisible();
  expect((await requestImages()).status()).toBe(401);
});
