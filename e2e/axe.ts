/** Checks of a page with axe: WCAG 2.2 A and AA and best practice, in the light and the dark colour scheme. */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];

/** The rules whose result depends on colours. The others find the same in both colour schemes. */
const colourRules = ['color-contrast', 'link-in-text-block'];

type ColorScheme = 'light' | 'dark';

/**
 * Expects that axe finds nothing on the page in its present state, in both colour schemes.
 *
 * @param state names the step in the report
 */
export async function expectNoAxeFindings(page: Page, state = 'axe'): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await test.step(`${state}, ${colorScheme}`, async () => {
      // A tooltip that is still fading in has no contrast to measure either.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
      await finishAnimations(page);
      expect(await axeFindings(page, { colorScheme })).toEqual([]);
    });
  }
}

/**
 * Returns what axe finds on the page in its present colours.
 *
 * @param check `within` is the CSS selector of the part that is checked; the whole page without it
 */
export async function axeFindings(
  page: Page,
  { colorScheme = 'light', within }: { readonly colorScheme?: ColorScheme; readonly within?: string } = {},
) {
  const axe = await axeOf(page);
  if (within !== undefined) axe.include(within);
  const checked = colorScheme === 'light' ? axe.withTags(standards) : axe.withRules(colourRules);
  const { violations } = await checked.analyze();
  return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => html) }));
}

/**
 * Sends the program of axe to a page once, and not with every check. The legacy mode differs only for pages with frames,
 * of which the product has none; the other mode opens a second page for each check.
 */
async function axeOf(page: Page): Promise<AxeBuilder> {
  const isLoaded = await page.evaluate(() => 'axe' in window);
  return new AxeBuilder({ page, ...(isLoaded && { axeSource: '0' }) })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] });
}

/**
 * Ends the animations of the page that end by themselves: a colour that is still changing has no contrast to measure.
 * The time of a toast is an animation, too; it goes on. Waiting for the ends instead would depend on the browser drawing
 * frames, which it may postpone without limit on a busy machine.
 */
async function finishAnimations(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      const { effect, playState } = animation;
      const target = effect instanceof KeyframeEffect ? effect.target : null;
      const isToastTime = target !== null && target.closest('.Toastify__progress-bar') !== null;
      const ends = Number.isFinite(effect?.getComputedTiming().endTime);
      if (playState === 'running' && ends && !isToastTime) animation.finish();
    }
  });
}
