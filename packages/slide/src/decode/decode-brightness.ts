import { type EncodedImage, type GreyRange, SlideError, type TiffCoding } from '../slide.ts';
import { decodeImage } from './decode-image.ts';
import type { Raster } from './raster.ts';

/**
 * A picture of one channel as brightness: what it means in colour is another's business, a palette or an inversion
 * included.
 *
 * @param range samples that become black and white, all between them in proportion; `black` is less than `white`
 * @returns pixels whose three samples are equal
 * @throws SlideError FORMAT_NOT_SUPPORTED for a picture of several samples a pixel, and what decodeImage throws
 */
export async function decodeBrightness(image: EncodedImage, range: GreyRange): Promise<Raster> {
  const { coding } = image;
  if (takesRange(image)) return decodeImage({ ...image, colour: turnRange(image, range) });
  if (image.codec !== 'tiff' || !coding) return mapLevels(await decodeImage(image), range);
  if (coding.samplesPerPixel !== 1) {
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      `Not read: a channel of ${coding.samplesPerPixel} samples a pixel`,
    );
  }
  if (coding.bits === 16) return decodeImage({ ...image, colour: range });
  const grey: TiffCoding = {
    ...coding,
    colour: { model: 'grey', isInverted: isInverted(coding), alpha: null },
  };
  return mapLevels(await decodeImage({ ...image, coding: grey }), range);
}

/** Codecs whose samples may have more than 8 bits, and bring the range along in which they are shown. */
function takesRange({ codec, layout }: EncodedImage): boolean {
  return codec === 'jpeg2000' || codec === 'jpegls' || codec === 'png' || layout?.samplesPerPixel === 1;
}

/** Whether the greatest sample is black. */
export function countsDown({ colour, coding }: EncodedImage): boolean {
  const isDown = typeof colour === 'object' && colour.black > colour.white;
  return isDown || (coding !== undefined && isInverted(coding));
}

/** Where the file says that its largest sample is black, the range counts down from that. */
export function turnRange({ colour }: EncodedImage, { black, white }: GreyRange): GreyRange {
  const isDown = typeof colour === 'object' && colour.black > colour.white;
  return isDown ? { black: colour.black - black, white: colour.black - white } : { black, white };
}

function isInverted({ colour }: TiffCoding): boolean {
  return colour.model === 'grey' && colour.isInverted;
}

function mapLevels({ width, height, rgb }: Raster, { black, white }: GreyRange): Raster {
  if (black === 0 && white === 255) return { width, height, rgb };
  const levels = Uint8Array.from({ length: 256 }, (_, sample) => levelOf(sample, black, white));
  return { width, height, rgb: rgb.map((sample) => levels[sample] as number) };
}

function levelOf(sample: number, black: number, white: number): number {
  const level = ((sample - black) * 255) / (white - black);
  return level <= 0 ? 0 : level >= 255 ? 255 : Math.round(level);
}
