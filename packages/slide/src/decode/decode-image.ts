import { type EncodedImage, type GreyRange, SlideError } from '../model/slide.ts';
import { checkEncodedImage } from './check-encoded-image.ts';
import { decodeSamples } from './decode-samples.ts';
import { decodeJpegLs } from './jpeg-ls.ts';
import { decodeJpeg2000 } from './jpeg2000.ts';
import { loadSharp } from './load-sharp.ts';
import { orientRaster } from './orient-raster.ts';
import { type Raster, shrinkRaster } from './raster.ts';
import { samplesToRgb } from './samples-to-rgb.ts';
import { readTiffSamples, readTiffWords } from './tiff-samples.ts';
import { GLASS, tiffSamplesToRgb } from './tiff-to-rgb.ts';
import { loadTurboJpeg } from './turbo-jpeg.ts';

/** Reduction factor in both directions. Decoding a JPEG at these reductions is cheaper than at full size. */
export type Shrink = 1 | 2 | 4 | 8;

/** The reduction that the JPEG 2000 decoder makes, by the requested reduction. If they differ, `shrinkRaster` halves the result. */
const jpeg2000Shrink: Readonly<Record<Shrink, Shrink>> = { 1: 1, 2: 1, 4: 2, 8: 4 };

/** Maximum pixels of one decoded image: the largest tile that a file may have, or several joined tiles. */
const MAX_PIXELS = 8192 * 8192;

/**
 * Decodes an image of any codec to RGB pixels.
 *
 * @param shrink reduction factor, a divisor of width and height
 * @returns upright pixels on a white background; each is the mean (for JPEG and JPEG 2000, nearly) of `shrink × shrink` pixels
 * @throws SlideError FILE_CORRUPT when the bytes are not an image of the declared codec and size;
 *   FORMAT_NOT_SUPPORTED for an unsupported variant of the codec; LIMIT_EXCEEDED for an image that is too large
 */
export async function decodeImage(image: EncodedImage, shrink: Shrink = 1): Promise<Raster> {
  if (image.width * image.height > MAX_PIXELS) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `An image of ${image.width} × ${image.height} pixels is too large (maximum ${MAX_PIXELS} pixels)`,
    );
  }
  checkEncodedImage(image);
  return orientRaster(await decodeWithoutRotation(image, shrink), image.orientation ?? 1);
}

/** Decodes an image and reduces it, without rotating it upright. */
async function decodeWithoutRotation(image: EncodedImage, shrink: Shrink): Promise<Raster> {
  switch (image.codec) {
    case 'jpeg':
      return (await decodeByTurbo(image, shrink)) ?? decodeBySharp(image, shrink);
    case 'png':
      // A colour that is an object is a grey range.
      if (typeof image.colour === 'object')
        return shrinkRaster(await decodeGrey16(image, image.colour), shrink);
      return shrinkRaster(await decodeBySharp(image, 1), shrink);
    case 'webp':
      return shrinkRaster(await decodeBySharp(image, 1), shrink);
    case 'rgb':
      return shrinkRaster({ width: image.width, height: image.height, rgb: image.bytes }, shrink);
    case 'jpeg2000': {
      const { colour = 'as-declared' } = image;
      // The pixels of a smaller JPEG 2000 resolution are not the means of the full-size pixels. Decoding at twice the
      // requested size and then averaging 2 × 2 pixels comes close to these means.
      const raster = await decodeJpeg2000(image.bytes, {
        width: image.width,
        height: image.height,
        shrink: jpeg2000Shrink[shrink],
        // decodeJpeg2000 has no value `rgb`: `as-declared` means RGB unless the boxes declare another colour space.
        colour: colour === 'rgb' ? 'as-declared' : colour,
      });
      return shrink === 1 ? raster : shrinkRaster(raster, 2);
    }
    case 'jpegls':
      return shrinkRaster(decodeJpegLs(image.bytes, image, image.colour ?? null), shrink);
    case 'samples':
    case 'rle':
      return shrinkRaster(decodeSamples(image), shrink);
    case 'tiff':
      return shrinkRaster(await decodeTiff(image), shrink);
  }
}

/** Maximum of a 16-bit sample. */
const MAX_WORD = 2 ** 16 - 1;

