import { type EncodedImage, type GreyRange, SlideError, type TiffCoding } from '../model/slide.ts';
import { decodeImage } from './decode-image.ts';
import type { Raster } from './raster.ts';

/**
 * Decodes a single-channel picture as brightness. Palettes and inversions are ignored; the caller chooses the
 * colour.
 *
 * @param range samples that become black and white, with values between them in proportion; `black` is less
 *   than `white`
 * @returns pixels whose three samples are equal
 * @throws SlideError FORMAT_NOT_SUPPORTED for several samples per pixel; errors of decodeImage
 */
export async function decodeBrightness(image: EncodedImage, range: GreyRange): Promise<Raster> {
  const { coding } = image;
  if (acceptsRange(image)) return decodeImage({ ...image, colour: turnRange(image, range) });
  if (image.codec !== 'tiff' || !coding) return mapLevels(await decodeImage(image), range);
  if (coding.samplesPerPixel !== 1) {
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      `Not supported: a channel of ${coding.samplesPerPixel} samples per pixel`,
    );
  }
  if (coding.bits === 16) return decodeImage({ ...image, colour: range });
  const grey: TiffCoding = {
    ...coding,
    colour: { model: 'grey', isInverted: isInverted(coding), alpha: null },
  };
  return mapLevels(await decodeImage({ ...image, coding: grey }), range);
}

/** Whether the codec may have more than 8 bits per sample and accepts the range to show. */
function acceptsRange({ codec, layout }: EncodedImage): boolean {
  return codec === 'jpeg2000' || codec === 'jpegls' || codec === 'png' || layout?.samplesPerPixel === 1;
}

/** Whether the largest sample is black. */
export function countsDown({ colour, coding }: EncodedImage): boolean {
  const isDown = typeof colour === 'object' && colour.black > colour.white;
  return isDown || (coding !== undefined && isInverted(coding));
}

/** Inverts a range where the file declares that the largest sample is black. */
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
