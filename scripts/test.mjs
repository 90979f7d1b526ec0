/**
 * `npm test`: every test there is, then one line with the sums.
 *
 * Units, property tests, server and screens run in vitest; the browser tests run in a headless
 * Chromium against the built product.
 */
import './require-node.mjs';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { findChromium } from './chromium.mjs';
import { install } from './install.mjs';
import { startPostgres } from './postgres.mjs';
import { main, root, run, Stop, tool } from './runtime.mjs';
import { startSwift } from './swift.mjs';
import { countPlaywright, countVitest, sentenceOf, sumOf } from './test-counts.mjs';
import { buildWebApp } from './web-app.mjs';

const artefacts = join(root, 'artefacts');

await main(async () => {
  await install();
  await buildWebApp();
  mkdirSync(artefacts, { recursive: true });
  const sum = sumOf([await runVitest(), await runPlaywright()]);
  console.log(`\n${sentenceOf(sum)}`);
  return sum.failed === 0 ? 0 : 1;
});

async function runVitest() {
  const report = join(artefacts, 'vitest.json');
  const [postgres, swift] = await Promise.all([startPostgres(), startSwift()]);
  try {
    return await count(report, countVitest, {
      commandLine: [
        ...tool('vitest'),
        'run',
        // Left to itself, vitest leaves one processor idle, also where there are only two.
        `--maxWorkers=${Math.max(2, availableParallelism() - 1)}`,
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
      ],
      env: { ...(postgres && { TEST_DATABASE_URL: postgres.address }), ...swift?.env },
    });
  } finally {
    await Promise.all([postgres?.stop(), swift?.stop()]);
  }
}

async function runPlaywright() {
  const report = join(artefacts, 'playwright.json');
  let chromium;
  try {
    chromium = await findChromium();
  } catch (error) {
    if (!(error instanceof Stop) || error.exitCode !== 1) throw error;
    console.error(error.message);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  return await count(report, countPlaywright, {
    commandLine: [...tool('@playwright/test', 'playwright'), 'test'],
    env: { PLAYWRIGHT_CHROMIUM: chromium, PLAYWRIGHT_REPORT: report },
  });
}

/** Run a test runner and count by the report it writes; a runner that breaks counts as one failure. */
async function count(report, counter, { commandLine, env }) {
  rmSync(report, { force: true });
  const { code } = await run(commandLine, { env });
  let counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    counts = counter(JSON.parse(readFileSync(report, 'utf8')));
  } catch (error) {
    console.error(`The tests wrote no readable report: ${error.message}`);
  }
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}
