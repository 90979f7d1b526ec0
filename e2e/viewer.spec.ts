/**
 * The viewer for whole-slide images ("WSI Viewer"), its image session and its error messages (docs/requirements.md, sections 6, 7, 11 and 12). An
 * image session is a credential with which the page loads thumbnails and tiles; the page creates it with the bearer token.
 */
import type { Locator, Page } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import { holdRequests } from './hold-requests.ts';
import { expect, slideName, test } from './test.ts';

/** URL patterns of the requests that create an image session, read a Deep Zoom descriptor, and load tiles. */
const sessionUrls = '**/api/v1/auth/image-session';
const descriptorUrls = '**/image.dzi*';
const tileUrls = '**/image_files/**';
/** URL patterns of the requests for the image list (its groups and its rows), and for the rows alone. */
const listUrls = /\/image-catalog\/images\/(?:groups|rows)\?/;
const rowUrls = /\/image-catalog\/images\/rows\?/;

/** The response of the server to a request with an image session that is invalid or has expired. */
const sessionRejection = {
  status: 401,
  headers: { 'www-authenticate': 'ImageSession' },
  json: { message: 'Görüntü oturumu geçersiz veya süresi dolmuş.', code: 'session_invalid', status: 401 },
};

const rowOf = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });
const chooseSlide = (page: Page, name: string) => page.getByRole('button', { name }).click();
/** Expands a group that is collapsed; a click on an expanded one would collapse it. */
async function expandGroup(page: Page, dataset: string): Promise<void> {
  const heading = page
    .getByRole('heading', { level: 2, name: new RegExp(`^${dataset} `) })
    .getByRole('button');
  await expect(heading).toHaveAttribute('aria-expanded', 'false');
  await heading.click();
  await expect(heading).toHaveAttribute('aria-expanded', 'true');
}
/** Returns the error message of the viewer, which has a Retry button. */
const alertOf = (page: Page) =>
  page.getByRole('alert').filter({ has: page.getByRole('button', { name: 'Retry' }) });
/** Returns the value beside a label. */
const factOf = (container: Locator, label: string) =>
  container
    .locator('dl > div')
    .filter({ has: container.page().getByText(label, { exact: true }) })
    .locator('dd');

async function openSlide(page: Page): Promise<void> {
  await page.goto('/wsi-viewer');
  await chooseSlide(page, slideName);
  await expect(page.getByRole('toolbar', { name: 'Measuring and colours' })).toBeVisible();
  await expect(page.getByText('Loading tiles...')).toBeHidden();
}

/** Counts the image sessions that the page requests. @returns a function that returns the number */
function countSessions(page: Page): () => number {
  let requested = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/auth/image-session')) requested += 1;
  });
  return () => requested;
}

