/** The encoding of the tiles or strips of a TIFF image. `readImageCoding` rejects unsupported encodings. */
import type { JpegColour } from '../jpeg/complete-jpeg.ts';
import {
  notSupportedError,
  type SampleColour,
  SlideError,
  type TiffCoding,
  type TiffColour,
} from '../model/slide.ts';
import type { TiffDirectory } from './directory.ts';
import { nameOfCompression, nameOfPhotometric, readSampleLayout, type SampleLayout } from './image-layout.ts';
import { limits } from './limits.ts';
import { tag } from './tags.ts';

/** The part of a tile's coding that is the same for all tiles of an image. */
export type SampleCoding = Omit<TiffCoding, 'blockBytes' | 'blockRows'>;

/** How the tiles or strips of an image are encoded. */
export type ImageCoding =
  /** JPEG streams that become native tiles (sent without decoding) once their tables are added. */
  | { readonly codec: 'jpeg'; readonly colour: JpegColour }
  /** `colour` is null if the code stream declares its colours correctly. */
  | { readonly codec: 'jpeg2000'; readonly colour: SampleColour | null }
  | { readonly codec: 'webp' }
  /** Samples that are sent only after decoding. */
  | { readonly codec: 'tiff'; readonly samples: SampleCoding };

/** Numbers of PhotometricInterpretation. Source: TIFF 6.0, sections 8, 16 and 21. */
const photometric = { whiteIsZero: 0, blackIsZero: 1, rgb: 2, palette: 3, cmyk: 5, ycbcr: 6 };

/**
 * Numbers of the tag Compression with their names, here called packings. Source: TIFF 6.0; TIFF Technical Note 2 (7);
 * Adobe's note of 2002 (8); libtiff's tiff.h.
 */
const packings: Readonly<Record<number, TiffCoding['packing']>> = {
  1: 'none',
  5: 'lzw',
  7: 'jpeg',
  8: 'deflate',
  32773: 'packbits',
  32946: 'deflate',
  50000: 'zstd',
};
/** Numbers for JPEG 2000: 33003 and 33005 (Aperio), 33004 (Bio-Formats and libvips), 34712 (the registered number). */
const JPEG_2000 = new Set([33003, 33004, 33005, 34712]);
/** Aperio's number for YCbCr samples, which the code stream does not declare. Source: OpenSlide's notes on Aperio. */
const JPEG_2000_YCC = 33003;
/** With this number, libvips 8.14 stores YCbCr but declares RGB. The colour `ycc-of-openjpeg` marks such tiles. */
const JPEG_2000_LOSSY = 33004;
const WEBP = 50001;
/** Value of PlanarConfiguration for an image with a plane for every sample. */
const SEPARATE_PLANES = 2;
/** Numbers of SampleFormat, Predictor, FillOrder and ExtraSamples. Source: TIFF 6.0, sections 8, 14, 18 and 19. */
const sampleFormats = { unsigned: 1, signed: 2, floatingPoint: 3, undefined: 4 };
const predictors = { none: 1, differenceFromLeft: 2 };
const FIRST_PIXEL_IN_LOW_BITS = 2;
const [ASSOCIATED_ALPHA, UNASSOCIATED_ALPHA] = [1, 2]; // associated: already multiplied into the colours

/** Compressions with which libtiff applies the tag Predictor; it ignores the tag for others. */
const packingsWithPredictor: ReadonlySet<string> = new Set(['lzw', 'deflate', 'zstd']);

