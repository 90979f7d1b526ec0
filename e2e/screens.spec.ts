/**
 * Dashboard, profile, account status and administration (docs/requirements.md, sections 4 and 5) with their texts (section 11). Most texts are
 * Turkish: 'Onayla' approves, 'Askıya Al' suspends, 'Etkinleştir' reactivates, 'Yönetici Yap' promotes to administrator, 'Tekrar Dene' retries.
 */
import type { Page } from '@playwright/test';
import { type Account, administratorToken, callApi } from './accounts.ts';
import { holdRequests } from './hold-requests.ts';
import { expect, test } from './test.ts';

const toastsOf = (page: Page) => page.locator('.Toastify').getByRole('alert');
/** Returns the card of an account in user management. */
const cardOf = (page: Page, { email }: Pick<Account, 'email'>) =>
  page.getByRole('listitem').filter({ has: page.getByText(email, { exact: true }) });
const userMenuOf = (page: Page, { displayName }: Pick<Account, 'displayName'>) =>
  page.getByRole('button', { name: displayName });

/** Matches a date in Turkish, for example '21 Kasım 2026' (21 November 2026). */
const longDate =
  /^\d{1,2} (Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık) \d{4}$/;
/** Matches a date and time, for example '21 Kasım 2026 14:05'. */
const longDateAndTime = new RegExp(`${longDate.source.slice(0, -1)} \\d{2}:\\d{2}$`);

/** Returns the value beside a label, for example beside 'Durum' (status). */
const factOf = (container: ReturnType<Page['locator']>, label: string) =>
  container
    .locator('dl > div')
    .filter({ has: container.page().getByText(label, { exact: true }) })
    .locator('dd');

