/** Sections 2, 4, 8 and 9 of the specification: the WSI Viewer, its image session, and what fails there. */
import type { Locator, Page } from '@playwright/test';
import { hold } from './hold.ts';
import { expect, slideName, test } from './test.ts';

const sessions = '**/api/v1/auth/image-session';
const descriptors = '**/image.dzi*';
const tiles = '**/image_files/**';
const list = '**/image-catalog/images?*';

const sessionRefused = {
  status: 401,
  headers: { 'www-authenticate': 'ImageSession' },
  json: { message: 'Görüntü oturumu geçersiz veya süresi dolmuş.', code: 'session_invalid', status: 401 },
};

const rowOf = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });
const choose = (page: Page, name: string) => page.getByRole('button', { name }).click();
const alertOf = (page: Page) =>
  page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Retry' }) });
const factOf = (place: Locator, label: string) =>
  place
    .locator('dl > div')
    .filter({ has: place.page().getByText(label, { exact: true }) })
    .locator('dd');

async function openSlide(page: Page): Promise<void> {
  await page.goto('/wsi-viewer');
  await choose(page, slideName);
  await expect(page.getByRole('toolbar', { name: 'Measuring and colours' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

/** How many sessions the page has asked for. */
function countSessions(page: Page): () => number {
  let made = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/auth/image-session')) made += 1;
  });
  return () => made;
}

test.describe('the image catalogue', () => {
  test("shows 'Loading images...' until the list is there", async ({ visit }) => {
    const page = await visit('user');
    const letGo = await hold(page, list);
    await page.goto('/wsi-viewer');
    await expect(page.getByText('Loading images...')).toBeVisible();
    await letGo();
    await expect(page.getByText('Loading images...')).toBeHidden();
    await expect(page.getByRole('button', { name: slideName })).toBeVisible();
  });

  test('has rows of thumbnail, file name, organ or Unknown, and the first 8 characters of the id', async ({
    visit,
  }) => {
    const page = await visit('user');
    const answered = page.waitForResponse(list);
    await page.goto('/wsi-viewer');
    const { images } = (await (await answered).json()) as { images: { id: string; file_name: string }[] };
    const image = images.find(({ file_name }) => file_name === slideName);
    const row = rowOf(page, slideName);
    await expect(row.locator('img')).toBeVisible();
    expect(
      await row.locator('img').evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth)),
    ).toBeGreaterThan(0);
    await expect(row).toContainText('Unknown');
    await expect(row.getByText(image?.id.slice(0, 8) ?? '?', { exact: true })).toBeVisible();
  });

  test("calls the group of images without a dataset 'Unknown', and opens and closes each group", async ({
    visit,
  }) => {
    const page = await visit('user');
    await page.goto('/wsi-viewer');
    const group = page.getByRole('button', { name: /^Unknown 1 images$/ });
    await expect(group).toHaveAttribute('aria-expanded', 'false');
    await group.click();
    await expect(page.getByRole('button', { name: 'loose.svs' })).toBeVisible();
    await group.click();
    await expect(page.getByRole('button', { name: 'loose.svs' })).toHaveCount(0);
  });

  test('says that there are no images for an empty list, a bare one and a message', async ({ visit }) => {
    const page = await visit('user');
    for (const answer of [{ images: [] }, [], { message: 'No images found' }]) {
      await page.route(list, (route) => route.fulfill({ json: answer }));
      await page.goto('/wsi-viewer');
      await expect(page.getByText('No images available')).toBeVisible();
      await page.unroute(list);
    }
  });

  test('is searched by file name, id, organ and dataset, whatever the case', async ({ visit }) => {
    const page = await visit('user');
    // Without thumbnails: there are no such slides.
    const image = { status: 'pending', organ_type: null, dataset_name: null };
    const images = [
      { ...image, id: 'aaaa1111-0', file_name: 'ILIK.svs' },
      { ...image, id: 'bbbb2222-0', file_name: null, organ_type: 'Böbrek' },
      { ...image, id: 'cccc3333-0', file_name: 'third.svs', dataset_name: 'Nephrology' },
    ];
    await page.route(list, (route) => route.fulfill({ json: { images } }));
    await page.goto('/wsi-viewer');
    for (const [query, found] of [
      ['ılık', 'aaaa1111'],
      ['ilik', 'aaaa1111'],
      ['BBBB2222', 'bbbb2222'],
      ['böbrek', 'bbbb2222'],
      ['NEPHRO', 'cccc3333'],
    ] as const) {
      await test.step(query, async () => {
        await page.getByPlaceholder('Search images...').fill(query);
        for (const { id } of images) {
          await expect(page.getByText(id.slice(0, 8), { exact: true })).toHaveCount(
            id.startsWith(found) ? 1 : 0,
          );
        }
      });
    }
  });

  test.describe('a thumbnail that cannot be had', () => {
    test.use({ expectedComplaints: /ERR_FAILED/ });

    test('has the grey icon in its place', async ({ visit }) => {
      const page = await visit('user');
      await page.route('**/thumbnail.jpg*', (route) => route.abort());
      await page.goto('/wsi-viewer');
      const row = rowOf(page, slideName);
      await expect(row).toBeVisible();
      await expect(row.locator('img')).toHaveCount(0);
      await expect(row.locator('svg')).toBeVisible();
    });
  });

  test.describe('whose list is refused for its session', () => {
    test.use({ expectedComplaints: /status of (401|503)/ });

    test('says that a new session is tried, and comes with it', async ({ visit }) => {
      const page = await visit('user');
      let refusals = 1;
      await page.route(list, (route) => {
        refusals -= 1;
        return refusals < 0 ? route.continue() : route.fulfill(sessionRefused);
      });
      const made = page.waitForResponse(sessions);
      const letList = await hold(page, list);
      await page.goto('/wsi-viewer');
      await made;
      const letGo = await hold(page, sessions);
      await letList();
      await expect(
        page.getByText('Authentication error. Please log in again. Trying to create a new session...'),
      ).toBeVisible();
      await letGo();
      await expect(page.getByRole('button', { name: slideName })).toBeVisible();
    });

    test('says that a new session failed', async ({ visit }) => {
      const page = await visit('user');
      await page.route(list, async (route) => {
        await page.route(sessions, (asked) => asked.fulfill({ status: 503, json: {} }));
        await route.fulfill(sessionRefused);
      });
      await page.goto('/wsi-viewer');
      await expect(
        page.getByText('Authentication error. Please log in again. Failed to create a new session.'),
      ).toBeVisible();
      await expect(page.getByRole('button', { name: 'Retry' })).toBeVisible();
    });
  });
});

