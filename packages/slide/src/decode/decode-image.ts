import { type EncodedImage, type GreyRange, SlideError } from '../model/slide.ts';
import { checkEncodedImage } from './check-encoded-image.ts';
import { decodeSamples } from './decode-samples.ts';
import { decodeJpegLs } from './jpeg-ls.ts';
import { decodeJpeg2000 } from './jpeg2000.ts';
import { loadSharp } from './load-sharp.ts';
import { paintSamples } from './paint-samples.ts';
import { GLASS, paintTiff } from './paint-tiff.ts';
import { type Raster, shrinkRaster } from './raster.ts';
import { readTiffSamples, readTiffWords } from './tiff-samples.ts';
import { loadTurboJpeg } from './turbo-jpeg.ts';
import { orientRaster } from './turn-raster.ts';

/** Reduction factor in both directions. Decoding a JPEG at these reductions is cheaper than at full size. */
export type Shrink = 1 | 2 | 4 | 8;

const half: Readonly<Record<Shrink, Shrink>> = { 1: 1, 2: 1, 4: 2, 8: 4 };

/**
 * Maximum pixels of one decoded picture: the largest tile that a file may have, or several smaller ones
 * joined.
 */
const MAX_PIXELS = 8192 * 8192;

/**
 * Decodes a picture of any codec. New codecs are added here.
 *
 * @param shrink a divisor of both sides of the picture
 * @returns upright pixels on a white background; each is the mean (for JPEG, nearly) of `shrink × shrink`
 *   pixels
 * @throws SlideError FILE_CORRUPT when the bytes are no such picture; FORMAT_NOT_SUPPORTED for an unsupported
 *   codec; LIMIT_EXCEEDED
 */
export async function decodeImage(image: EncodedImage, shrink: Shrink = 1): Promise<Raster> {
  if (image.width * image.height > MAX_PIXELS) {
    throw new SlideError('LIMIT_EXCEEDED', `A picture has ${image.width} × ${image.height} pixels`);
  }
  checkEncodedImage(image);
  return orientRaster(await decodeStored(image, shrink), image.orientation ?? 1);
}

async function decodeStored(image: EncodedImage, shrink: Shrink): Promise<Raster> {
  switch (image.codec) {
    case 'jpeg':
      return (await decodeByTurbo(image, shrink)) ?? decodeBySharp(image, shrink);
    case 'png':
      if (typeof image.colour === 'object')
        return shrinkRaster(await decodeWideGrey(image, image.colour), shrink);
      return shrinkRaster(await decodeBySharp(image, 1), shrink);
    case 'webp':
      return shrinkRaster(await decodeBySharp(image, 1), shrink);
    case 'rgb':
      return shrinkRaster({ width: image.width, height: image.height, rgb: image.bytes }, shrink);
    case 'jpeg2000': {
      const { colour = 'as-declared' } = image;
      // The smaller resolutions of JPEG 2000 are not means of pixels; averaging the last factor of two comes
      // close.
      const raster = await decodeJpeg2000(image.bytes, {
        width: image.width,
        height: image.height,
        shrink: half[shrink],
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

/** The maximum of a 16-bit sample. */
const WORD = 2 ** 16 - 1;

async function decodeTiff(image: EncodedImage): Promise<Raster> {
  const { width, height, coding } = image;
  if (!coding) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: samples without a coding');
  if (typeof image.colour === 'object' && coding.bits === 16 && coding.samplesPerPixel === 1) {
    const values = await readTiffWords(image, coding);
    const isInverted = coding.colour.model === 'grey' && coding.colour.isInverted;
    if (isInverted) for (const [i, word] of values.entries()) values[i] = WORD - word;
    return paintSamples(
      { width, height, samplesPerPixel: 1, values, isPlanar: false, maximum: WORD },
      image.colour,
    );
  }
  return paintTiff(await readTiffSamples(image, coding), width, height, coding);
}

/** Decodes a picture of 16-bit grey. */
async function decodeWideGrey({ bytes, width, height }: EncodedImage, range: GreyRange): Promise<Raster> {
  const sharp = await loadSharp();
  const { data, info } = await sharp(bytes, { failOn: 'warning', limitInputPixels: width * height })
    .toColourspace('grey16')
    .raw({ depth: 'ushort' })
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => {
      throw new SlideError('FILE_CORRUPT', 'A picture cannot be decoded', { cause });
    });
  if (info.width !== width || info.height !== height || info.channels !== 1) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A picture decodes to ${info.width} × ${info.height} × ${info.channels}`,
    );
  }
  // Copied, because a 16-bit view needs an even address, which a small buffer may not have.
  const values = new Uint16Array(new Uint8Array(data).buffer);
  return paintSamples({ width, height, samplesPerPixel: 1, values, isPlanar: false, maximum: WORD }, range);
}

/** Buffer for pixels that are averaged afterwards; large enough for most tiles. */
const pixelBuffer = new Uint8Array(2 ** 20);

/** @returns null for JPEGs that sharp decodes instead: unusual ones, and reductions by 4 and 8 */
async function decodeByTurbo({ bytes, width, height }: EncodedImage, shrink: Shrink): Promise<Raster | null> {
  const turbo = shrink > 2 ? null : await loadTurboJpeg();
  if (!turbo) return null;
  const size = width * height * 3;
  const rgb = shrink > 1 && size <= pixelBuffer.length ? pixelBuffer.subarray(0, size) : new Uint8Array(size);
  return turbo.decode(bytes, width, height, rgb) ? shrinkRaster({ width, height, rgb }, shrink) : null;
}

async function decodeBySharp({ bytes, width, height }: EncodedImage, shrink: Shrink): Promise<Raster> {
  const sharp = await loadSharp();
  // A warning means that the decoder has invented pixels, for example grey where a stream is truncated.
  const picture = sharp(bytes, { failOn: 'warning', limitInputPixels: width * height });
  // For 4 and 8 the JPEG decoder itself reduces by half of the factor or a quarter, which is cheaper; the
  // cubic kernel, which of sharp's kernels is nearest to the mean, does the last step. For 2 it would decode
  // the whole picture.
  const isReduced = shrink > 2;
  if (isReduced) picture.resize(width / shrink, height / shrink, { fit: 'fill', kernel: 'cubic' });
  const { data, info } = await picture
    .toColourspace('srgb')
    .flatten({ background: GLASS })
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => {
      throw new SlideError('FILE_CORRUPT', 'A tile cannot be decoded', { cause });
    });
  const factor = isReduced ? shrink : 1;
  if (info.width * factor !== width || info.height * factor !== height || info.channels !== 3) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile decodes to ${info.width} × ${info.height} × ${info.channels}`,
    );
  }
  const raster = { width: info.width, height: info.height, rgb: data };
  return isReduced ? raster : shrinkRaster(raster, shrink);
}
