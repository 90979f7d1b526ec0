import type { GreyRange } from '../slide.ts';
import type { TiffDirectory } from './directory.ts';
import { tag } from './tags.ts';

/** Of PhotometricInterpretation. Source: TIFF 6.0, section 8. */
const WHITE_IS_ZERO = 0;

/**
 * The least and the greatest sample of a picture of one sample a pixel, as its directory says.
 *
 * They are statistics by TIFF 6.0 (section 8), not meant for what is seen; but a camera that says them says of which
 * part of 16 bits it made use. What says 8 bits, or all of them, says nothing.
 *
 * @returns as brightness: where the file says that 0 is white, counted from the other end; null where nothing is said
 *   that can be used
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED
 */
export async function readDeclaredRange(directory: TiffDirectory, bits: number): Promise<GreyRange | null> {
  const most = 2 ** bits - 1;
  const black = (await directory.number(tag.MinSampleValue)) ?? 0;
  const white = await directory.number(tag.MaxSampleValue);
  const isSaid = bits > 8 && white !== null && white > black && white < most;
  if (!isSaid) return null;
  const isInverted = (await directory.number(tag.PhotometricInterpretation)) === WHITE_IS_ZERO;
  return isInverted ? { black: most - white, white: most - black } : { black, white };
}
