import { SlideError } from '../slide.ts';

/** The file contradicts itself or the standard. */
export function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The DICOM file is damaged: ${reason}`);
}

export function truncated(reason: string): SlideError {
  return new SlideError('FILE_TRUNCATED', `The DICOM file is cut: ${reason}`);
}

export function tooMuch(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The DICOM file asks for too much: ${reason}`);
}