test.describe('the image session', () => {
  test('is made on demand, once for all who need it at the same time', async ({ visit }) => {
    const page = await visit('user');
    const made = countSessions(page);
    await page.goto('/dashboard');
    await page.waitForLoadState('networkidle');
    expect(made()).toBe(0);
    await openSlide(page);
    await page.waitForLoadState('networkidle');
    expect(made(), 'list, thumbnails, descriptor and tiles share one').toBe(1);
  });

  for (const [minutes, sessionsMade, what] of [
    ['54:00', 1, 'is reused while 5 minutes of it remain'],
    ['55:05', 2, 'is replaced by a new one when less than 5 minutes of it remain'],
  ] as const) {
    test(what, async ({ visit }) => {
      const page = await visit('user');
      const made = countSessions(page);
      await page.clock.install();
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
      await expect(page.getByRole('button', { name: slideName })).toBeVisible();
      await page.clock.fastForward(minutes);
      await choose(page, slideName);
      await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
      expect(made()).toBe(sessionsMade);
    });
  }

  test('is refreshed by its button, and is Refreshing... meanwhile', async ({ visit }) => {
    const page = await visit('user');
    await page.goto('/wsi-viewer');
    await expect(page.getByText('Active', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Show session stats' }).click();
    const stats = page.getByRole('region', { name: 'Session stats' });
    const prefix = factOf(stats, 'Session ID');
    await expect(prefix).toHaveText(/^\S{8}$/);
    const first = await prefix.innerText();
    const letGo = await hold(page, sessions);
    await page.getByRole('button', { name: 'Refresh session' }).click();
    await expect(page.getByText('Refreshing...')).toBeVisible();
    await letGo();
    await expect(page.getByText('Active', { exact: true })).toBeVisible();
    await expect(prefix).not.toHaveText(first);
  });

  test.describe('that cannot be made', () => {
    test.use({ expectedComplaints: /status of 503/ });

    test('is Error', async ({ visit }) => {
      const page = await visit('user');
      await page.route(sessions, (route) => route.fulfill({ status: 503, json: {} }));
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Error', { exact: true })).toBeVisible();
    });
  });
});

test('the stats overlay is opened and closed by a toggle, and asks again every 30 s while it is open', async ({
  visit,
}) => {
  const page = await visit('user');
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/auth/image-session/stats')) asked += 1;
  });
  await page.clock.install();
  await page.goto('/wsi-viewer');
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Show session stats' }).click();
  const stats = page.getByRole('region', { name: 'Session stats' });
  await expect(factOf(stats, 'Validity')).toHaveText(/^Valid/);
  await expect(factOf(stats, 'Age')).toHaveText(/^\d+ s$/);
  await expect(factOf(stats, 'Requests')).toHaveText(/^\d+$/);
  expect(asked).toBe(1);
  for (const times of [2, 3]) {
    const answered = page.waitForResponse('**/auth/image-session/stats');
    await page.clock.runFor(30_000);
    await answered;
    expect(asked).toBe(times);
  }
  await page.getByRole('button', { name: 'Hide session stats' }).click();
  await expect(stats).toHaveCount(0);
  await page.clock.runFor(90_000);
  expect(asked).toBe(3);
});

