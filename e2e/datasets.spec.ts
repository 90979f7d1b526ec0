/** Restricted datasets, pressed by an administrator and seen by a member. */
import { administratorToken, call } from './accounts.ts';
import { expect, test } from './test.ts';

const dataset = 'Mouse kidney';

// Of the slide in the address, once the access has ended.
test.use({ expectedComplaints: /status of 404 .*image-catalog/ });

test('a member sees the slides of a restricted dataset from the grant of the request until its revocation', async ({
  visit,
  account,
  product,
}) => {
  test.slow(); // eight pages, one after the other
  // Whatever another test has left of it.
  const token = await administratorToken(product.address);
  const body = { dataset, access: 'open', listed: false };
  await call(product.address, 'PUT', '/admin/datasets', { token, body });
  const someone = await account('user');
  const member = await visit(someone);
  const admin = await visit('admin');

  await test.step('open to everybody', async () => {
    await member.goto('/wsi-viewer');
    await expect(member.getByRole('button', { name: new RegExp(dataset) })).toBeVisible();
  });

  const card = admin
    .getByRole('listitem')
    .filter({ has: admin.getByRole('heading', { name: dataset, level: 2 }) });
  await test.step('restricted, its name shown', async () => {
    await admin.goto('/admin');
    await admin.getByRole('link', { name: /Veri Kümeleri/ }).click();
    await card.getByRole('switch', { name: /Erişimi kısıtla/ }).click({ force: true });
    await expect(admin.getByText('Veri kümesi kısıtlandı.')).toBeVisible();
    await member.reload();
    await expect(member.getByRole('button', { name: /loose|Unknown/ }).first()).toBeVisible();
    await expect(member.getByText(dataset)).toHaveCount(0);
    await card.getByRole('switch', { name: /Adını üyelere göster/ }).click({ force: true });
    await expect(admin.getByText('Veri kümesinin adı üyelere gösteriliyor.')).toBeVisible();
  });

  await test.step('asked for', async () => {
    await member.reload();
    await member.getByRole('button', { name: 'Restricted datasets (1)' }).click();
    await member.getByRole('button', { name: `Request access to ${dataset}` }).click();
    const dialog = member.getByRole('dialog', { name: 'Request access' });
    await dialog.getByLabel('Reason').fill('My thesis on kidneys.');
    await dialog.getByRole('button', { name: 'Send request' }).click();
    await expect(member.getByText('Access requested')).toBeVisible();
  });

  await test.step('granted', async () => {
    await admin.reload();
    await expect(card.getByText('My thesis on kidneys.')).toBeVisible();
    await card.getByRole('button', { name: 'Kabul et' }).click();
    await expect(admin.getByText('İstek kabul edildi.')).toBeVisible();
    await expect(card.getByText(someone.displayName).first()).toBeVisible();
    await member.reload();
    const group = member.getByRole('button', { name: new RegExp(dataset) });
    await expect(group).toBeVisible();
    // The first group is open already.
    if ((await group.getAttribute('aria-expanded')) === 'false') await group.click();
    await member.getByRole('button', { name: /section-1\.svs/ }).click();
    await expect(member.getByText('Selected Image')).toBeVisible();
  });

  await test.step('taken back', async () => {
    const grant = card.getByRole('listitem').filter({ hasText: someone.email });
    await grant.getByRole('button', { name: `Kaldır: ${someone.displayName}` }).click();
    await expect(admin.getByText('Erişim kaldırıldı.')).toBeVisible();
    await member.reload();
    await member.getByRole('button', { name: 'Restricted datasets (1)' }).click();
    await expect(member.getByText('Your access has ended')).toBeVisible();
    await expect(member.getByText('section-1.svs')).toHaveCount(0);
  });

  await test.step('open again', async () => {
    await card.getByRole('switch', { name: /Erişimi kısıtla/ }).click({ force: true });
    await expect(admin.getByText('Veri kümesi herkese açıldı.')).toBeVisible();
    await member.reload();
    await expect(member.getByRole('button', { name: new RegExp(dataset) })).toBeVisible();
  });
});
