/** How soon a visitor with a fresh browser on a phone sees a sharp slide. */
import { setTimeout } from 'node:timers/promises';
import { chromium, devices } from '@playwright/test';
import { findChromium } from '../../services/chromium.ts';
import { installProbe } from '../browser/browser-probe.ts';

const pauseMs = 500;

/** Opens the address of a link in a new browser context each time. @returns milliseconds from the navigation to the sharp slide */
export async function openingTimesOnPhone(address: string, count: number): Promise<number[]> {
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  const times: number[] = [];
  try {
    for (let number = 0; number < count; number++) {
      const context = await browser.newContext(devices['Pixel 7'] ?? {});
      const page = await context.newPage();
      await page.addInitScript(installProbe);
      await page.goto(address, { waitUntil: 'commit' });
      times.push((await page.evaluate(() => window.bench.watchOpening())).sharp);
      await context.close();
      await setTimeout(pauseMs);
    }
  } finally {
    await browser.close();
  }
  return times;
}
