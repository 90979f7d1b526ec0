/**
 * Slide management by an administrator, and its effect on members. The screens are in Turkish: 'Düzenle' edits, 'Taşı' moves, 'Üyelerden gizle'
 * hides from members, 'Katalogdan kaldır' removes from the catalogue, 'Geri Al' undoes.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { administratorToken, callApi, signIn } from './accounts.ts';
import type { Product } from './product.ts';
import { expect, test } from './test.ts';

// Any different setting makes the fixtures start another product for these tests. Other tests do not expect the changes made here.
test.use({ settings: { LOG_LEVEL: 'info' } });

const rowOf = (page: Page, name: string): Locator =>
  page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });

/** Chooses an action in the menu of a slide. */
async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `İşlemler: ${name}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

async function openSlideManagement(page: Page): Promise<void> {
  await page.goto('/admin');
  await page.getByRole('link', { name: 'Slaytlar', exact: true }).click();
  await expect(page).toHaveTitle('Slaytlar - Lamina');
  await expect(rowOf(page, 'section-1.svs')).toBeVisible();
}

/** Shows the slides with a status. @param status as in the API */
async function showStatus(page: Page, status: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Durum' }).selectOption(status);
}

/** Requests a tile with an image session. @returns the HTTP status */
async function tileStatus(product: Product, session: unknown, imageId: string): Promise<number> {
  const tile = `/api/v1/image-catalog/proxy/${imageId}/image_files/8/0_0.jpeg?session=${String(session)}`;
  return (await fetch(product.url + tile)).status;
}

test('an administrator edits, moves, hides, removes and restores a slide, and members see only the slides meant for them', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  test.slow(); // many steps on one page
  const { token } = await signIn(product.url, await createAccount('user'));
  const { session_id: session } = await callApi(product.url, 'POST', '/auth/image-session', { token });
  const { images } = await callApi(product.url, 'GET', '/image-catalog/images', { token });
  const imageOf = (name: string) =>
    (images as { id: string; file_name: string }[]).find(({ file_name }) => file_name === name);
  const imageId = imageOf('section-1.svs')?.id ?? '';
  const admin = await openPageAs('admin');

  await test.step('an administrator edits name and organ', async () => {
    await openSlideManagement(admin);
    await chooseAction(admin, 'section-1.svs', 'Düzenle');
    const dialog = admin.getByRole('dialog', { name: 'Slaydı düzenle' });
    await dialog.getByLabel('Gösterilen ad').fill('Böbrek 1');
    await dialog.getByLabel('Organ').fill('Böbrek');
    await dialog.getByRole('button', { name: 'Kaydet' }).click();
    await expect(admin.getByText('Slayt bilgileri kaydedildi.')).toBeVisible();
    await expect(rowOf(admin, 'Böbrek 1')).toContainText('Böbrek');
  });

  await test.step('the administrator moves two slides to another dataset', async () => {
    await admin.getByRole('checkbox', { name: 'Seç: Böbrek 1' }).check();
    await admin.getByRole('checkbox', { name: 'Seç: loose.svs' }).check();
    const bar = admin.getByRole('region', { name: 'Seçili slaytlar' });
    await expect(bar).toContainText('2 slayt seçili');
    await bar.getByRole('button', { name: 'Taşı' }).click();
    const dialog = admin.getByRole('dialog', { name: 'Veri kümesine taşı' });
    await dialog.getByRole('combobox').fill('Arşiv');
    await dialog.getByRole('button', { name: 'Taşı' }).click();
    await expect(admin.getByText('2 slayt değiştirildi.')).toBeVisible();
    await expect(bar).toHaveCount(0);
    await admin.getByRole('combobox', { name: 'Veri kümesi' }).selectOption({ label: 'Arşiv' });
    await expect(rowOf(admin, 'section-2.svs')).toHaveCount(0);
    await expect(rowOf(admin, 'Böbrek 1')).toBeVisible();
    await expect(rowOf(admin, 'loose.svs')).toBeVisible();
  });

  await test.step('a hidden slide is marked for the administrator, and a member no longer gets its tiles', async () => {
    expect(await tileStatus(product, session, imageId)).toBe(200);
    await chooseAction(admin, 'Böbrek 1', 'Üyelerden gizle');
    await expect(admin.getByText('1 slayt üyelerden gizlendi.')).toBeVisible();
    await expect(rowOf(admin, 'Böbrek 1')).toContainText('Gizli');
    expect(await tileStatus(product, session, imageId)).toBe(404);
    const { images: memberImages } = await callApi(product.url, 'GET', '/image-catalog/images', {
      token,
    });
    expect((memberImages as { id: string }[]).map(({ id }) => id)).not.toContain(imageId);
    await chooseAction(admin, 'Böbrek 1', 'Üyelere göster');
    await expect(admin.getByText('1 slayt yeniden gösteriliyor.')).toBeVisible();
    expect(await tileStatus(product, session, imageId)).toBe(200);
  });

  await test.step('the slide is removed after a confirmation, and restored with the toast', async () => {
    await chooseAction(admin, 'Böbrek 1', 'Katalogdan kaldır');
    const dialog = admin.getByRole('dialog', { name: 'Katalogdan kaldırılsın mı?' });
    await expect(dialog).toContainText('Dosya silinmez');
    await dialog.getByRole('button', { name: 'Katalogdan kaldır' }).click();
    await expect(rowOf(admin, 'Böbrek 1')).toHaveCount(0);
    expect(await tileStatus(product, session, imageId)).toBe(404);
    await admin.getByRole('button', { name: 'Geri Al', exact: true }).click();
    await expect(rowOf(admin, 'Böbrek 1')).toBeVisible();
  });

  await test.step('the slide is removed again, and restored from the list of removed slides', async () => {
    await chooseAction(admin, 'Böbrek 1', 'Katalogdan kaldır');
    await admin.getByRole('dialog').getByRole('button', { name: 'Katalogdan kaldır' }).click();
    await expect(rowOf(admin, 'Böbrek 1')).toHaveCount(0);
    await showStatus(admin, 'removed');
    await chooseAction(admin, 'Böbrek 1', 'Kataloğa geri al');
    await expect(rowOf(admin, 'Böbrek 1')).toHaveCount(0);
    await showStatus(admin, 'listed');
    await expect(rowOf(admin, 'Böbrek 1')).toBeVisible();
  });

  await test.step('the slide is opened in the viewer', async () => {
    await chooseAction(admin, 'Böbrek 1', 'Görüntüleyicide aç');
    await expect(admin).toHaveURL(new RegExp(`/wsi-viewer\\?image=${imageId}`));
    await expect(admin.getByText('Selected Image')).toBeVisible();
  });
});

test('slide management shows why a slide file cannot be read, and reads the file again on request', async ({
  openPageAs,
  product,
}) => {
  const file = path.join(product.slidesDir, 'Mouse kidney', 'broken.svs');
  await writeFile(file, 'not a slide');
  const token = await administratorToken(product.url);
  const failedCount = async () => {
    const { counts } = await callApi(product.url, 'GET', '/admin/images/counts', { token });
    return (counts as { failed: number }).failed;
  };
  await expect.poll(failedCount, { timeout: 60_000 }).toBe(1);
  const admin = await openPageAs('admin');
  await admin.goto('/admin/slides');
  await showStatus(admin, 'failed');
  const row = rowOf(admin, 'broken.svs');
  await expect(row).toContainText('Okunamadı');
  await expect(row).toContainText('Dosya biçimi tanınmadı.');
  await chooseAction(admin, 'broken.svs', 'Yeniden oku');
  await expect(admin.getByText('1 slayt yeniden okunuyor.')).toBeVisible();
  // The file is still not a slide, so the row appears again.
  await expect(row).toContainText('Dosya biçimi tanınmadı.');
});

test('a catalogue file (CSV) with errors cannot be applied, and a correct one is previewed and applied', async ({
  openPageAs,
}) => {
  const admin = await openPageAs('admin');
  await admin.goto('/admin/slides');
  await admin.getByRole('button', { name: 'Katalog dosyası (CSV)' }).click();
  const file = (text: string) => ({ name: 'liste.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  const input = admin.locator('input[type="file"][accept*="csv"]');

  await test.step('a file with a wrong line cannot be applied', async () => {
    await input.setInputFiles(file('file_name;organ_type\nsection-2.svs;Böbrek;fazla\n'));
    const preview = admin.getByRole('region', { name: 'Önizleme: liste.csv' });
    await expect(preview).toContainText('2. satır');
    await expect(preview).toContainText('Hatalı satırlar varken dosya uygulanamaz.');
    await expect(preview.getByRole('button', { name: /uygula/ })).toHaveCount(0);
  });

  await test.step('a correct file is previewed, and then applied', async () => {
    await input.setInputFiles(
      file('\uFEFFfile_name;organ_type\nMouse kidney/section-2.svs;Işıklı böbrek\nyok.svs;Meme\n'),
    );
    const preview = admin.getByRole('region', { name: 'Önizleme: liste.csv' });
    await expect(preview.getByRole('region', { name: 'Değişecek olanlar' })).toContainText('Işıklı böbrek');
    await expect(preview).toContainText('yok.svs');
    await expect(rowOf(admin, 'section-2.svs')).not.toContainText('Işıklı böbrek');
    await preview.getByRole('button', { name: '1 değişikliği uygula' }).click();
    await expect(admin.getByText('Katalog dosyası uygulandı: 1 slayt değişti.')).toBeVisible();
    await expect(rowOf(admin, 'section-2.svs')).toContainText('Işıklı böbrek');
  });

  await test.step('the catalogue is downloaded as a file', async () => {
    const [download] = await Promise.all([
      admin.waitForEvent('download'),
      admin.getByRole('button', { name: 'Kataloğu indir' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^katalog-\d{4}-\d\d-\d\d\.csv$/);
  });
});
