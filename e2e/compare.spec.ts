/** Comparison of two slides side by side, whose movements are linked. */
import type { Page } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import { holdRequests } from './hold-requests.ts';
import type { Product } from './product.ts';
import { expect, slideName, test } from './test.ts';

const otherName = 'section-1.svs';

/** A field of view: its centre in pixels of full resolution, screen pixels per image pixel, and the rotation in degrees. */
interface Field {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
  readonly rotation: number;
}

/**
 * Returns the field of one slide from the URL, which the viewer updates after each movement.
 *
 * @param prefix of the URL parameters: `b` for the second slide
 */
async function fieldIn(page: Page, prefix: '' | 'b'): Promise<Field> {
  await expect(page).toHaveURL(new RegExp(`[?&]${prefix}zoom=`));
  const address = new URL(page.url()).searchParams;
  const number = (name: string) => Number(address.get(`${prefix}${name}`) ?? 0);
  return { x: number('x'), y: number('y'), zoom: number('zoom'), rotation: number('rotation') };
}

/** Returns the half of the viewer that shows a slide. @param name of the slide */
const viewerHalf = (page: Page, name: string) => page.getByRole('group', { name, exact: true });

/** Loads the catalogue. @returns a function that returns the image id of the slide with a name */
async function loadIds(product: Product): Promise<(name: string) => string | undefined> {
  const token = await administratorToken(product.url);
  const { images } = await callApi(product.url, 'GET', '/image-catalog/images', { token });
  const catalogue = images as readonly { readonly id: string; readonly file_name: string }[];
  return (name) => catalogue.find(({ file_name }) => file_name === name)?.id;
}

/** Opens two slides whose movements are linked. @param fields URL parameters with the fields of view of both */
async function openPair(page: Page, product: Product, fields: string): Promise<void> {
  const idOf = await loadIds(product);
  await page.goto(`/wsi-viewer?image=${idOf(slideName)}&beside=${idOf(otherName)}&${fields}`);
  await waitUntilBothOpened(page);
}

/** Waits until both slides are open and their tiles are loaded. */
async function waitUntilBothOpened(page: Page): Promise<void> {
  // A long timeout, because two slides are opened at once.
  await expect(page.getByTitle('Scale bar')).toHaveCount(2, { timeout: 30_000 });
  // Only the active slide shows the tools.
  await expect(page.getByRole('toolbar', { name: 'View controls' })).toHaveCount(1);
  await expect(page.getByText('Loading tiles...')).toHaveCount(0);
}

/** Returns the micrometres per pixel from the panel of the selected image; null when it shows none. */
async function micrometresPerPixel(page: Page, name: string): Promise<number | null> {
  await viewerHalf(page, name).getByRole('application').focus();
  const panel = page.getByRole('region', { name: 'Selected Image' });
  await expect(panel).toContainText(name);
  const fact = panel.getByText(/^[\d.]+ µm$/);
  return (await fact.count()) === 0 ? null : Number.parseFloat((await fact.textContent()) ?? '');
}

/** Presses Compare and chooses the second slide in the catalogue. */
async function chooseSecondSlide(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByText('Select a slide to compare with')).toBeVisible();
  await page.getByPlaceholder('Search images...').fill('section');
  await page.getByRole('button', { name: otherName }).click();
}

/** Returns the zoom of the second slide divided by the zoom of the first. */
async function zoomRatioIn(page: Page): Promise<number> {
  const [first, second] = [await fieldIn(page, ''), await fieldIn(page, 'b')];
  return second.zoom / first.zoom;
}

test('during a comparison, a slide chosen in the catalogue opens beside the first slide at the same zoom, labelled with its name', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByTitle('Scale bar')).toBeVisible(); // the second slide takes the zoom of an open slide
  await chooseSecondSlide(page);
  await waitUntilBothOpened(page);
  await expect(viewerHalf(page, otherName)).toHaveAttribute('aria-current', 'true');
  expect(await zoomRatioIn(page)).toBeCloseTo(1, 1);
});

test('during a comparison, a first slide that loads longer than the second opens at the zoom of the second', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  const idOf = await loadIds(product);
  const openFirst = await holdRequests(page, `**/${idOf(slideName)}/image.dzi*`);
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await chooseSecondSlide(page);
  await expect(page.getByTitle('Scale bar')).toHaveCount(1);
  await openFirst();
  await waitUntilBothOpened(page);
  expect(await zoomRatioIn(page)).toBeCloseTo(1, 1);
});

/** The fields of view at which the two slides open. */
const startFields = 'x=500&y=700&zoom=0.5&bx=400&by=600&bzoom=0.25';

