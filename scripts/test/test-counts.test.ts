import { describe, expect, it } from 'vitest';
import { countPlaywright, countVitest, describeCounts, sumCounts } from './test-counts.ts';

describe('the summary line of npm test', () => {
  it('names the failed tests and sums the counts of all test runners', () => {
    const sum = sumCounts([
      { passed: 120, failed: 0, skipped: 0, failures: [] },
      { passed: 9, failed: 1, skipped: 0, failures: ['a.test.ts › adds'] },
    ]);
    expect(describeCounts(sum)).toBe('Failed: a.test.ts › adds\n129 passed, 1 failed');
  });

  it('states the number of skipped tests when there are any', () => {
    expect(describeCounts({ passed: 1, failed: 0, skipped: 2, failures: [] })).toBe(
      '1 passed, 0 failed, 2 skipped',
    );
  });

  it('counts a test file that could not be loaded as failed', () => {
    const passed = { status: 'passed', fullName: 'x', failureMessages: [] };
    const failed = {
      status: 'failed',
      fullName: 'addition of numbers',
      failureMessages: ['\u001b[31mexpected 3 to be 2\u001b[39m'],
    };
    const report = {
      numPassedTests: 3,
      numFailedTests: 1,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: [
        { name: 'a.test.ts', status: 'passed', assertionResults: [passed] },
        { name: 'b.test.ts', status: 'failed', assertionResults: [failed, passed] },
        { name: 'c.test.ts', status: 'failed', message: 'no such module', assertionResults: [] },
      ],
    };
    expect(countVitest(report)).toEqual({
      passed: 3,
      failed: 2,
      skipped: 2,
      failures: [
        'b.test.ts › addition of numbers\n    expected 3 to be 2',
        'c.test.ts › could not be loaded\n    no such module',
      ],
    });
  });

  it('counts a flaky browser test, and an error outside any test, as failed', () => {
    const report = {
      stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 1 },
      errors: [{ message: 'x' }],
      suites: [
        {
          title: 'viewer.spec.ts',
          file: 'viewer.spec.ts',
          specs: [{ title: 'opens', tests: [{ status: 'expected', results: [{}] }] }],
          suites: [
            {
              title: 'the viewer',
              file: 'viewer.spec.ts',
              specs: [
                {
                  title: 'pans',
                  tests: [{ status: 'unexpected', results: [{ error: { message: 'late' } }] }],
                },
                {
                  title: 'zooms',
                  tests: [{ status: 'flaky', results: [{ error: { message: 'gone' } }, {}] }],
                },
              ],
            },
          ],
        },
      ],
    };
    expect(countPlaywright(report)).toEqual({
      passed: 4,
      failed: 3,
      skipped: 1,
      failures: [
        'viewer.spec.ts › the viewer › pans\n    late',
        'viewer.spec.ts › the viewer › zooms\n    gone',
        'browser tests › outside any test\n    x',
      ],
    });
  });
});
