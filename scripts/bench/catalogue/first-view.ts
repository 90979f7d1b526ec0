/** A measurement in a headless Chromium on the same machine: how soon the viewer shows the first rows of a large catalogue. */
import { type Browser, chromium } from '@playwright/test';
import { findChromium } from '../../services/chromium.ts';
import { openContext, type SignedIn } from '../annotations/signed-in-page.ts';
import { median, quantile } from '../load/statistics.ts';

/** Number of measured visits. */
const visits = 15;

export interface FirstView {
  /** Milliseconds from the navigation to the first row, with an empty browser cache. */
  readonly p50: number;
  readonly p95: number;
  /** Compressed bytes received until the first row; median of the visits. */
  readonly bytes: number;
}

interface FirstRow {
  readonly ms: number;
  readonly bytes: number;
}

/** Measures several visits. @param signedIn URL of the server, and token of the user who opens the viewer */
export async function measureFirstView(signedIn: SignedIn): Promise<FirstView> {
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  try {
    const rows: FirstRow[] = [];
    for (let visit = 0; visit < visits; visit++) rows.push(await measureFirstRow(browser, signedIn));
    const times = rows.map(({ ms }) => ms);
    return {
      p50: median(times),
      p95: quantile(times, 0.95),
      bytes: median(rows.map(({ bytes }) => bytes)),
    };
  } finally {
    await browser.close();
  }
}

/** Opens the viewer in a new browser context and waits for the first row. */
async function measureFirstRow(browser: Browser, signedIn: SignedIn): Promise<FirstRow> {
  const context = await openContext(browser, signedIn);
  try {
    const page = await context.newPage();
    const devTools = await context.newCDPSession(page);
    await devTools.send('Network.enable');
    let bytes = 0;
    devTools.on('Network.dataReceived', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto(`${signedIn.url}/wsi-viewer`, { waitUntil: 'commit' });
    // The function returns false without a row, and otherwise the time since the navigation.
    const firstRowMs = await page.waitForFunction(
      () => document.querySelector('aside li button') !== null && performance.now(),
      undefined, // no argument for the function
      { polling: 'raf' }, // in every frame
    );
    const bytesUntilFirstRow = bytes;
    return { ms: Number(await firstRowMs.jsonValue()), bytes: bytesUntilFirstRow };
  } finally {
    await context.close();
  }
}
