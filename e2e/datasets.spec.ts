/**
 * Restricted datasets: only members to whom an administrator grants access see their slides. The viewer is in English,
 * administration in Turkish: 'Erişimi kısıtla' restricts the access, 'Adını üyelere göster' shows the name to members,
 * 'Kabul et' accepts a request, and 'Kaldır' revokes an access.
 */
import { administratorToken, callApi } from './accounts.ts';
import { expect, test } from './test.ts';

const dataset = 'Mouse kidney';

// The slide in the URL is requested once more after the access has ended.
test.use({ expectedConsoleErrors: /status of 404 .*image-catalog/ });

test('a member sees the slides of a restricted dataset only after an administrator grants access, and only until access is revoked', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  test.slow(); // loads eight pages one after the other
  // Another test may have restricted the dataset.
  const token = await administratorToken(product.url);
  const body = { dataset, access: 'open', listed: false };
  await callApi(product.url, 'PUT', '/admin/datasets', { token, body });
  const someone = await createAccount('user');
  const member = await openPageAs(someone);
  const admin = await openPageAs('admin');

  await test.step('the dataset is open to all members', async () => {
    await member.goto('/wsi-viewer');
    await expect(member.getByRole('button', { name: new RegExp(dataset) })).toBeVisible();
  });

  const card = admin
    .getByRole('listitem')
    .filter({ has: admin.getByRole('heading', { name: dataset, level: 2 }) });
  await test.step('an administrator restricts the dataset but shows its name', async () => {
    await admin.goto('/admin');
    await admin.getByRole('link', { name: /Veri Kümeleri/ }).click();
    // Forced, because the visible part of a switch covers its input.
    await card.getByRole('switch', { name: /Erişimi kısıtla/ }).click({ force: true });
    await expect(admin.getByText('Veri kümesi kısıtlandı.')).toBeVisible();
    await member.reload();
    await expect(member.getByRole('button', { name: /loose|Unknown/ }).first()).toBeVisible();
    await expect(member.getByText(dataset)).toHaveCount(0);
    await card.getByRole('switch', { name: /Adını üyelere göster/ }).click({ force: true });
    await expect(admin.getByText('Veri kümesinin adı üyelere gösteriliyor.')).toBeVisible();
  });

  await test.step('the member requests access', async () => {
    await member.reload();
    await member.getByRole('button', { name: 'Restricted datasets (1)' }).click();
    await member.getByRole('button', { name: `Request access to ${dataset}` }).click();
    const dialog = member.getByRole('dialog', { name: 'Request access' });
    await dialog.getByLabel('Reason').fill('My thesis on kidneys.');
    await dialog.getByRole('button', { name: 'Send request' }).click();
    await expect(member.getByText('Access requested')).toBeVisible();
  });

  await test.step('the administrator grants access, and the member opens a slide', async () => {
    await admin.reload();
    await expect(card.getByText('My thesis on kidneys.')).toBeVisible();
    await card.getByRole('button', { name: 'Kabul et' }).click();
    await expect(admin.getByText('İstek kabul edildi.')).toBeVisible();
    await expect(card.getByText(someone.displayName).first()).toBeVisible();
    await member.reload();
    const group = member.getByRole('button', { name: new RegExp(dataset) });
    await expect(group).toBeVisible();
    // The first group of the catalogue is already expanded.
    if ((await group.getAttribute('aria-expanded')) === 'false') await group.click();
    await member.getByRole('button', { name: /section-1\.svs/ }).click();
    await expect(member.getByText('Selected Image')).toBeVisible();
  });

  await test.step('the administrator revokes the access', async () => {
    const grant = card.getByRole('listitem').filter({ hasText: someone.email });
    await grant.getByRole('button', { name: `Kaldır: ${someone.displayName}` }).click();
    await expect(admin.getByText('Erişim kaldırıldı.')).toBeVisible();
    await member.reload();
    await member.getByRole('button', { name: 'Restricted datasets (1)' }).click();
    await expect(member.getByText('Your access has ended')).toBeVisible();
    await expect(member.getByText('section-1.svs')).toHaveCount(0);
  });

  await test.step('the administrator opens the dataset to all members again', async () => {
    await card.getByRole('switch', { name: /Erişimi kısıtla/ }).click({ force: true });
    await expect(admin.getByText('Veri kümesi tüm üyelere açıldı.')).toBeVisible();
    await member.reload();
    await expect(member.getByRole('button', { name: new RegExp(dataset) })).toBeVisible();
  });
});
