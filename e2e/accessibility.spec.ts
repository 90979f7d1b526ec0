/** No screen, in no state a person meets first, has a finding of axe (WCAG 2.2, A and AA). */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { call, type Standing, signIn } from './accounts.ts';
import { administrator } from './product.ts';
import { expect, slideName, test } from './test.ts';

async function findingsOn(page: Page) {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'])
    .analyze();
  return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map((node) => node.html) }));
}

const screens: readonly (readonly [
  screen: string,
  path: string,
  who: Standing | 'anonymous',
  ready: RegExp,
])[] = [
  ['login', '/auth/login', 'anonymous', /Şifreni mi unuttun\?/],
  ['register', '/auth/register', 'anonymous', /isteğe bağlı/],
  ['password reset', '/auth/password-reset', 'anonymous', /E-posta/],
  ['not found', '/no/such/page', 'anonymous', /bulunamadı/i],
  ['account status of a pending account', '/account-status', 'pending', /Onay Bekliyor/],
  ['account status of a suspended account', '/account-status', 'suspended', /Askıya Alınmış/],
  ['dashboard', '/dashboard', 'user', /Hızlı Bağlantılar/],
  ['profile', '/dashboard/profile', 'user', /Kullanıcı/],
  ['WSI Viewer', '/wsi-viewer', 'user', /Select an image to view/],
  ['admin dashboard', '/admin', 'admin', /Daha fazla istatistik yakında\./],
  ['user management', '/admin/users', 'admin', /All Users/],
  ['audit trail', '/admin/audit', 'admin', /Kayıt zinciri sağlam/],
];

test.use({ expectedComplaints: /status of 404 .*\/no\/such\/page/ });

for (const [screen, path, who, ready] of screens) {
  test(`axe has nothing to say about: ${screen}`, async ({ visit }) => {
    const page = await visit(who);
    await page.goto(path);
    await expect(page.getByText(ready).first()).toBeVisible();
    expect(await findingsOn(page)).toEqual([]);
  });
}

test('axe has nothing to say about: the queue of those who wait, and its dialogs', async ({
  visit,
  account,
}) => {
  await account('pending');
  const page = await visit('admin');
  await page.goto('/admin/users?view=waiting');
  await page.getByRole('checkbox', { name: 'Tümünü seç' }).check();
  expect(await findingsOn(page)).toEqual([]);
  for (const [button, title] of [
    ['Seçilenleri Onayla', 'Başvuruyu Onayla'],
    ['Seçilenleri Reddet', 'Başvuruyu Reddet'],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    await expect(page.getByRole('dialog', { name: title })).toBeVisible();
    expect(await findingsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Kapat' }).first().click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
});

test('axe has nothing to say about: a restricted dataset, on both sides', async ({
  visit,
  account,
  product,
}) => {
  const dataset = 'Mouse kidney';
  const { token } = await signIn(product.address, administrator);
  const set = (access: string) =>
    call(product.address, 'PUT', '/admin/datasets', { token, body: { dataset, access, listed: true } });
  await set('restricted');
  const member = await visit('user');
  await member.goto('/wsi-viewer');
  await expect(member.getByRole('button', { name: `Request access to ${dataset}` })).toBeVisible();
  expect(await findingsOn(member)).toEqual([]);
  await member.getByRole('button', { name: `Request access to ${dataset}` }).click();
  await expect(member.getByRole('dialog')).toBeVisible();
  expect(await findingsOn(member)).toEqual([]);

  const { uid } = await account('user');
  await call(product.address, 'POST', '/admin/datasets/grants', { token, body: { dataset, uid } });
  const admin = await visit('admin');
  await admin.goto('/admin/datasets');
  await expect(admin.getByRole('button', { name: /^Kaldır:/ }).first()).toBeVisible();
  expect(await findingsOn(admin)).toEqual([]);
  await set('open');
});

test('axe has nothing to say about: forms with errors', async ({ visit }) => {
  const page = await visit('anonymous');
  await page.goto('/auth/register');
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(page.getByText('E-posta adresi gerekli.')).toBeVisible();
  expect(await findingsOn(page)).toEqual([]);
});

test('axe has nothing to say about: an open user menu', async ({ visit, account }) => {
  const someone = await account('user');
  const page = await visit(someone);
  await page.goto('/dashboard');
  await page.getByRole('button', { name: someone.displayName }).click();
  await expect(page.getByRole('menuitem', { name: 'Logout' })).toBeVisible();
  expect(await findingsOn(page)).toEqual([]);
});

test('axe has nothing to say about: an open slide with the stats overlay', async ({ visit }) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByText('Selected Image')).toBeVisible();
  await page.getByRole('button', { name: /stats/i }).click();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  await page.mouse.move(0, 0); // a tooltip stands outside every landmark while it is shown
  await expect(page.getByRole('tooltip')).toBeHidden();
  expect(await findingsOn(page)).toEqual([]);
});

test('axe has nothing to say about: two slides that are compared', async ({ visit }) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  expect(await findingsOn(page)).toEqual([]);
  await page.getByRole('button', { name: slideName }).click(); // beside itself
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toHaveCount(2);
  await expect(page.getByText('Loading tiles...')).toHaveCount(0);
  await page.mouse.move(0, 0);
  await expect(page.getByRole('tooltip')).toBeHidden();
  expect(await findingsOn(page)).toEqual([]);
});
