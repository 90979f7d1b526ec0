/**
 * `npm test` and `npm run test:all` (with the argument `--all`): run the tests, then print the failed tests and one line with the sums.
 *
 * Vitest runs the unit, property, server and screen tests; Playwright runs the browser tests, in a headless Chromium
 * against a running server with the built web app. `npm test` leaves out the long tests (long-tests.ts), and runs on PostgreSQL only the
 * tests whose subject is the database (`everyDatabaseKind`).
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWebApp } from '../build/web-app.ts';
import { main, root, run, ScriptExit, toolCommand } from '../launcher/runtime.mjs';
import { findTestBrowser } from '../services/chromium.ts';
import { startPostgres } from '../services/postgres.ts';
import { startSwift } from '../services/swift.ts';
import { shortBrowserTests } from './long-tests.ts';
import {
  countPlaywright,
  countVitest,
  describeCounts,
  type PlaywrightReport,
  sumCounts,
  type TestCounts,
  type VitestReport,
} from './test-counts.ts';

/** Folder for the reports of the test runners and for the screenshots and traces of failed tests. */
const artefacts = join(root, 'artefacts');
const compileCache = join(tmpdir(), 'lamina-test-compile-cache');
const runsAll = process.argv.includes('--all');

await main(async () => {
  await buildWebApp();
  mkdirSync(artefacts, { recursive: true });
  const sum = sumCounts([await runVitest(), await runPlaywright()]);
  console.log(`\n${describeCounts(sum)}`);
  return sum.failed === 0 ? 0 : 1;
});

async function runVitest(): Promise<TestCounts> {
  const reportFile = join(artefacts, 'vitest.json');
  const [postgres, swift] = await Promise.all([startPostgres(), startSwift()]);
  try {
    return await runAndCount(reportFile, (content) => countVitest(content as VitestReport), {
      commandLine: [
        ...toolCommand('vitest'),
        'run',
        // By default, Vitest leaves one processor idle, even if there are only two; this option then uses both. More workers
        // than processors save 60 s of 683 s, but PostgreSQL then becomes so slow that the server responds with 503 in a test.
        `--maxWorkers=${Math.max(2, availableParallelism() - 1)}`,
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${reportFile}`,
      ],
      env: {
        TEST_SCOPE: runsAll ? 'all' : 'short',
        // With glibc as the C library, native code (malloc) gets memory in pages of 2 MB, which saves about a tenth of the processor
        // time: 2,205 tests took 136 and 108 s without this setting and 121 and 99 s with it, measured alternately.
        GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
        // Test processes, and the threads that import result files, share the code that Node has compiled.
        NODE_COMPILE_CACHE: compileCache,
        ...(postgres && { TEST_DATABASE_URL: postgres.url }),
        ...swift?.env,
      },
    });
  } finally {
    await Promise.all([postgres?.stop(), swift?.stop()]);
  }
}

async function runPlaywright(): Promise<TestCounts> {
  const reportFile = join(artefacts, 'playwright.json');
  let chromium: string;
  try {
    chromium = await findTestBrowser();
  } catch (error) {
    if (!(error instanceof ScriptExit) || error.exitCode !== 1) throw error; // another exit code: a signal ends this script
    console.error(error.message);
    return { passed: 0, failed: 1, skipped: 0, failures: [error.message] };
  }
  return await runAndCount(reportFile, (content) => countPlaywright(content as PlaywrightReport), {
    commandLine: [
      ...toolCommand('@playwright/test', 'playwright'),
      'test',
      ...(runsAll ? [] : shortBrowserTests), // without names of files, Playwright runs all
    ],
    env: { PLAYWRIGHT_CHROMIUM: chromium, PLAYWRIGHT_REPORT: reportFile },
  });
}

interface TestRun {
  readonly commandLine: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Runs a test runner and counts the tests in its report. When it fails but reports no failed test, the result has one failed test. */
async function runAndCount(
  reportFile: string,
  count: (content: unknown) => TestCounts,
  { commandLine, env }: TestRun,
): Promise<TestCounts> {
  rmSync(reportFile, { force: true }); // deletes the report of an earlier run
  const { code } = await run(commandLine, { env });
  let counts: TestCounts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  try {
    counts = count(JSON.parse(readFileSync(reportFile, 'utf8')));
  } catch (error) {
    console.error(`The test runner wrote no readable report: ${String(error)}`);
  }
  return code !== 0 && counts.failed === 0
    ? { ...counts, failed: 1, failures: [`${commandLine.join(' ')}: exit code ${code}`] }
    : counts;
}
