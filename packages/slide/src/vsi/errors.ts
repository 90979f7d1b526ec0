/** The errors of VSI slides. */
import { SlideError } from '../model/slide.ts';

/** Returns the error for a file that contradicts itself or the format. In all reasons, "it" is the slide. */
export function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The VSI slide is damaged: ${reason}`);
}

/** Returns the error for a slide with a missing or truncated file. */
export function incompleteError(reason: string): SlideError {
  return new SlideError('FILE_TRUNCATED', `The VSI slide is not complete: ${reason}`);
}

export function limitExceededError(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The VSI slide exceeds a limit: ${reason}`);
}

export function notSupportedError(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: VSI with ${what}`);
}
