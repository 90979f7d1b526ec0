/**
 * Checks every screen of the product in its usual states with the accessibility checker axe (WCAG 2.2, A and AA), in the light and the
 * dark colour scheme. The screens are in Turkish by default: 'Giriş Yap' logs in, 'Kayıt Ol' registers.
 */
import type { Page } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import { expectNoAxeFindings } from './axe.ts';
import { holdRequests } from './hold-requests.ts';
import { expect, slideName, test } from './test.ts';

/** Keeps toasts on the page by pausing the animation whose end closes them. */
async function keepToasts(page: Page): Promise<void> {
  await page.addStyleTag({ content: '.Toastify__progress-bar { animation-play-state: paused !important }' });
}

// The browser writes each failed request to its console, for example "… responded with a status of 401 ()".
test.use({ expectedConsoleErrors: /status of (40[0-9]|502)/ });

test('axe finds no accessibility violation on the empty login page, on its field errors, and on the toast after a failed login', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  await page.goto('/auth/login');
  await keepToasts(page);
  await expect(page.getByRole('button', { name: 'Giriş Yap' })).toBeVisible();
  await expectNoAxeFindings(page, 'login');

  await page.getByRole('button', { name: 'Giriş Yap' }).click();
  const email = page.getByLabel('E-posta');
  await expect(email).toHaveAccessibleDescription('E-posta adresi gerekli.');
  await expect(email, 'the first invalid field has the focus').toBeFocused();
  await expectNoAxeFindings(page, 'login with errors');

  await email.fill('kimse@example.org');
  await page.getByLabel('Şifre', { exact: true }).fill('yanlış şifre');
  await page.getByRole('button', { name: 'Giriş Yap' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'Geçersiz e-posta veya şifre.' })).toBeVisible();
  await expectNoAxeFindings(page, 'toast of a failed login');
});

test('axe finds no accessibility violation on the registration, password reset, e-mail confirmation and 404 pages, also with field errors', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  await page.goto('/auth/register');
  await page.getByText('Başvurunuz hakkında (isteğe bağlı)').click();
  await expectNoAxeFindings(page, 'register');
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(page.getByLabel('E-posta')).toHaveAccessibleDescription('E-posta adresi gerekli.');
  await expect(page.getByLabel('Şifre', { exact: true })).toHaveAccessibleDescription(/Şifre gerekli\./);
  await expectNoAxeFindings(page, 'register with errors');

  await page.goto('/auth/password-reset');
  await expect(page.getByRole('button', { name: 'Bağlantı Gönder' })).toBeVisible();
  await expectNoAxeFindings(page, 'request of a reset link');
  await page.goto('/'); // a navigation that changes only the hash would not load the page again
  await page.goto('/auth/password-reset#code=0123456789abcdef');
  await page.getByRole('button', { name: 'Şifreyi Kaydet' }).click();
  await expect(page.getByText('Yeni şifre gerekli.')).toBeVisible();
  await expectNoAxeFindings(page, 'new password with errors');
  await page.goto('/');
  await page.goto('/auth/confirm#code=0123456789abcdef');
  await page.getByRole('button', { name: 'Doğrula' }).click();
  await expect(page.getByText('Şifre gerekli.')).toBeVisible();
  await expectNoAxeFindings(page, 'confirmation with errors');

  await page.goto('/no/such/page');
  await expect(page.getByRole('heading', { name: /bulunamadı/i })).toBeVisible();
  await expectNoAxeFindings(page, 'not found');
});

test('axe finds no accessibility violation on the account status page of a pending, suspended, rejected or expired account', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  const [pending, suspended, rejected] = [
    await createAccount('pending'),
    await createAccount('suspended'),
    await createAccount('pending'),
  ];
  const token = await administratorToken(product.url);
  const reason = 'Kurumunuz doğrulanamadı.';
  await callApi(product.url, 'POST', `/admin/users/${rejected.uid}/reject`, { token, body: { reason } });
  for (const [state, person, message] of [
    ['pending', pending, 'Onay Bekliyor'],
    ['suspended', suspended, 'Askıya Alınmış'],
    ['rejected', rejected, reason],
  ] as const) {
    const page = await openPageAs(person);
    await page.goto('/account-status');
    await expect(page.getByText(message)).toBeVisible();
    await expectNoAxeFindings(page, state);
  }

  const page = await openPageAs(suspended);
  const expiresAt = '2020-01-31T21:00:00.000Z'; // midnight in Turkey: 1 February 2020
  for (const urlPattern of ['**/api/v1/auth/verify', '**/api/v1/user/profile']) {
    await page.route(urlPattern, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { user: object };
      await route.fulfill({ response, json: { ...json, user: { ...json.user, expiresAt } } });
    });
  }
  await page.goto('/account-status');
  await expect(page.getByText('Erişiminiz 1 Şubat 2020 tarihinde sona erdi.')).toBeVisible();
  await expectNoAxeFindings(page, 'expired');
});