test.describe('the image catalogue', () => {
  test("the image catalogue shows 'Loading images...' until its list is loaded", async ({ openPageAs }) => {
    const page = await openPageAs('user');
    const release = await holdRequests(page, listUrls);
    await page.goto('/wsi-viewer');
    await expect(page.getByText('Loading images...')).toBeVisible();
    await release();
    await expect(page.getByText('Loading images...')).toBeHidden();
    await expect(page.getByRole('button', { name: slideName })).toBeVisible();
  });

  test('each row of the image catalogue shows thumbnail, file name, organ (or Unknown) and the first 8 characters of the id', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    const responded = page.waitForResponse(rowUrls);
    await page.goto('/wsi-viewer');
    const { images } = (await (await responded).json()) as { images: { id: string; file_name: string }[] };
    const image = images.find(({ file_name }) => file_name === slideName);
    const row = rowOf(page, slideName);
    await expect(row.locator('img')).toBeVisible();
    expect(
      await row.locator('img').evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth)),
    ).toBeGreaterThan(0);
    await expect(row).toContainText('Unknown');
    await expect(row.getByText(image?.id.slice(0, 8) ?? '?', { exact: true })).toBeVisible();
  });

  test("the image catalogue groups images without a dataset under 'Unknown', and a click expands or collapses a group", async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await page.goto('/wsi-viewer');
    const group = page.getByRole('button', { name: /^Unknown 1 images$/ });
    await expect(group).toHaveAttribute('aria-expanded', 'false');
    await group.click();
    await expect(page.getByRole('button', { name: 'loose.svs' })).toBeVisible();
    await group.click();
    await expect(page.getByRole('button', { name: 'loose.svs' })).toHaveCount(0);
  });

  test('an empty image catalogue shows that no images are available', async ({ openPageAs }) => {
    const page = await openPageAs('user');
    const empty = { revision: '1', images: [], groups: [], datasets: [], organs: [] };
    await page.route(listUrls, (route) => route.fulfill({ json: empty }));
    await page.goto('/wsi-viewer');
    await expect(page.getByText('No images available')).toBeVisible();
  });

  test('the catalogue search finds images by words of file name, id, organ and dataset in any order and case, also without diacritics', async ({
    openPageAs,
    product,
  }) => {
    const page = await openPageAs('user');
    const token = await administratorToken(product.url);
    const { images } = await callApi(product.url, 'GET', '/image-catalog/images', { token });
    const id =
      (images as { id: string; file_name: string }[]).find(({ file_name }) => file_name === 'section-10.svs')
        ?.id ?? '';
    await callApi(product.url, 'PUT', `/image-catalog/images/${id}`, {
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
    await callApi(product.url, 'PUT', `/image-catalog/images/${id}`, {
      token,
      body: { organ_type: null },
    });
  });

  test.describe('with a thumbnail that cannot be loaded', () => {
    test.use({ expectedConsoleErrors: /ERR_FAILED/ });

    test('the image catalogue shows a grey icon instead of a thumbnail that cannot be loaded', async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      await page.route('**/thumbnail.jpg*', (route) => route.abort());
      await page.goto('/wsi-viewer');
      const row = rowOf(page, slideName);
      await expect(row).toBeVisible();
      await expect(row.locator('img')).toHaveCount(0);
      await expect(row.locator('svg')).toBeVisible();
    });
  });

  test.describe('a rejected image session (credential for tiles)', () => {
    test.use({ expectedConsoleErrors: /status of (401|503)/ });

    test('when the server rejects the image session of a catalogue request, the catalogue announces a new session and then shows the list', async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      let remainingRejections = 1;
      await page.route(listUrls, (route) => {
        remainingRejections -= 1;
        return remainingRejections < 0 ? route.continue() : route.fulfill(sessionRejection);
      });
      const sessionCreated = page.waitForResponse(sessionUrls);
      const releaseList = await holdRequests(page, listUrls);
      await page.goto('/wsi-viewer');
      await sessionCreated;
      const release = await holdRequests(page, sessionUrls);
      await releaseList();
      await expect(
        page.getByText('Authentication error. Please log in again. Trying to create a new session...'),
      ).toBeVisible();
      await release();
      await expect(page.getByRole('button', { name: slideName })).toBeVisible();
    });

    test('the catalogue shows an error with a Retry button when its image session is rejected and no new session can be created', async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      await page.route(listUrls, async (route) => {
        await page.route(sessionUrls, (sessionRoute) => sessionRoute.fulfill({ status: 503, json: {} }));
        await route.fulfill(sessionRejection);
      });
      await page.goto('/wsi-viewer');
      await expect(
        page.getByText('Authentication error. Please log in again. Failed to create a new session.'),
      ).toBeVisible();
      await expect(page.getByRole('button', { name: 'Retry' })).toBeVisible();
    });
  });
});

