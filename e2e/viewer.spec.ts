/** Sections 2, 4, 8 and 9 of the specification: the WSI Viewer, its image session, and what fails there. */
import type { Locator, Page } from '@playwright/test';
import { administratorToken, call } from './accounts.ts';
import { hold } from './hold.ts';
import { expect, slideName, test } from './test.ts';

const sessions = '**/api/v1/auth/image-session';
const descriptors = '**/image.dzi*';
const tiles = '**/image_files/**';
/** The calls for groups and for rows. */
const list = /\/image-catalog\/images\/(?:groups|rows)\?/;
const rows = /\/image-catalog\/images\/rows\?/;

const sessionRefused = {
  status: 401,
  headers: { 'www-authenticate': 'ImageSession' },
  json: { message: 'Görüntü oturumu geçersiz veya süresi dolmuş.', code: 'session_invalid', status: 401 },
};

const rowOf = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });
const choose = (page: Page, name: string) => page.getByRole('button', { name }).click();
/** Expands a group that is collapsed; a click on an expanded one would collapse it. */
async function expandGroup(page: Page, dataset: string): Promise<void> {
  const heading = page
    .getByRole('heading', { level: 2, name: new RegExp(`^${dataset} `) })
    .getByRole('button');
  await expect(heading).toHaveAttribute('aria-expanded', 'false');
  await heading.click();
  await expect(heading).toHaveAttribute('aria-expanded', 'true');
}
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
  test("shows 'Loading images...' until the list is loaded", async ({ visit }) => {
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
    const answered = page.waitForResponse(rows);
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

  test("calls the group of images without a dataset 'Unknown', and expands and collapses each group", async ({
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

  test('says that there are no images in an empty catalogue', async ({ visit }) => {
    const page = await visit('user');
    const empty = { revision: '1', images: [], groups: [], datasets: [], organs: [] };
    await page.route(list, (route) => route.fulfill({ json: empty }));
    await page.goto('/wsi-viewer');
    await expect(page.getByText('No images available')).toBeVisible();
  });

  test('finds words of file name, id, organ and dataset in any order, case and without diacritics', async ({
    visit,
    product,
  }) => {
    const page = await visit('user');
    const token = await administratorToken(product.address);
    const { images } = await call(product.address, 'GET', '/image-catalog/images', { token });
    const id =
      (images as { id: string; file_name: string }[]).find(({ file_name }) => file_name === 'section-10.svs')
        ?.id ?? '';
    await call(product.address, 'PUT', `/image-catalog/images/${id}`, {
      token,
      body: { organ_type: 'BÖBREK ılık' },
    });
    await page.goto('/wsi-viewer');
    for (const query of [
      id.slice(0, 8).toUpperCase(),
      'böbrek',
      'BOBREK',
      'ILIK',
      'ilik',
      'kidney 10',
      '10.SVS mouse',
    ]) {
      await test.step(query, async () => {
        await page.getByPlaceholder('Search images...').fill(query);
        await expect(page.getByRole('listitem')).toHaveCount(1);
        await expect(rowOf(page, 'section-10.svs')).toBeVisible();
      });
    }
    await page.getByPlaceholder('Search images...').fill('kidney nothing');
    await expect(page.getByText('No images match your search')).toBeVisible();
    await call(product.address, 'PUT', `/image-catalog/images/${id}`, { token, body: { organ_type: null } });
  });

  test.describe('a thumbnail that cannot be loaded', () => {
    test.use({ expectedComplaints: /ERR_FAILED/ });

    test('is replaced by the grey icon', async ({ visit }) => {
      const page = await visit('user');
      await page.route('**/thumbnail.jpg*', (route) => route.abort());
      await page.goto('/wsi-viewer');
      const row = rowOf(page, slideName);
      await expect(row).toBeVisible();
      await expect(row.locator('img')).toHaveCount(0);
      await expect(row.locator('svg')).toBeVisible();
    });
  });

  test.describe('whose list is rejected because of its session', () => {
    test.use({ expectedComplaints: /status of (401|503)/ });

    test('shows that a new session is being created, then the list', async ({ visit }) => {
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

    test('shows that a new session could not be created', async ({ visit }) => {
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
  test('is created on demand, once for all requests that need it at the same time', async ({ visit }) => {
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

  test("shows 'Refreshing...' while its button creates a new one", async ({ visit }) => {
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

  test.describe('that cannot be created', () => {
    test.use({ expectedComplaints: /status of 503/ });

    test('shows Error', async ({ visit }) => {
      const page = await visit('user');
      await page.route(sessions, (route) => route.fulfill({ status: 503, json: {} }));
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Error', { exact: true })).toBeVisible();
    });
  });
});

test('the stats overlay opens and closes with its button, and requests figures every 30 s while it is open', async ({
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

  test('is created once and reused for the next slide', async ({ visit }) => {
    const page = await visit('user');
    await openSlide(page);
    const viewer = page.locator('.openseadragon-container').first();
    const before = await viewer.elementHandle();
    await expandGroup(page, 'Mouse kidney');
    const descriptor = page.waitForResponse(descriptors);
    await choose(page, 'section-1.svs');
    await descriptor;
    await expect(page.getByText('Loading tiles...')).toBeHidden();
    expect(await viewer.evaluate((now, then) => now === then, before)).toBe(true);
  });

  test("shows 'Loading tiles...' with a progress text until the tiles are loaded", async ({ visit }) => {
    const page = await visit('user');
    const letGo = await hold(page, tiles);
    await page.goto('/wsi-viewer');
    await choose(page, slideName);
    const progress = page.getByRole('status').filter({ hasText: 'Loading tiles...' });
    await expect(progress).toContainText(/\d+ of \d+ tiles/);
    await letGo();
    await expect(progress).toHaveCount(0);
  });

  test.describe('when pixels are rejected', () => {
    test.use({ expectedComplaints: /status of (401|404|50\d)|ERR_FAILED/ });

    test("because of the session shows 'Session expired. Creating new session...' and retries once after 1 s", async ({
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

    test('a tile that is rejected because of its session loads with a new session', async ({ visit }) => {
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

    test("because no new session can be created shows 'Failed to create new session. Please refresh the page.'", async ({
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

    test("of a tile shows 'Error loading tiles. Retrying...', and the tile loads in the end", async ({
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
      ['the server does not answer', null, 'Error loading image. Please try again.'],
    ] as const) {
      test(`at opening because ${why} shows the alert '${says}', and Retry opens the slide`, async ({
        visit,
      }) => {
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