/**
 * Reads how an image is encoded.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED (the message names the property), FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function readImageCoding(directory: TiffDirectory): Promise<ImageCoding> {
  const layout = await readSampleLayout(directory);
  if (layout.samplesPerPixel === 0 || layout.samplesPerPixel > limits.samplesPerPixel) {
    throw notSupportedError(`${layout.samplesPerPixel} samples a pixel`);
  }
  if (layout.depth > 1) throw notSupportedError(`${layout.depth} planes in depth`); // ImageDepth: a 3D image
  if (JPEG_2000.has(layout.compression)) return jpeg2000Coding(layout);
  if (layout.compression === WEBP) return webpCoding(layout);
  const packing = packings[layout.compression];
  if (!packing) throw notSupportedError(nameOfCompression(layout.compression));
  const samples = await readSampleCoding(directory, layout, packing);
  const colour = packing === 'jpeg' ? storedJpegColour(samples) : null;
  return colour ? { codec: 'jpeg', colour } : { codec: 'tiff', samples };
}

function jpeg2000Coding(layout: SampleLayout): ImageCoding {
  const { samplesPerPixel, compression } = layout;
  const isGrey = samplesPerPixel === 1 && layout.photometric === photometric.blackIsZero;
  const isInverted = samplesPerPixel === 1 && layout.photometric === photometric.whiteIsZero;
  const isYcc = layout.photometric === photometric.ycbcr || compression === JPEG_2000_YCC;
  const isColour = samplesPerPixel === 3 && (layout.photometric === photometric.rgb || isYcc);
  if (!isGrey && !isInverted && !isColour) {
    throw notSupportedError(
      `JPEG 2000 with ${samplesPerPixel} samples a pixel and ${nameOfPhotometric(layout.photometric)}`,
    );
  }
  if (layout.planarConfiguration === SEPARATE_PLANES && samplesPerPixel > 1)
    throw notSupportedError('JPEG 2000 with a plane for every sample');
  if (isInverted) {
    const maxSample = 2 ** (layout.bitsPerSample[0] ?? 8) - 1;
    return { codec: 'jpeg2000', colour: { black: maxSample, white: 0 } };
  }
  if (isColour && isYcc) return { codec: 'jpeg2000', colour: 'ycc' };
  const mayBeLibvipsYcc = isColour && compression === JPEG_2000_LOSSY;
  return { codec: 'jpeg2000', colour: mayBeLibvipsYcc ? 'ycc-of-openjpeg' : null };
}

function webpCoding(layout: SampleLayout): ImageCoding {
  const { samplesPerPixel } = layout;
  const isRgb = layout.photometric === photometric.rgb;
  if (!isRgb || (samplesPerPixel !== 3 && samplesPerPixel !== 4)) {
    const colour = nameOfPhotometric(layout.photometric);
    throw notSupportedError(`WebP with ${samplesPerPixel} samples a pixel and ${colour}`);
  }
  if (layout.planarConfiguration === SEPARATE_PLANES)
    throw notSupportedError('WebP with a plane for every sample');
  return { codec: 'webp' };
}

/** Reads how the samples are stored, and rejects layouts that are not supported. */
async function readSampleCoding(
  directory: TiffDirectory,
  layout: SampleLayout,
  packing: TiffCoding['packing'],
): Promise<SampleCoding> {
  const { samplesPerPixel, bitsPerSample, predictor, sampleFormat } = layout;
  const [bits] = bitsPerSample;
  if (sampleFormat === sampleFormats.floatingPoint)
    throw notSupportedError(`floating point of ${bits} bits a sample`);
  if (!isSupportedBitDepth(bits) || bitsPerSample.some((other) => other !== bits)) {
    throw notSupportedError(`${bitsPerSample.join(', ')} bits a sample`);
  }
  checkSampleFormat(sampleFormat, bits);
  const isPredicted = packingsWithPredictor.has(packing) && predictor !== predictors.none;
  if (isPredicted && (predictor !== predictors.differenceFromLeft || bits < 8)) {
    throw notSupportedError(`predictor ${predictor} of ${bits} bits a sample`);
  }
  const coding: SampleCoding = {
    packing,
    samplesPerPixel,
    bits,
    isPlanar: layout.planarConfiguration === SEPARATE_PLANES && samplesPerPixel > 1,
    isLittleEndian: directory.isLittleEndian,
    // libtiff ignores FillOrder for JPEG, which defines its own bit order.
    isBitReversed: layout.fillOrder === FIRST_PIXEL_IN_LOW_BITS && packing !== 'jpeg',
    isDifferenced: isPredicted,
    colour: await readColour(directory, layout, bits),
  };
  if (packing === 'jpeg') checkJpeg(coding);
  return coding;
}

/**
 * Checks the sample format. Samples declared as signed 8-bit are read as unsigned,
 * as libtiff (TIFFReadRGBAImage) and OpenSlide do: files with this declaration contain unsigned samples (seen in
 * `tiled-oversize-gray-i8.tif`).
 */
function checkSampleFormat(sampleFormat: number, bits: number): void {
  const isSigned = sampleFormat === sampleFormats.signed;
  const countsAsUnsigned =
    sampleFormat === sampleFormats.unsigned || sampleFormat === sampleFormats.undefined;
  if (!countsAsUnsigned && !(isSigned && bits === 8)) {
    throw notSupportedError(isSigned ? `signed samples of ${bits} bits` : `sample format ${sampleFormat}`);
  }
}

function isSupportedBitDepth(bits: number | undefined): bits is TiffCoding['bits'] {
  return bits === 1 || bits === 2 || bits === 4 || bits === 8 || bits === 16;
}

/** Colour samples per pixel of each colour model, without alpha and other extra samples. */
const colourSamples: Readonly<Record<TiffColour['model'], number>> = {
  grey: 1,
  palette: 1,
  rgb: 3,
  ycc: 3,
  cmyk: 4,
};

