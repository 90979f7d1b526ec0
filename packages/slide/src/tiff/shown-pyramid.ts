import { withGreyRange } from '../decode/contrast.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readDeclaredRange } from './declared-range.ts';
import { readSampleLayout } from './image-layout.ts';
import type { TiffPicture } from './picture.ts';
import { openPyramid, type Pyramid } from './pyramid.ts';

/**
 * As `openPyramid`, of pictures that are shown as they are: grey of more than 8 bits says with every tile what is
 * black and white in it.
 *
 * @throws SlideError what openPyramid throws
 */
export async function openShownPyramid(
  source: ByteSource,
  pictures: readonly TiffPicture[],
): Promise<Pyramid> {
  const pyramid = await openPyramid(source, pictures);
  const { directory } = pyramid.full;
  const { samplesPerPixel, bitsPerSample } = await readSampleLayout(directory);
  const [bits = 1] = bitsPerSample;
  if (samplesPerPixel !== 1 || bits <= 8) return pyramid;
  return { ...pyramid, readTile: withGreyRange(pyramid, bits, await readDeclaredRange(directory, bits)) };
}
