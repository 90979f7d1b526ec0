/** The product by keyboard alone: these tests neither click nor scroll. */
import type { Locator, Page } from '@playwright/test';
import { administratorToken, call } from './accounts.ts';
import { expect, slideName, test } from './test.ts';

/** More elements than any screen has. */
const mostPresses = 120;

/** Goes on with Tab until the focus is there, and is seen there. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < mostPresses && !(await hasFocus(target)); presses += 1) {
    await page.keyboard.press('Tab');
  }
  await expect(target).toBeFocused();
  const looks = await target.evaluate(async (element) => {
    const look = async () => {
      await Promise.allSettled(element.getAnimations().map(({ finished }) => finished));
      const { outlineStyle, outlineWidth, borderColor, boxShadow } = getComputedStyle(element);
      return outlineStyle === 'none' || outlineWidth === '0px' ? `${borderColor} ${boxShadow}` : 'outline';
    };
    const focused = await look();
    (element as HTMLElement).blur();
    const blurred = await look();
    (element as HTMLElement).focus();
    return { focused, blurred };
  });
  expect(looks.focused, 'the focus is seen').not.toBe(looks.blurred);
}

const hasFocus = (target: Locator) => target.evaluate((element) => element === document.activeElement);

async function typeInto(page: Page, label: string | RegExp, text: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.type(text);
}

/** After a way to another screen, or out of a dialog, the focus stands in what is new and not nowhere. */
async function expectFocusIn(place: Locator): Promise<void> {
  await expect.poll(() => place.evaluate((element) => element.contains(document.activeElement))).toBe(true);
}

test('a visitor registers, signs in, finds, opens and measures a slide, and signs out by keyboard alone', async ({
  visit,
  product,
}) => {
  test.slow(); // a whole story
  const email = `klavye-${process.pid}-${test.info().workerIndex}@example.org`;
  const password = 'parmaklar yeter';
  const page = await visit('anonymous');
  const main = page.getByRole('main');
  let uid = '';

  await test.step('registers', async () => {
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

  await test.step('is approved', async () => {
    const token = await administratorToken(product.address);
    await call(product.address, 'POST', `/admin/users/${uid}/approve`, { token, body: {} });
  });

  await test.step('signs in', async () => {
    await typeInto(page, 'E-posta', email);
    await typeInto(page, 'Şifre', password);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/dashboard$/);
    await expectFocusIn(main);
  });

  await test.step('opens the viewer', async () => {
    await tabTo(page, page.getByRole('banner').getByRole('link', { name: 'WSI Viewer' }));
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/wsi-viewer$/);
    await expectFocusIn(main);
  });

  await test.step('finds and opens a slide', async () => {
    const search = page.getByPlaceholder('Search images...');
    await tabTo(page, search);
    await page.keyboard.type(slideName);
    const row = page.getByRole('button', { name: slideName });
    await expect(row).toBeVisible();
    await expect(page.getByRole('button', { name: 'section-10.svs' })).toHaveCount(0);
    await reachRow(page, row);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
    await expect(page.getByText('Loading tiles...')).toBeHidden();
    await expect(row).toBeFocused();
  });

  await test.step('moves, and zooms by an objective', async () => {
    await tabTo(page, page.getByRole('application'));
    await expect.poll(() => fieldOf(page).zoom).not.toBeNull();
    const { zoom } = fieldOf(page);
    await page.keyboard.press('4');
    await expect(page.getByRole('button', { name: '10×' })).toHaveAttribute('aria-pressed', 'true');
    await expect.poll(() => fieldOf(page).zoom).not.toBe(zoom);
    const { x } = fieldOf(page);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => fieldOf(page).x).not.toBe(x);
  });

  await test.step('measures', async () => {
    await page.keyboard.press('m');
    await page.keyboard.press('Enter');
    const { x } = fieldOf(page);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => fieldOf(page).x).not.toBe(x);
    await page.keyboard.press('Enter');
    const measure = page.locator('[data-shape="ruler"] text');
    await expect(measure).toHaveText(/^[\d.]+ (µm|mm)$/);
    const told = (await measure.textContent()) ?? '';
    await expect(page.locator('[aria-live="polite"]').filter({ hasText: told })).toHaveCount(1);
    await page.keyboard.press('Escape');
  });

  await test.step('opens the help and closes it', async () => {
    const slide = page.getByRole('application');
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard help' });
    await expect(help).toBeVisible();
    await expectFocusIn(help);
    await page.keyboard.press('Escape');
    await expect(help).toHaveCount(0);
    await expect(slide, 'the focus is back where it was').toBeFocused();
  });

  await test.step('signs out', async () => {
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

/** What of the slide is seen, as the address says it once a movement has come to its end. */
function fieldOf(page: Page) {
  const { searchParams } = new URL(page.url());
  return { x: searchParams.get('x'), zoom: searchParams.get('zoom') };
}

/** Tab leads into the list, and on in it; where the list has one stop for Tab, the arrow keys lead on. */
async function reachRow(page: Page, row: Locator): Promise<void> {
  for (let presses = 0; presses < mostPresses && !(await hasFocus(row)); presses += 1) {
    const isOnGroup = await page.evaluate(
      () => document.activeElement?.matches('h2 > [aria-expanded]') === true,
    );
    if (isOnGroup) await page.keyboard.press('ArrowDown');
    if (!(await hasFocus(row))) await page.keyboard.press('Tab');
  }
  await expect(row).toBeFocused();
}
