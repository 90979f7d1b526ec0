/** Creates the errors of DICOM files. */
import { SlideError } from '../model/slide.ts';

/** Returns the error for a file that contradicts itself or the standard. */
export function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The DICOM file is damaged: ${reason}`);
}

export function truncated(reason: string): SlideError {
  return new SlideError('FILE_TRUNCATED', `The DICOM file is truncated: ${reason}`);
}

export function limitExceeded(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The DICOM file exceeds a limit: ${reason}`);
}
