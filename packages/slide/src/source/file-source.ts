import { SlideError, type SlideLocation } from '../slide.ts';

/**
 * What `Slide.fingerprint` would be if the slide were opened now: tells a replaced file from the one that is open.
 *
 * @throws SlideError FILE_MISSING
 */
export async function fingerprintOf(_location: SlideLocation): Promise<string> {
  throw new SlideError('FILE_MISSING', 'No file is read yet');
}
