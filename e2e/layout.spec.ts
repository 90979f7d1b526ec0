/** No text of the top bar is cut and no screen scrolls sideways, at window sizes from a phone to a wide screen. */
import type { Page } from '@playwright/test';
import { expect, slideName, test } from './test.ts';

/** Window sizes in CSS pixels: a phone, a tablet, a laptop and a wide screen. */
const sizes = [
  { width: 390, height: 844 },
  { width: 820, height: 1180 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1440 },
];
const languageNames = { tr: 'Turkish', en: 'English' } as const;
const audiences = { anonymous: 'visitors', admin: 'administrators' } as const;

const pathsForVisitors = ['/auth/login', '/auth/register', '/auth/password-reset'];
const pathsForAdministrators = [
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

/** Returns a description of each cut text of the top bar, and of a page that is wider than the window. */
function layoutFaultsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const widthFaults =
      scrollWidth > clientWidth + 1 ? [`the page is ${scrollWidth - clientWidth} px too wide`] : [];
    const texts = [...document.querySelectorAll<HTMLElement>('header *')];
    const cutElements = texts.filter((element) => {
      const { overflowX, display, visibility } = getComputedStyle(element);
      const isShown = visibility === 'visible' && element.offsetParent !== null && element.clientWidth > 1;
      return (
        isShown &&
        display !== 'inline' &&
        overflowX !== 'visible' &&
        element.scrollWidth > element.clientWidth + 1
      );
    });
    return [...widthFaults, ...cutElements.map(({ textContent }) => `cut: ${textContent}`)];
  });
}

for (const who of ['anonymous', 'admin'] as const) {
  for (const language of ['tr', 'en'] as const) {
    test(`no text of the top bar is cut and no screen is wider than the window, for ${audiences[who]} in ${languageNames[language]}`, async ({
      openPageAs,
      createAccount,
    }) => {
      test.slow(); // every screen at four sizes
      // Twelve applicants make their list longer than the window.
      if (who === 'admin') for (let index = 0; index < 12; index++) await createAccount('pending');
      const page = await openPageAs(who);
      // Makes the links to users and to datasets show counts, which makes them wider.
      await page.route('**/admin/waiting', (route) =>
        route.fulfill({ json: { applications: 309, datasetRequests: 12 } }),
      );
      await page.addInitScript((chosen) => localStorage.setItem('language', chosen), language);
      for (const address of who === 'admin' ? pathsForAdministrators : pathsForVisitors) {
        await page.goto(address);
        await expect(page.getByRole('heading').first()).toBeVisible();
        if (address === '/wsi-viewer')
          await expect(page.getByRole('button', { name: slideName })).toBeVisible();
        for (const size of sizes.toReversed().concat(sizes)) {
          await page.setViewportSize(size);
          // Polled, because the bar replaces its links by a menu (or vice versa) only in the next frame.
          await expect.poll(() => layoutFaultsOf(page), `${address} at ${size.width}`).toEqual([]);
        }
      }
    });
  }
}

test('in a window 1280 px wide, the top bar shows all links of the administration and the counts of two of them', async ({
  openPageAs,
}) => {
  const page = await openPageAs('admin');
  await page.route('**/admin/waiting', (route) =>
    route.fulfill({ json: { applications: 309, datasetRequests: 12 } }),
  );
  await page.addInitScript(() => localStorage.setItem('language', 'tr'));
  await page.goto('/admin');
  await expect(page.getByRole('link', { name: /^Kullanıcılar.*309/ })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Ana Sayfaya Dön' })).toBeVisible();
});

/** Returns the selected texts of drop-down lists that are wider than the list. */
function cutChoices(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const context = document.createElement('canvas').getContext('2d');
    if (context === null) throw new Error('The browser created no canvas context.');
    return [...document.querySelectorAll('select')].flatMap((list) => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(list);
      context.font = font;
      const text = list.selectedOptions[0]?.text ?? '';
      const availableWidth =
        list.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      return list.offsetParent !== null && context.measureText(text).width > availableWidth ? [text] : [];
    });
  });
}

for (const language of ['tr', 'en'] as const) {
  test(`the slide viewer page cuts off neither the filters of the catalogue nor the name of the slide, at all window sizes in ${languageNames[language]}`, async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await page.addInitScript((chosen) => localStorage.setItem('language', chosen), language);
    await page.goto('/wsi-viewer');
    for (const size of sizes) {
      await page.setViewportSize(size);
      await expect(page.getByRole('combobox').first()).toBeVisible();
      expect(await cutChoices(page), `at ${size.width}`).toEqual([]);
    }
    await page.getByRole('button', { name: slideName }).click();
    const name = page.locator('main').getByText(slideName, { exact: true }).first();
    for (const size of sizes) {
      await page.setViewportSize(size);
      await expect(name).toBeVisible();
      const isCut = await name.evaluate(
        ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
          scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1,
      );
      expect(isCut, `at ${size.width}`).toBe(false);
    }
  });
}

for (const height of [640, 720] as const) {
  test(`in a viewer window 1280 × ${height} px, no tool covers the overview map of the slide`, async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await page.setViewportSize({ width: 1280, height });
    await page.goto('/wsi-viewer');
    await page.getByRole('button', { name: slideName }).click();
    const tool = page.getByRole('toolbar', { name: 'Measuring and colours' }).getByRole('button').first();
    await expect(tool).toBeVisible();
    const map = await page.locator('.navigator').boundingBox();
    const { y = 0 } = (await tool.boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual((map?.y ?? 0) + (map?.height ?? Number.POSITIVE_INFINITY));
  });
}

for (const [tools, panel, button] of [
  ['Drawing tools', 'Annotations', 'Annotations'],
  ['Measuring and colours', 'Analysis results', 'Analysis results'],
] as const) {
  test(`in a viewer 820 px wide, the panel “${panel}” covers no button of the toolbar “${tools}”`, async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await page.setViewportSize({ width: 820, height: 1180 });
    await page.goto('/wsi-viewer');
    await page.getByRole('button', { name: slideName }).click();
    await page.getByRole('button', { name: button, exact: true }).click();
    await expect(page.getByRole('region', { name: panel })).toBeVisible();
    const coveredButtons = await page.getByRole('toolbar', { name: tools }).evaluate((toolbar) =>
      [...toolbar.querySelectorAll('button')]
        .filter((tool) => {
          const { x, y, width, height } = tool.getBoundingClientRect();
          return (
            width > 0 && document.elementFromPoint(x + width / 2, y + height / 2)?.closest('button') !== tool
          );
        })
        .map((tool) => tool.getAttribute('aria-label')),
    );
    expect(coveredButtons).toEqual([]);
  });
}
