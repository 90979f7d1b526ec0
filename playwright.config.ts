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
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: chromium,
      // Chromium refuses its sandbox to root; then the machine is a container or a test machine.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
});
