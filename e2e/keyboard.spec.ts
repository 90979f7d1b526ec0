/**
 * Use of the whole product by keyboard: this test neither clicks nor scrolls. The screens before the viewer are in
 * Turkish: 'Kayıt ol' registers, 'E-posta' is the e-mail address, 'Görünen Ad' the display name, and 'Şifre' the
 * password.
 */
import type { Locator, Page } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import { expect, slideName, test } from './test.ts';

/** Maximum number of presses of one key: more than any screen has focusable elements. */
const maxPresses = 120;

/** Presses Tab until the target has the focus, and expects that the target looks different with the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < maxPresses && !(await hasFocus(target)); presses += 1) {
    await page.keyboard.press('Tab');
  }
  await expect(target).toBeFocused();
  const appearance = await target.evaluate(async (element) => {
    const focusStyle = async () => {
      await Promise.allSettled(element.getAnimations().map(({ finished }) => finished));
      const { outlineStyle, outlineWidth, borderColor, boxShadow } = getComputedStyle(element);
      return outlineStyle === 'none' || outlineWidth === '0px' ? `${borderColor} ${boxShadow}` : 'outline';
    };
    const focused = await focusStyle();
    (element as HTMLElement).blur();
    const blurred = await focusStyle();
    (element as HTMLElement).focus();
    return { focused, blurred };
  });
  expect(appearance.focused, 'the focus is visible').not.toBe(appearance.blurred);
}

const hasFocus = (target: Locator) => target.evaluate((element) => element === document.activeElement);

/** Moves the focus to a field with Tab, and types a text. */
async function typeInto(page: Page, label: string | RegExp, text: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.type(text);
}

/** Expects that the focus is inside an element, for example inside a screen that has just been opened. */
async function expectFocusIn(container: Locator): Promise<void> {
  await expect
    .poll(() => container.evaluate((element) => element.contains(document.activeElement)))
    .toBe(true);
}

test('by keyboard alone, a visitor registers, signs in, finds, opens and measures a slide, and signs out', async ({
  openPageAs,
  product,
}) => {
  test.slow(); // passes through many screens
  const email = `klavye-${process.pid}-${test.info().workerIndex}@example.org`;
  const password = 'parmaklar yeter';
  const page = await openPageAs('anonymous');
  const main = page.getByRole('main');
  let uid = '';

  await test.step('the visitor registers', async () => {
    await page.goto('/');
    await tabTo(page, page.getByRole('link', { name: 'Kayıt ol' }));
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/auth\/register$/);
    await expectFocusIn(main);
    await typeInto(page, 'E-posta', email);
    await typeInto(page, 'Görünen Ad (isteğe bağlı)', 'Klavye Kullanan');
    await typeInto(page, 'Şifre', password);
    await typeInto(page, 'Şifre (Tekrar)', password);
    const registered = page.waitForResponse('**/api/v1/auth/register');
    await page.keyboard.press('Enter');
    uid = ((await (await registered).json()) as { user: { uid: string } }).user.uid;
    await expect(page).toHaveURL(/\/auth\/login$/);
    await expectFocusIn(main);
  });

  await test.step('an administrator approves the account', async () => {
    const token = await administratorToken(product.url);
    await callApi(product.url, 'POST', `/admin/users/${uid}/approve`, { token, body: {} });
  });

  await test.step('the user signs in', async () => {
    await typeInto(page, 'E-posta', email);
    await typeInto(page, 'Şifre', password);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/dashboard$/);
    await expectFocusIn(main);
  });

  await test.step('the user opens the viewer', async () => {
    await tabTo(page, page.getByRole('banner').getByRole('link', { name: 'WSI Viewer' }));
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/wsi-viewer$/);
    await expectFocusIn(main);
  });

  await test.step('the user finds and opens a slide', async () => {
    const search = page.getByPlaceholder('Search images...');
    await tabTo(page, search);
    await page.keyboard.type(slideName);
    const row = page.getByRole('button', { name: slideName });
    await expect(row).toBeVisible();
    await expect(page.getByRole('button', { name: 'section-10.svs' })).toHaveCount(0);
    await focusRow(page, row);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
    await expect(page.getByText('Loading tiles...')).toBeHidden();
    await expect(row).toBeFocused();
  });

  await test.step('the user zooms to an objective and moves the slide', async () => {
    await tabTo(page, page.getByRole('application'));
    await expect.poll(() => fieldOf(page).zoom).not.toBeNull();
    const { zoom } = fieldOf(page);
    await page.keyboard.press('4'); // zooms to the objective 10×
    await expect(page.getByRole('button', { name: '10×' })).toHaveAttribute('aria-pressed', 'true');
    await expect.poll(() => fieldOf(page).zoom).not.toBe(zoom);
    const { x } = fieldOf(page);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => fieldOf(page).x).not.toBe(x);
  });

  await test.step('the user measures a distance', async () => {
    await page.keyboard.press('m'); // selects the ruler
    await page.keyboard.press('Enter');
    const { x } = fieldOf(page);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => fieldOf(page).x).not.toBe(x);
    await page.keyboard.press('Enter');
    const measure = page.locator('[data-shape="ruler"] text');
    await expect(measure).toHaveText(/^[\d.]+ (µm|mm)$/);
    const measuredText = (await measure.textContent()) ?? '';
    await expect(page.locator('[aria-live="polite"]').filter({ hasText: measuredText })).toHaveCount(1);
    await page.keyboard.press('Escape');
  });

  await test.step('the user opens and closes the keyboard help', async () => {
    const slide = page.getByRole('application');
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard help' });
    await expect(help).toBeVisible();
    await expectFocusIn(help);
    await page.keyboard.press('Escape');
    await expect(help).toHaveCount(0);
    await expect(slide, 'the focus returns to the slide').toBeFocused();
  });

  await test.step('the user signs out', async () => {
    await tabTo(page, page.getByRole('button', { name: 'Klavye Kullanan' }));
    await page.keyboard.press('Enter');
    const logout = page.getByRole('menuitem', { name: 'Logout' });
    await expect(logout).toBeVisible();
    for (let presses = 0; presses < 10 && !(await hasFocus(logout)); presses += 1) {
      await page.keyboard.press('ArrowDown');
    }
    await expect(logout).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert').filter({ hasText: 'Successfully logged out.' })).toBeVisible();
    await expect(page).toHaveURL(/\/auth\/login$/);
    await expectFocusIn(main);
  });
});

/** Returns position and zoom from the URL, which is updated at the end of a movement. */
function fieldOf(page: Page) {
  const { searchParams } = new URL(page.url());
  return { x: searchParams.get('x'), zoom: searchParams.get('zoom') };
}

/** Moves the focus to a row of the catalogue: with Tab into the list, and with the arrow keys inside the list. */
async function focusRow(page: Page, row: Locator): Promise<void> {
  for (let presses = 0; presses < maxPresses && !(await hasFocus(row)); presses += 1) {
    const isOnGroup = await page.evaluate(
      () => document.activeElement?.matches('h2 > [aria-expanded]') === true, // the heading of a dataset
    );
    if (isOnGroup) await page.keyboard.press('ArrowDown');
    if (!(await hasFocus(row))) await page.keyboard.press('Tab');
  }
  await expect(row).toBeFocused();
}
