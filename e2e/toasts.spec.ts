/** Toasts: at the top right for 5000 ms, at most 20, the newest on top (docs/requirements.md, NUM-10). */
import type { Page } from '@playwright/test';
import { administrator } from './product.ts';
import { expect, test } from './test.ts';

test.use({ expectedConsoleErrors: /status of 418/ });

/**
 * Opens the login page with a stubbed server. Its response to the n-th attempt has the message 'Yanıt n' (response n).
 *
 * @returns a function that tries to sign in several times, each of which shows a toast
 */
async function openNumberedLogin(page: Page): Promise<(times: number) => Promise<void>> {
  let attempts = 0;
  await page.route('**/api/v1/auth/login', async (route) => {
    attempts += 1;
    await route.fulfill({ status: 418, json: { message: `Yanıt ${attempts}` } });
  });
  await page.goto('/auth/login');
  await page.getByLabel('E-posta').fill(administrator.email);
  await page.getByLabel('Şifre', { exact: true }).fill(administrator.password);
  return async (times) => {
    for (let time = 0; time < times; time += 1) {
      const responded = page.waitForResponse((response) => response.status() === 418);
      await page.getByRole('button', { name: 'Giriş Yap' }).press('Enter');
      await responded;
      await expect(page.getByRole('button', { name: 'Giriş Yap' })).toBeEnabled();
    }
  };
}

const toastsOf = (page: Page) => page.locator('.Toastify').getByRole('alert');

test('toasts appear at the top right of the window with the newest on top', async ({ openPageAs }) => {
  const page = await openPageAs('anonymous');
  const attempt = await openNumberedLogin(page);
  await attempt(2);
  await expect(toastsOf(page)).toHaveText(['Yanıt 2', 'Yanıt 1']);
  const [newest, oldest] = await Promise.all([0, 1].map((index) => toastsOf(page).nth(index).boundingBox()));
  if (!newest || !oldest) throw new Error('The element is not visible.');
  expect(newest.y).toBeLessThan(oldest.y);
  expect(newest.y).toBeLessThan(100);
  expect(newest.x + newest.width).toBeGreaterThan(1280 - 60); // the window is 1280 px wide
});

test('a toast disappears after 5000 ms', async ({ openPageAs }) => {
  const page = await openPageAs('anonymous');
  const attempt = await openNumberedLogin(page);
  await attempt(1);
  const toast = toastsOf(page);
  await expect(toast).toHaveText(['Yanıt 1']);
  // The toast disappears when the animation of its progress bar ends.
  const progressBar = page.locator('.Toastify__progress-bar').first();
  const durationMs = await progressBar.evaluate((bar) => {
    const [running] = bar.getAnimations();
    const duration = running?.effect?.getComputedTiming().duration;
    running?.finish();
    return duration;
  });
  expect(durationMs).toBe(5000);
  await expect(toast).toHaveCount(0);
});

test('at most 20 toasts are shown when more messages arrive', async ({ openPageAs }) => {
  const page = await openPageAs('anonymous');
  const attempt = await openNumberedLogin(page);
  // Toasts must not disappear during the test; a paused progress bar keeps them.
  await page.addStyleTag({ content: '.Toastify__progress-bar { animation-play-state: paused !important }' });
  await attempt(22);
  await expect(toastsOf(page)).toHaveCount(20);
});
