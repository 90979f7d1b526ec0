/** Notes over the slide that warn about a picture that may mislead: missing tiles and changed colours. */
import type { Page } from '@playwright/test';
import { expectNoAxeFindings } from './axe.ts';
import { expect, slideName, test, withoutPrefetch } from './test.ts';

const tileUrls = '**/image_files/**';
const toolsOf = (page: Page) => page.getByRole('toolbar', { name: 'Measuring and colours' });
const coloursButtonOf = (page: Page) => toolsOf(page).getByRole('button', { name: 'Brightness and colours' });

/** Opens the slide at a view and waits for its tiles. @param query URL parameters of the view */
async function openAt(page: Page, query: string): Promise<void> {
  await withoutPrefetch(page);
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(toolsOf(page)).toBeVisible();
  const image = new URL(page.url()).searchParams.get('image');
  await page.goto(`/wsi-viewer?image=${image}&${query}`);
  await expect(toolsOf(page)).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

test.describe('a slide whose tiles fail to load', () => {
  test.use({ expectedConsoleErrors: /ERR_|failed to load/i });

  test('the viewer shows that the picture is incomplete while the network is down, and loads the missing tiles afterwards', async ({
    openPageAs,
  }) => {
    test.slow(); // waits until the viewer has retried the tiles for the last time
    const page = await openPageAs('user');
    await openAt(page, 'x=300&y=300&zoom=2');
    await expect(page.getByText('Active', { exact: true })).toBeVisible(); // the state of the image session
    await page.context().setOffline(true);
    for (let step = 0; step < 8; step += 1) await page.keyboard.press('ArrowRight');
    await expect(page.getByText('Offline: picture incomplete')).toBeVisible();
    await expect(page.getByText('Active', { exact: true })).toHaveCount(0);

    await test.step('the note stays after the last retry of the tiles', async () => {
      await expect(page.getByText('Error loading tiles. Retrying...')).toBeVisible();
      await expect(page.getByText('Error loading tiles. Retrying...')).toBeHidden({ timeout: 20_000 });
      await expect(page.getByText('Offline: picture incomplete')).toBeVisible();
      await expect(page.getByText('Active', { exact: true })).toHaveCount(0);
    });

    await test.step('axe finds no accessibility violation', () => expectNoAxeFindings(page));

    await test.step('the network returns', async () => {
      const tile = page.waitForResponse(/image_files/, { timeout: 5000 });
      await page.context().setOffline(false);
      expect((await tile).status()).toBe(200);
      await expect(page.getByText('Offline: picture incomplete')).toBeHidden();
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
    });
  });

  test('the viewer shows that parts of the picture are missing while the server rejects some tiles, and Retry loads them', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await openAt(page, 'x=300&y=300&zoom=2');
    await page.route(tileUrls, (route) => route.fulfill({ status: 404, json: {} }));
    for (let step = 0; step < 8; step += 1) await page.keyboard.press('ArrowRight');
    const note = page.getByText('Picture incomplete: some parts could not be loaded');
    await expect(note).toBeVisible({ timeout: 20_000 });
    await expect(page.locator('[data-status="active"]')).toHaveCount(0);
    await page.unroute(tileUrls);
    await page.getByRole('button', { name: 'Retry' }).click();
    await expect(note).toBeHidden();
    await expect(page.locator('[data-status="active"]')).toBeVisible();
  });
});

test.describe('changed colours', () => {
  /** Returns the CSS filter that changes the colours of the slide; undefined when the slide has no filter. */
  const filterOf = (page: Page) =>
    page.getByRole('application').evaluate((element) => {
      const canvases = [...element.querySelectorAll('canvas')];
      return canvases.map((canvas) => getComputedStyle(canvas).filter).find((text) => text !== 'none');
    });

  async function brighten(page: Page): Promise<void> {
    await coloursButtonOf(page).click();
    await page.getByRole('slider', { name: 'Brightness' }).focus();
    await page.keyboard.press('End');
  }

  async function openOtherSlide(page: Page): Promise<void> {
    await page.getByRole('button', { name: /^Mouse kidney/ }).click();
    await page.getByRole('button', { name: 'section-1.svs' }).click();
    await expect(page).toHaveTitle(/WSI Viewer/);
    await expect(toolsOf(page)).toBeVisible();
    await expect(page.getByText('Loading tiles...')).toBeHidden();
  }

  test('slide colours that the user has changed are indicated on the colour button, over the slide and on screenshots, and reset when another slide is opened', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    // Records the texts that the page writes on canvases, and thus on a screenshot.
    await page.addInitScript(() => {
      const writtenTexts: string[] = [];
      Object.assign(window, { writtenTexts });
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...position) {
        writtenTexts.push(text);
        fillText.call(this, text, ...position);
      };
    });
    await openAt(page, 'x=600&y=700&zoom=0.5');
    await brighten(page);
    await coloursButtonOf(page).click();
    await expect(page.getByText('Colours changed')).toBeVisible();
    await expect(coloursButtonOf(page)).toHaveAccessibleName('Brightness and colours (changed)');

    const downloading = page.waitForEvent('download');
    await page.keyboard.press('s'); // saves a screenshot
    await downloading;
    const writtenTexts = await page.evaluate(
      () => (window as unknown as { writtenTexts: string[] }).writtenTexts,
    );
    expect(writtenTexts).toContain('Colours changed');
    expect(writtenTexts).toContain('Brightness 150 %');
    await page.mouse.move(0, 0);
    await coloursButtonOf(page).hover();
    await expect(page.getByRole('tooltip')).toBeVisible(); // axe also checks that the tooltip is inside a landmark
    await expectNoAxeFindings(page);

    await openOtherSlide(page);
    await expect(page.getByText('Colours changed')).toHaveCount(0);
    await expect(coloursButtonOf(page)).toHaveAccessibleName('Brightness and colours');
    expect(await filterOf(page)).toBeUndefined();
  });

  test('slide colours that the user has changed also apply, with an indication, to the next slide when the user keeps the colours for all slides', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await openAt(page, 'x=600&y=700&zoom=0.5');
    await brighten(page);
    await page.getByRole('checkbox', { name: 'Keep for all slides' }).check();
    await openOtherSlide(page);
    await expect(page.getByText('Colours changed')).toBeVisible();
    await expect.poll(() => filterOf(page)).toContain('slide-colours');
    await page.getByRole('button', { name: 'Reset colours' }).click();
    await expect(page.getByText('Colours changed')).toHaveCount(0);
    await expect.poll(() => filterOf(page)).toBeUndefined();
  });
});
