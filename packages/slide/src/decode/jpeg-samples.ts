import { readJpegHeader } from '../jpeg/header.ts';
import { SlideError } from '../slide.ts';
import { loadSharp } from './load-sharp.ts';

/**
 * The components of a JPEG as they are stored, one or four of them: grey, or CMYK, which no screen shows as it is.
 *
 * @param jpeg complete, without a marker that says what the components mean
 * @returns width × height × components, of which `rows` are the first
 * @throws SlideError FILE_CORRUPT when it is no such picture
 */
export async function decodeJpegSamples(
  jpeg: Uint8Array,
  width: number,
  rows: number,
  components: number,
): Promise<Uint8Array> {
  const header = readJpegHeader(jpeg);
  if (header.width !== width || header.height < rows || header.components.length !== components) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile is ${header.width} × ${header.height} × ${header.components.length}, not ${width} × ${rows} × ${components}`,
    );
  }
  const sharp = await loadSharp();
  const space = components === 1 ? 'b-w' : 'cmyk';
  const picture = sharp(jpeg, { failOn: 'warning', limitInputPixels: width * header.height });
  const { data, info } = await picture
    .pipelineColourspace(space)
    .toColourspace(space)
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => {
      throw new SlideError('FILE_CORRUPT', 'A tile cannot be decoded', { cause });
    });
  if (info.channels !== components) {
    throw new SlideError('FILE_CORRUPT', `A tile decodes to ${info.channels} components`);
  }
  // libvips takes every CMYK JPEG for one of Photoshop's, which are inverted, and turns it round.
  return components === 4 ? data.map((value) => 255 - value) : data;
}
