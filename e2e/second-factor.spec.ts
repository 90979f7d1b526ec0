/** Two-step verification with an authenticator app, from its set-up to a recovery code. */
import { oneTimeCode } from '../packages/server/src/testing/one-time-code.ts';
import { expect, test } from './test.ts';

test.use({ expectedComplaints: /status of 401/ });

const halfAMinute = 30_000;

test('is switched on by a code, asked for at the next sign-in, and has a way out without the telephone', async ({
  visit,
  account,
}) => {
  test.slow(); // three browsers and as many sign-ins
  const person = await account('user');
  const page = await visit(person);
  await page.goto('/dashboard/profile');
  await page.getByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' }).click();
  await expect(page.getByRole('img', { name: 'Doğrulama uygulaması için QR kodu' })).toBeVisible();
  const secret = (await page.locator('code').innerText()).replaceAll(' ', '');
  await page.getByLabel('Doğrulama Kodu').fill(oneTimeCode(secret, new Date()));
  await page.getByRole('button', { name: 'Doğrula ve Aç' }).click();

  const codes = page.locator('code');
  await expect(codes).toHaveCount(10);
  const recoveryCode = await codes.first().innerText();
  await page.getByRole('button', { name: 'Kodları kaydettim' }).click();
  await expect(page.getByText('Kalan kurtarma kodu: 10.')).toBeVisible();

  const elsewhere = await visit('anonymous');
  const logIn = async (code: string) => {
    await elsewhere.goto('/auth/login');
    await elsewhere.getByLabel('E-posta').fill(person.email);
    await elsewhere.getByLabel('Şifre', { exact: true }).fill(person.password);
    await elsewhere.getByRole('button', { name: 'Giriş Yap' }).click();
    await elsewhere.getByLabel('Doğrulama Kodu').fill(code);
    await elsewhere.getByRole('button', { name: 'Doğrula' }).click();
  };
  await logIn('000000');
  await expect(elsewhere.getByText('Doğrulama kodu hatalı veya daha önce kullanılmış.')).toBeVisible();
  // The code of now may be the one that switched it on; the next one is good already.
  await logIn(oneTimeCode(secret, new Date(Date.now() + halfAMinute)));
  await expect(elsewhere).toHaveURL(/\/dashboard$/);

  const another = await visit('anonymous');
  await another.goto('/auth/login');
  await another.getByLabel('E-posta').fill(person.email);
  await another.getByLabel('Şifre', { exact: true }).fill(person.password);
  await another.getByRole('button', { name: 'Giriş Yap' }).click();
  await another.getByLabel('Doğrulama Kodu').fill(recoveryCode.toUpperCase());
  await another.getByRole('button', { name: 'Doğrula' }).click();
  await expect(another).toHaveURL(/\/dashboard$/);

  await another.goto('/dashboard/profile');
  await expect(another.getByText('Kalan kurtarma kodu: 9.')).toBeVisible();
  await another.getByRole('button', { name: 'İki Adımlı Doğrulamayı Kapat' }).click();
  const question = another.getByRole('dialog', { name: 'İki adımlı doğrulama kapatılsın mı?' });
  await expect(question).toContainText('Kurtarma kodlarınız geçersiz olur');
  await question.getByRole('button', { name: 'İki Adımlı Doğrulamayı Kapat' }).click();
  await expect(another.getByRole('button', { name: 'İki Adımlı Doğrulamayı Aç' })).toBeVisible();
});