test.describe('the dashboard layout', () => {
  test('the top bar links to dashboard, WSI Viewer and collections, and for administrators also to the Admin Panel', async ({
    openPageAs,
  }) => {
    for (const [who, expected] of [
      ['user', ['/dashboard', '/wsi-viewer', '/collections']],
      ['admin', ['/dashboard', '/wsi-viewer', '/collections', '/admin']],
    ] as const) {
      const page = await openPageAs(who);
      await page.goto('/dashboard/profile');
      const links = page.getByRole('banner').getByRole('link');
      await expect(links).toHaveText(
        ['Lamina', 'WSI Viewer', 'Collections', 'Admin Panel'].slice(0, expected.length),
      );
      const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(addresses).toEqual(expected);
      await links.first().click();
      await expect(page).toHaveURL(/\/dashboard$/);
    }
  });

  test('the user menu of the dashboard shows initials, name, Profile and Logout, and closes on a click outside', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('user');
    const page = await openPageAs(someone);
    await page.goto('/dashboard');
    const menu = userMenuOf(page, someone);
    await expect(menu).toContainText('DU'); // the name is "Deniz user"
    await menu.click();
    await expect(page.getByRole('menuitem')).toHaveText(['Profile', 'Logout']);
    await page.getByRole('heading', { level: 1 }).click();
    await expect(page.getByRole('menuitem')).toHaveCount(0);
    await menu.click();
    await page.getByRole('menuitem', { name: 'Profile' }).click();
    await expect(page).toHaveURL(/\/dashboard\/profile$/);
  });

  test('for an account without a display name, the dashboard shows the e-mail address and its first character', async ({
    openPageAs,
    product,
  }) => {
    const nameless = { email: `isimsiz-${process.pid}@example.org`, password: 'adı olmayan biri' };
    const { user } = await callApi(product.url, 'POST', '/auth/register', { body: nameless });
    const { uid } = user as { uid: string };
    const token = await administratorToken(product.url);
    await callApi(product.url, 'POST', `/admin/users/${uid}/approve`, { token, body: {} });
    const page = await openPageAs({ ...nameless, uid, displayName: '' });
    await page.goto('/dashboard/profile');
    await expect(page.getByRole('button', { name: nameless.email })).toContainText('İ');
    await expect(factOf(page.getByRole('main'), 'Görünen Ad')).toHaveText('Belirtilmemiş');
    await page.goto('/dashboard');
    await expect(page.getByRole('heading', { level: 1 })).toContainText(nameless.email);
  });

  test('the dashboard shows a greeting, recent activity, and quick links with a link to the profile', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('user');
    const page = await openPageAs(someone);
    await page.goto('/dashboard');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Hoş geldiniz, ${someone.displayName}`);
    await expect(page.getByRole('region', { name: 'Son Etkinlikler' })).toContainText('Giriş yapıldı');
    const links = page.getByRole('region', { name: 'Hızlı Bağlantılar' });
    await expect(links.getByRole('link', { name: 'WSI Viewer' })).toBeVisible();
    await links.getByRole('link', { name: 'Profil' }).click();
    await expect(page).toHaveURL(/\/dashboard\/profile$/);
  });
});

test.describe('the profile page', () => {
  test('the profile shows every field of the account read-only, with badges and long dates in Turkish', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('user');
    const page = await openPageAs(someone);
    await page.goto('/dashboard/profile');
    const card = page.getByRole('region', { name: 'Hesap Bilgileri' });
    await expect(factOf(card, 'Kullanıcı Kimliği')).toHaveText(someone.uid);
    await expect(factOf(card, 'E-posta')).toHaveText(someone.email);
    await expect(factOf(card, 'Görünen Ad')).toHaveText(someone.displayName);
    await expect(factOf(card, 'Durum')).toHaveText('Aktif');
    await expect(factOf(card, 'Rol')).toHaveText('Kullanıcı');
    for (const label of ['Kayıt Tarihi', 'Güncellenme Tarihi', 'Onay Tarihi']) {
      await expect(factOf(card, label)).toHaveText(longDate);
    }
    await expect(card.getByRole('textbox')).toHaveCount(0);
  });

  test('the profile hides the approval date of an account that no administrator has approved', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await page.route('**/api/v1/user/profile', async (route) => {
      const response = await route.fetch();
      const { user } = (await response.json()) as { user: object };
      await route.fulfill({ response, json: { user: { ...user, adminApproved: false } } });
    });
    await page.goto('/dashboard/profile');
    await expect(page.getByText('Kayıt Tarihi')).toBeVisible();
    await expect(page.getByText('Onay Tarihi')).toHaveCount(0);
  });

  test.describe('when the profile cannot be loaded', () => {
    test.use({ expectedConsoleErrors: /status of [45]\d\d/ });

    for (const [condition, reason, response] of [
      ['the request fails', 'Profil alınamadı', { status: 502, body: '' }],
      ['the response contains no profile', 'Profil bulunamadı', { status: 200, json: {} }],
    ] as const) {
      test(`the profile page shows an error with its reason and a button that loads the profile again when ${condition}`, async ({
        openPageAs,
      }) => {
        const page = await openPageAs('user');
        await page.route('**/api/v1/user/profile', (route) => route.fulfill(response));
        await page.goto('/dashboard/profile');
        const alert = page
          .getByRole('main')
          .getByRole('alert')
          .filter({ hasText: 'Profil bilgileri yüklenemedi.' });
        await expect(alert).toContainText(reason);
        await page.unroute('**/api/v1/user/profile');
        await alert.getByRole('button', { name: 'Tekrar Dene' }).click();
        await expect(page.getByText('Kayıt Tarihi')).toBeVisible();
        await expect(alert).toHaveCount(0);
      });
    }
  });
});

test.describe('the account status', () => {
  for (const [status, statusText, bannerCount] of [
    ['pending', 'Onay Bekliyor', 1],
    ['suspended', 'Askıya Alınmış', 0],
  ] as const) {
    test(`the account status page of a ${status} account shows the status, a note to contact an administrator and a button that signs out`, async ({
      openPageAs,
    }) => {
      const page = await openPageAs(status);
      await page.goto('/account-status');
      await expect(page.getByText(statusText, { exact: true })).toBeVisible();
      await expect(page.getByText('Lütfen bir yöneticiyle iletişime geçin.')).toBeVisible();
      await expect(page.getByText('Your Account is Pending Approval')).toHaveCount(bannerCount);
      await page.getByRole('button', { name: 'Girişe Dön' }).click();
      await expect(page).toHaveURL(/\/auth\/login$/);
      expect(await page.evaluate(() => localStorage.getItem('auth_token'))).toBeNull();
    });
  }

  test('the account status page requests the status every 30 s and redirects to the dashboard when the account becomes active', async ({
    openPageAs,
    createAccount,
    product,
  }) => {
    const waiting = await createAccount('pending');
    const page = await openPageAs(waiting);
    await page.clock.install();
    await page.goto('/account-status');
    await expect(page.getByText('Onay Bekliyor')).toBeVisible();
    await page.waitForLoadState('networkidle');
    const token = await administratorToken(product.url);
    await callApi(product.url, 'POST', `/admin/users/${waiting.uid}/approve`, { token, body: {} });
    await page.clock.runFor(30_000);
    await expect(page).toHaveURL(/\/dashboard$/);
  });
});

test.describe('the admin layout', () => {
  test("the admin navigation links to the admin dashboard, to the list of users and back to the administrator's own dashboard", async ({
    openPageAs,
  }) => {
    const page = await openPageAs('admin');
    await page.goto('/admin');
    const links = page.getByRole('navigation', { name: 'Yönetim sayfaları' }).getByRole('link');
    for (const [name, address] of [
      [/^Yönetim$/, '/admin'],
      [/^Kullanıcılar/, '/admin/users'],
      [/^Ana Sayfaya Dön$/, '/dashboard'],
    ] as const) {
      await expect(links.and(page.getByRole('link', { name }))).toHaveAttribute('href', address);
    }
  });

  test('the user menu of the admin area shows initials, name and an Admin badge, and closes on a click outside and on navigation', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('admin');
    const page = await openPageAs(someone);
    await page.goto('/admin');
    const menu = userMenuOf(page, someone);
    await expect(menu).toContainText('DA'); // the name is "Deniz admin"
    await expect(menu).toContainText('Admin');
    await menu.click();
    await page.getByRole('heading', { level: 1 }).click();
    await expect(page.getByRole('menuitem')).toHaveCount(0);
    await menu.click();
    await page.getByRole('menuitem', { name: 'Profil' }).click();
    await expect(page).toHaveURL(/\/dashboard\/profile$/);
    await expect(page.getByRole('menuitem')).toHaveCount(0);
  });
});

test.describe('a sign-out whose request fails', () => {
  test.use({ expectedConsoleErrors: /ERR_FAILED/ });

  test('a sign-out whose request fails shows an error and still removes the sign-in from the browser', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('admin');
    const page = await openPageAs(someone);
    await page.goto('/admin');
    await page.route('**/api/v1/auth/logout', (route) => route.abort());
    await userMenuOf(page, someone).click();
    await page.getByRole('menuitem', { name: /Çıkış/ }).click();
    await expect(toastsOf(page)).toHaveText(['Çıkış yaparken hata oluştu.']);
    await expect(page).toHaveURL(/\/auth\/login$/);
    expect(await page.evaluate(() => localStorage.getItem('auth_token'))).toBeNull();
  });
});

test('the admin dashboard greets the administrator, links to user management and says that more statistics will follow', async ({
  openPageAs,
  createAccount,
}) => {
  const someone = await createAccount('admin');
  const page = await openPageAs(someone);
  await page.goto('/admin');
  await expect(page.getByRole('heading', { level: 1 })).toContainText(someone.displayName);
  await expect(page.getByRole('region', { name: 'Sistem İstatistikleri' })).toContainText(
    'Daha fazla istatistik yakında.',
  );
  await page.getByRole('region', { name: 'Kullanıcı Yönetimi' }).getByRole('link').click();
  await expect(page).toHaveURL(/\/admin\/users$/);
});

test.describe('user management', () => {
  test("user management lists the accounts under 'All Users' with a refresh button, which confirms the refresh with a toast", async ({
    openPageAs,
  }) => {
    const page = await openPageAs('admin');
    await page.goto('/admin/users');
    const allUsers = page.getByRole('region', { name: 'All Users' });
    await expect(allUsers.getByRole('listitem').first()).toBeVisible();
    await expect(toastsOf(page)).toHaveCount(0);
    await allUsers.getByRole('button', { name: 'Yenile' }).click();
    await expect(toastsOf(page)).toHaveText(['Kullanıcılar başarıyla yüklendi.']);
  });

  test('user management shows a loading text during the request, and then that there are no accounts when the list is empty', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('admin');
    const usersUrl = /\/api\/v1\/admin\/users\/?$/;
    await page.route(usersUrl, (route) => route.fulfill({ json: { users: [], message: '' } }));
    const release = await holdRequests(page, usersUrl);
    await page.goto('/admin/users');
    await expect(page.getByText('Kullanıcılar yükleniyor…')).toBeVisible();
    await release();
    await expect(page.getByText('Henüz kayıtlı kullanıcı yok.')).toBeVisible();
  });

  test.describe('when the accounts cannot be loaded', () => {
    test.use({ expectedConsoleErrors: /status of [45]\d\d/ });

    for (const [shown, response, message] of [
      ['the message of the error response', { status: 418, json: { message: 'Çaydanlık.' } }, 'Çaydanlık.'],
      [
        'a general message when the error response contains no message',
        { status: 502, body: '' },
        'Kullanıcılar yüklenemedi.',
      ],
    ] as const) {
      test(`when the accounts cannot be loaded, user management shows a retry button and ${shown}`, async ({
        openPageAs,
      }) => {
        const page = await openPageAs('admin');
        const usersUrl = /\/api\/v1\/admin\/users\/?$/;
        await page.route(usersUrl, (route) => route.fulfill(response));
        await page.goto('/admin/users');
        await expect(page.getByText(message)).toBeVisible();
        await page.unroute(usersUrl);
        await page.getByRole('button', { name: 'Tekrar Dene' }).click();
        await expect(
          page.getByRole('region', { name: 'All Users' }).getByRole('listitem').first(),
        ).toBeVisible();
        await expect(page.getByText(message)).toHaveCount(0);
      });
    }
  });

  test('user management shows dates in the Turkish long format with the time, and N/A for a missing date', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('pending');
    const page = await openPageAs('admin');
    await page.goto('/admin/users');
    const card = cardOf(page, someone);
    await expect(factOf(card, 'Kayıt Tarihi')).toHaveText(longDateAndTime);
    await expect(factOf(card, 'Onay Tarihi')).toHaveText('N/A');
    await expect(factOf(card, 'Rol')).toHaveText('Atanmamış');
  });

  test('user management shows a toast and reloads only one account when that account is approved, suspended, reactivated or promoted', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('pending');
    const page = await openPageAs('admin');
    await page.goto('/admin/users');
    const card = cardOf(page, someone);
    await expect(card).toBeVisible();
    const calls: string[] = [];
    page.on('request', (request) => {
      const methodAndPath = `${request.method()} ${new URL(request.url()).pathname}`;
      if (/\/admin\/users/.test(methodAndPath)) calls.push(methodAndPath.replace('/api/v1/admin/users', ''));
    });
    for (const [button, action, message, status, role] of [
      ['Onayla', 'approve', 'Kullanıcı başarıyla onaylandı.', 'Aktif', 'Kullanıcı'],
      ['Askıya Al', 'suspend', 'Kullanıcı başarıyla askıya alındı.', 'Askıya Alındı', 'Kullanıcı'],
      ['Etkinleştir', 'approve', 'Kullanıcı başarıyla onaylandı.', 'Aktif', 'Kullanıcı'],
      ['Yönetici Yap', 'promote', 'Kullanıcı başarıyla yönetici yapıldı.', 'Aktif', 'Yönetici'],
    ] as const) {
      await test.step(button, async () => {
        calls.length = 0;
        await card.getByRole('button', { name: button, exact: true }).click();
        await expect(toastsOf(page).first()).toContainText(message);
        await expect(toastsOf(page).first()).toContainText(someone.displayName);
        await expect(factOf(card, 'Durum')).toHaveText(status);
        await expect(factOf(card, 'Rol')).toHaveText(role);
        expect(calls).toEqual([`POST /${someone.uid}/${action}`, `GET /${someone.uid}`]);
      });
    }
    await expect(card.getByRole('button', { name: 'Yönetici Yap' })).toHaveCount(0);
  });

  test('user management disables the buttons of an account while an action on the account is running', async ({
    openPageAs,
    createAccount,
  }) => {
    const someone = await createAccount('pending');
    const page = await openPageAs('admin');
    await page.goto('/admin/users');
    const card = cardOf(page, someone);
    const release = await holdRequests(page, '**/approve');
    await card.getByRole('button', { name: 'Onayla' }).click();
    for (const name of ['Onayla', 'Devre Dışı Bırak', 'Şifre Belirle']) {
      await expect(card.getByRole('button', { name, exact: true })).toBeDisabled();
    }
    await release();
    await expect(card.getByRole('button', { name: 'Askıya Al', exact: true })).toBeEnabled();
  });

  test.describe('when an action fails', () => {
    test.use({ expectedConsoleErrors: /status of [45]\d\d/ });

    for (const [status, button, action, message] of [
      ['pending', 'Onayla', 'approve', 'Kullanıcı onaylanırken hata oluştu.'],
      ['user', 'Askıya Al', 'suspend', 'Kullanıcı askıya alınırken hata oluştu.'],
      ['user', 'Yönetici Yap', 'promote', 'Kullanıcı yönetici yapılırken hata oluştu.'],
    ] as const) {
      test(`when the request to ${action} an account fails, user management shows the message of the server, or a general message if the server sends none`, async ({
        openPageAs,
        createAccount,
      }) => {
        const someone = await createAccount(status);
        const page = await openPageAs('admin');
        await page.goto('/admin/users');
        const clickAction = () =>
          cardOf(page, someone).getByRole('button', { name: button, exact: true }).click();
        await page.route(`**/${action}`, (route) => route.fulfill({ status: 502, body: '' }));
        await clickAction();
        await expect(toastsOf(page)).toHaveText([message]);
        await page.unroute(`**/${action}`);
        await page.route(`**/${action}`, (route) =>
          route.fulfill({ status: 418, json: { message: 'Çaydanlık.' } }),
        );
        await clickAction();
        await expect(toastsOf(page).first()).toHaveText('Çaydanlık.');
      });
    }
  });
});
