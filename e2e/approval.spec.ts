/**
 * Approval of accounts by an administrator, with the screens of both sides. The screens are in Turkish: 'Onayla' approves, 'Reddet' rejects,
 * 'Bekleyenler' are the waiting applicants, and 'Askıya Alınmış' is the status "suspended", which a rejected account gets.
 */
import type { Page } from '@playwright/test';
import { callApi } from './accounts.ts';
import { expect, test } from './test.ts';

/**
 * Returns the row of an applicant. Other rows may also mention the address, as that of a similar application, but
 * without the separator after the address.
 */
const rowOf = (page: Page, email: string) =>
  page.getByRole('listitem').filter({ has: page.getByText(`${email} · `) });

test('an administrator sees the affiliation and purpose of an applicant, and approves the account with role and end date in one step', async ({
  openPageAs,
  product,
}) => {
  const email = `ipek-${process.pid}@hastane.example`;
  const applicant = await openPageAs('anonymous');
  await applicant.goto('/auth/register');
  await applicant.getByLabel('E-posta').fill(email);
  await applicant.getByLabel('Görünen Ad (isteğe bağlı)').fill('İpek Başvuran');
  await applicant.getByLabel('Şifre', { exact: true }).fill('ince bir kesit');
  await applicant.getByLabel(/Şifre.*tekrar/i).fill('ince bir kesit');
  await applicant.getByText('Başvurunuz hakkında (isteğe bağlı)').click();
  await applicant.getByLabel('Kurum').fill('Ege Üniversitesi');
  await applicant.getByLabel('Başvuru amacı').fill('Böbrek biyopsileri üzerine tez');
  await applicant.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(applicant).toHaveURL(/\/auth\/login$/);
  await applicant.getByLabel('E-posta').fill(email);
  await applicant.getByLabel('Şifre', { exact: true }).fill('ince bir kesit');
  await applicant.getByRole('button', { name: 'Giriş Yap' }).click();
  await expect(applicant.getByText('Onay Bekliyor')).toBeVisible();

  const admin = await openPageAs('admin');
  await admin.goto('/admin');
  await admin.getByRole('link', { name: /Kullanıcılar.*onay bekliyor/ }).click();
  await admin.getByRole('tab', { name: /Bekleyenler/ }).click();
  const row = admin
    .getByRole('listitem')
    .filter({ has: admin.getByRole('heading', { name: 'İpek Başvuran' }) });
  await expect(row.getByText('Ege Üniversitesi')).toBeVisible();
  await expect(row.getByText('Böbrek biyopsileri üzerine tez')).toBeVisible();
  await row.getByRole('button', { name: 'Rol ve Erişim Seçerek Onayla…' }).click();
  const dialog = admin.getByRole('dialog', { name: 'Başvuruyu Onayla' });
  await dialog.getByRole('radio', { name: 'İzleyici' }).check();
  await dialog.getByLabel('Bitiş tarihi (isteğe bağlı)').fill('2099-12-31');
  await dialog.getByRole('button', { name: 'Onayla' }).click();
  await expect(admin.getByText('Kullanıcı başarıyla onaylandı.')).toBeVisible();
  await expect(row).toHaveCount(0);

  await applicant.reload();
  await expect(applicant).toHaveURL(/\/dashboard$/);
  await admin.getByRole('tab', { name: 'Tüm Kullanıcılar' }).click();
  const card = admin
    .getByRole('listitem')
    .filter({ has: admin.getByRole('heading', { name: 'İpek Başvuran' }) });
  await expect(card.getByText('İzleyici')).toBeVisible();
  await expect(card.getByText('31 Aralık 2099 23:59')).toBeVisible();
  await expect.poll(async () => (await product.mailsTo(email)).length).toBeGreaterThan(0);
});

test('an administrator rejects several applicants at once with a reason, which each of them sees', async ({
  openPageAs,
  createAccount,
}) => {
  const [first, second] = [await createAccount('pending'), await createAccount('pending')];
  const waiting = await openPageAs(first);
  await waiting.goto('/account-status');
  await expect(waiting.getByText('Onay Bekliyor')).toBeVisible();

  const admin = await openPageAs('admin');
  await admin.goto('/admin/users?view=waiting');
  for (const { email } of [first, second]) {
    await rowOf(admin, email).getByRole('checkbox').check();
  }
  await admin.getByRole('button', { name: 'Seçilenleri Reddet' }).click();
  const dialog = admin.getByRole('dialog', { name: 'Başvuruyu Reddet' });
  await dialog.getByRole('button', { name: 'Reddet' }).click();
  await expect(dialog.getByText('Gerekçe gerekli.')).toBeVisible();
  await dialog.getByLabel('Gerekçe').fill('Kurumunuz doğrulanamadı.');
  await dialog.getByRole('button', { name: 'Reddet' }).click();
  await expect(admin.getByText('2 başvuru reddedildi.')).toBeVisible();
  await expect(rowOf(admin, first.email)).toHaveCount(0);

  // Checked in the page that is already open, and after a new sign-in.
  await waiting.reload();
  for (const page of [waiting, await openPageAs(second)]) {
    if (page !== waiting) await page.goto('/account-status');
    await expect(page.getByText('Askıya Alınmış')).toBeVisible();
    await expect(page.getByText('Kurumunuz doğrulanamadı.')).toBeVisible();
  }
});

test.describe('approving several applicants', () => {
  test('when an administrator approves several applicants at once, user management reports one who is already approved, and approves the others', async ({
    openPageAs,
    createAccount,
  }) => {
    const [alreadyApproved, stillPending] = [await createAccount('pending'), await createAccount('pending')];
    const admin = await openPageAs('admin');
    await admin.goto('/admin/users?view=waiting');
    for (const { email } of [alreadyApproved, stillPending]) {
      await rowOf(admin, email).getByRole('checkbox').check();
    }
    await admin.getByRole('button', { name: 'Seçilenleri Onayla' }).click();
    const dialog = admin.getByRole('dialog');
    const otherAdmin = await openPageAs('admin');
    await otherAdmin.goto('/admin/users?view=waiting');
    await rowOf(otherAdmin, alreadyApproved.email)
      .getByRole('button', { name: 'Onayla', exact: true })
      .click();
    await expect(otherAdmin.getByText('Kullanıcı başarıyla onaylandı.')).toBeVisible();
    await dialog.getByRole('button', { name: 'Onayla' }).click();
    await expect(dialog.getByText(/Bu kullanıcı zaten aktif\./)).toBeVisible();
    await expect(admin.getByText('1 kullanıcı onaylandı.')).toBeVisible();
  });
});

test('user management finds a user by a name that is typed without diacritics, and the URL keeps the search', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  const someone = await createAccount('user');
  const email = `sule-${process.pid}@example.org`;
  const body = { email, password: 'ince bir kesit', displayName: 'Şule Çağlı Işık' };
  await callApi(product.url, 'POST', '/auth/register', { body });
  const page = await openPageAs('admin');
  await page.goto('/admin/users');
  await page.getByRole('searchbox', { name: 'Ara' }).fill('isik SULE');
  const found = page.getByRole('region', { name: 'All Users' }).getByRole('listitem');
  await expect(found).toHaveCount(1);
  await expect(found.getByRole('heading')).toHaveText('Şule Çağlı Işık');
  await page.reload();
  await expect(page.getByRole('searchbox', { name: 'Ara' })).toHaveValue('isik SULE');
  await expect(found).toHaveCount(1);
  await page.getByRole('button', { name: 'Temizle' }).click();
  await expect(page.getByText(someone.email, { exact: true })).toBeVisible();
});
