/**
 * The catalogue and the panels of the viewer for whole-slide images ("WSI Viewer"), with their errors
 * (docs/requirements.md, section 6).
 */
import type { Page } from '@playwright/test';
import { axeFindings } from './axe.ts';
import { expect, slideName, test } from './test.ts';

test('the catalogue groups images by dataset, shows the number of images in each group, and expands the first group', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await expect(page.getByRole('heading', { name: 'Image Catalog' })).toBeVisible();
  const groups = page.getByRole('button', { expanded: true });
  await expect(groups).toHaveCount(1);
  await expect(page.getByRole('button', { name: /Mouse kidney.*3/ })).toBeVisible();
});

test('the catalogue sorts the images of a group by file name in natural order', async ({ openPageAs }) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await page.getByPlaceholder('Search images...').fill('kidney');
  const names = page.getByText(/^section-\d+\.svs$/);
  await expect(names).toHaveText(['section-1.svs', 'section-2.svs', 'section-10.svs']);
});

test('the search of the catalogue ignores case and hides groups without a match', async ({ openPageAs }) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await page.getByPlaceholder('Search images...').fill('SECTION-10');
  await expect(page.getByText('section-10.svs')).toBeVisible();
  await expect(page.getByText('section-2.svs')).toBeHidden();
  await expect(page.getByRole('button', { name: /^Unknown \d/ })).toBeHidden(); // the group of images without a dataset
});

test('a second click on the selected image of the catalogue does not open the image again; a panel beside the slide shows its name, dataset and organ', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  let descriptorRequests = 0; // requests for the Deep Zoom XML, which open an image
  page.on('request', (request) => {
    if (request.url().includes('/image.dzi')) descriptorRequests += 1;
  });
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  const panel = page.getByRole('region', { name: 'Selected Image' });
  await expect(panel).toContainText('Name');
  await expect(panel).toContainText('Dataset');
  await expect(panel).toContainText('Organ');
  await expect(panel).toContainText('N/A');
  await expect(page.getByText('Loading tiles...')).toBeHidden();
  await page.getByRole('button', { name: slideName }).click();
  await page.waitForLoadState('networkidle');
  expect(descriptorRequests, 'a second click on the selected image loads nothing').toBe(1);
});

test('the viewer shows that its image session (credential for tiles) is active, and its id, validity, age and number of requests', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await page.getByRole('button', { name: slideName }).click();
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: /stats/i }).click();
  for (const label of [/session id/i, /valid/i, /age/i, /requests/i]) {
    await expect(page.getByText(label).first()).toBeVisible();
  }
});

test('leaving the viewer revokes the image session, the credential with which the page loads tiles', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  const revoked = page.waitForRequest(
    (request) => request.method() === 'DELETE' && request.url().includes('/auth/image-session/'),
  );
  await page.getByRole('link', { name: 'Lamina', exact: true }).click();
  await revoked;
});

test.describe('a catalogue list that cannot be loaded', () => {
  test.use({ expectedConsoleErrors: /status of 50\d|ERR_FAILED/ });

  for (const [condition, response, message] of [
    [
      'the server responds with 500',
      { status: 500, json: {} },
      'Internal server error. Please try refreshing your session.',
    ],
    ['the server responds with 502 and no message', { status: 502, body: 'x' }, 'Server error (502)'],
    ['there is no response', null, 'No response from server. Please check your connection.'],
  ] as const) {
    test(`the catalogue list shows an error with a Retry button when ${condition}`, async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      await page.route('**/image-catalog/images**', (route) =>
        response === null ? route.abort() : route.fulfill(response),
      );
      await page.goto('/wsi-viewer');
      await expect(page.getByText(message)).toBeVisible();
      await page.unroute('**/image-catalog/images**');
      await page.getByRole('button', { name: 'Retry' }).click();
      await expect(page.getByText(message)).toBeHidden();
      await expect(page.getByRole('button', { name: /Mouse kidney/ })).toBeVisible();
    });
  }
});

test('the key / focuses the search of the catalogue, arrow keys move in the list, Enter opens a slide, and n opens the next result', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await expect(page.getByRole('button', { expanded: true })).toHaveCount(1);
  await page.keyboard.press('/');
  await page.keyboard.type('section');
  // The results for the first letter still contain this slide. Keys pressed then would move in a list that is about to change.
  await expect(page.getByRole('button', { name: slideName })).toHaveCount(0);
  await expect(page.getByRole('button', { name: /^section-/ })).toHaveCount(3);
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
  await expect(page.getByRole('button', { name: /^section-2/ })).toBeFocused();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('region', { name: 'Selected Image' });
  await expect(panel).toContainText('section-2.svs');
  await page.keyboard.press('n');
  await expect(panel).toContainText('section-10.svs');
  await expect(page.getByRole('button', { name: /^section-10/ })).toBeFocused();
  await page.keyboard.press('n');
  await page.keyboard.press('p');
  await expect(panel).toContainText('section-2.svs');
});

test('a filter of the catalogue shows how many images match it, and Clear removes the filter', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  await page.goto('/wsi-viewer');
  await page.getByLabel('Filter by dataset').selectOption('Mouse kidney (3)');
  await expect(page.getByRole('button', { name: /^Unknown \d/ })).toHaveCount(0);
  await expect(page.getByRole('button', { name: /^section-/ })).toHaveCount(3);
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await expect(page.getByRole('button', { name: /^Unknown \d/ })).toBeVisible();
  await expect(page.getByPlaceholder('Search images...')).toBeFocused();
});

