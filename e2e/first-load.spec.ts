/** Costs of a first visit: the limit of script bytes, and measured paint times and layout shifts. */
import type { Page } from '@playwright/test';
import { expect, slideName, test } from './test.ts';

const scriptLimit = 200_000;

/** Compressed bytes of script as they come over the wire, of everything the page loads from now on. */
function countScript(page: Page): () => Promise<number> {
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script')
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  return async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

interface Shown {
  /** First contentful paint, in ms from the beginning of the navigation. */
  readonly paintMs: number;
  /** Layout shift without a person's doing, since the navigation: the worst burst of it. 0 is none. */
  readonly shift: number;
}

/** As web.dev defines them: bursts are shifts less than 1 s apart, in all at most 5 s. */
function shownOf(page: Page): Promise<Shown> {
  return page.evaluate(async () => {
    const entriesOf = (type: string) =>
      new Promise<PerformanceEntry[]>((resolve) => {
        new PerformanceObserver((list, observer) => {
          observer.disconnect();
          resolve(list.getEntries());
        }).observe({ type, buffered: true });
        // An observer is not called for events that never happened.
        requestAnimationFrame(() => setTimeout(() => resolve([])));
      });
    const [paint] = (await entriesOf('paint')).filter(({ name }) => name === 'first-contentful-paint');
    let worst = 0;
    let burst = { from: 0, until: 0, sum: 0 };
    for (const entry of await entriesOf('layout-shift')) {
      const { startTime, value, hadRecentInput } = entry as PerformanceEntry & {
        readonly value: number;
        readonly hadRecentInput: boolean;
      };
      if (hadRecentInput) continue;
      const goesOn = startTime - burst.until < 1000 && startTime - burst.from < 5000;
      burst = goesOn
        ? { ...burst, until: startTime, sum: burst.sum + value }
        : { from: startTime, until: startTime, sum: value };
      worst = Math.max(worst, burst.sum);
    }
    return { paintMs: Math.round(paint?.startTime ?? 0), shift: Math.round(worst * 10_000) / 10_000 };
  });
}

function tell(screen: string, figures: string): void {
  test.info().annotations.push({ type: screen, description: figures });
  console.log(`      ${screen}: ${figures}`);
}

test('the first load is at most 200 kB of compressed script, and the login page has no layout shift', async ({
  visit,
}) => {
  const page = await visit('anonymous');
  const script = countScript(page);
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Giriş Yap' })).toBeVisible();
  await page.waitForLoadState('networkidle');
  const bytes = await script();
  const { paintMs, shift } = await shownOf(page);
  tell(
    'login',
    `${Math.round(bytes / 1000)} kB of script, first contentful paint ${paintMs} ms, layout shift ${shift}`,
  );
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(scriptLimit);
});

test('dashboard and viewer have no layout shift, and the script of the viewer loads when it is opened', async ({
  visit,
}) => {
  const page = await visit('user');
  const script = countScript(page);
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  await page.goto('/dashboard');
  await expect(page.getByText('Giriş yapıldı').first()).toBeVisible();
  await page.waitForLoadState('networkidle');
  const before = await script();
  const dashboard = await shownOf(page);
  tell(
    'dashboard',
    `${Math.round(before / 1000)} kB of script, first contentful paint ${dashboard.paintMs} ms, layout shift ${dashboard.shift}`,
  );
  expect(loaded.filter((address) => /WsiViewer/.test(address))).toEqual([]);

  await page.goto('/wsi-viewer');
  await expect(page.getByRole('button', { name: slideName })).toBeVisible();
  await page.waitForLoadState('networkidle');
  expect(loaded.filter((address) => /WsiViewer/.test(address))).not.toEqual([]);
  const viewer = await shownOf(page);
  tell('viewer', `first contentful paint ${viewer.paintMs} ms, layout shift ${viewer.shift}`);
});

/** Slow mobile network. docs/performance.md has the figures. */
const slowNetwork = { offline: false, latency: 300, downloadThroughput: 50_000, uploadThroughput: 50_000 };

test('over a slow network the viewer loads little before the first rows of the catalogue, and shows at once that it loads', async ({
  visit,
}) => {
  test.slow();
  const page = await visit('user');
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
  // Unlike an assertion, which looks at intervals of up to a second, this returns with the row.
  await page.locator('aside li button').first().waitFor({ timeout: 60_000 });
  const rowsMs = Date.now() - startedAt;
  const loaded = bytes;
  const { paintMs } = await shownOf(page);
  tell(
    'viewer at 400 kbit/s and 300 ms',
    `first paint ${paintMs} ms (status after ${loadingMs} ms), first rows ${rowsMs} ms, ${Math.round(loaded / 1000)} kB until then`,
  );
  // The slide viewer's code comes after the rows, and may have begun when they are seen.
  expect(loaded).toBeLessThanOrEqual(300_000);
  expect(fonts.filter((address) => /latin-ext|inter-latin-wght/.test(address))).toEqual([]);
});