test.describe('the viewer', () => {
  test('has navigation, zoom, home, full-page and rotation controls, and a navigator at the top right', async ({
    visit,
  }) => {
    const page = await visit('user');
    await openSlide(page);
    const controls = page.getByRole('toolbar', { name: 'View controls' });
    for (const name of [
      'Zoom in',
      'Zoom out',
      'Go home',
      'Toggle full page',
      'Rotate left',
      'Rotate right',
    ]) {
      await expect(controls.getByRole('button', { name })).toBeVisible();
    }
    const stage = await page.getByRole('application').boundingBox();
    const navigator = await page.locator('.navigator').boundingBox();
    if (!stage || !navigator) throw new Error('not seen');
    expect(navigator.x + navigator.width / 2).toBeGreaterThan(stage.x + stage.width / 2);
    expect(navigator.y + navigator.height / 2).toBeLessThan(stage.y + stage.height / 2);
    // Of the square root of both areas: 0.15 of the width and the height.
    expect(Math.abs(navigator.width / stage.width - 0.15)).toBeLessThan(0.02);
  });

  test('is created once and used again for the next slide', async ({ visit }) => {
    const page = await visit('user');
    await openSlide(page);
    const viewer = page.locator('.openseadragon-container').first();
    const before = await viewer.elementHandle();
    await choose(page, 'Mouse kidney');
    const descriptor = page.waitForResponse(descriptors);
    await choose(page, 'section-1.svs');
    await descriptor;
    await expect(page.getByText('Loading tiles...')).toBeHidden();
    expect(await viewer.evaluate((now, then) => now === then, before)).toBe(true);
  });

  test("says 'Loading tiles...' with a progress text until the tiles are there", async ({ visit }) => {
    const page = await visit('user');
    const letGo = await hold(page, tiles);
    await page.goto('/wsi-viewer');
    await choose(page, slideName);
    const progress = page.getByRole('status').filter({ hasText: 'Loading tiles...' });
    await expect(progress).toContainText(/\d+ of \d+ tiles/);
    await letGo();
    await expect(progress).toHaveCount(0);
  });

  test.describe('when pixels are refused', () => {
    test.use({ expectedComplaints: /status of (401|404|50\d)|ERR_FAILED/ });

    test("for the session says 'Session expired. Creating new session...' and tries once more after 1 s", async ({
      visit,
    }) => {
      const page = await visit('user');
      await page.clock.install();
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
      let asked = 0;
      await page.route(descriptors, (route) => {
        asked += 1;
        return asked === 1 ? route.fulfill(sessionRefused) : route.continue();
      });
      const letGo = await hold(page, sessions);
      await page.clock.pauseAt(await page.evaluate(() => Date.now() + 10_000));
      await choose(page, slideName);
      await expect(page.getByText('Session expired. Creating new session...')).toBeVisible();
      await expect(page.getByText('Refreshing...')).toBeVisible();
      await letGo();
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
      await page.clock.runFor(999);
      expect(asked).toBe(1);
      await page.clock.runFor(1);
      await expect.poll(() => asked).toBe(2);
      await page.clock.resume();
      await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
      expect(asked).toBe(2);
    });

    test('a tile that is refused for the session comes with a new one', async ({ visit }) => {
      const page = await visit('user');
      const refused = new Set<string>();
      const made = countSessions(page);
      await page.route(tiles, (route) => {
        const { pathname } = new URL(route.request().url());
        if (refused.has(pathname)) return route.continue();
        refused.add(pathname);
        return route.fulfill(sessionRefused);
      });
      await page.goto('/wsi-viewer');
      const expired = expect(page.getByText('Session expired. Creating new session...')).toBeVisible();
      await choose(page, slideName);
      await expired;
      await expect(page.getByText('Loading tiles...')).toBeHidden();
      await expect(alertOf(page)).toHaveCount(0);
      expect(refused.size).toBeGreaterThan(0);
      expect(made()).toBeGreaterThan(1);
    });

    test("because a new session cannot be made says 'Failed to create new session. Please refresh the page.'", async ({
      visit,
    }) => {
      const page = await visit('user');
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
      await page.route(sessions, (route) => route.fulfill({ status: 503, json: {} }));
      await page.route(descriptors, (route) => route.fulfill(sessionRefused));
      await choose(page, slideName);
      await expect(alertOf(page)).toContainText('Failed to create new session. Please refresh the page.');
    });

    test("of a tile says 'Error loading tiles. Retrying...', and the tile comes at last", async ({
      visit,
    }) => {
      const page = await visit('user');
      let isBroken = true;
      await page.route(tiles, (route) =>
        isBroken ? route.fulfill({ status: 503, json: {} }) : route.continue(),
      );
      await page.goto('/wsi-viewer');
      await choose(page, slideName);
      await expect(page.getByText('Error loading tiles. Retrying...')).toBeVisible();
      isBroken = false;
      await expect(page.getByText('Loading tiles...')).toBeHidden();
      await expect(alertOf(page)).toHaveCount(0);
    });

    for (const [why, answer, says] of [
      [
        'the server says why',
        { status: 404, json: { message: 'Bulunamadı.', code: 'not_found', status: 404 } },
        'Server error (404): Bulunamadı.',
      ],
      [
        'the file is no slide',
        { status: 200, contentType: 'application/xml', body: '<Nothing/>' },
        'Failed to load image. Please try another image.',
      ],
      ['nobody answers', null, 'Error loading image. Please try again.'],
    ] as const) {
      test(`at opening because ${why}: an alert says '${says}', and Retry opens it`, async ({ visit }) => {
        const page = await visit('user');
        await page.route(descriptors, (route) => (answer === null ? route.abort() : route.fulfill(answer)));
        await page.goto('/wsi-viewer');
        await choose(page, slideName);
        await expect(alertOf(page)).toContainText(says);
        await page.unroute(descriptors);
        await alertOf(page).getByRole('button', { name: 'Retry' }).click();
        await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
        await expect(alertOf(page)).toHaveCount(0);
      });
    }
  });
});
