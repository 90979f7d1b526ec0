/** The routes and guards of docs/requirements.md, section 2: redirects and page titles for each kind of account. */
import type { AccountState } from './accounts.ts';
import { expect, test } from './test.ts';

type Visitor = 'anonymous' | AccountState;

const visitorNames: Readonly<Record<Visitor, string>> = {
  anonymous: 'a visitor who is not signed in',
  pending: 'a pending account',
  suspended: 'a suspended account',
  deactivated: 'a deactivated account',
  viewer: 'an account with the role viewer',
  user: 'an account with the role user',
  admin: 'an administrator',
};

/** For each kind of visitor: the path that is opened, and the path of the page that appears. */
const routes: Readonly<
  Partial<Record<Visitor, readonly (readonly [openedPath: string, finalPath: string])[]>>
> = {
  anonymous: [
    ['/', '/auth/login'],
    ['/auth', '/auth/login'],
    ['/auth/login', '/auth/login'],
    ['/auth/register', '/auth/register'],
    ['/auth/confirm', '/auth/confirm'],
    ['/auth/password-reset', '/auth/password-reset'],
    ['/account-status', '/auth/login'],
    ['/dashboard', '/auth/login'],
    ['/dashboard/profile', '/auth/login'],
    ['/wsi-viewer', '/auth/login'],
    ['/admin', '/auth/login'],
    ['/admin/users', '/auth/login'],
  ],
  pending: [
    ['/', '/account-status'],
    ['/auth/login', '/auth/login'],
    ['/auth/register', '/account-status'],
    ['/account-status', '/account-status'],
    ['/dashboard', '/account-status'],
    ['/dashboard/profile', '/account-status'],
    ['/wsi-viewer', '/account-status'],
    ['/admin', '/account-status'],
    ['/admin/users', '/account-status'],
  ],
  suspended: [
    ['/dashboard', '/account-status'],
    ['/wsi-viewer', '/account-status'],
    ['/auth/login', '/auth/login'],
  ],
  viewer: [
    ['/wsi-viewer', '/wsi-viewer'],
    ['/admin', '/dashboard'],
  ],
  user: [
    ['/', '/dashboard'],
    ['/auth', '/dashboard'],
    ['/auth/login', '/dashboard'],
    ['/auth/register', '/dashboard'],
    ['/account-status', '/dashboard'],
    ['/dashboard', '/dashboard'],
    ['/dashboard/profile', '/dashboard/profile'],
    ['/wsi-viewer', '/wsi-viewer'],
    ['/admin', '/dashboard'],
    ['/admin/users', '/dashboard'],
  ],
  admin: [
    ['/auth/login', '/dashboard'],
    ['/dashboard', '/dashboard'],
    ['/wsi-viewer', '/wsi-viewer'],
    ['/admin', '/admin'],
    ['/admin/users', '/admin/users'],
  ],
};

/** Page titles by path. */
const titles: Readonly<Record<string, string>> = {
  '/auth/login': 'Giriş - Lamina',
  '/auth/register': 'Kayıt Ol - Lamina',
  '/auth/confirm': 'E-posta Doğrulama - Lamina',
  '/auth/password-reset': 'Şifre Sıfırlama - Lamina',
  '/account-status': 'Hesap Durumu - Lamina',
  '/dashboard': 'Dashboard - Lamina',
  '/dashboard/profile': 'Profile - Lamina',
  '/wsi-viewer': 'WSI Viewer - Lamina',
  '/admin': 'Admin Dashboard - Lamina',
  '/admin/users': 'User Management - Lamina',
};

for (const [who, pathPairs] of Object.entries(routes) as [
  Visitor,
  readonly (readonly [string, string])[],
][]) {
  test(`the web app opens each path of the route table or redirects it, as section 2 of docs/requirements.md defines, for ${visitorNames[who]}`, async ({
    openPageAs,
  }) => {
    const page = await openPageAs(who);
    for (const [openedPath, finalPath] of pathPairs) {
      await test.step(`${openedPath} → ${finalPath}`, async () => {
        await page.goto(openedPath);
        await expect(page).toHaveTitle(titles[finalPath] ?? '');
        expect(new URL(page.url()).pathname).toBe(finalPath);
      });
    }
  });
}

test.describe('a path outside the route table', () => {
  test.use({ expectedConsoleErrors: /status of 404 .*\/no\/such\/page/ });

  for (const who of ['anonymous', 'user'] as const) {
    test(`a path outside the route table shows a 404 page with a link to the home page to ${visitorNames[who]}`, async ({
      openPageAs,
    }) => {
      const page = await openPageAs(who);
      await page.goto('/no/such/page');
      await expect(page.getByRole('heading', { name: /bulunamadı/i })).toBeVisible();
      await expect(page).toHaveTitle('Sayfa Bulunamadı - Lamina');
      await page.getByRole('link', { name: /ana sayfa/i }).click();
      await expect(page).toHaveURL(who === 'user' ? /\/dashboard$/ : /\/auth\/login$/);
    });
  }
});
