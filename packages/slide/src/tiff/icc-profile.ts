/** The ICC profile of a TIFF directory. */
import { SlideError } from '../model/slide.ts';
import type { TiffDirectory } from './directory.ts';
import { limits } from './limits.ts';
import { nameOfTag, tag } from './tags.ts';

/** Reads the profile; returns null when the image has none. @throws SlideError LIMIT_EXCEEDED, FILE_TRUNCATED, FILE_CORRUPT */
export async function readIccProfile(directory: TiffDirectory): Promise<Uint8Array | null> {
  const byteCount = directory.count(tag.ICCProfile);
  if (byteCount > limits.iccProfileBytes) {
    throw new SlideError('LIMIT_EXCEEDED', `${nameOfTag(tag.ICCProfile)} has ${byteCount} bytes`);
  }
  return byteCount === 0 ? null : directory.bytes(tag.ICCProfile);
}
