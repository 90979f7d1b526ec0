import { type EncodedImage, type GreyRange, SlideError } from '../slide.ts';
import { decodeSamples } from './decode-samples.ts';
import { decodeJpegLs } from './jpeg-ls.ts';
import { decodeJpeg2000 } from './jpeg2000.ts';
import { loadSharp } from './load-sharp.ts';
import { paintSamples } from './paint-samples.ts';
import { GLASS, paintTiff } from './paint-tiff.ts';
import { type Raster, shrinkRaster } from './raster.ts';
import { readTiffSamples, readTiffWords } from './tiff-samples.ts';
import { loadTurboJpeg } from './turbo-jpeg.ts';
import { turnRaster } from './turn-raster.ts';

/** How many pixels, both ways, become one: JPEG is decoded at these sizes for less than the whole costs. */
export type Shrink = 1 | 2 | 4 | 8;

const half: Readonly<Record<Shrink, Shrink>> = { 1: 1, 2: 1, 4: 2, 8: 4 };

/** Decoded pixels of one picture. The largest tile that a file may have, or as many smaller ones joined. */
const MAX_PIXELS = 8192 * 8192;

/**
 * Bytes to pixels, whatever the codec: the one place where a codec is added.
 *
 * @param shrink a divisor of both sides of the picture
 * @returns pixels, upright, what is transparent laid on white, each the mean (for JPEG, nearly) of `shrink × shrink` of the picture's
 * @throws SlideError FILE_CORRUPT when the bytes are no such picture, FORMAT_NOT_SUPPORTED for a codec that is not
 *   read, LIMIT_EXCEEDED
 */
export async function decodeImage(image: EncodedImage, shrink: Shrink = 1): Promise<Raster> {
  if (image.width * image.height > MAX_PIXELS) {
    throw new SlideError('LIMIT_EXCEEDED', `A picture has ${image.width} × ${image.height} pixels`);
  }
  return turnRaster(await decodeStored(image, shrink), image.orientation ?? 1);
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
      // Its own smaller resolutions are not means of pixels: the last step by two is.
      const reduced = await decodeJpeg2000(image.bytes, {
        width: image.width,
        height: image.height,
        shrink: half[shrink],
        colour: colour === 'rgb' ? 'as-declared' : colour,
      });
      return shrink === 1 ? reduced : shrinkRaster(reduced, 2);
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

/** The largest sample of 16 bits. */
const WORD = 2 ** 16 - 1;

async function decodeTiff(image: EncodedImage): Promise<Raster> {
  const { width, height, coding } = image;
  if (!coding) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: samples without a coding');
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

/** A picture of 16 bits of grey. */
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
  // The memory of a small buffer may begin anywhere, that of 16-bit numbers may not.
  const values = new Uint16Array(new Uint8Array(data).buffer);
  return paintSamples({ width, height, samplesPerPixel: 1, values, isPlanar: false, maximum: WORD }, range);
}

/** Pixels on their way to be averaged; most tiles need no more. */
const scratch = new Uint8Array(2 ** 20);

/** @returns null for what is left to sharp: what is not plain, and what its decoder makes smaller itself */
async function decodeByTurbo({ bytes, width, height }: EncodedImage, shrink: Shrink): Promise<Raster | null> {
  const turbo = shrink > 2 ? null : await loadTurboJpeg();
  if (!turbo) return null;
  const size = width * height * 3;
  const rgb = shrink > 1 && size <= scratch.length ? scratch.subarray(0, size) : new Uint8Array(size);
  return turbo.decode(bytes, width, height, rgb) ? shrinkRaster({ width, height, rgb }, shrink) : null;
}

async function decodeBySharp({ bytes, width, height }: EncodedImage, shrink: Shrink): Promise<Raster> {
  const sharp = await loadSharp();
  // A warning means that the decoder has made pixels up, e.g. grey below the place where a stream is cut.
  const picture = sharp(bytes, { failOn: 'warning', limitInputPixels: width * height });
  // By 4 and 8 the decoder itself goes half or a quarter of the way, for less than the whole costs, and the cubic
  // kernel the last step: of sharp's kernels it comes nearest to the mean. By 2 it would decode the whole anyway.
  const reduced = shrink > 2;
  if (reduced) picture.resize(width / shrink, height / shrink, { fit: 'fill', kernel: 'cubic' });
  const { data, info } = await picture
    .toColourspace('srgb')
    .flatten({ background: GLASS })
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => {
      throw new SlideError('FILE_CORRUPT', 'A tile cannot be decoded', { cause });
    });
  const expected = reduced ? shrink : 1;
  if (info.width * expected !== width || info.height * expected !== height || info.channels !== 3) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile decodes to ${info.width} × ${info.height} × ${info.channels}`,
    );
  }
  const raster = { width: info.width, height: info.height, rgb: data };
  return reduced ? raster : shrinkRaster(raster, shrink);
}
