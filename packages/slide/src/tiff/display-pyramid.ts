/** A TIFF pyramid for display: grey samples above 8 bits are mapped to a range from black to white. */
import { withGreyRange } from '../decode/contrast.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readDeclaredRange } from './declared-range.ts';
import { readSampleLayout } from './image-layout.ts';
import { openPyramid, type Pyramid } from './pyramid.ts';
import type { TiffImage } from './tiff-image.ts';

/**
 * Opens a pyramid as `openPyramid` does. The tiles of a grey image above 8 bits state which sample values are shown as
 * black and as white, unless `withGreyRange` decides to show all values.
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
