/**
 * `npm test`: all tests, then one line with the sums.
 *
 * Vitest runs the unit, property, server and screen tests; Playwright runs the browser tests, in a headless Chromium
 * against the built product.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWebApp } from '../build/web-app.ts';
import { main, root, run, Stop, tool } from '../launcher/runtime.mjs';
import { findTestBrowser } from '../services/chromium.ts';
import { startPostgres } from '../services/postgres.ts';
import { startSwift } from '../services/swift.ts';
import {
  countPlaywright,
  countVitest,
  describeCounts,
  type PlaywrightReport,
  sumCounts,
  type TestCounts,
  type VitestReport,
} from './test-counts.ts';

const artefacts = join(root, 'artefacts');
/** Compiled code, which later runs use again. */
const compiledCode = join(tmpdir(), 'lamina-test-compile-cache');
/** Space that the tests need for temporary files. */
const temporaryBytes = 4 * 1024 ** 3;

await main(async () => {
  await buildWebApp();
  mkdirSync(artefacts, { recursive: true });
  const folder = makeTemporaryFolder();
  try {
    const sum = sumCounts([await runVitest(folder), await runPlaywright(folder)]);
    console.log(`\n${describeCounts(sum)}`);
    return sum.failed === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/**
 * Creates the folder of all temporary files of the tests, in memory where Linux has enough of it there: tests write
 * databases, keys and slides that are synchronised with the disk, and delete them right after.
 */
function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(hasSpace('/dev/shm') ? '/dev/shm' : tmpdir(), 'lamina-tests-'));
  chmodSync(folder, 0o711); // a PostgreSQL server of a test runs as another user
  return folder;
}

function hasSpace(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= temporaryBytes;
  } catch {
    return false; // other systems have no such folder
  }
}

/** @param folder of temporary files */
async function runVitest(folder: string): Promise<TestCounts> {
  const report = join(artefacts, 'vitest.json');
  const [postgres, swift] = await Promise.all([startPostgres(), startSwift()]);
  try {
    return await runAndCount(report, (content) => countVitest(content as VitestReport), {
      commandLine: [
        ...tool('vitest'),
        'run',
        // By default vitest leaves one processor idle, even when there are only two.
        `--maxWorkers=${Math.max(2, availableParallelism() - 1)}`,
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
      ],
      env: {
        // Workers of Vitest, server processes and threads of tests share what Node has compiled.
        NODE_COMPILE_CACHE: compiledCode,
        TMPDIR: folder,
        ...(postgres && { TEST_DATABASE_URL: postgres.address }),
        ...swift?.env,
      },
    });
  } finally {
    await Promise.all([postgres?.stop(), swift?.stop()]);
  }
}

/** @param folder of temporary files */
async function runPlaywright(folder: string): Promise<TestCounts> {
  const report = join(artefacts, 'playwright.json');
  let chromium: string;
  try {
    chromium = await findTestBrowser();
  } catch (error) {
    if (!(error instanceof Stop) || error.exitCode !== 1) throw error;
    console.error(error.message);
    return { passed: 0, failed: 1, skipped: 0, failures: [error.message] };
  }
  return await runAndCount(report, (content) => countPlaywright(content as PlaywrightReport), {
    commandLine: [...tool('@playwright/test', 'playwright'), 'test'],
    env: { PLAYWRIGHT_CHROMIUM: chromium, PLAYWRIGHT_REPORT: report, TMPDIR: folder },
  });
}

interface TestRun {
  readonly commandLine: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Runs a test runner and counts from the report it writes. A runner that breaks counts as one failed test. */
async function runAndCount(
  report: string,
  count: (content: unknown) => TestCounts,
  { commandLine, env }: TestRun,
): Promise<TestCounts> {
  rmSync(report, { force: true });
  const { code } = await run(commandLine, { env });
  let counts: TestCounts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  try {
    counts = count(JSON.parse(readFileSync(report, 'utf8')));
  } catch (error) {
    console.error(`The test runner wrote no readable report: ${String(error)}`);
  }
  return code !== 0 && counts.failed === 0
    ? { ...counts, failed: 1, failures: [`${commandLine.join(' ')}: exit code ${code}`] }
    : counts;
}
