/** Accessibility checks with axe: WCAG 2.2 A and AA and best practices, in the light and the dark colour scheme. */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];

/** The rules whose result depends on colours; all other rules are checked in the light colour scheme only. */
const colourRules = ['color-contrast', 'link-in-text-block'];

type ColorScheme = 'light' | 'dark';

/**
 * Expects that axe finds no accessibility violation in the current state of the page in both colour schemes.
 *
 * @param state name of the state in the test report
 */
export async function expectNoAxeFindings(page: Page, state = 'axe'): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await test.step(`${state}, ${colorScheme}`, async () => {
      // The contrast of a tooltip that is still fading in could not be measured, so animations are reduced.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
      await finishAnimations(page);
      expect(await axeFindings(page, { colorScheme })).toEqual([]);
    });
  }
}

/**
 * Returns the findings of axe for the page in its current colour scheme.
 *
 * @param options `within` is the CSS selector of the checked part; without it the whole page is checked
 */
export async function axeFindings(
  page: Page,
  { colorScheme = 'light', within }: { readonly colorScheme?: ColorScheme; readonly within?: string } = {},
) {
  const axe = await axeOf(page);
  if (within !== undefined) axe.include(within);
  const checker = colorScheme === 'light' ? axe.withTags(standards) : axe.withRules(colourRules);
  const { violations } = await checker.analyze();
  return violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => html) }));
}

/**
 * Creates the checker of a page. The source of axe is sent to the page with the first check only; later checks send the script `0`, which
 * has no effect. The legacy mode is used because the normal mode opens a second page for each check. The two modes differ only for pages
 * with frames, which the product does not have.
 */
async function axeOf(page: Page): Promise<AxeBuilder> {
  const isLoaded = await page.evaluate(() => 'axe' in window);
  return new AxeBuilder({ page, ...(isLoaded && { axeSource: '0' }) })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] });
}

/**
 * Finishes all running animations that have an end, because the contrast of a changing colour cannot be measured. The progress bar of a
 * toast is also an animation and continues. Waiting for the animations would take arbitrarily long when a busy machine draws no frames.
 */
async function finishAnimations(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      const { effect, playState } = animation;
      const target = effect instanceof KeyframeEffect ? effect.target : null;
      const isToastProgress = target !== null && target.closest('.Toastify__progress-bar') !== null;
      const hasEnd = Number.isFinite(effect?.getComputedTiming().endTime);
      if (playState === 'running' && hasEnd && !isToastProgress) animation.finish();
    }
  });
}
