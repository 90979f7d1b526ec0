/**
 * Links to slides, also before the sign-in and to unknown slides, and screens that load after a network failure. Some
 * texts are in Turkish: 'Giriş Yap' signs in, 'Bağlantıdaki slaydı aç' continues to the slide, 'Hızlı Bağlantılar'
 * are the quick links of the dashboard, and 'Sunucuya ulaşılamıyor' reports that the server is unreachable.
 */
import { administratorToken, callApi } from './accounts.ts';
import { expect, test } from './test.ts';

/** Returns the path that opens a slide in the viewer. @param productUrl base URL of the product @param name file name of the slide */
async function linkTo(productUrl: string, name: string): Promise<string> {
  const token = await administratorToken(productUrl);
  const { images } = await callApi(productUrl, 'GET', '/image-catalog/images', { token });
  const image = (images as { id: string; file_name: string }[]).find(({ file_name }) => file_name === name);
  return `/wsi-viewer?image=${image?.id}`;
}

test('a visitor who follows a link to a slide can continue to the slide after the sign-in', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  const person = await createAccount('user');
  const page = await openPageAs('anonymous');
  await page.goto(await linkTo(product.url, 'section-10.svs'));
  await expect(page).toHaveURL(/\/auth\/login$/);
  await page.getByLabel('E-posta').fill(person.email);
  await page.getByLabel('Şifre', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Giriş Yap' }).click();
  await expect(page).toHaveURL(/\/dashboard$/);
  await page.getByRole('link', { name: 'Bağlantıdaki slaydı aç' }).click();
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Selected Image' })).toContainText('section-10.svs');
  await page.goto('/dashboard');
  await expect(page.getByText('Hızlı Bağlantılar')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Bağlantıdaki slaydı aç' })).toHaveCount(0);
});

test('signing out removes the last opened link to a slide from the storage of the browser', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  await page.goto(await linkTo(product.url, 'section-10.svs'));
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
  await page.getByRole('button', { name: /Deniz user/ }).click();
  await page.getByRole('menuitem', { name: 'Logout' }).click();
  await expect(page).toHaveURL(/\/auth\/login$/);
  expect(await page.evaluate(() => sessionStorage.getItem('linked_slide'))).toBeNull();
});

test('a link to a slide expands the group of the slide in the catalogue and marks the row of the slide', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  await page.goto(await linkTo(product.url, 'loose.svs'));
  await expect(page.getByRole('button', { name: /^Unknown 1 images$/ })).toHaveAttribute(
    'aria-expanded',
    'true',
  );
  await expect(page.getByRole('button', { name: 'loose.svs' })).toHaveAttribute('aria-current', 'true');
});

test('the row of the slide of a link stays visible in the catalogue when the details of the slide appear below the rows', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  await page.setViewportSize({ width: 1280, height: 560 });
  await page.goto(await linkTo(product.url, 'loose.svs'));
  await expect(page.getByRole('region', { name: 'Selected Image' })).toContainText('loose.svs');
  await expect(page.getByRole('button', { name: 'loose.svs' })).toBeInViewport({ ratio: 0.9 });
});

test.describe('a link to a slide outside the catalogue', () => {
  // The browser writes the 404 response of the server to its console.
  test.use({ expectedConsoleErrors: /status of 404/ });

  test('a link to a slide outside the catalogue shows that the slide was not found', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await page.goto('/wsi-viewer?image=00000000-0000-4000-8000-000000000000');
    await expect(page.getByText('This slide is not in your catalogue')).toBeVisible();
    await expect(page.getByText('Select an image to view')).toHaveCount(0);
  });
});

test.describe('while the network is down', () => {
  test.use({ expectedConsoleErrors: /ERR_|Failed to fetch|failed to load/i });

  test('a screen opened for the first time while the network is down shows a network error, and opens when the network is back', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('admin');
    await page.goto('/dashboard');
    await expect(page.getByText('Hızlı Bağlantılar')).toBeVisible();
    await page.waitForLoadState('networkidle');
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Admin Panel' }).click();
    await expect(page.getByRole('heading', { name: 'Sunucuya ulaşılamıyor' })).toBeVisible();
    await expect(page.getByText('Beklenmeyen bir hata oluştu')).toHaveCount(0);
    await page.context().setOffline(false);
    await expect(page).toHaveURL(/\/admin$/);
    await expect(page.getByText('Daha fazla istatistik yakında.')).toBeVisible();
  });
});