/** Reads the colour model, the alpha sample and the palette. @throws SlideError FORMAT_NOT_SUPPORTED, FILE_CORRUPT */
async function readColour(
  directory: TiffDirectory,
  layout: SampleLayout,
  bits: TiffCoding['bits'],
): Promise<TiffColour> {
  const model = modelOf(layout.photometric);
  if (!model) throw notSupportedError(nameOfPhotometric(layout.photometric));
  const { samplesPerPixel, extraSamples } = layout;
  const colourCount = colourSamples[model];
  const extraCount = samplesPerPixel - colourCount;
  const alphaIndex = extraSamples.findIndex(
    (meaning) => meaning === ASSOCIATED_ALPHA || meaning === UNASSOCIATED_ALPHA,
  );
  const alpha =
    alphaIndex < 0 || alphaIndex >= extraCount
      ? null
      : { sample: colourCount + alphaIndex, isAssociated: extraSamples[alphaIndex] === ASSOCIATED_ALPHA };
  // Several grey samples are several channels; displaying one of them would hide the others.
  const hasSeveralChannels = colourCount === 1 && extraCount > (alpha ? 1 : 0);
  if (extraCount < 0 || hasSeveralChannels) {
    throw notSupportedError(
      `${samplesPerPixel} samples a pixel with ${nameOfPhotometric(layout.photometric)}`,
    );
  }
  if (model === 'palette') return { model, alpha, palette: await readPalette(directory, bits) };
  if (model === 'ycc') await checkYcc(directory, layout, bits);
  if (model === 'cmyk') await checkInks(directory, bits);
  return model === 'grey'
    ? { model, alpha, isInverted: layout.photometric === photometric.whiteIsZero }
    : { model, alpha };
}

function modelOf(interpretation: number | null): TiffColour['model'] | null {
  switch (interpretation) {
    case photometric.whiteIsZero:
    case photometric.blackIsZero:
      return 'grey';
    case photometric.rgb:
      return 'rgb';
    case photometric.palette:
      return 'palette';
    case photometric.cmyk:
      return 'cmyk';
    case photometric.ycbcr:
      return 'ycc';
    default:
      return null;
  }
}

/**
 * Reads a palette as red, green and blue of each index. The file stores all reds, then all greens, then all blues, 2^bits
 * values of 16 bits each. Some writers use only 8 of these bits: then no value exceeds 255.
 *
 * Source: TIFF 6.0, section 5; libtiff (tif_getimage.c, checkcmap) for palettes of 8 bits.
 */
async function readPalette(directory: TiffDirectory, bits: TiffCoding['bits']): Promise<Uint8Array> {
  if (bits > 8) throw notSupportedError(`a palette for ${bits} bits a sample`);
  const entries = 2 ** bits;
  const values = (await directory.numbers(tag.ColorMap)) ?? [];
  if (values.length < 3 * entries) {
    throw new SlideError('FILE_CORRUPT', `A palette of ${entries} colours has ${values.length} values`);
  }
  const shift = values.some((value) => value > 255) ? 8 : 0;
  return Uint8Array.from({ length: 3 * entries }, (_, i) => {
    const [entry, channel] = [Math.floor(i / 3), i % 3];
    return (values[channel * entries + entry] as number) >> shift;
  });
}

/**
 * Rejects YCbCr samples that are subsampled or do not use the full range. A JPEG stream declares both itself. Source: TIFF
 * 6.0, section 21.
 */
async function checkYcc(directory: TiffDirectory, layout: SampleLayout, bits: number): Promise<void> {
  if (packings[layout.compression] === 'jpeg') return;
  const subsampling = (await directory.numbers(tag.YCbCrSubSampling)) ?? [2, 2]; // TIFF's default
  if (subsampling.some((step) => step !== 1)) {
    throw notSupportedError(
      `YCbCr with colours at 1/${subsampling.join(' × 1/')} of the resolution, other than in JPEG`,
    );
  }
  const range = (await directory.reals(tag.ReferenceBlackWhite)) ?? FULL_RANGE;
  if (bits !== 8 || FULL_RANGE.some((value, i) => range[i] !== value)) {
    throw notSupportedError(`YCbCr of ${bits} bits a sample between ${range.join(', ')}`);
  }
}

/** ReferenceBlackWhite of full-range samples: black and white of Y, Cb and Cr. */
const FULL_RANGE = [0, 255, 128, 255, 128, 255];
/** Value of InkSet for cyan, magenta, yellow and black. */
const CMYK_INKS = 1;

async function checkInks(directory: TiffDirectory, bits: number): Promise<void> {
  const inks = (await directory.number(tag.InkSet)) ?? CMYK_INKS;
  if (inks !== CMYK_INKS) throw notSupportedError('inks other than cyan, magenta, yellow and black');
  if (bits < 8) throw notSupportedError(`CMYK of ${bits} bits a sample`);
}

function checkJpeg({ bits, samplesPerPixel, isPlanar, colour }: SampleCoding): void {
  if (bits !== 8) throw notSupportedError(`JPEG of ${bits} bits a sample`);
  if (colour.model === 'palette') throw notSupportedError('JPEG of a palette');
  if (!isPlanar && samplesPerPixel !== colourSamples[colour.model]) {
    throw notSupportedError(`JPEG of ${samplesPerPixel} samples a pixel`);
  }
}

/**
 * Returns the colours of JPEG tiles that can be sent without decoding. Returns null for images that JPEG decoders draw incorrectly:
 * inverted grey, CMYK, and samples in separate planes.
 */
function storedJpegColour({ isPlanar, colour }: SampleCoding): JpegColour | null {
  if (isPlanar) return null;
  if (colour.model === 'rgb') return 'rgb';
  if (colour.model === 'ycc') return 'ycbcr';
  return colour.model === 'grey' && !colour.isInverted ? 'grey' : null;
}