test('during a comparison, moving one of two linked slides moves the other slide by the same distance on the tissue', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  await openPair(page, product, startFields);
  const [mpp, otherMpp] = [
    await micrometresPerPixel(page, slideName),
    await micrometresPerPixel(page, otherName),
  ];
  // Slides without a pixel size move by the same distance on the screen: one screen pixel is 1/0.5 and 1/0.25 image pixels.
  const isCalibrated = mpp !== null && otherMpp !== null;
  /** Distance per image pixel: µm on the tissue, or screen pixels when a slide has no pixel size. */
  const perPixel = isCalibrated ? mpp : 0.5;
  const otherPerPixel = isCalibrated ? otherMpp : 0.25;

  await viewerHalf(page, slideName).getByRole('application').focus();
  await page.keyboard.press('ArrowRight');
  // The slides begin at x = 500 and x = 400.
  await expect.poll(async () => (await fieldIn(page, '')).x).toBeGreaterThan(520);
  await expect.poll(async () => (await fieldIn(page, 'b')).x).toBeGreaterThan(401);
  await expect
    .poll(async () => {
      const [first, second] = [await fieldIn(page, ''), await fieldIn(page, 'b')];
      return Math.abs((first.x - 500) * perPixel - (second.x - 400) * otherPerPixel) / otherPerPixel;
    })
    .toBeLessThan(1);

  // Now the other slide is moved, with the mouse.
  const before = await fieldIn(page, '');
  const box = await viewerHalf(page, otherName).getByRole('application').boundingBox();
  if (box === null) throw new Error('The slide is not visible.');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 - 40, { steps: 5 });
  await page.mouse.up();
  await expect.poll(async () => (await fieldIn(page, '')).y).toBeGreaterThan(before.y + 5);
  await expect
    .poll(async () => {
      const [first, second] = [await fieldIn(page, ''), await fieldIn(page, 'b')];
      return Math.abs((first.y - 700) * perPixel - (second.y - 600) * otherPerPixel) / otherPerPixel;
    })
    .toBeLessThan(1);
});

test('during a comparison, two linked slides zoom by the same factor and rotate by the same angle', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  await openPair(page, product, startFields);
  await viewerHalf(page, otherName).getByRole('application').focus();
  await page.keyboard.press('+'); // doubles the zoom
  await page.keyboard.press('r'); // rotates by 90 degrees
  await expect.poll(() => fieldIn(page, 'b')).toMatchObject({ zoom: 0.5, rotation: 90 });
  await expect.poll(() => fieldIn(page, '')).toMatchObject({ zoom: 1, rotation: 90 });
});

test('when two compared slides are linked again, they keep their current difference in zoom and rotation', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  await openPair(page, product, startFields);
  await page.getByRole('button', { name: 'Unlink' }).click();
  await viewerHalf(page, otherName).getByRole('application').focus();
  await page.keyboard.press(']'); // rotates by 5 degrees
  await page.keyboard.press('+');
  await expect.poll(() => fieldIn(page, 'b')).toMatchObject({ zoom: 0.5, rotation: 5 });
  expect(await fieldIn(page, '')).toMatchObject({ zoom: 0.5, rotation: 0 });

  await page.getByRole('button', { name: 'Link', exact: true }).click();
  await viewerHalf(page, slideName).getByRole('application').focus();
  await page.keyboard.press('r');
  await expect.poll(() => fieldIn(page, '')).toMatchObject({ zoom: 0.5, rotation: 90 });
  await expect.poll(() => fieldIn(page, 'b')).toMatchObject({ zoom: 0.5, rotation: 95 });
});

test('the URL of a comparison reopens both slides within a pixel of their positions, and the back button reopens a closed comparison', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  await openPair(page, product, `${startFields}&rotation=90&brotation=80`);
  await viewerHalf(page, slideName).getByRole('application').focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(async () => (await fieldIn(page, '')).x).not.toBe(500);
  await expect.poll(async () => (await fieldIn(page, 'b')).x).not.toBe(400);
  await expect(page.getByText('Loading tiles...')).toHaveCount(0);
  const [firstField, secondField] = [await fieldIn(page, ''), await fieldIn(page, 'b')];
  const urlOfPair = page.url();

  await page.goto('/dashboard');
  await page.goto(urlOfPair);
  await waitUntilBothOpened(page);
  // Mirroring twice makes the viewer write the unchanged positions to the URL again.
  await viewerHalf(page, otherName).getByRole('application').focus();
  await page.keyboard.press('f');
  await expect(page).toHaveURL(/bmirror=1/);
  await expect(page).toHaveURL(/[?&]mirror=1/);
  await page.keyboard.press('f');
  await expect(page).not.toHaveURL(/mirror=1/);
  for (const [found, expected] of [
    [await fieldIn(page, ''), firstField],
    [await fieldIn(page, 'b'), secondField],
  ] as const) {
    expect(Math.hypot(found.x - expected.x, found.y - expected.y)).toBeLessThan(1);
    expect(found.zoom / expected.zoom).toBeCloseTo(1, 4);
    expect(found.rotation).toBeCloseTo(expected.rotation, 1);
  }

  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page).not.toHaveURL(/beside=/);
  await expect(page.getByRole('application')).toHaveCount(1);
  await page.goBack();
  await waitUntilBothOpened(page);
  const reopened = await fieldIn(page, 'b');
  expect(Math.hypot(reopened.x - secondField.x, reopened.y - secondField.y)).toBeLessThan(1);
});

test('during a comparison, keyboard shortcuts act only on the slide that was used last', async ({
  openPageAs,
  product,
}) => {
  const page = await openPageAs('user');
  await openPair(page, product, startFields);
  await viewerHalf(page, otherName).getByRole('application').click();
  await page.keyboard.press('m'); // selects the ruler
  const ruler = (name: string) => viewerHalf(page, name).getByRole('button', { name: 'Ruler' });
  await expect(ruler(otherName)).toHaveAttribute('aria-pressed', 'true');
  await expect(ruler(slideName)).toHaveCount(0);
  await page.keyboard.press('Escape');
  const downloading = page.waitForEvent('download');
  await page.keyboard.press('s'); // saves a screenshot of the slide
  expect((await downloading).suggestedFilename()).toContain(otherName);
});