async function decodeTiff(image: EncodedImage): Promise<Raster> {
  const { width, height, coding } = image;
  if (!coding)
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      'Not supported: a TIFF image without a description of its coding',
    );
  if (typeof image.colour === 'object' && coding.bits === 16 && coding.samplesPerPixel === 1) {
    const values = await readTiffWords(image, coding);
    const isInverted = coding.colour.model === 'grey' && coding.colour.isInverted;
    if (isInverted) for (const [i, word] of values.entries()) values[i] = MAX_WORD - word;
    return samplesToRgb(
      { width, height, samplesPerPixel: 1, values, isPlanar: false, maximum: MAX_WORD },
      image.colour,
    );
  }
  return tiffSamplesToRgb(await readTiffSamples(image, coding), width, height, coding);
}

/** Decodes a PNG of 16-bit grey at full depth; the range states the samples that become black and white. */
async function decodeGrey16({ bytes, width, height }: EncodedImage, range: GreyRange): Promise<Raster> {
  const sharp = await loadSharp();
  const { data, info } = await sharp(bytes, { failOn: 'warning', limitInputPixels: width * height })
    .toColourspace('grey16')
    .raw({ depth: 'ushort' })
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => {
      throw new SlideError('FILE_CORRUPT', 'A grey PNG cannot be decoded', { cause });
    });
  if (info.width !== width || info.height !== height || info.channels !== 1) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A grey PNG decodes to ${info.width} × ${info.height} pixels with ${info.channels} samples per pixel`,
    );
  }
  // Copied, because a 16-bit view needs an even address, which a small buffer may not have.
  const values = new Uint16Array(new Uint8Array(data).buffer);
  return samplesToRgb(
    { width, height, samplesPerPixel: 1, values, isPlanar: false, maximum: MAX_WORD },
    range,
  );
}

/** Reused for decoded pixels until they are reduced into a new buffer. There is no `await` in between. Large enough for most tiles. */
const pixelBuffer = new Uint8Array(2 ** 20);

/**
 * Decodes a JPEG with libjpeg-turbo.
 *
 * @returns null when sharp must decode it instead: unusual or damaged JPEGs, reductions by 4 and 8, and every
 *   JPEG when libjpeg-turbo is not installed
 */
async function decodeByTurbo({ bytes, width, height }: EncodedImage, shrink: Shrink): Promise<Raster | null> {
  const turbo = shrink > 2 ? null : await loadTurboJpeg();
  if (!turbo) return null;
  const sampleCount = width * height * 3;
  // Without a reduction, `rgb` is the result itself, so it must not be the reused buffer.
  const mayReuseBuffer = shrink > 1 && sampleCount <= pixelBuffer.length;
  const rgb = mayReuseBuffer ? pixelBuffer.subarray(0, sampleCount) : new Uint8Array(sampleCount);
  return turbo.decode(bytes, width, height, rgb) ? shrinkRaster({ width, height, rgb }, shrink) : null;
}

async function decodeBySharp({ bytes, width, height }: EncodedImage, shrink: Shrink): Promise<Raster> {
  const sharp = await loadSharp();
  // A warning means that the decoder has invented pixels, for example grey ones after the end of a truncated stream.
  const picture = sharp(bytes, { failOn: 'warning', limitInputPixels: width * height });
  // For the factors 4 and 8, the JPEG decoder reduces by a part of the factor while it decodes, which is cheaper. sharp
  // then reduces by the rest with its cubic kernel, whose result is closest to the mean. For the factor 2, sharp would
  // decode the whole image anyway.
  const isReducedBySharp = shrink > 2;
  if (isReducedBySharp) picture.resize(width / shrink, height / shrink, { fit: 'fill', kernel: 'cubic' });
  const { data, info } = await picture
    .toColourspace('srgb')
    .flatten({ background: GLASS }) // white
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => {
      throw new SlideError('FILE_CORRUPT', 'A tile cannot be decoded', { cause });
    });
  const factor = isReducedBySharp ? shrink : 1;
  if (info.width * factor !== width || info.height * factor !== height || info.channels !== 3) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile decodes to ${info.width} × ${info.height} pixels with ${info.channels} samples per pixel`,
    );
  }
  const raster = { width: info.width, height: info.height, rgb: data };
  return isReducedBySharp ? raster : shrinkRaster(raster, shrink);
}
