/** The errors of CZI files. */
import { SlideError } from '../model/slide.ts';

/** Returns the error for a file that contradicts itself or the format. In all reasons, "it" is the file. */
export function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The CZI file is damaged: ${reason}`);
}

export function truncatedError(reason: string): SlideError {
  return new SlideError('FILE_TRUNCATED', `The CZI file is truncated: ${reason}`);
}

export function limitExceededError(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The CZI file exceeds a limit: ${reason}`);
}

export function notSupportedError(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: CZI with ${what}`);
}
