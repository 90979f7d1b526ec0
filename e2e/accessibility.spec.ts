/** No screen, in no state a person meets, has a finding of axe (WCAG 2.2, A and AA), in light and in dark. */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { call, signIn } from './accounts.ts';
import { hold } from './hold.ts';
import { administrator } from './product.ts';
import { expect, slideName, test } from './test.ts';

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];

/** What the same page in other colours may come to; all other rules would say the same of it. */
const aboutColours = ['color-contrast', 'link-in-text-block'];

async function findingsOn(page: Page, colorScheme: 'light' | 'dark') {
  const axe = new AxeBuilder({ page });
  const { violations } = await (colorScheme === 'light'
    ? axe.withTags(standards)
    : axe.withRules(aboutColours)
  ).analyze();
  return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map((node) => node.html) }));
}

/** Colours on their way to others are nobody's. */
async function untilStill(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const ending = document
      .getAnimations()
      .filter(({ playState }) => playState === 'running')
      .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
}

async function expectNothingToSay(page: Page, state: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await test.step(`${state}, ${colorScheme}`, async () => {
      await page.emulateMedia({ colorScheme });
      await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
      await untilStill(page);
      expect(await findingsOn(page, colorScheme)).toEqual([]);
    });
  }
}

/** A toast that is about to go is hard to see; its time is an animation. */
async function keepToasts(page: Page): Promise<void> {
  await page.addStyleTag({ content: '.Toastify__progress-bar { animation-play-state: paused !important }' });
}

/** A tooltip stands outside every landmark while it is shown. */
async function pointAtNothing(page: Page): Promise<void> {
  await page.mouse.move(0, 0);
  await expect(page.getByRole('tooltip')).toHaveCount(0);
}

test.use({ expectedComplaints: /status of (40[0-9]|502)/ });

test('axe has nothing to say about signing in: the login page, its errors and a refused login', async ({
  visit,
}) => {
  const page = await visit('anonymous');
  await page.goto('/auth/login');
  await keepToasts(page);
  await expect(page.getByRole('button', { name: 'Giriş Yap' })).toBeVisible();
  await expectNothingToSay(page, 'login');

  await page.getByRole('button', { name: 'Giriş Yap' }).click();
  const email = page.getByLabel('E-posta');
  await expect(email).toHaveAccessibleDescription('E-posta adresi gerekli.');
  await expect(email, 'the first wrong field has the focus').toBeFocused();
  await expectNothingToSay(page, 'login with errors');

  await email.fill('kimse@example.org');
  await page.getByLabel('Şifre', { exact: true }).fill('yanlış şifre');
  await page.getByRole('button', { name: 'Giriş Yap' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'Geçersiz e-posta veya şifre.' })).toBeVisible();
  await expectNothingToSay(page, 'a toast');
});

test('axe has nothing to say about registering, resetting a password, and an unknown address', async ({
  visit,
}) => {
  const page = await visit('anonymous');
  await page.goto('/auth/register');
  await page.getByText('Başvurunuz hakkında (isteğe bağlı)').click();
  await expectNothingToSay(page, 'register');
  await page.getByRole('button', { name: 'Kayıt Ol' }).click();
  await expect(page.getByLabel('E-posta')).toHaveAccessibleDescription('E-posta adresi gerekli.');
  await expect(page.getByLabel('Şifre', { exact: true })).toHaveAccessibleDescription(/Şifre gerekli\./);
  await expectNothingToSay(page, 'register with errors');

  await page.goto('/auth/password-reset');
  await expect(page.getByRole('button', { name: 'Bağlantı Gönder' })).toBeVisible();
  await expectNothingToSay(page, 'asking for a reset link');
  await page.goto('/');
  await page.goto('/auth/password-reset#code=0123456789abcdef');
  await page.getByRole('button', { name: 'Şifreyi Kaydet' }).click();
  await expect(page.getByText('Yeni şifre gerekli.')).toBeVisible();
  await expectNothingToSay(page, 'a new password, with errors');

  await page.goto('/no/such/page');
  await expect(page.getByRole('heading', { name: /bulunamadı/i })).toBeVisible();
  await expectNothingToSay(page, 'an unknown address');
});

