/**
 * The numbers of passed, failed and skipped tests, and the failed tests, from the JSON reports of Vitest and Playwright. `npm test`
 * prints the sums as its last line.
 */

import { stripVTControlCharacters } from 'node:util';

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** For each failed test, its file, name and error message. A flaky test (one that passes only on a retry) counts as failed. */
  readonly failures: readonly string[];
}

/** The parts of Vitest's JSON report that are read. */
export interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number; // skipped tests
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

/** The parts of Playwright's JSON report that are read. */
export interface PlaywrightReport {
  readonly stats: {
    readonly expected: number; // tests with the expected outcome: passed
    readonly unexpected: number; // failed
    readonly flaky: number;
    readonly skipped: number;
  };
  /** Errors outside any test: in the configuration, or in a file that could not be loaded. */
  readonly errors: readonly { readonly message?: string }[];
  readonly suites: readonly PlaywrightSuite[];
}

interface PlaywrightSuite {
  readonly title: string;
  readonly file: string;
  readonly suites?: readonly PlaywrightSuite[];
  readonly specs: readonly {
    readonly title: string;
    readonly tests: readonly {
      readonly status: string;
      readonly results: readonly { readonly error?: { readonly message?: string } }[];
    }[];
  }[];
}

/** Counts the tests of a Vitest report. A test file that could not be loaded counts as one failed test. */
export function countVitest(report: VitestReport): TestCounts {
  const filesNotLoaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failures = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => describeFailure(name, test.fullName, test.failureMessages?.[0])),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + filesNotLoaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [
      ...failures,
      ...filesNotLoaded.map(({ name, message }) => describeFailure(name, 'could not be loaded', message)),
    ],
  };
}

/** Counts the tests of a Playwright report. A flaky test counts as failed, and an error outside any test counts as one failed test. */
export function countPlaywright({ stats, errors, suites }: PlaywrightReport): TestCounts {
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + errors.length,
    skipped: stats.skipped,
    failures: [
      ...suites.flatMap((suite) => playwrightFailures(suite, [])),
      ...errors.map(({ message }) => describeFailure('browser tests', 'outside any test', message)),
    ],
  };
}

/** Returns the failures of a suite and the suites inside it. @param parents titles of the suites around it, without the file */
function playwrightFailures(suite: PlaywrightSuite, parents: readonly string[]): string[] {
  // The outermost suite stands for the file, and its title is the file name.
  const titles = suite.title === suite.file ? parents : [...parents, suite.title];
  const ownFailures = suite.specs.flatMap(({ title, tests }) =>
    tests
      .filter(({ status }) => status === 'unexpected' || status === 'flaky')
      .map(({ results }) => {
        const message = results.find(({ error }) => error)?.error?.message;
        return describeFailure(suite.file, [...titles, title].join(' › '), message);
      }),
  );
  return [...ownFailures, ...(suite.suites ?? []).flatMap((inner) => playwrightFailures(inner, titles))];
}

function describeFailure(file: string, test: string, message = ''): string {
  const firstLines = stripVTControlCharacters(message).split('\n').slice(0, 4).join('\n    ');
  return `${file} › ${test}\n    ${firstLines}`;
}

export function sumCounts(counts: readonly TestCounts[]): TestCounts {
  const sum = (name: 'passed' | 'failed' | 'skipped') =>
    counts.reduce((total, count) => total + count[name], 0);
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    failures: counts.flatMap(({ failures }) => failures),
  };
}

/** Returns the last lines of `npm test`: the failed tests again, because the output of a whole run is long, and then the sums. */
export function describeCounts({ passed, failed, skipped, failures }: TestCounts): string {
  const sums = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return [...failures.map((failure) => `Failed: ${failure}`), sums].join('\n');
}
