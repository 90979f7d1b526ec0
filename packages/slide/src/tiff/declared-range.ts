/** The sample range that a TIFF directory declares. */
import type { GreyRange } from '../model/slide.ts';
import type { TiffDirectory } from './directory.ts';
import { tag } from './tags.ts';

/** Value of PhotometricInterpretation for inverted grey. Source: TIFF 6.0, section 8. */
const WHITE_IS_ZERO = 0;

/**
 * Returns the least and greatest sample that the directory of a grey image declares.
 *
 * TIFF 6.0 (section 8) defines MinSampleValue and MaxSampleValue as statistics, not for display. But a camera that writes them
 * states in this way which part of 16 bits it uses. This function ignores the range of images with at most 8 bits per sample,
 * and a range that extends to the maximum sample, which adds no information.
 *
 * @param bits bits of one sample
 * @returns the range in brightness, which for WhiteIsZero is the maximum sample minus the sample; null when no range is declared
 *   or the declared one is ignored
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED
 */
export async function readDeclaredRange(directory: TiffDirectory, bits: number): Promise<GreyRange | null> {
  const maxSample = 2 ** bits - 1;
  const black = (await directory.number(tag.MinSampleValue)) ?? 0;
  const white = await directory.number(tag.MaxSampleValue);
  const isUsable = bits > 8 && white !== null && white > black && white < maxSample;
  if (!isUsable) return null;
  const isInverted = (await directory.number(tag.PhotometricInterpretation)) === WHITE_IS_ZERO;
  return isInverted ? { black: maxSample - white, white: maxSample - black } : { black, white };
}
