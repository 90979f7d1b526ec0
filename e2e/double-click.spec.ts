/**
 * Protection against mistakes in user management: a double click acts on only one account, and actions can be undone. The screens are in
 * Turkish: 'Onayla' approves, 'Askıya Al' suspends, 'Devre Dışı Bırak' deactivates, 'Geri Al' undoes.
 */
import type { Page } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import { expectNoAxeFindings } from './axe.ts';
import { expect, test } from './test.ts';

/** Returns the row of an applicant; only there a separator follows the address. */
const rowOf = (page: Page, email: string) =>
  page.getByRole('listitem').filter({ has: page.getByText(`${email} · `) });
/** Returns the card of an account in the list of all users. */
const cardOf = (page: Page, email: string) =>
  page.getByRole('listitem').filter({ has: page.getByText(email, { exact: true }) });

/** Clicks a button of an applicant, then clicks the same position of the screen, where another button may be by now. */
async function clickTwice(page: Page, email: string, button: string, gapMs: number): Promise<void> {
  const target = rowOf(page, email).getByRole('button', { name: button, exact: true });
  await expect(target).toBeEnabled();
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (box === null) throw new Error('The element is not visible.');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.click(x, y);
  await page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), gapMs);
  await page.mouse.click(x, y);
}

test.describe('the list of applicants', () => {
  for (const gapMs of [80, 200, 450]) {
    test(`two clicks on the Approve button of an applicant, ${gapMs} ms apart, approve this applicant and not the next one in the list`, async ({
      openPageAs,
      createAccount,
      product,
    }) => {
      const people = [];
      for (let count = 0; count < 3; count += 1) people.push(await createAccount('pending'));
      const [first] = people;
      if (first === undefined) throw new Error('No account was created.');
      const page = await openPageAs('admin');
      await page.goto('/admin/users?view=waiting');
      await clickTwice(page, first.email, 'Onayla', gapMs);
      const toasts = page.locator('.Toastify').getByRole('alert');
      await expect(toasts.first()).toContainText('Kullanıcı başarıyla onaylandı.');
      await expect(toasts.first()).toContainText(first.displayName);
      await expect(page.getByText(`Onaylandı: ${first.displayName}`)).toBeVisible();
      await page.waitForLoadState('networkidle');
      const token = await administratorToken(product.url);
      const statusOf = async (uid: string) =>
        ((await callApi(product.url, 'GET', `/admin/users/${uid}`, { token })).user as { status: string })
          .status;
      expect(await Promise.all(people.map(({ uid }) => statusOf(uid)))).toEqual([
        'active',
        'pending',
        'pending',
      ]);
    });
  }

  test('a button in the toast about the approval of an applicant undoes the approval', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('pending');
    const page = await openPageAs('admin');
    await page.goto('/admin/users?view=waiting');
    await rowOf(page, someone.email).getByRole('button', { name: 'Onayla', exact: true }).click();
    const toast = page.locator('.Toastify').getByRole('alert').first();
    await expect(toast).toContainText(someone.displayName);
    await toast.getByRole('button', { name: 'Geri Al' }).click();
    await expect(page.getByText('Onay geri alındı.')).toBeVisible();
    await expect(rowOf(page, someone.email)).toBeVisible();
    await page.goto('/admin/users');
    await expect(cardOf(page, someone.email).getByText('Onay Bekliyor')).toBeVisible();
  });

  test('the list of applicants shows a note in place of an approved applicant, and axe finds no accessibility violation', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('pending');
    const page = await openPageAs('admin');
    await page.goto('/admin/users?view=waiting');
    await rowOf(page, someone.email).getByRole('button', { name: 'Onayla', exact: true }).click();
    const note = page.getByText(`Onaylandı: ${someone.displayName}`).first();
    await expect(note).toBeVisible();
    // Waits for the end of the toast, which covers buttons. The note stays while the pointer is over the list.
    await expect(page.locator('.Toastify').getByRole('alert')).toHaveCount(0, { timeout: 20_000 });
    await expect(note).toBeVisible();
    // Scrolled to the top, because axe reports buttons that the bar of the list partly covers as too small.
    await page.evaluate(() => scrollTo(0, 0));
    await expectNoAxeFindings(page);
  });

  test('the note about an approved applicant disappears from the list after 15 s, but not before the pointer has left the list', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('pending');
    await createAccount('pending');
    const page = await openPageAs('admin');
    await page.clock.install();
    await page.goto('/admin/users?view=waiting');
    const note = page.getByText(`Onaylandı: ${someone.displayName}`).first();
    await rowOf(page, someone.email).getByRole('button', { name: 'Onayla', exact: true }).click();
    await expect(page.locator('.Toastify').getByRole('alert')).toBeVisible();
    // Hovers over the note and not over the former button, which the toast may cover.
    await note.hover();
    await page.clock.runFor(15_000);
    await expect(note).toBeVisible();
    await page.mouse.move(5, 5);
    await page.clock.runFor(2000);
    await expect(note).toHaveCount(0);
  });
});

test('a button in the toast about the suspension of an account undoes the suspension', async ({
  openPageAs,
  createAccount,
}) => {
  const someone = await createAccount('viewer');
  const page = await openPageAs('admin');
  await page.goto('/admin/users');
  const card = cardOf(page, someone.email);
  await card.getByRole('button', { name: 'Askıya Al' }).click();
  const toast = page.locator('.Toastify').getByRole('alert').first();
  await expect(toast).toContainText('Kullanıcı başarıyla askıya alındı.');
  await expect(toast).toContainText(someone.displayName);
  await expect(card.getByText('Askıya Alındı')).toBeVisible();
  await toast.getByRole('button', { name: 'Geri Al' }).click();
  await expect(card.getByText('Aktif', { exact: true })).toBeVisible();
  await expect(card.getByText('İzleyici', { exact: true })).toBeVisible();
});

test('the dialog for deactivating an account says which access is lost for good, and nothing changes before the confirmation', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  const someone = await createAccount('user');
  const token = await administratorToken(product.url);
  const dataset = 'Mouse kidney';
  const setAccess = (access: 'open' | 'restricted') =>
    callApi(product.url, 'PUT', '/admin/datasets', { token, body: { dataset, access, listed: false } });
  await setAccess('restricted');
  await callApi(product.url, 'POST', '/admin/datasets/grants', {
    token,
    body: { dataset, uid: someone.uid },
  });
  const page = await openPageAs('admin');
  await page.goto('/admin/users');
  const card = cardOf(page, someone.email);
  await card.getByRole('button', { name: 'Devre Dışı Bırak' }).click();
  const dialog = page.getByRole('dialog', { name: 'Hesap devre dışı bırakılsın mı?' });
  await expect(dialog).toContainText(someone.displayName);
  await expect(dialog).toContainText('Mouse kidney');
  await expect(card.getByText('Aktif', { exact: true })).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Devre Dışı Bırak' })).toBeEnabled();
  await expectNoAxeFindings(page);
  await dialog.getByRole('button', { name: 'Devre Dışı Bırak' }).click();
  await expect(page.getByText('Kullanıcı başarıyla devre dışı bırakıldı.')).toBeVisible();
  await expect(card.getByText('Devre Dışı', { exact: true })).toBeVisible();
  await setAccess('open');
});
