/** Opens a TIFF pyramid with the black and white of wide grey samples. */
import { withGreyRange } from '../decode/contrast.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readDeclaredRange } from './declared-range.ts';
import { readSampleLayout } from './image-layout.ts';
import { openPyramid, type Pyramid } from './pyramid.ts';
import type { TiffImage } from './tiff-image.ts';

/**
 * Opens a pyramid for display, as `openPyramid` does; every tile of grey above 8 bits carries its black and white
 * values.
 *
 * @throws SlideError as openPyramid does
 */
export async function openDisplayPyramid(
  source: ByteSource,
  tiffImages: readonly TiffImage[],
): Promise<Pyramid> {
  const pyramid = await openPyramid(source, tiffImages);
  const { directory } = pyramid.full;
  const { samplesPerPixel, bitsPerSample } = await readSampleLayout(directory);
  const [bits = 1] = bitsPerSample;
  if (samplesPerPixel !== 1 || bits <= 8) return pyramid;
  return { ...pyramid, readTile: withGreyRange(pyramid, bits, await readDeclaredRange(directory, bits)) };
}
