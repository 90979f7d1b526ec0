import { isTemporaryError, SlideError } from '@lamina/slide/result-files';
import { ContainerFull } from './container.ts';
import { ImportRejectedError, type Problem } from './problems.ts';

/** The import problem for each error code of the slide library; codes that are not listed mean `damaged`. */
const problemBySlideErrorCode: Readonly<Record<string, Problem>> = {
  FORMAT_NOT_SUPPORTED: 'unsupported',
  LIMIT_EXCEEDED: 'too_large',
  FILE_MISSING: 'file_missing',
  NOT_A_SLIDE: 'unknown_format',
};

/**
 * Returns the problem of the result file that an error of its import reports.
 *
 * @throws the error itself when the file did not cause it, for example while the disk does not respond
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof ImportRejectedError) return error.problem;
  if (error instanceof ContainerFull) return 'quota_exceeded';
  if (isTemporaryError(error)) throw error;
  if (error instanceof SlideError) return problemBySlideErrorCode[error.code] ?? 'damaged';
  throw error;
}
