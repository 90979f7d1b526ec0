/**
 * `npm run bench -- browser`: measures in a headless Chromium on the same machine how soon a person sees a slide after
 * opening it, how soon the next field of view is sharp, and how smoothly the slide moves.
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Browser, chromium, type Page } from '@playwright/test';
import { callApi, signIn } from '../../services/api-client.ts';
import { findChromium } from '../../services/chromium.ts';
import {
  type BenchEnvironment,
  type BenchOptions,
  createEnvironment,
  environmentOf,
} from '../environment.ts';
import { browserVerdicts } from '../goals.ts';
import { median, quantile } from '../load/statistics.ts';
import { administrator, type RunningProduct, startProduct } from '../product.ts';
import { waitUntilTilesAreRendered } from '../rendered-tiles.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { slideNames } from '../slides/slides.ts';
import { type Appearance, installProbe } from './browser-probe.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

const laptop: Size = { width: 1280, height: 800 };
const fourK: Size = { width: 3840, height: 2160 };
/** Playwright's timeout. It is long because a 4K page without a graphics card is slow on a busy machine. */
const timeoutMs = 180_000;
/** Presses of an arrow key that move the view to the adjacent field. */
const pressesPerField = 6;

/** An opened slide. The inherited fields are the milliseconds from the click until the slide is visible, and until it is sharp. */
interface Opening extends Appearance {
  /** Number of API requests from the click to the end of the measurement. */
  readonly requests: number;
  /** Number of API requests that repeat an earlier one. */
  readonly repeated: number;
}

/** How smoothly the slide moves while it is dragged. */
interface Pan {
  readonly name: string;
  /** Frames per second, from the median time between frames. */
  readonly perSecond: number;
  /** 95th percentile and maximum of the milliseconds between frames. */
  readonly p95: number;
  readonly longest: number;
}

/** Milliseconds from the first key press until the adjacent field of view is sharp, in two cases. */
interface Step {
  /** The browser must load the tiles of the field. */
  readonly withLoading: number;
  /** All tiles of the field are in memory. */
  readonly inMemory: number;
}

/** The measurements of one version of the product. */
interface Results {
  readonly openings: Opening[];
  readonly steps: Step[];
  readonly pans: Pan[];
}

/** A version of the product that is measured in turns with the others. */
interface Version {
  readonly name: string;
  readonly product: RunningProduct;
  readonly visit: Visit;
  readonly results: Results;
}

/** Opens a page in a new browser context, signed in, and closes it when `use` has finished. */
type Visit = <Result>(path: string, viewport: Size, use: (page: Page) => Promise<Result>) => Promise<Result>;

export async function browserPart({ isQuick, otherCheckout }: BenchOptions): Promise<void> {
  const environment = await createEnvironment();
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  const versions: Version[] = [];
  try {
    versions.push(await startVersion('product', environment, browser));
    if (otherCheckout !== null) {
      const otherEnvironment = environmentOf(otherCheckout, environment);
      versions.push(await startVersion('other version', otherEnvironment, browser));
    }
    await measureVersions(versions, isQuick);
    report(versions, browser.version(), { isQuick, otherCheckout });
  } finally {
    await browser.close();
    for (const { product } of versions) await product.stop();
  }
}

async function startVersion(name: string, environment: BenchEnvironment, browser: Browser): Promise<Version> {
  const product = await startProduct(environment);
  // Prerendering would compete with the browser for the processors.
  await waitUntilTilesAreRendered([join(environment.cache, 'data')]);
  const visit = await signInForVisits(browser, product);
  return { name, product, visit, results: { openings: [], steps: [], pans: [] } };
}

/** Measures the versions in turns, so that a temporary load of the machine by other programs affects all of them. */
async function measureVersions(versions: readonly Version[], isQuick: boolean): Promise<void> {
  const rounds = isQuick ? 1 : 6;
  const openingsPerRound = isQuick ? 3 : 5;
  for (let round = 0; round < rounds; round += 1) {
    for (const { product, visit, results } of versions) {
      for (let i = 0; i < openingsPerRound; i += 1) results.openings.push(await measureOpening(visit));
      results.steps.push(...(await measureSteps(visit, product, openingsPerRound)));
    }
  }
  const seconds = isQuick ? 1 : 3;
  for (const { product, visit, results } of versions) {
    results.pans.push(
      { name: '1280 × 800', ...(await measurePan(visit, product, laptop, seconds)) },
      { name: '3840 × 2160', ...(await measurePan(visit, product, fourK, seconds)) },
    );
  }
}

/** Signs in once and returns a function that opens signed-in pages. */
async function signInForVisits(browser: Browser, { url }: RunningProduct): Promise<Visit> {
  const token = await signIn(url, administrator);
  const { user } = await callApi<{ user: object }>(url, 'POST', '/auth/verify', { body: { token } });
  const localStorage = [
    { name: 'auth_token', value: token },
    { name: 'user_data', value: JSON.stringify(user) },
  ];
  return async (path, viewport, use) => {
    const storageState = { cookies: [], origins: [{ origin: url, localStorage }] };
    const context = await browser.newContext({ viewport, storageState });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(timeoutMs);
      await page.addInitScript(installProbe);
      await page.goto(url + path);
      return await use(page);
    } finally {
      await context.close();
    }
  };
}

/** Measures the time from the click on a slide in the catalogue until the slide is visible. */
function measureOpening(visit: Visit): Promise<Opening> {
  return visit('/wsi-viewer', laptop, async (page) => {
    const row = page.getByRole('button', { name: slideNames.scan });
    await row.waitFor();
    await page.waitForLoadState('networkidle');
    const requests: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/')) requests.push(request.url());
    });
    const appearance = page.evaluate(() => window.bench.watch('click'));
    await row.click();
    const times = await appearance;
    const repeated = requests.length - new Set(requests).size;
    return { ...times, requests: requests.length, repeated };
  });
}

