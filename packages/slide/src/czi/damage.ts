import { SlideError } from '../slide.ts';

/** The file contradicts itself or the format. */
export function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The CZI file is damaged: ${reason}`);
}

export function truncated(reason: string): SlideError {
  return new SlideError('FILE_TRUNCATED', `The CZI file is cut: ${reason}`);
}

export function tooMuch(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The CZI file asks for too much: ${reason}`);
}

export function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: CZI with ${what}`);
}