test('axe has nothing to say about the account status: pending, suspended, refused, ended', async ({
  visit,
  account,
  product,
}) => {
  const [pending, suspended, refused] = [
    await account('pending'),
    await account('suspended'),
    await account('pending'),
  ];
  const { token } = await signIn(product.address, administrator);
  const reason = 'Kurumunuz doğrulanamadı.';
  await call(product.address, 'POST', `/admin/users/${refused.uid}/reject`, { token, body: { reason } });
  for (const [state, who, says] of [
    ['pending', pending, 'Onay Bekliyor'],
    ['suspended', suspended, 'Askıya Alınmış'],
    ['refused', refused, reason],
  ] as const) {
    const page = await visit(who);
    await page.goto('/account-status');
    await expect(page.getByText(says)).toBeVisible();
    await expectNothingToSay(page, state);
  }

  const page = await visit(suspended);
  const expiresAt = '2020-01-31T21:00:00.000Z';
  for (const address of ['**/api/v1/auth/verify', '**/api/v1/user/profile']) {
    await page.route(address, async (route) => {
      const answer = await route.fetch();
      const json = (await answer.json()) as { user: object };
      await route.fulfill({ response: answer, json: { ...json, user: { ...json.user, expiresAt } } });
    });
  }
  await page.goto('/account-status');
  await expect(page.getByText('Erişiminiz 1 Şubat 2020 tarihinde sona erdi.')).toBeVisible();
  await expectNothingToSay(page, 'ended');
});

test('axe has nothing to say about the dashboard, its menu, and the profile with all cards', async ({
  visit,
  account,
}) => {
  const someone = await account('user');
  const page = await visit(someone);
  await page.goto('/dashboard');
  await expect(page.getByText('Giriş yapıldı').first()).toBeVisible();
  await expectNothingToSay(page, 'dashboard');
  await page.getByRole('button', { name: someone.displayName }).click();
  await expect(page.getByRole('menuitem', { name: 'Logout' })).toBeVisible();
  await expectNothingToSay(page, 'an open user menu');

  await page.goto('/dashboard/profile');
  await expect(page.getByText('Kayıt Tarihi')).toBeVisible();
  await expect(page.getByText('Bu oturum')).toBeVisible();
  await page.getByRole('button', { name: 'Şifreyi Değiştir' }).click();
  await expect(page.getByText('Yeni şifre gerekli.')).toBeVisible();
  await page.getByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }).click();
  await expect(page.getByRole('img', { name: 'Doğrulama uygulaması için QR kodu' })).toBeVisible();
  await expectNothingToSay(page, 'profile');

  await page.route('**/api/v1/user/profile', (route) => route.fulfill({ status: 502, body: '' }));
  await page.reload();
  await expect(page.getByText('Profil bilgileri yüklenemedi.')).toBeVisible();
  await expectNothingToSay(page, 'a profile that cannot be loaded');
});

test('axe has nothing to say about the viewer: empty, loading, failed', async ({ visit }) => {
  const page = await visit('user');
  const letGo = await hold(page, '**/image-catalog/images?*');
  await page.goto('/wsi-viewer');
  await expect(page.getByText('Loading images...')).toBeVisible();
  await expectNothingToSay(page, 'a list that is coming');
  await letGo();
  await page.reload(); // axe may have taken longer than the list is waited for
  await expect(page.getByText('Select an image to view')).toBeVisible();
  await expect(page.getByRole('button', { name: slideName })).toBeVisible();
  await expectNothingToSay(page, 'no image');

  await page.route('**/image.dzi*', (route) =>
    route.fulfill({ status: 404, json: { message: 'Bulunamadı.', code: 'not_found', status: 404 } }),
  );
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByText('Server error (404): Bulunamadı.')).toBeVisible();
  await expectNothingToSay(page, 'a slide that cannot be opened');

  await page.route('**/image-catalog/images?*', (route) => route.fulfill({ status: 502, body: '' }));
  await page.goto('/wsi-viewer');
  await expect(page.getByText('Server error (502)')).toBeVisible();
  await expectNothingToSay(page, 'a list that cannot be loaded');
});

test('axe has nothing to say about an open slide with stats, colours, a measurement and the keyboard help', async ({
  visit,
}) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByText('Selected Image')).toBeVisible();
  await page.getByRole('button', { name: 'Show session stats' }).click();
  await expect(page.getByRole('region', { name: 'Session stats' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  await page.keyboard.press('c');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-shape="circle"]')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await pointAtNothing(page);
  await expectNothingToSay(page, 'an open slide');

  await page.keyboard.press('b');
  await expect(page.getByRole('slider', { name: 'Contrast' })).toBeVisible();
  await pointAtNothing(page);
  await expectNothingToSay(page, 'colours');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard help' })).toBeVisible();
  await expectNothingToSay(page, 'keyboard help');
});

