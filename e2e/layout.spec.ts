/** Nothing is cut in the bars, and no screen scrolls sideways, from a phone to a wide screen. */
import type { Page } from '@playwright/test';
import { expect, slideName, test } from './test.ts';

const sizes = [
  { width: 390, height: 844 },
  { width: 820, height: 1180 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1440 },
];
const forGuests = ['/auth/login', '/auth/register', '/auth/password-reset'];
const forAdministrators = [
  '/dashboard',
  '/dashboard/profile',
  '/wsi-viewer',
  '/admin',
  '/admin/users',
  '/admin/users?view=waiting',
  '/admin/slides',
  '/admin/datasets',
  '/admin/audit',
];

/** Returns texts of the top bar that are cut, and how much wider than the window the page is. */
function faultsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const wide =
      scrollWidth > clientWidth + 1 ? [`the page is ${scrollWidth - clientWidth} px too wide`] : [];
    const texts = [...document.querySelectorAll<HTMLElement>('header *')];
    const cut = texts.filter((element) => {
      const { overflowX, display } = getComputedStyle(element);
      const isShown = element.offsetParent !== null && element.clientWidth > 1;
      return (
        isShown &&
        display !== 'inline' &&
        overflowX !== 'visible' &&
        element.scrollWidth > element.clientWidth + 1
      );
    });
    return [...wide, ...cut.map(({ textContent }) => `cut: ${textContent}`)];
  });
}

for (const who of ['anonymous', 'admin'] as const) {
  for (const language of ['tr', 'en'] as const) {
    test(`no text of a bar is cut and no screen is wider than the window, for ${who} in ${language}`, async ({
      visit,
      account,
    }) => {
      test.slow(); // every screen at four sizes
      // A queue that is longer than the window, with a count of two digits.
      if (who === 'admin') for (let index = 0; index < 12; index++) await account('pending');
      const page = await visit(who);
      await page.addInitScript((chosen) => localStorage.setItem('language', chosen), language);
      const faults: string[] = [];
      for (const address of who === 'admin' ? forAdministrators : forGuests) {
        await page.goto(address);
        await expect(page.getByRole('heading').first()).toBeVisible();
        if (address === '/wsi-viewer')
          await expect(page.getByRole('button', { name: slideName })).toBeVisible();
        for (const size of sizes.toReversed().concat(sizes)) {
          await page.setViewportSize(size);
          for (const fault of await faultsOf(page)) faults.push(`${address} at ${size.width}: ${fault}`);
        }
      }
      expect(faults).toEqual([]);
    });
  }
}