/** Measures steps to the right at full resolution: each step once with tiles to load, and once again with all tiles loaded. */
function measureSteps(visit: Visit, product: RunningProduct, repetitions: number): Promise<Step[]> {
  return visit(fieldPath(product, 2000, 15_000), laptop, async (page) => {
    await waitUntilLoaded(page);
    const steps: Step[] = [];
    for (let i = 0; i < repetitions; i += 1) {
      const withLoading = await measureStep(page, 'ArrowRight');
      await measureStep(page, 'ArrowLeft'); // only moves back
      const inMemory = await measureStep(page, 'ArrowRight');
      steps.push({ withLoading, inMemory });
    }
    return steps;
  });
}

/** Moves the view to the adjacent field. @returns the milliseconds until the field is sharp */
async function measureStep(page: Page, key: string): Promise<number> {
  const appearance = page.evaluate(() => window.bench.watch('keydown'));
  for (let i = 0; i < pressesPerField; i += 1) await page.keyboard.press(key);
  return (await appearance).sharp;
}

/** Drags the slide back and forth with the mouse at full resolution, and measures the frames meanwhile. */
function measurePan(
  visit: Visit,
  product: RunningProduct,
  viewport: Size,
  seconds: number,
): Promise<Omit<Pan, 'name'>> {
  return visit(fieldPath(product, 20_000, 15_000), viewport, async (page) => {
    await waitUntilLoaded(page);
    const centre = { x: viewport.width * 0.6, y: viewport.height / 2 }; // right of the catalogue, on the slide
    const recording = await page.evaluateHandle(() => window.bench.recordFrameIntervals());
    await page.mouse.move(centre.x, centre.y);
    await page.mouse.down();
    const startedAt = performance.now();
    while (performance.now() < startedAt + seconds * 1000) {
      const angle = (performance.now() - startedAt) / 500; // radians; the pointer moves on an ellipse (CSS pixels)
      await page.mouse.move(centre.x + Math.sin(angle) * 300, centre.y + (1 - Math.cos(angle)) * 150);
      await setTimeout(8); // ms, about two moves per frame
    }
    const intervals = await recording.evaluate((stop) => stop()); // milliseconds between frames
    await page.mouse.up();
    return {
      perSecond: 1000 / median(intervals),
      p95: quantile(intervals, 0.95),
      longest: quantile(intervals, 1),
    };
  });
}

/** Returns the path of the viewer at full resolution, centred on the point (x, y) in pixels of full resolution. */
function fieldPath(product: RunningProduct, x: number, y: number): string {
  const image = product.imageIdOf(slideNames.scan);
  return `/wsi-viewer?${new URLSearchParams({ image, x: String(x), y: String(y), zoom: '1' })}`;
}

async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('.openseadragon-canvas').first().waitFor();
  await page.getByText('Loading tiles...').waitFor({ state: 'hidden' });
  await page.waitForLoadState('networkidle');
}

function report(versions: readonly Version[], chromiumVersion: string, options: BenchOptions): void {
  const [first] = versions;
  if (first === undefined) return;
  const lines = versions.flatMap(({ name, results }) =>
    versions.length === 1 ? ['', ...tablesOf(results)] : ['', `**${name}**`, '', ...tablesOf(results)],
  );
  publish(
    'browser',
    [
      describeMachine({ Chromium: chromiumVersion }),
      '',
      `${first.results.openings.length} repetitions each; browser and server share all processors. Sharp is the last change of any pixel, including the fade-in. The adjacent field counts from the end of the movement itself, which is what the same movement takes when all tiles are loaded.`,
      ...lines,
    ],
    options,
  );
}

/** Returns the Markdown lines with the results of one version. */
function tablesOf({ openings, steps, pans }: Results): string[] {
  const percentilesOf = (numbers: readonly number[]) => ({
    p50: quantile(numbers, 0.5),
    p95: quantile(numbers, 0.95),
  });
  // A step without tiles to load takes only the time of the movement.
  const movementMs = median(steps.map(({ inMemory }) => inMemory));
  const measured = {
    first: percentilesOf(openings.map(({ first }) => first)),
    sharp: percentilesOf(openings.map(({ sharp }) => sharp)),
    adjacent: percentilesOf(steps.map(({ withLoading }) => Math.max(0, withLoading - movementMs))),
    movement: percentilesOf(steps.map(({ inMemory }) => inMemory)),
  };
  const row = (what: string, { p50, p95 }: { p50: number; p95: number }) => ({
    what,
    'p50 ms': p50.toFixed(0),
    'p95 ms': p95.toFixed(0),
  });
  return [
    `A first view sends ${median(openings.map(({ requests }) => requests))} API requests after the click, ${Math.max(...openings.map(({ repeated }) => repeated))} of them twice.`,
    '',
    markdownTable(browserVerdicts(measured)),
    '',
    markdownTable([
      row('click to first pixels', measured.first),
      row('click to sharp', measured.sharp),
      row('adjacent field sharp', measured.adjacent),
      row('the movement to the adjacent field', measured.movement),
    ]),
    '',
    markdownTable(
      pans.map(({ name, perSecond, p95, longest }) => ({
        panning: name,
        'frames/s (median)': perSecond.toFixed(0),
        'p95 frame ms': p95.toFixed(0),
        'longest frame ms': longest.toFixed(0),
      })),
    ),
  ];
}
