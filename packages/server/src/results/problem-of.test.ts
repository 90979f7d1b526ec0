import { SlideError } from '@lamina/slide/result-files';
import { describe, expect, it } from 'vitest';
import { problemOf } from './problem-of.ts';

describe('problemOf (the problem of a result file that an error reports)', () => {
  it.each([
    ['FILE_CORRUPT', 'damaged'],
    ['FORMAT_NOT_SUPPORTED', 'unsupported'],
    ['FILE_MISSING', 'file_missing'],
  ] as const)('converts a SlideError with the code %s to the problem %s', (code, problem) => {
    expect(problemOf(new SlideError(code, 'no'))).toBe(problem);
  });

  it.each(['STORE_UNAVAILABLE', 'STORE_TIMEOUT', 'BUSY'] as const)(
    'throws a SlideError with the code %s again, because the file did not cause this error',
    (code) => {
      const error = new SlideError(code, 'not now');
      expect(() => problemOf(error)).toThrow(error);
    },
  );
});
