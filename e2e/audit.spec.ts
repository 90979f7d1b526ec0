/**
 * The audit log (an append-only record of who did what): an administrator finds out with a few clicks who opened a slide. The screens are in
 * Turkish: 'Denetim Kaydı' is the audit log, 'Giriş başarısız' a failed sign-in, 'Slayt açıldı' an opened slide.
 */
import { readFile } from 'node:fs/promises';
import { administratorToken, callApi } from './accounts.ts';
import { axeFindings } from './axe.ts';
import { expect, slideName, test } from './test.ts';

// The audit log also lists a sign-in with a wrong password.
test.use({ expectedConsoleErrors: /status of 401 .*\/auth\/login/ });

test('an administrator finds out from the audit log who opened a slide, and what else that person did', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  test.slow(); // two people and many clicks
  const reader = await createAccount('viewer');
  const admin = await createAccount('admin');

  await test.step('a reader mistypes the password, signs in and opens a slide', async () => {
    const wrong = { email: reader.email, password: 'a thick slice of kidney' };
    await expect(callApi(product.url, 'POST', '/auth/login', { body: wrong })).rejects.toThrow('401');
    const page = await openPageAs(reader);
    await page.goto('/wsi-viewer');
    await page.getByRole('button', { name: slideName }).click();
    await expect(page.getByText('Loading tiles...')).toBeHidden();
  });

  const page = await openPageAs(admin);
  const table = page.getByRole('table', { name: 'Kayıtlar' });
  /** Returns the first row of the audit log that contains all words. */
  const rowWith = (...words: readonly string[]) =>
    words.reduce((rows, hasText) => rows.filter({ hasText }), table.getByRole('row')).first();

  await test.step('the audit log is in the navigation and shows that its hash chain is intact', async () => {
    await page.goto('/admin');
    await page.getByRole('navigation').getByRole('link', { name: 'Denetim Kaydı' }).click();
    await expect(page).toHaveTitle('Denetim Kaydı - Lamina');
    await expect(page.getByText('Kayıt zinciri sağlam')).toBeVisible();
    await expect(rowWith('Giriş başarısız', reader.email)).toBeVisible();
  });

  await test.step('the filter by slide shows who opened the slide', async () => {
    const slide = page.getByRole('combobox', { name: 'Slayt' });
    await slide.fill(slideName);
    await page.getByRole('option', { name: slideName }).first().click();
    await page.getByRole('button', { name: 'Filtrele', exact: true }).click();
    await expect(page).toHaveURL(/target=/);
    await expect(rowWith('Slayt açıldı', reader.email, slideName)).toBeVisible();
    await expect(table.getByRole('row').filter({ hasText: 'Giriş' })).toHaveCount(0);
  });

  await test.step('the filter by person shows everything that the user did', async () => {
    await rowWith('Slayt açıldı', reader.email).getByRole('link', { name: reader.displayName }).click();
    await expect(page).toHaveURL(new RegExp(`who=${reader.uid}`));
    await expect(rowWith('Giriş başarısız')).toBeVisible();
    await expect(rowWith('Hesap onaylandı')).toBeVisible();
    await expect(page.getByText(reader.displayName).first()).toBeVisible();
  });

  await test.step('the CSV file contains the filtered entries', async () => {
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV indir' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^denetim-kaydi-\d{4}-\d\d-\d\d\.csv$/);
    const text = await readFile(await file.path(), 'utf8');
    expect(text.startsWith('\uFEFFSıra,Zaman (UTC),')).toBe(true);
    expect(text).toContain(
      `,Slayt açıldı,Başarılı,${reader.displayName},${reader.email},${reader.uid},${slideName},`,
    );
    await expect(page.getByText('Denetim kaydı indirildi.')).toBeVisible();
    await page.getByRole('button', { name: 'Filtreleri temizle' }).click();
    await expect(rowWith('Denetim kaydı indirildi', admin.email)).toBeVisible();
  });
});

test('the audit log shows IP addresses and e-mail addresses of usual length on one line in a window 1280 px wide', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('admin');
  // A long title, which the entry about the collection contains, must not make the other columns narrower than their values.
  const title = 'Fine needle aspirates '.repeat(9).trim();
  const token = await administratorToken(product.url);
  await callApi(product.url, 'POST', '/collections', { token, body: { title } });
  await page.goto('/admin/audit');
  const table = page.getByRole('table', { name: 'Kayıtlar' });
  for (const text of [/^127\.0\.0\.1$/, /^admin-\d+-\d+@example\.org$/]) {
    const element = table.getByText(text).first();
    await expect(element).toBeVisible();
    const lineCount = await element.evaluate(
      (node) => node.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(node).lineHeight),
    );
    expect(Math.round(lineCount)).toBe(1);
  }
});

test('the audit log fits a phone screen as a list of cards, and axe finds no accessibility violation on it', async ({
  openPageAs,
}) => {
  test.slow(); // axe looks at every row
  const page = await openPageAs('admin');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/admin/audit');
  await expect(page.getByText('Kayıt zinciri sağlam')).toBeVisible();
  await expect(page.getByRole('table', { name: 'Kayıtlar' })).toBeVisible();
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
  expect(await axeFindings(page)).toEqual([]);
});

test('user management links to the audit entries about each account, and the viewer to the audit entries about the open slide', async ({
  openPageAs,
  createAccount,
}) => {
  const reader = await createAccount('viewer');
  const page = await openPageAs('admin');
  await page.goto('/admin/users');
  const card = page.getByRole('listitem').filter({ hasText: reader.email });
  await card.getByRole('link', { name: 'Bu kişinin kayıtları' }).click();
  await expect(page).toHaveURL(new RegExp(`/admin/audit\\?who=${reader.uid}`));
  await expect(page.getByRole('table', { name: 'Kayıtlar' }).getByText('Hesap onaylandı')).toBeVisible();

  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await page.getByRole('link', { name: 'Who opened this slide' }).click();
  await expect(page).toHaveURL(/\/admin\/audit\?target=.*&action=image-opened/);
  await expect(page.getByRole('table', { name: 'Kayıtlar' }).getByText('Slayt açıldı').first()).toBeVisible();
});
