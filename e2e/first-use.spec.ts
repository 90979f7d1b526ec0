/**
 * The whole path of a new user, from registration to a slide at full resolution. The screens before the viewer are in Turkish: 'Kayıt Ol'
 * registers, 'Giriş Yap' signs in, 'Onay Bekliyor' is a pending account, and 'Onayla' approves it.
 */
import { administrator } from './product.ts';
import { meanColourOf } from './screenshot.ts';
import { expect, fullResolutionLevel, slideName, test } from './test.ts';

test('a visitor registers, is approved by an administrator and opens a slide at full resolution', async ({
  openPageAs,
}) => {
  test.slow(); // passes through many screens
  const email = `yeni-${process.pid}-${test.info().workerIndex}@example.org`;
  const password = 'haematoxylin and eosin';
  const visitor = await openPageAs('anonymous');

  await test.step('the visitor registers', async () => {
    await visitor.goto('/');
    await visitor.getByRole('link', { name: 'Kayıt' }).click();
    await expect(visitor).toHaveURL(/\/auth\/register$/);
    await visitor.getByLabel('E-posta').fill(email);
    await visitor.getByLabel('Görünen Ad (isteğe bağlı)').fill('Işıl Yılmaz');
    await visitor.getByLabel('Şifre', { exact: true }).fill(password);
    await visitor.getByLabel(/Şifre.*tekrar/i).fill(password);
    await visitor.screenshot({ path: 'artefacts/register.png' });
    await visitor.getByRole('button', { name: 'Kayıt Ol' }).click();
    await expect(visitor.getByText('Kayıt başarılı! Yönetici onayı bekleniyor.')).toBeVisible();
    await expect(visitor).toHaveURL(/\/auth\/login$/);
  });

  const logIn = async (page: typeof visitor, account: { email: string; password: string }) => {
    await page.getByLabel('E-posta').fill(account.email);
    await page.getByLabel('Şifre', { exact: true }).fill(account.password);
    await page.getByRole('button', { name: 'Giriş Yap' }).click();
    await expect(page.getByText('Giriş başarılı!')).toBeVisible();
  };

  await test.step('the pending account can sign in, but sees only its account status', async () => {
    await logIn(visitor, { email, password });
    await expect(visitor).toHaveURL(/\/account-status$/);
    await expect(visitor.getByText('Onay Bekliyor')).toBeVisible();
    await expect(visitor.getByText('Lütfen bir yöneticiyle iletişime geçin.')).toBeVisible();
    await expect(visitor.getByText('Your Account is Pending Approval')).toBeVisible();
    await expect(visitor.getByText('Some features may be limited')).toBeVisible();
    await visitor.screenshot({ path: 'artefacts/account-status.png' });
    await visitor.goto('/wsi-viewer');
    await expect(visitor).toHaveURL(/\/account-status$/);
    await visitor.getByRole('button', { name: 'Girişe Dön' }).click();
    await expect(visitor).toHaveURL(/\/auth\/login$/);
  });

  await test.step('an administrator approves the account', async () => {
    const admin = await openPageAs('anonymous');
    await admin.goto('/auth/login');
    await logIn(admin, administrator);
    await expect(admin).toHaveURL(/\/dashboard$/);
    await admin.getByRole('link', { name: 'Admin Panel' }).click();
    await admin.goto('/admin/users');
    const card = admin.getByRole('listitem').filter({ hasText: email });
    await expect(card.getByText('Onay Bekliyor')).toBeVisible();
    await card.getByRole('button', { name: 'Onayla' }).click();
    await expect(admin.getByText('Kullanıcı başarıyla onaylandı.')).toBeVisible();
    await expect(card.getByText('Aktif', { exact: true })).toBeVisible();
    await expect(card.getByText('Kullanıcı', { exact: true })).toBeVisible();
    await admin.screenshot({ path: 'artefacts/user-management.png' });
  });

  await test.step('the approved account signs in and opens the viewer', async () => {
    await logIn(visitor, { email, password });
    await expect(visitor).toHaveURL(/\/dashboard$/);
    await expect(visitor.getByText(/Işıl Yılmaz/).first()).toBeVisible();
    await visitor.getByRole('link', { name: 'WSI Viewer', exact: true }).click();
    await expect(visitor).toHaveURL(/\/wsi-viewer$/);
    await expect(visitor.getByText('Select an image to view')).toBeVisible();
    await expect(visitor.getByText('Choose an image from the sidebar to start viewing')).toBeVisible();
  });

  await test.step('a slide opens, and zooming in loads tiles of full resolution', async () => {
    const tileLevels = new Set<number>();
    visitor.on('response', (response) => {
      const level = /\/image_files\/(\d+)\//.exec(response.url())?.[1];
      if (level !== undefined && response.ok()) tileLevels.add(Number(level));
    });
    await visitor.getByRole('button', { name: slideName }).click();
    const viewer = visitor.locator('.openseadragon-container').first();
    await expect(viewer).toBeVisible();
    await expect(visitor.getByText('Loading tiles...')).toBeHidden();
    await visitor.screenshot({ path: 'artefacts/viewer-whole-slide.png' });

    await viewer.hover();
    await expect(async () => {
      await visitor.mouse.wheel(0, -400);
      expect(Math.max(...tileLevels)).toBe(fullResolutionLevel);
    }).toPass({ timeout: 30_000 });
    await expect(visitor.getByText('Loading tiles...')).toBeHidden();
    await visitor.waitForLoadState('networkidle');
    await visitor.screenshot({ path: 'artefacts/viewer-full-resolution.png' });

    const { red, green, blue } = await meanColourOf(viewer);
    // Haematoxylin and eosin are violet and pink, so green is the weakest channel. With swapped channels or without the
    // colour transform, the slide would be green or blue.
    expect(red).toBeGreaterThan(green + 15);
    expect(blue).toBeGreaterThan(green + 5);
    expect(red).toBeGreaterThan(blue);
  });
});
