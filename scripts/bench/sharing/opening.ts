/** A measurement of how soon a visitor who opens a share link on a phone, with an empty browser cache, sees a sharp slide. */
import { setTimeout } from 'node:timers/promises';
import { type Browser, chromium, devices } from '@playwright/test';
import { findChromium } from '../../services/chromium.ts';
import { type Appearance, installProbe } from '../browser/browser-probe.ts';

/** Pause between two openings. */
const pauseMs = 500;

/** Limits of a phone that the measuring machine simulates. */
export interface PhoneLimits {
  /** How many times slower the processor is. */
  readonly cpuSlowdown: number;
  /** Megabits per second, in both directions. */
  readonly megabits: number;
  /** Milliseconds by which each response is delayed. */
  readonly latencyMs: number;
}

/** A touch screen 390 CSS pixels wide. */
const phone = { ...devices['Pixel 7'], viewport: { width: 390, height: 844 }, deviceScaleFactor: 3 };

/**
 * Opens the URL of a link `count` times, each time in a new browser context.
 *
 * @param limits null: neither the processor nor the network is slowed down
 * @returns for each opening the milliseconds from the navigation to the first and to the sharp picture of the slide
 */
export async function measureOpeningsOnPhone(
  url: string,
  count: number,
  limits: PhoneLimits | null,
): Promise<readonly Appearance[]> {
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  const openings: Appearance[] = [];
  try {
    for (let opening = 0; opening < count; opening++) {
      openings.push(await openOnPhone(browser, url, limits));
      await setTimeout(pauseMs);
    }
  } finally {
    await browser.close();
  }
  return openings;
}

/** Opens the URL once, and measures when the slide appears. */
async function openOnPhone(browser: Browser, url: string, limits: PhoneLimits | null): Promise<Appearance> {
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
    await page.goto(url, { waitUntil: 'commit' }); // returns when the document starts to load, before the slide appears
    return await page.evaluate(() => window.bench.watchOpening());
  } finally {
    await context.close();
  }
}