test('axe finds no accessibility violation on the dashboard, its user menu, and the profile, also when the profile cannot be loaded', async ({
  openPageAs,
  createAccount,
}) => {
  const someone = await createAccount('user');
  const page = await openPageAs(someone);
  await page.goto('/dashboard');
  await expect(page.getByText('Giriş yapıldı').first()).toBeVisible();
  await expectNoAxeFindings(page, 'dashboard');
  await page.getByRole('button', { name: someone.displayName }).click();
  await expect(page.getByRole('menuitem', { name: 'Logout' })).toBeVisible();
  await expectNoAxeFindings(page, 'open user menu');

  await page.goto('/dashboard/profile');
  await expect(page.getByText('Kayıt Tarihi')).toBeVisible();
  await expect(page.getByText('Bu oturum')).toBeVisible();
  await page.getByRole('button', { name: 'Şifreyi Değiştir' }).click();
  await expect(page.getByText('Yeni şifre gerekli.')).toBeVisible();
  await page.getByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }).click();
  await expect(page.getByRole('img', { name: 'Doğrulama uygulaması için QR kodu' })).toBeVisible();
  await expectNoAxeFindings(page, 'profile');

  await page.route('**/api/v1/user/profile', (route) => route.fulfill({ status: 502, body: '' }));
  await page.reload();
  await expect(page.getByText('Profil bilgileri yüklenemedi.')).toBeVisible();
  await expectNoAxeFindings(page, 'profile that cannot be loaded');
});

test('axe finds no accessibility violation in the viewer while the image list loads, without a selected slide, and when list or slide cannot be loaded', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const release = await holdRequests(page, /\/image-catalog\/images\/(?:groups|rows)\?/);
  await page.goto('/wsi-viewer');
  await expect(page.getByText('Loading images...')).toBeVisible();
  await expectNoAxeFindings(page, 'the list while it loads');
  await release();
  await page.reload(); // the request for the list may have timed out while axe was running
  await expect(page.getByText('Select an image to view')).toBeVisible();
  await expect(page.getByRole('button', { name: slideName })).toBeVisible();
  await expectNoAxeFindings(page, 'no slide selected');

  await page.route('**/image.dzi*', (route) =>
    route.fulfill({ status: 404, json: { message: 'Bulunamadı.', code: 'not_found', status: 404 } }),
  );
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByText('Server error (404): Bulunamadı.')).toBeVisible();
  await expectNoAxeFindings(page, 'slide that cannot be opened');

  await page.route(/\/image-catalog\/images\/(?:groups|rows)\?/, (route) =>
    route.fulfill({ status: 502, body: '' }),
  );
  await page.goto('/wsi-viewer');
  await expect(page.getByText('Server error (502)')).toBeVisible();
  await expectNoAxeFindings(page, 'list that cannot be loaded');
});

test('axe finds no accessibility violation in the viewer with an open slide, session statistics, a measurement, the colour panel and the keyboard help', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByText('Selected Image')).toBeVisible();
  await page.getByRole('button', { name: 'Show session stats' }).click();
  await expect(page.getByRole('region', { name: 'Session stats' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  await page.keyboard.press('c'); // selects the counting circle, which Enter places
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-shape="circle"]')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expectNoAxeFindings(page, 'open slide');

  await page.keyboard.press('b'); // opens the colour panel
  await expect(page.getByRole('slider', { name: 'Contrast' })).toBeVisible();
  await expectNoAxeFindings(page, 'colour panel');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard help' })).toBeVisible();
  await expectNoAxeFindings(page, 'keyboard help');
});

test('axe finds no accessibility violation on the admin dashboard, on user management with its dialogs, and on the audit log', async ({
  openPageAs,
  createAccount,
}) => {
  const someone = await createAccount('user');
  const page = await openPageAs('admin');
  await page.goto('/admin');
  await expect(page.getByText('Daha fazla istatistik yakında.')).toBeVisible();
  await expect(page.getByRole('img').first()).toBeVisible();
  await expectNoAxeFindings(page, 'admin dashboard');

  // The page gets only four accounts, because other tests have added many and axe checks every card.
  await page.route(/\/api\/v1\/admin\/users\/?$/, async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { users: { uid: string; status: string }[] };
    const testedAccount = json.users.filter(({ uid }) => uid === someone.uid);
    const onePerStatus = ['pending', 'suspended', 'deactivated'].flatMap(
      (accountStatus) => json.users.find(({ status }) => status === accountStatus) ?? [],
    );
    await route.fulfill({ response, json: { ...json, users: [...testedAccount, ...onePerStatus] } });
  });
  await page.goto('/admin/users');
  const card = page.getByRole('listitem').filter({ has: page.getByText(someone.email, { exact: true }) });
  await expect(card).toBeVisible();
  await expectNoAxeFindings(page, 'users');
  for (const [button, dialog] of [
    ['Erişimi Düzenle', /Erişim/],
    ['Şifre Belirle', /Şifre Belirle/],
  ] as const) {
    await card.getByRole('button', { name: button, exact: true }).click();
    await expect(page.getByRole('dialog', { name: dialog })).toBeVisible();
    await expectNoAxeFindings(page, button);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }

  await page.goto('/admin/audit');
  await expect(page.getByText(/Kayıt zinciri sağlam/)).toBeVisible();
  await expectNoAxeFindings(page, 'audit log');
});