test.describe('the image session (credential for tiles)', () => {
  test('the viewer page creates one image session for all concurrent requests; the dashboard creates none', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    const sessionCount = countSessions(page);
    await page.goto('/dashboard');
    await page.waitForLoadState('networkidle');
    expect(sessionCount()).toBe(0);
    await openSlide(page);
    await page.waitForLoadState('networkidle');
    expect(sessionCount(), 'list, thumbnails, descriptor and tiles share one session').toBe(1);
  });

  // A session is valid for one hour. Elapsed times are in minutes and seconds.
  for (const [elapsed, expectedSessions, testName] of [
    ['54:00', 1, 'the viewer reuses its image session while the session is valid for more than 5 minutes'],
    [
      '55:05',
      2,
      'the viewer creates a new image session when the current one is valid for less than 5 minutes',
    ],
  ] as const) {
    test(testName, async ({ openPageAs }) => {
      const page = await openPageAs('user');
      const sessionCount = countSessions(page);
      await page.clock.install();
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
      await expect(page.getByRole('button', { name: slideName })).toBeVisible();
      await page.clock.fastForward(elapsed);
      await chooseSlide(page, slideName);
      await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
      expect(sessionCount()).toBe(expectedSessions);
    });
  }

  test("the viewer shows the status 'Refreshing...' while the button Refresh session creates a new image session", async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    await page.goto('/wsi-viewer');
    await expect(page.getByText('Active', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Show session stats' }).click();
    const stats = page.getByRole('region', { name: 'Session stats' });
    const idPrefix = factOf(stats, 'Session ID');
    await expect(idPrefix).toHaveText(/^\S{8}$/);
    const firstId = await idPrefix.innerText();
    const release = await holdRequests(page, sessionUrls);
    await page.getByRole('button', { name: 'Refresh session' }).click();
    await expect(page.getByText('Refreshing...')).toBeVisible();
    await release();
    await expect(page.getByText('Active', { exact: true })).toBeVisible();
    await expect(idPrefix).not.toHaveText(firstId);
  });

  test.describe('when it cannot be created', () => {
    test.use({ expectedConsoleErrors: /status of 503/ });

    test("the viewer shows the status 'Error' when no image session can be created", async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      await page.route(sessionUrls, (route) => route.fulfill({ status: 503, json: {} }));
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Error', { exact: true })).toBeVisible();
    });
  });
});

test('a button of the viewer opens the statistics of the image session (credential for tiles), which reload every 30 s until the button closes them', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  let requestCount = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/auth/image-session/stats')) requestCount += 1;
  });
  await page.clock.install();
  await page.goto('/wsi-viewer');
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Show session stats' }).click();
  const stats = page.getByRole('region', { name: 'Session stats' });
  await expect(factOf(stats, 'Validity')).toHaveText(/^Valid/);
  await expect(factOf(stats, 'Age')).toHaveText(/^\d+ s$/);
  await expect(factOf(stats, 'Requests')).toHaveText(/^\d+$/);
  expect(requestCount).toBe(1);
  for (const times of [2, 3]) {
    const responded = page.waitForResponse('**/auth/image-session/stats');
    await page.clock.runFor(30_000);
    await responded;
    expect(requestCount).toBe(times);
  }
  await page.getByRole('button', { name: 'Hide session stats' }).click();
  await expect(stats).toHaveCount(0);
  await page.clock.runFor(90_000);
  expect(requestCount).toBe(3);
});

