/**
 * Registration of two slides of a case (slides of the same tissue with different stains): a user marks pairs of points at the same place of
 * both slides, from which the server computes the transformation that linked views use.
 */
import type { Page } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import { expect, test } from './test.ts';

const [firstName, secondName] = ['section-1.svs', 'section-2.svs'] as const;
/** Accessible name of each half of the viewer while a user marks points. */
const markingHint = /^Click the same place/;

/** A field of view: its centre in pixels of full resolution, and screen pixels per pixel of full resolution. */
interface Field {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** The fields at which the two slides open. Both show the same tissue, which is half as large in pixels of the second slide. */
const fields = { first: { x: 500, y: 700, zoom: 0.5 }, second: { x: 400, y: 600, zoom: 1 } };
/** Returns the position in the second slide of a position in the first slide. */
const toSecondSlide = ({ x, y }: Pick<Field, 'x' | 'y'>) => ({
  x: fields.second.x + (x - fields.first.x) / 2,
  y: fields.second.y + (y - fields.first.y) / 2,
});

/** Returns the half of the viewer that shows a slide. @param name of the slide */
const viewerHalf = (page: Page, name: string) => page.getByRole('group', { name, exact: true });

/** Clicks a point of a slide. @param name of the slide @param offset from the middle of its half of the window, in CSS pixels */
async function markPoint(page: Page, name: string, [dx, dy]: readonly [number, number]): Promise<void> {
  const target = viewerHalf(page, name).getByRole('button', { name: markingHint });
  const box = await target.boundingBox();
  if (box === null) throw new Error('The slide is not ready for marking points.');
  await target.click({ position: { x: box.width / 2 + dx, y: box.height / 2 + dy } });
}

/** Returns the field of one slide from the URL. @param prefix of the URL parameters of the slide: `b` for the second one */
function fieldIn(page: Page, prefix: '' | 'b'): Field {
  const address = new URL(page.url()).searchParams;
  const number = (name: string) => Number(address.get(`${prefix}${name}`));
  return { x: number('x'), y: number('y'), zoom: number('zoom') };
}

test('after two pairs of points are marked to register (align) two slides of a case, linked views of the slides show the same tissue', async ({
  openPageAs,
  product,
}) => {
  const token = await administratorToken(product.url);
  const { images } = await callApi(product.url, 'GET', '/image-catalog/images', { token });
  const idOf = (name: string) =>
    (images as { id: string; file_name: string }[]).find(({ file_name }) => file_name === name)?.id ?? '';
  const [first, second] = [idOf(firstName), idOf(secondName)];
  const createdCase = await callApi(product.url, 'POST', '/cases', {
    token,
    body: {
      dataset: 'Mouse kidney',
      name: 'K-17',
      slides: [
        { image_id: first, stain: 'H&E' },
        { image_id: second, stain: 'PAS' },
      ],
    },
  });
  const page = await openPageAs('user');

  await test.step('the user marks two pairs of points, and sees by how much they differ', async () => {
    await page.goto(`/wsi-viewer?image=${first}&beside=${second}&x=500&y=700&zoom=0.5&bx=400&by=600&bzoom=1`);
    await expect(page.getByTitle('Scale bar')).toHaveCount(2, { timeout: 30_000 });
    await page.getByRole('button', { name: 'Register slides' }).click();
    for (const offset of [
      [-80, -60],
      [90, 70],
    ] as const) {
      await markPoint(page, firstName, offset);
      await markPoint(page, secondName, offset);
    }
    await page.getByRole('button', { name: 'Register', exact: true }).click();
    await expect(
      page.getByText('The slides are registered. Linked views now follow the tissue.'),
    ).toBeVisible();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
  });

  await test.step('the registration maps a third point with an error of at most 5 µm', async () => {
    const { registrations } = await callApi(product.url, 'GET', `/cases/${String(createdCase.id)}`, {
      token,
    });
    const [registration] = registrations as { matrix: number[] }[];
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = registration?.matrix ?? []; // x' = a x + c y + e; y' = b x + d y + f
    const point = { x: 620, y: 480 };
    const expected = toSecondSlide(point);
    const distance = Math.hypot(
      a * point.x + c * point.y + e - expected.x,
      b * point.x + d * point.y + f - expected.y,
    );
    const { mpp_x } = await callApi(product.url, 'GET', `/image-catalog/images/${second}`, { token });
    expect(distance * (Number(mpp_x) || 1)).toBeLessThanOrEqual(5);
  });

  await test.step('moving one slide shows the same tissue in the other', async () => {
    await viewerHalf(page, firstName).getByRole('application').focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => fieldIn(page, '').x).toBeGreaterThan(520);
    await expect
      .poll(() => {
        const expected = toSecondSlide(fieldIn(page, ''));
        const shown = fieldIn(page, 'b');
        return Math.hypot(shown.x - expected.x, shown.y - expected.y);
      })
      .toBeLessThan(5);
    expect(fieldIn(page, 'b').zoom / fieldIn(page, '').zoom).toBeCloseTo(2, 1);
  });

  await callApi(product.url, 'DELETE', `/cases/${String(createdCase.id)}`, { token });
});
