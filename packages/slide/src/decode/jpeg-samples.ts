import { readJpegHeader } from '../jpeg/header.ts';
import { SlideError } from '../model/slide.ts';
import { checkEncodedImage } from './check-encoded-image.ts';
import { loadSharp } from './load-sharp.ts';

/**
 * Decodes the components of a JPEG without converting them to RGB: one component (grey) or four (CMYK).
 *
 * @param jpeg a complete JPEG, without a marker that declares a colour transform
 * @param width required width of the JPEG in pixels
 * @param rows minimum height of the JPEG in pixels; some TIFF writers encode the last strip of an image with more rows than needed
 * @param components required number of components, 1 or 4
 * @returns the samples of all rows of the JPEG, interleaved; callers use the first `rows` rows
 * @throws SlideError FILE_CORRUPT when the JPEG is damaged or has another size or number of components
 */
export async function decodeJpegSamples(
  jpeg: Uint8Array,
  width: number,
  rows: number,
  components: number,
): Promise<Uint8Array> {
  const header = readJpegHeader(jpeg);
  checkEncodedImage({ codec: 'jpeg', bytes: jpeg, width: header.width, height: header.height });
  if (header.width !== width || header.height < rows || header.components.length !== components) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A JPEG has ${header.width} × ${header.height} pixels of ${header.components.length} components, not ${width} × ${rows} pixels of ${components}`,
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
    throw new SlideError('FILE_CORRUPT', `A tile decodes to ${info.channels} components, not ${components}`);
  }
  // libvips inverts the samples of every CMYK JPEG, because Photoshop stores inverted samples. The subtraction restores
  // the stored values.
  return components === 4 ? data.map((value) => 255 - value) : data;
}