test('axe finds no accessibility violation on the list of pending accounts in user management, and in its dialogs', async ({
  openPageAs,
  createAccount,
}) => {
  await createAccount('pending');
  const page = await openPageAs('admin');
  await page.goto('/admin/users?view=waiting');
  await page.getByRole('checkbox', { name: 'Tümünü seç' }).check();
  await expectNoAxeFindings(page, 'pending accounts');
  for (const [button, title] of [
    ['Seçilenleri Onayla', 'Başvuruyu Onayla'],
    ['Seçilenleri Reddet', 'Başvuruyu Reddet'],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    await expect(page.getByRole('dialog', { name: title })).toBeVisible();
    await expectNoAxeFindings(page, title);
    await page.getByRole('button', { name: 'Kapat' }).first().click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
});

test('axe finds no accessibility violation on the dialog that requests access to a restricted dataset, and on dataset management', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  const dataset = 'Mouse kidney';
  const token = await administratorToken(product.url);
  const setAccess = (access: 'open' | 'restricted') =>
    callApi(product.url, 'PUT', '/admin/datasets', { token, body: { dataset, access, listed: true } });
  await setAccess('restricted');
  const member = await openPageAs('user');
  await member.goto('/wsi-viewer');
  await member.getByRole('button', { name: 'Restricted datasets (1)' }).click();
  await expect(member.getByRole('button', { name: `Request access to ${dataset}` })).toBeVisible();
  await expectNoAxeFindings(member, 'dataset without access');
  await member.getByRole('button', { name: `Request access to ${dataset}` }).click();
  await expect(member.getByRole('dialog')).toBeVisible();
  await expectNoAxeFindings(member, 'request of access');

  const { uid } = await createAccount('user');
  await callApi(product.url, 'POST', '/admin/datasets/grants', { token, body: { dataset, uid } });
  const admin = await openPageAs('admin');
  await admin.goto('/admin/datasets');
  await expect(admin.getByRole('button', { name: /^Kaldır:/ }).first()).toBeVisible();
  await expectNoAxeFindings(admin, 'dataset management');
  await setAccess('open');
});

test('axe finds no accessibility violation on slide management, its dialogs and menu, and the list of errors in an imported catalogue file (CSV)', async ({
  openPageAs,
}) => {
  test.slow(); // each state is checked in both colour schemes
  const page = await openPageAs('admin');
  await page.goto('/admin/slides');
  await page.getByRole('checkbox', { name: `Seç: ${slideName}` }).check();
  const bar = page.getByRole('region', { name: 'Seçili slaytlar' });
  await expectNoAxeFindings(page, 'slides, one selected');
  await bar.getByRole('button', { name: 'Taşı' }).click();
  await expect(page.getByRole('dialog', { name: 'Veri kümesine taşı' })).toBeVisible();
  await expectNoAxeFindings(page, 'move dialog');
  await page.keyboard.press('Escape');
  await bar.getByRole('button', { name: 'Katalogdan kaldır' }).click();
  await expect(page.getByRole('dialog', { name: 'Katalogdan kaldırılsın mı?' })).toBeVisible();
  await expectNoAxeFindings(page, 'remove dialog');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: `İşlemler: ${slideName}` }).click();
  await expect(page.getByRole('menuitem', { name: 'Düzenle' })).toBeVisible();
  await expectNoAxeFindings(page, 'slide menu');
  await page.getByRole('menuitem', { name: 'Düzenle' }).click();
  await expect(page.getByRole('dialog', { name: 'Slaydı düzenle' })).toBeVisible();
  await expectNoAxeFindings(page, 'edit dialog');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: `İşlemler: ${slideName}` })).toBeFocused();

  await page.getByRole('button', { name: 'Katalog dosyası (CSV)' }).click();
  const text = `file_name;organ_type\n${slideName};Işık\nyok.svs;Işık\n${slideName};Işık\n`;
  const file = { name: 'liste.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.locator('input[type="file"][accept*="csv"]').setInputFiles(file);
  await expect(page.getByRole('region', { name: 'Hatalı satırlar' })).toBeVisible();
  await expectNoAxeFindings(page, 'errors of a catalogue file');
});

test('axe finds no accessibility violation in the viewer while two slides are compared', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  await expectNoAxeFindings(page, 'first of two slides');
  await page.getByRole('button', { name: slideName }).click(); // the slide is compared with itself
  await expect(page.getByTitle('Scale bar')).toHaveCount(2);
  await expect(page.getByText('Loading tiles...')).toHaveCount(0);
  await expectNoAxeFindings(page, 'two slides');
});
