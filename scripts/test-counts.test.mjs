import { describe, expect, it } from 'vitest';
import { countPlaywright, countVitest, sentenceOf, sumOf } from './test-counts.mjs';

describe('the line at the end of npm test', () => {
  it('has the sums of all runners', () => {
    const sum = sumOf([
      { passed: 120, failed: 0, skipped: 0 },
      { passed: 9, failed: 1, skipped: 0 },
    ]);
    expect(sentenceOf(sum)).toBe('129 passed, 1 failed');
  });

  it('names skipped tests where there are any', () => {
    expect(sentenceOf({ passed: 1, failed: 0, skipped: 2 })).toBe('1 passed, 0 failed, 2 skipped');
  });

  it('counts a test file that could not be loaded as failed', () => {
    const report = {
      numPassedTests: 3,
      numFailedTests: 1,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: [
        { status: 'passed', assertionResults: [{ status: 'passed' }] },
        { status: 'failed', assertionResults: [{ status: 'failed' }, { status: 'passed' }] },
        { status: 'failed', assertionResults: [] },
      ],
    };
    expect(countVitest(report)).toEqual({ passed: 3, failed: 2, skipped: 2 });
  });

  it('counts a browser test that passed only at the second try, and an error outside any test, as failed', () => {
    const report = {
      stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 1 },
      errors: [{ message: 'x' }],
    };
    expect(countPlaywright(report)).toEqual({ passed: 4, failed: 3, skipped: 1 });
  });
});