test('axe has nothing to say about the administration: dashboard, users and their dialogs, audit trail', async ({
  visit,
  account,
}) => {
  const someone = await account('user');
  const page = await visit('admin');
  await page.goto('/admin');
  await expect(page.getByText('Daha fazla istatistik yakında.')).toBeVisible();
  await expect(page.getByRole('img').first()).toBeVisible();
  await expectNothingToSay(page, 'admin dashboard');

  // A list of a few, as anybody's would be: axe looks at every card.
  await page.route(/\/api\/v1\/admin\/users\/?$/, async (route) => {
    const answer = await route.fetch();
    const json = (await answer.json()) as { users: { uid: string; status: string }[] };
    const own = json.users.filter(({ uid }) => uid === someone.uid);
    const others = ['pending', 'suspended', 'deactivated'].flatMap(
      (wanted) => json.users.find(({ status }) => status === wanted) ?? [],
    );
    await route.fulfill({ response: answer, json: { ...json, users: [...own, ...others] } });
  });
  await page.goto('/admin/users');
  const card = page.getByRole('listitem').filter({ has: page.getByText(someone.email, { exact: true }) });
  await expect(card).toBeVisible();
  await expectNothingToSay(page, 'users');
  for (const [button, dialog] of [
    ['Erişimi Düzenle', /Erişim/],
    ['Şifre Belirle', /Şifre Belirle/],
  ] as const) {
    await card.getByRole('button', { name: button, exact: true }).click();
    await expect(page.getByRole('dialog', { name: dialog })).toBeVisible();
    await expectNothingToSay(page, button);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }

  await page.goto('/admin/audit');
  await expect(page.getByText(/Kayıt zinciri sağlam/)).toBeVisible();
  await expectNothingToSay(page, 'audit trail');
});

test('axe has nothing to say about the queue of those who wait, and its dialogs', async ({
  visit,
  account,
}) => {
  await account('pending');
  const page = await visit('admin');
  await page.goto('/admin/users?view=waiting');
  await page.getByRole('checkbox', { name: 'Tümünü seç' }).check();
  await expectNothingToSay(page, 'the queue');
  for (const [button, title] of [
    ['Seçilenleri Onayla', 'Başvuruyu Onayla'],
    ['Seçilenleri Reddet', 'Başvuruyu Reddet'],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    await expect(page.getByRole('dialog', { name: title })).toBeVisible();
    await expectNothingToSay(page, title);
    await page.getByRole('button', { name: 'Kapat' }).first().click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
});

test('axe has nothing to say about a restricted dataset, on both sides', async ({
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
  await expectNothingToSay(member, 'a dataset to ask for');
  await member.getByRole('button', { name: `Request access to ${dataset}` }).click();
  await expect(member.getByRole('dialog')).toBeVisible();
  await expectNothingToSay(member, 'asking for it');

  const { uid } = await account('user');
  await call(product.address, 'POST', '/admin/datasets/grants', { token, body: { dataset, uid } });
  const admin = await visit('admin');
  await admin.goto('/admin/datasets');
  await expect(admin.getByRole('button', { name: /^Kaldır:/ }).first()).toBeVisible();
  await expectNothingToSay(admin, 'datasets');
  await set('open');
});

test('axe has nothing to say about the slides, what is asked about them, and a catalogue file', async ({
  visit,
}) => {
  test.slow(); // each state in both themes
  const page = await visit('admin');
  await page.goto('/admin/slides');
  await page.getByRole('checkbox', { name: `Seç: ${slideName}` }).check();
  const bar = page.getByRole('region', { name: 'Seçili slaytlar' });
  await expectNothingToSay(page, 'slides, one selected');
  await bar.getByRole('button', { name: 'Taşı' }).click();
  await expect(page.getByRole('dialog', { name: 'Veri kümesine taşı' })).toBeVisible();
  await expectNothingToSay(page, 'moving');
  await page.keyboard.press('Escape');
  await bar.getByRole('button', { name: 'Katalogdan kaldır' }).click();
  await expect(page.getByRole('dialog', { name: 'Katalogdan kaldırılsın mı?' })).toBeVisible();
  await expectNothingToSay(page, 'removing');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: `İşlemler: ${slideName}` }).click();
  await expect(page.getByRole('menuitem', { name: 'Düzenle' })).toBeVisible();
  await expectNothingToSay(page, 'actions');
  await page.getByRole('menuitem', { name: 'Düzenle' }).click();
  await expect(page.getByRole('dialog', { name: 'Slaydı düzenle' })).toBeVisible();
  await expectNothingToSay(page, 'editing');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: `İşlemler: ${slideName}` })).toBeFocused();

  await page.getByRole('button', { name: 'Katalog dosyası (CSV)' }).click();
  const text = `file_name;organ_type\n${slideName};Işık\nyok.svs;Işık\n${slideName};Işık\n`;
  const file = { name: 'liste.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.locator('input[type="file"][accept*="csv"]').setInputFiles(file);
  await expect(page.getByRole('region', { name: 'Hatalı satırlar' })).toBeVisible();
  await expectNothingToSay(page, 'a catalogue file');
});

test('axe has nothing to say about two slides that are compared', async ({ visit }) => {
  const page = await visit('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  await pointAtNothing(page);
  await expectNothingToSay(page, 'one slide to compare');
  await page.getByRole('button', { name: slideName }).click(); // beside itself
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toHaveCount(2);
  await expect(page.getByText('Loading tiles...')).toHaveCount(0);
  await pointAtNothing(page);
  await expectNothingToSay(page, 'two slides');
});