test.describe('a catalogue of 10,000 slides', () => {
  const images = Array.from({ length: 10_000 }, (_, index) => ({
    id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    file_name: `slide-${index}.svs`,
    dataset_name: `Study ${index % 4}`,
    organ_type: index % 2 === 0 ? 'Liver' : 'Kidney',
    width: null,
    height: null,
    mpp_x: null,
    mpp_y: null,
    objective_power: null,
    mpp_derived: false,
    objective_power_derived: false,
    vendor: null,
    format: null,
    size_bytes: index + 1,
    status: 'ready',
    error: null,
    hidden: false,
    created_at: '2026-11-01T00:00:00.000Z',
  }));

  /** Returns the response of the server to a call for groups or rows. Supports the filter by organ, and the orders by name and by size. */
  function responseTo(url: string) {
    const { pathname, searchParams } = new URL(url);
    const organ = searchParams.get('organ');
    const imagesOfOrgan = images.filter(({ organ_type }) => organ === null || organ_type === organ);
    const matchingImages =
      searchParams.get('order') === 'largest'
        ? [...Map.groupBy(imagesOfOrgan.toReversed(), ({ dataset_name }) => dataset_name).values()].flat()
        : imagesOfOrgan.toSorted((a, b) => a.dataset_name.localeCompare(b.dataset_name));
    const countByDataset = (list: readonly { dataset_name: string }[]) =>
      [...Map.groupBy(list, ({ dataset_name }) => dataset_name)].map(([dataset_name, members]) => ({
        dataset_name,
        images: members.length,
      }));
    const firstRow = Number(searchParams.get('from') ?? 0);
    const limit = Number(searchParams.get('limit') ?? 100);
    if (pathname.endsWith('/rows'))
      return { revision: '1', images: matchingImages.slice(firstRow, firstRow + limit) };
    const organs = ['Kidney', 'Liver'].map((organ_type) => ({ organ_type, images: images.length / 2 }));
    return {
      revision: '1',
      groups: countByDataset(matchingImages),
      datasets: countByDataset(matchingImages),
      organs,
    };
  }

  /** Opens the viewer with stubbed responses for 10,000 slides. @returns the numbers of requests, which are updated */
  async function openCatalogue(page: Page): Promise<{ thumbnails: number; rows: number }> {
    const requests = { thumbnails: 0, rows: 0 };
    await page.route(/\/image-catalog\/images\/(?:groups|rows)/, (route) => {
      if (route.request().url().includes('/rows')) requests.rows += 1;
      return route.fulfill({ json: responseTo(route.request().url()) });
    });
    await page.route('**/thumbnail.jpg**', (route) => {
      requests.thumbnails += 1;
      return route.fulfill({
        contentType: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      });
    });
    await page.goto('/wsi-viewer');
    await expect(page.getByRole('button', { name: 'Study 0 2500 images' })).toBeVisible();
    return requests;
  }

  test('a catalogue of 10,000 slides renders only the visible rows, and loads few rows and thumbnails during a quick scroll', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    const requests = await openCatalogue(page);
    const list = page.locator('aside div', { has: page.locator('section') }).first();
    await list.hover();
    const thumbnailsBefore = requests.thumbnails;
    for (let turn = 0; turn < 50; turn++) {
      await page.mouse.wheel(0, 2500);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await expect(page.getByText('slide-4000.svs')).toHaveCount(0);
    expect(await list.evaluate((element) => element.scrollTop)).toBeGreaterThan(50_000);
    expect(await page.getByRole('listitem').count()).toBeLessThan(40);
    // About 2000 rows were scrolled past. On a slow machine some of them were visible long enough for their thumbnails to be
    // requested.
    expect(requests.thumbnails - thumbnailsBefore).toBeLessThan(1000);
    await expect(
      page
        .getByRole('listitem')
        .filter({ hasText: /^slide-/ })
        .first(),
    ).toBeVisible();
    expect(requests.rows, 'requests for pages of 100 rows').toBeLessThan(40);
  });

  test('in a catalogue of 10,000 slides, keys move the focus to any row, and axe finds no accessibility violation in the list', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await openCatalogue(page);
    await page.getByPlaceholder('Search images...').press('ArrowDown');
    await page.keyboard.press('End');
    await expect(page.getByRole('button', { name: 'Study 3 2500 images' })).toBeFocused();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('End');
    await expect(page.getByRole('button', { name: /^slide-9999/ })).toBeFocused();
    await page.keyboard.press('Home');
    await expect(page.getByRole('button', { name: 'Study 0 2500 images' })).toBeFocused();
    await page.keyboard.press('PageDown');
    expect(await axeFindings(page, { within: 'aside' })).toEqual([]);
  });

  test('a catalogue of 10,000 slides keeps filter, order and scroll position while another screen is open', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await openCatalogue(page);
    await page.getByLabel('Filter by organ').selectOption('Kidney (5,000)');
    await page.getByLabel('Sort images by').selectOption('Largest first');
    // The list in the new order begins at its top. The test waits for this list, because the keys below move in it.
    await expect(page.getByRole('listitem').first()).toContainText('slide-9999.svs');
    await page.getByRole('button', { name: 'Study 3 2500 images' }).press('End');
    await expect(page.getByRole('button', { name: /^slide-1\.svs/ })).toBeVisible();
    await page.getByRole('link', { name: 'Lamina', exact: true }).click();
    await expect(page).toHaveURL(/\/dashboard$/);
    await page.goBack();
    await expect(page.getByRole('button', { name: /^slide-1\.svs/ })).toBeInViewport();
    await expect(page.getByLabel('Filter by organ')).toHaveValue('=Kidney');
    await expect(page).toHaveURL(/\/wsi-viewer$/);
  });
});
