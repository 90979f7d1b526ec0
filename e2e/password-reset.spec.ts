/**
 * Reset of a forgotten password by the link in an e-mail, which works once. The screens are in Turkish: 'Şifre' is the
 * password, 'Şifreni mi unuttun?' asks whether it is forgotten, 'Bağlantı Gönder' sends the link, 'Kaydet' saves.
 */
import { expect, test } from './test.ts';

test.use({ expectedConsoleErrors: /status of 40[01]/ });

test('the link in a password reset e-mail sets a new password, and is rejected when it is used a second time', async ({
  openPageAs,
  createAccount,
  product,
}) => {
  const { email, password } = await createAccount('user');
  const newPassword = 'yeni ve uzun bir şifre';
  const page = await openPageAs('anonymous');

  await page.goto('/auth/login');
  await page.getByRole('link', { name: 'Şifreni mi unuttun?' }).click();
  await expect(page).toHaveURL(/\/auth\/password-reset$/);
  await page.getByLabel('E-posta').fill(email);
  await page.getByRole('button', { name: 'Bağlantı Gönder' }).click();

  let link: string | undefined;
  await expect(async () => {
    link = (await product.mailsTo(email)).map((mail) => /https?:\S+#code=\S+/.exec(mail)?.[0]).find(Boolean);
    expect(link).toBeDefined();
  }).toPass();
  const { origin, pathname, hash } = new URL(link ?? '');
  expect(origin).toBe(product.url);

  const setPassword = async () => {
    await page.goto('/'); // a navigation that changes only the hash would not load the page again
    await page.goto(`${pathname}${hash}`);
    await expect(page, 'the code is removed from the URL').toHaveURL(/\/auth\/password-reset$/);
    await page.getByLabel('Yeni Şifre', { exact: true }).fill(newPassword);
    await page.getByLabel('Yeni Şifre (Tekrar)').fill(newPassword);
    await page.getByRole('button', { name: 'Şifreyi Kaydet' }).click();
  };
  const logIn = async (typedPassword: string) => {
    await page.goto('/auth/login');
    await page.getByLabel('E-posta').fill(email);
    await page.getByLabel('Şifre', { exact: true }).fill(typedPassword);
    await page.getByRole('button', { name: 'Giriş Yap' }).click();
  };

  await setPassword();
  await expect(page).toHaveURL(/\/auth\/login$/);

  await page.goto('/');
  await page.goto(`${pathname}${hash}`);
  await expect(page.getByText('Bu bağlantı kullanılmış veya süresi dolmuş.')).toBeVisible();

  await setPassword();
  await expect(
    page.getByText('Bağlantı geçersiz veya süresi dolmuş. Lütfen yeni bir bağlantı isteyin.'),
  ).toBeVisible();

  await logIn(password);
  await expect(page.getByText('Geçersiz e-posta veya şifre.')).toBeVisible();
  await logIn(newPassword);
  await expect(page).toHaveURL(/\/dashboard$/);
});
