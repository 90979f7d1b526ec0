/**
 * Size of the script that a first visit loads, paint times and layout shifts of the first screens. 'Giriş Yap' is the
 * button of the login page; 'Giriş yapıldı' (signed in) is an activity that the dashboard lists.
 */
import type { Page } from '@playwright/test';
import { expect, slideName, test } from './test.ts';

/** Size limit of the script of a first load. All sizes in this file are as transferred, that is, compressed. */
const maxScriptBytes = 200_000;

/** Counts the script bytes that the page loads from now on. @returns a function that returns the sum */
function countScript(page: Page): () => Promise<number> {
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script')
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  return async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

interface PaintMetrics {
  /** First contentful paint, in milliseconds after the start of the navigation. */
  readonly paintMs: number;
  /** Cumulative layout shift since the start of the navigation: the largest burst of shifts without user input. 0: no shift. */
  readonly shift: number;
}

/** Measures the page as web.dev defines the metrics: a burst consists of shifts less than 1 s apart and lasts at most 5 s. */
function paintMetricsOf(page: Page): Promise<PaintMetrics> {
  return page.evaluate(async () => {
    const entriesOf = (type: string) =>
      new Promise<PerformanceEntry[]>((resolve) => {
        new PerformanceObserver((list, observer) => {
          observer.disconnect();
          resolve(list.getEntries());
        }).observe({ type, buffered: true });
        // When there are no entries of this type, the browser does not call the observer.
        requestAnimationFrame(() => setTimeout(() => resolve([])));
      });
    const [paint] = (await entriesOf('paint')).filter(({ name }) => name === 'first-contentful-paint');
    let largestSum = 0;
    let burst = { start: 0, end: 0, sum: 0 };
    for (const entry of await entriesOf('layout-shift')) {
      const { startTime, value, hadRecentInput } = entry as PerformanceEntry & {
        readonly value: number;
        readonly hadRecentInput: boolean;
      };
      if (hadRecentInput) continue;
      const belongsToBurst = startTime - burst.end < 1000 && startTime - burst.start < 5000; // ms
      burst = belongsToBurst
        ? { ...burst, end: startTime, sum: burst.sum + value }
        : { start: startTime, end: startTime, sum: value };
      largestSum = Math.max(largestSum, burst.sum);
    }
    return { paintMs: Math.round(paint?.startTime ?? 0), shift: Math.round(largestSum * 10_000) / 10_000 };
  });
}

/** Adds measured figures to the test report and prints them. */
function reportFigures(screen: string, figures: string): void {
  test.info().annotations.push({ type: screen, description: figures });
  console.log(`      ${screen}: ${figures}`);
}

test('the login page loads at most 200 kB of compressed script on the first visit', async ({
  openPageAs,
}) => {
  const page = await openPageAs('anonymous');
  const script = countScript(page);
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Giriş Yap' })).toBeVisible();
  await page.waitForLoadState('networkidle');
  const bytes = await script();
  const { paintMs, shift } = await paintMetricsOf(page);
  reportFigures(
    'login',
    `${Math.round(bytes / 1000)} kB of script, first contentful paint ${paintMs} ms, layout shift ${shift}`,
  );
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(maxScriptBytes);
});

test('the dashboard loads no script of the viewer; the browser loads the script when the viewer is opened', async ({
  openPageAs,
}) => {
  const page = await openPageAs('user');
  const script = countScript(page);
  const loadedUrls: string[] = [];
  page.on('request', (request) => loadedUrls.push(request.url()));
  await page.goto('/dashboard');
  await expect(page.getByText('Giriş yapıldı').first()).toBeVisible();
  await page.waitForLoadState('networkidle');
  const dashboardBytes = await script();
  const dashboard = await paintMetricsOf(page);
  reportFigures(
    'dashboard',
    `${Math.round(dashboardBytes / 1000)} kB of script, first contentful paint ${dashboard.paintMs} ms, layout shift ${dashboard.shift}`,
  );
  expect(loadedUrls.filter((url) => /WsiViewer/.test(url))).toEqual([]);

  await page.goto('/wsi-viewer');
  await expect(page.getByRole('button', { name: slideName })).toBeVisible();
  await page.waitForLoadState('networkidle');
  expect(loadedUrls.filter((url) => /WsiViewer/.test(url))).not.toEqual([]);
  const viewer = await paintMetricsOf(page);
  reportFigures('viewer', `first contentful paint ${viewer.paintMs} ms, layout shift ${viewer.shift}`);
});

/** A slow mobile network: 400 kbit/s (50,000 bytes/s) and a latency of 300 ms. docs/performance.md contains the results. */
const slowNetwork = { offline: false, latency: 300, downloadThroughput: 50_000, uploadThroughput: 50_000 };

test('over a slow network the viewer loads at most 300 kB before the first rows of the catalogue, and shows at once that it is loading', async ({
  openPageAs,
}) => {
  test.slow(); // the simulated network is slow
  const page = await openPageAs('user');
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Network.enable');
  await devTools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await devTools.send('Network.emulateNetworkConditions', slowNetwork);
  let bytes = 0;
  devTools.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  const fonts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'font') fonts.push(request.url());
  });
  const startedAt = Date.now();
  await page.goto('/wsi-viewer', { waitUntil: 'commit' });
  await expect(page.getByRole('status').first()).toBeVisible();
  const loadingMs = Date.now() - startedAt;
  // `waitFor` returns as soon as the row is visible; an assertion would check only at intervals of up to a second.
  await page.locator('aside li button').first().waitFor({ timeout: 60_000 });
  const rowsMs = Date.now() - startedAt;
  const bytesUntilRows = bytes;
  const { paintMs } = await paintMetricsOf(page);
  reportFigures(
    'viewer at 400 kbit/s and 300 ms',
    `first paint ${paintMs} ms (status after ${loadingMs} ms), first rows ${rowsMs} ms, ${Math.round(bytesUntilRows / 1000)} kB until then`,
  );
  // The code of the slide viewer is loaded after the rows; its first bytes may already be counted.
  expect(bytesUntilRows).toBeLessThanOrEqual(300_000);
  // The font files of the package are needed only for characters that the smaller files of the web app lack.
  expect(fonts.filter((address) => /latin-ext|inter-latin-wght/.test(address))).toEqual([]);
});
