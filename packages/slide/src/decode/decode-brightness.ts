import { type EncodedImage, type GreyRange, SlideError, type TiffCoding } from '../model/slide.ts';
import { decodeImage } from './decode-image.ts';
import type { Raster } from './raster.ts';

/**
 * Decodes a single-channel image as brightness: dark pixels are dark even in files that store black as the
 * largest sample, and colours of a palette are ignored. The caller chooses the colour in which the channel is shown.
 *
 * @param range brightness that becomes 0 and brightness that becomes 255, in units of the samples; `black` < `white`
 * @returns pixels whose three samples are equal
 * @throws SlideError FORMAT_NOT_SUPPORTED for several samples per pixel; errors of decodeImage
 */
export async function decodeBrightness(image: EncodedImage, range: GreyRange): Promise<Raster> {
  // Only images of the codec `tiff` have a coding: the bits, packing and colour model of their samples.
  const { coding } = image;
  if (decodeImageAppliesRange(image)) return decodeImage({ ...image, colour: toSampleRange(image, range) });
  if (image.codec !== 'tiff' || !coding) return stretchToRange(await decodeImage(image), range);
  if (coding.samplesPerPixel !== 1) {
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      `Not supported: a channel of ${coding.samplesPerPixel} samples per pixel`,
    );
  }
  // The range is not inverted here, because decodeImage inverts 16-bit samples whose coding is inverted.
  if (coding.bits === 16) return decodeImage({ ...image, colour: range });
  const grey: TiffCoding = {
    ...coding,
    colour: { model: 'grey', isInverted: isInverted(coding), alpha: null },
  };
  return stretchToRange(await decodeImage({ ...image, coding: grey }), range);
}

/** Whether `decodeImage` applies a range: it does for codecs and layouts whose samples may have more than 8 bits. */
function decodeImageAppliesRange({ codec, layout }: EncodedImage): boolean {
  return codec === 'jpeg2000' || codec === 'jpegls' || codec === 'png' || layout?.samplesPerPixel === 1;
}

/** Whether the largest sample of an image means black, as the file declares. */
export function isLargestSampleBlack({ colour, coding }: EncodedImage): boolean {
  const hasInvertedRange = typeof colour === 'object' && colour.black > colour.white;
  return hasInvertedRange || (coding !== undefined && isInverted(coding));
}

/**
 * Converts a range of brightness to sample values. When the largest sample means black (`colour.black` is then the
 * largest sample), the brightness of a sample is `colour.black - sample`.
 */
export function toSampleRange({ colour }: EncodedImage, { black, white }: GreyRange): GreyRange {
  const hasInvertedRange = typeof colour === 'object' && colour.black > colour.white;
  return hasInvertedRange ? { black: colour.black - black, white: colour.black - white } : { black, white };
}

function isInverted({ colour }: TiffCoding): boolean {
  return colour.model === 'grey' && colour.isInverted;
}

/** Stretches 8-bit brightness so that the ends of the range become 0 and 255. */
function stretchToRange({ width, height, rgb }: Raster, { black, white }: GreyRange): Raster {
  if (black === 0 && white === 255) return { width, height, rgb };
  const brightnessBySample = Uint8Array.from({ length: 256 }, (_, sample) =>
    brightnessOf(sample, black, white),
  );
  return { width, height, rgb: rgb.map((sample) => brightnessBySample[sample] as number) };
}

function brightnessOf(sample: number, black: number, white: number): number {
  const brightness = ((sample - black) * 255) / (white - black);
  return Math.round(Math.min(Math.max(brightness, 0), 255));
}
