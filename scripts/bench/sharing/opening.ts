/** How soon a visitor with a fresh browser on a phone sees a sharp slide. */
import { setTimeout } from 'node:timers/promises';
import { type Browser, chromium, devices } from '@playwright/test';
import { findChromium } from '../../services/chromium.ts';
import { type Appearance, installProbe } from '../browser/browser-probe.ts';

const pauseMs = 500;

/** What a phone has less of than the machine that measures. */
export interface PhoneLimits {
  /** How many times slower the processor is. */
  readonly cpuSlowdown: number;
  /** Megabits per second, in both directions. */
  readonly megabits: number;
  /** Milliseconds that each response takes longer. */
  readonly latencyMs: number;
}

/** A touch screen 390 pixels wide. */
const phone = { ...devices['Pixel 7'], viewport: { width: 390, height: 844 }, deviceScaleFactor: 3 };

/**
 * Opens the address of a link in a new browser context each time.
 *
 * @param limits null: as fast as the machine and its loopback network
 * @returns milliseconds from the navigation to the first picture of the slide, and to the sharp one
 */
export async function openingsOnPhone(
  address: string,
  count: number,
  limits: PhoneLimits | null,
): Promise<readonly Appearance[]> {
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  const openings: Appearance[] = [];
  try {
    for (let number = 0; number < count; number++) {
      openings.push(await openOnPhone(browser, address, limits));
      await setTimeout(pauseMs);
    }
  } finally {
    await browser.close();
  }
  return openings;
}

async function openOnPhone(
  browser: Browser,
  address: string,
  limits: PhoneLimits | null,
): Promise<Appearance> {
  const context = await browser.newContext(phone);
  try {
    const page = await context.newPage();
    await page.addInitScript(installProbe);
    if (limits !== null) {
      const devTools = await context.newCDPSession(page);
      await devTools.send('Network.enable');
      await devTools.send('Emulation.setCPUThrottlingRate', { rate: limits.cpuSlowdown });
      const bytesPerSecond = (limits.megabits * 1_000_000) / 8;
      await devTools.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: limits.latencyMs,
        downloadThroughput: bytesPerSecond,
        uploadThroughput: bytesPerSecond,
      });
    }
    await page.goto(address, { waitUntil: 'commit' });
    return await page.evaluate(() => window.bench.watchOpening());
  } finally {
    await context.close();
  }
}
