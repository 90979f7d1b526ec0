import { SlideError } from '../slide.ts';

/** The file contradicts itself or the format. */
export function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The VSI slide is damaged: ${reason}`);
}

/** A part of the slide is not there. */
export function incomplete(reason: string): SlideError {
  return new SlideError('FILE_TRUNCATED', `The VSI slide is not complete: ${reason}`);
}

export function tooMuch(reason: string): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The VSI slide asks for too much: ${reason}`);
}

export function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: VSI with ${what}`);
}
