import { defineConfig } from '@playwright/test';

const {
  PLAYWRIGHT_CHROMIUM: chromium = '/usr/bin/chromium',
  PLAYWRIGHT_REPORT: report = 'artefacts/playwright.json',
} = process.env;

/** The browser tests: the built product, in the system's Chromium. `npm test` runs them too. */
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
    // Without its film, which takes time of the processors that the tests need; the last picture is kept anyway.
    trace: { mode: 'retain-on-failure', screenshots: false },
    launchOptions: {
      executablePath: chromium,
      // Root and many containers cannot have the sandbox; nothing but the product itself is shown.
      args: ['--no-sandbox'],
    },
  },
});