test.describe('the viewer', () => {
  test('the viewer has controls for zoom, home, full page and rotation, and a navigator at the top right', async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
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
    if (!stage || !navigator) throw new Error('The element is not visible.');
    expect(navigator.x + navigator.width / 2).toBeGreaterThan(stage.x + stage.width / 2);
    expect(navigator.y + navigator.height / 2).toBeLessThan(stage.y + stage.height / 2);
    // The navigator has 0.15 of the width and of the height of the viewer.
    expect(Math.abs(navigator.width / stage.width - 0.15)).toBeLessThan(0.02);
  });

  test('the viewer keeps its OpenSeadragon instance when another slide is opened', async ({ openPageAs }) => {
    const page = await openPageAs('user');
    await openSlide(page);
    const viewer = page.locator('.openseadragon-container').first();
    const before = await viewer.elementHandle();
    await expandGroup(page, 'Mouse kidney');
    const descriptor = page.waitForResponse(descriptorUrls);
    await chooseSlide(page, 'section-1.svs');
    await descriptor;
    await expect(page.getByText('Loading tiles...')).toBeHidden();
    expect(await viewer.evaluate((current, previous) => current === previous, before)).toBe(true);
  });

  test("the viewer shows 'Loading tiles...' and the number of loaded tiles until all tiles are loaded", async ({
    openPageAs,
  }) => {
    const page = await openPageAs('user');
    const release = await holdRequests(page, tileUrls);
    await page.goto('/wsi-viewer');
    await chooseSlide(page, slideName);
    const progress = page.getByRole('status').filter({ hasText: 'Loading tiles...' });
    await expect(progress).toContainText(/\d+ of \d+ tiles/);
    await release();
    await expect(progress).toHaveCount(0);
  });

  test.describe('when requests for pixels fail', () => {
    test.use({ expectedConsoleErrors: /status of (401|404|50\d)|ERR_FAILED/ });

    test("the viewer shows 'Session expired. Creating new session...' when its image session (credential for tiles) has expired, and retries once after 1 s", async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      await page.clock.install();
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
      let requestCount = 0;
      await page.route(descriptorUrls, (route) => {
        requestCount += 1;
        return requestCount === 1 ? route.fulfill(sessionRejection) : route.continue();
      });
      const release = await holdRequests(page, sessionUrls);
      // Stops the clock of the page, so that the test controls the delay of 1 s before the retry.
      await page.clock.pauseAt(await page.evaluate(() => Date.now() + 10_000));
      await chooseSlide(page, slideName);
      await expect(page.getByText('Session expired. Creating new session...')).toBeVisible();
      await expect(page.getByText('Refreshing...')).toBeVisible();
      await release();
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
      await page.clock.runFor(999);
      expect(requestCount).toBe(1);
      await page.clock.runFor(1);
      await expect.poll(() => requestCount).toBe(2);
      await page.clock.resume();
      await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
      expect(requestCount).toBe(2);
    });

    test('the viewer loads tiles with a new image session (credential for tiles) after the server has rejected the old session', async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      const rejectedPaths = new Set<string>();
      const sessionCount = countSessions(page);
      await page.route(tileUrls, (route) => {
        const { pathname } = new URL(route.request().url());
        if (rejectedPaths.has(pathname)) return route.continue();
        rejectedPaths.add(pathname);
        return route.fulfill(sessionRejection);
      });
      await page.goto('/wsi-viewer');
      // Starts before the click, because the message is visible only briefly.
      const messageShown = expect(page.getByText('Session expired. Creating new session...')).toBeVisible();
      await chooseSlide(page, slideName);
      await messageShown;
      await expect(page.getByText('Loading tiles...')).toBeHidden();
      await expect(alertOf(page)).toHaveCount(0);
      expect(rejectedPaths.size).toBeGreaterThan(0);
      expect(sessionCount()).toBeGreaterThan(1);
    });

    test("the viewer shows 'Failed to create new session. Please refresh the page.' when it cannot replace an expired image session (credential for tiles)", async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      await page.goto('/wsi-viewer');
      await expect(page.getByText('Active', { exact: true })).toBeVisible();
      await page.route(sessionUrls, (route) => route.fulfill({ status: 503, json: {} }));
      await page.route(descriptorUrls, (route) => route.fulfill(sessionRejection));
      await chooseSlide(page, slideName);
      await expect(alertOf(page)).toContainText('Failed to create new session. Please refresh the page.');
    });

    test("the viewer shows 'Error loading tiles. Retrying...' for failed tiles and loads them when the server recovers", async ({
      openPageAs,
    }) => {
      const page = await openPageAs('user');
      let isBroken = true;
      await page.route(tileUrls, (route) =>
        isBroken ? route.fulfill({ status: 503, json: {} }) : route.continue(),
      );
      await page.goto('/wsi-viewer');
      await chooseSlide(page, slideName);
      await expect(page.getByText('Error loading tiles. Retrying...')).toBeVisible();
      isBroken = false;
      await expect(page.getByText('Loading tiles...')).toBeHidden();
      await expect(alertOf(page)).toHaveCount(0);
    });

    for (const [condition, response, message] of [
      [
        'the server responds with a 404',
        { status: 404, json: { message: 'Bulunamadı.', code: 'not_found', status: 404 } },
        'Server error (404): Bulunamadı.',
      ],
      [
        'the descriptor is invalid',
        { status: 200, contentType: 'application/xml', body: '<Nothing/>' },
        'Failed to load image. Please try another image.',
      ],
      ['there is no response', null, 'Error loading image. Please try again.'],
    ] as const) {
      test(`the viewer shows '${message}' instead of the slide when ${condition}, and Retry opens the slide`, async ({
        openPageAs,
      }) => {
        const page = await openPageAs('user');
        await page.route(descriptorUrls, (route) =>
          response === null ? route.abort() : route.fulfill(response),
        );
        await page.goto('/wsi-viewer');
        await chooseSlide(page, slideName);
        await expect(alertOf(page)).toContainText(message);
        await page.unroute(descriptorUrls);
        await alertOf(page).getByRole('button', { name: 'Retry' }).click();
        await expect(page.getByRole('toolbar', { name: 'View controls' })).toBeVisible();
        await expect(alertOf(page)).toHaveCount(0);
      });
    }
  });
});
