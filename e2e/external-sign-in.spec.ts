/**
 * Sign-in through a real OpenID Connect provider, which runs on another port with its own sign-in page. The screens are
 * in Turkish: '… ile giriş yap' signs in with the provider, 'Onay Bekliyor' is a pending account, 'Onayla' approves it.
 */
import { type OidcProvider, startOidcProvider } from '../packages/server/src/testing/oidc-provider.ts';
import { expect, slideName, test as withProduct } from './test.ts';

const providerName = 'Enstitü Kimliği';

// Each worker starts one provider, and the product with settings that point to it.
const test = withProduct.extend<object, { readonly oidc: OidcProvider }>({
  oidc: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from the pattern
    async ({}, use) => {
      const oidc = await startOidcProvider();
      await use(oidc);
      await oidc.close();
    },
    { scope: 'worker' },
  ],
  settings: [
    async ({ oidc }, use) =>
      use({ OIDC_ISSUER: oidc.issuer, OIDC_CLIENT_ID: oidc.clientId, OIDC_NAME: providerName }),
    { scope: 'worker' },
  ],
});

test('a user signs in at an external provider, is approved by an administrator and opens the catalogue', async ({
  openPageAs,
  oidc,
}) => {
  test.slow(); // passes through many screens in two browsers
  const login = `nehir-${test.info().workerIndex}`;
  oidc.people.set(login, { email: `${login}@example.org`, email_verified: true, name: 'Nehir Şahin' });
  const visitor = await openPageAs('anonymous');

  const signInAtProvider = async () => {
    await visitor.getByRole('button', { name: `${providerName} ile giriş yap` }).click();
    await expect(visitor).toHaveTitle('Provider');
    await visitor.getByLabel('Name').fill(login);
    await visitor.getByRole('button', { name: 'Sign in' }).click();
  };

  await test.step('the first sign-in creates a pending account', async () => {
    await visitor.goto('/auth/login');
    await expect(visitor.getByLabel('E-posta')).toBeVisible(); // the form for e-mail and password is also shown
    await visitor.screenshot({ path: 'artefacts/login-external.png' });
    await signInAtProvider();
    await expect(visitor.getByText('Giriş başarılı!')).toBeVisible();
    await expect(visitor).toHaveURL(/\/account-status$/);
    await expect(visitor.getByText('Onay Bekliyor')).toBeVisible();
    await visitor.goBack();
    await expect(visitor).not.toHaveURL(/code=/); // the code is not in the history of the browser
  });

  await test.step('an administrator approves the account', async () => {
    const admin = await openPageAs('admin');
    await admin.goto('/admin/users');
    const card = admin.getByRole('listitem').filter({ hasText: `${login}@example.org` });
    await expect(card.getByRole('heading', { name: 'Nehir Şahin' })).toBeVisible();
    await card.getByRole('button', { name: 'Onayla' }).click();
    await expect(card.getByText('Aktif', { exact: true })).toBeVisible();
  });

  await test.step('the catalogue is accessible', async () => {
    await visitor.goto('/wsi-viewer');
    await expect(visitor).toHaveURL(/\/wsi-viewer$/);
    await expect(visitor.getByRole('button', { name: slideName })).toBeVisible();
    expect(await visitor.evaluate(() => localStorage.getItem('auth_token'))).toMatch(/^[\w-]{43}$/);
  });

  await test.step('signing out and in again opens the same account', async () => {
    await visitor.goto('/dashboard');
    await visitor.getByRole('button', { name: /Nehir Şahin/ }).click();
    await visitor.getByRole('menuitem', { name: 'Logout' }).click();
    await expect(visitor).toHaveURL(/\/auth\/login$/);
    // The user is still signed in at the provider, which shows no form.
    await visitor.getByRole('button', { name: `${providerName} ile giriş yap` }).click();
    await expect(visitor).toHaveURL(/\/dashboard$/);
    await expect(visitor.getByText(/Nehir Şahin/).first()).toBeVisible();
  });
});

test.describe('an authorization response that this browser did not request', () => {
  test('an OpenID Connect authorization response that this browser did not request does not sign the user in', async ({
    openPageAs,
  }) => {
    const visitor = await openPageAs('anonymous');
    await visitor.goto('/auth/callback?code=of-another-browser&state=x');
    await expect(
      visitor.getByText('Bu giriş isteği geçersiz veya süresi dolmuş. Lütfen yeniden deneyin.'),
    ).toBeVisible();
    await expect(visitor).toHaveURL(/\/auth\/login$/);
    expect(await visitor.evaluate(() => localStorage.length)).toBe(0);
  });
});
