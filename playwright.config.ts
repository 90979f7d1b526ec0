import { defineConfig } from '@playwright/test';

const {
  PLAYWRIGHT_CHROMIUM: chromium = '/usr/bin/chromium',
  PLAYWRIGHT_REPORT: report = 'artefacts/playwright.json',
  PLAYWRIGHT_TRACE: recordsTraces,
} = process.env;

/** Settings of the browser tests, which run the built product in the system's Chromium. `npm test` runs them too. */
export default defineConfig({
  testDir: 'e2e',
  outputDir: 'artefacts/e2e',
  reporter: [['list'], ['json', { outputFile: report }]],
  workers: 2,
  forbidOnly: true,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  use: {
    locale: 'tr-TR',
    timezoneId: 'Europe/Istanbul',
    viewport: { width: 1280, height: 800 },
    screenshot: 'only-on-failure',
    // On demand: to record each test takes a sixth of the processors' time. A failed test leaves its last picture, the
    // content of the page and the log of the server anyway.
    trace: recordsTraces ? 'retain-on-failure' : 'off',
    launchOptions: {
      executablePath: chromium,
      args: [
        // Root and many containers cannot have the sandbox; nothing but the product itself is shown.
        '--no-sandbox',
        // Without an emulated graphics card, which costs a tenth of the processors' time. The viewer would draw with the
        // canvas in either case (packages/web/src/viewer/drawers.ts).
        '--disable-gpu',
        '--disable-software-rasterizer',
      ],
    },
  },
});
