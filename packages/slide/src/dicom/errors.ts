/** The errors of DICOM files. */
import { SlideError } from '../model/slide.ts';

/** Returns the error for a file that contradicts itself or the standard. In all reasons, "it" is the file. */
export function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The DICOM file is damaged: ${reason}`);
}

export function truncatedError(reason: string): SlideError {
  return new SlideError('FILE_TRUNCATED', `The DICOM file is truncated: ${reason}`);
}

export function limitExceededError(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The DICOM file exceeds a limit: ${reason}`);
}
