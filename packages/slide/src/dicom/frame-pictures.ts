/** The frames of one file as pictures: what codec, which colours, how the samples are laid out. */
import {
  completeJpeg,
  type JpegColour,
  type JpegPrefix,
  jpegPrefix,
  streamPlace,
} from '../jpeg/complete-jpeg.ts';
import type { JpegHeader } from '../jpeg/header.ts';
import { type EncodedImage, type GreyRange, type SampleColour, SlideError } from '../slide.ts';
import { corrupt, tooMuch } from './damage.ts';
import { openFrames } from './frames.ts';
import type { Instance, PixelDescription } from './instance.ts';
import { limits } from './limits.ts';
import { transferSyntaxOf } from './uids.ts';

/** Reads one frame of a file, from 0. @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED, FORMAT_NOT_SUPPORTED */
export type ReadPicture = (frame: number, signal?: AbortSignal) => Promise<EncodedImage>;

/**
 * @returns how to read the file's frames, each as it is stored
 * @throws SlideError FORMAT_NOT_SUPPORTED when they are written in a way that is not read, FILE_CORRUPT,
 *   FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export function openPictures(instance: Instance): ReadPicture {
  const { pixels, tileWidth: width, tileHeight: height } = instance;
  const syntax = transferSyntaxOf(instance.transferSyntax);
  if (!syntax) throw notRead('its transfer syntax');
  const colour = colourOf(pixels);
  const bits = bitsOf(pixels, colour);
  const frameBytes = (width * height * pixels.samplesPerPixel * bits) / 8;
  if (frameBytes > limits.frameBytes) throw tooMuch(`a frame has ${frameBytes} bytes`);
  const readFrame = openFrames(instance, syntax, frameBytes);

  if (syntax.codec === 'jpeg') {
    const meaning = jpegColourOf(pixels, colour);
    const prefix = jpegPrefix(null, meaning);
    return async (frame, signal) => {
      const buffer = await readFrame(frame, streamPlace(prefix), signal);
      return { codec: 'jpeg', bytes: completeFrame(buffer, prefix, meaning, width, height), width, height };
    };
  }
  if (syntax.codec === 'jpeg2000') {
    // The code stream undoes YBR_ICT and YBR_RCT itself. Source: PS3.5, section 8.2.4.
    const declared = colour === 'ycc' || typeof colour === 'object' ? { colour } : {};
    return async (frame, signal) => ({
      codec: 'jpeg2000',
      bytes: await readFrame(frame, 0, signal),
      width,
      height,
      ...declared,
    });
  }
  if (colour === 'transformed') throw corrupt(`${pixels.photometric} is a colour of JPEG 2000 alone`);
  if (syntax.codec === 'jpegls') {
    return async (frame, signal) => ({
      codec: 'jpegls',
      bytes: await readFrame(frame, 0, signal),
      width,
      height,
      colour,
    });
  }
  if (pixels.photometric === 'YBR_FULL_422') throw notRead('YBR_FULL_422 that is not compressed');
  const samplesPerPixel = typeof colour === 'object' ? 1 : 3;
  const isPlanar = syntax.codec === 'rle' || pixels.planarConfiguration === 1;
  const layout = { samplesPerPixel, bits, isPlanar } as const;
  const { codec } = syntax;
  return async (frame, signal) => {
    const bytes = await readFrame(frame, 0, signal);
    const isWhole = bytes.length === frameBytes || bytes.length === frameBytes + 1;
    if (codec === 'samples' && !isWhole) throw corrupt(`a frame has ${bytes.length} bytes`);
    return { codec, bytes, width, height, colour, layout };
  };
}

/** Whether the file's frames can go out as they are. */
export function isJpeg({ transferSyntax }: Instance): boolean {
  return transferSyntaxOf(transferSyntax)?.codec === 'jpeg';
}

/** `transformed`: the codec stores other colours, and gives RGB back by itself. */
type Colour = Exclude<SampleColour, 'ycc-of-openjpeg'> | 'transformed';

/** Source: PS3.3 C.7.6.3.1.2; for slides, C.8.12.4.1.5. */
const colours = new Map<string, Colour>([
  ['RGB', 'rgb'],
  ['YBR_FULL', 'ycc'],
  ['YBR_FULL_422', 'ycc'],
  ['YBR_ICT', 'transformed'],
  ['YBR_RCT', 'transformed'],
]);

function colourOf(pixels: PixelDescription): Colour {
  const { photometric, samplesPerPixel } = pixels;
  const isGrey = photometric === 'MONOCHROME1' || photometric === 'MONOCHROME2';
  const colour = isGrey ? greyRangeOf(pixels) : colours.get(photometric);
  if (!colour) throw notRead(`the photometric interpretation ${nameOf(photometric)}`);
  if (samplesPerPixel !== (isGrey ? 1 : 3))
    throw corrupt(`${photometric} has ${samplesPerPixel} samples a pixel`);
  return colour;
}

const refusedColours = new Set([
  'PALETTE COLOR',
  'YBR_PARTIAL_420',
  'YBR_PARTIAL_422',
  'XYB',
  'HSV',
  'ARGB',
  'CMYK',
]);

/** The name comes out of the file, where anything may stand: only names of the standard are repeated. */
function nameOf(photometric: string): string {
  return refusedColours.has(photometric) ? photometric : 'that it names';
}

/**
 * The window the file asks for, in stored values; else all values that its bits can hold. MONOCHROME1 means that
 * the least value is white.
 *
 * Source: PS3.3 C.11.2.1.2.1 (the values that become black and white), C.11.1.1.2 (slope and intercept).
 */
function greyRangeOf({ photometric, bitsStored, window, rescale }: PixelDescription): GreyRange {
  const stored = (value: number) => (value - rescale.intercept) / rescale.slope;
  const range = window
    ? {
        black: stored(window.center - 0.5 - (window.width - 1) / 2),
        white: stored(window.center - 0.5 + (window.width - 1) / 2),
      }
    : { black: 0, white: 2 ** bitsStored - 1 };
  return photometric === 'MONOCHROME1' ? { black: range.white, white: range.black } : range;
}

function bitsOf(pixels: PixelDescription, colour: Colour): 8 | 16 {
  const { bitsAllocated, bitsStored, highBit, pixelRepresentation } = pixels;
  const isGrey = typeof colour === 'object';
  if (bitsAllocated !== 8 && !(isGrey && bitsAllocated === 16)) {
    throw notRead(`${bitsAllocated} bits a sample${isGrey ? '' : ' of colour'}`);
  }
  if (bitsStored < 1 || bitsStored > bitsAllocated)
    throw corrupt(`it stores ${bitsStored} bits in ${bitsAllocated}`);
  if (!isGrey && bitsStored !== 8) throw notRead(`${bitsStored} bits a sample of colour`);
  if (highBit !== bitsStored - 1) throw notRead('samples that do not fill their lowest bits');
  if (pixelRepresentation !== 0) throw notRead('signed samples');
  return bitsAllocated;
}

function jpegColourOf(pixels: PixelDescription, colour: Colour): JpegColour {
  if (pixels.bitsAllocated !== 8) throw notRead(`JPEG of ${pixels.bitsAllocated} bits a sample`);
  if (colour === 'transformed') throw corrupt(`${pixels.photometric} is a colour of JPEG 2000 alone`);
  if (colour === 'rgb') return 'rgb';
  if (colour === 'ycc') return 'ycbcr';
  if (colour.black !== 0 || colour.white !== 255) throw notRead('grey JPEG with a window or with white as 0');
  return 'grey';
}

/** What goes out, or into a decoder, is what the file promises, whatever the stream says of itself. */
function completeFrame(
  buffer: Uint8Array,
  prefix: JpegPrefix,
  colour: JpegColour,
  width: number,
  height: number,
): Uint8Array {
  const { jpeg, header } = completeJpeg(buffer, prefix);
  checkHeader(header, colour, width, height);
  return jpeg.subarray(0, endOfJpeg(jpeg));
}

const LAST_SEQUENTIAL_FRAME = 0xc2;

function checkHeader(header: JpegHeader, colour: JpegColour, width: number, height: number): void {
  if (header.width !== width || header.height !== height) {
    throw corrupt(`a frame is ${header.width} × ${header.height} pixels, not ${width} × ${height}`);
  }
  if (header.frameMarker > LAST_SEQUENTIAL_FRAME || header.precision !== 8) {
    throw notRead('lossless, arithmetic or 12-bit JPEG');
  }
  if (header.components.length !== (colour === 'grey' ? 1 : 3)) {
    throw corrupt(`a frame has ${header.components.length} components`);
  }
}

/** Bytes that may follow EOI: one pads a frame to an even length, some writers add more. */
const MOST_PADDING = 16;

/** A decoder draws a stream that is cut, and makes up the rest: it must not get that far. */
function endOfJpeg(jpeg: Uint8Array): number {
  for (let end = jpeg.length; end > jpeg.length - MOST_PADDING && end >= 2; end--) {
    if (jpeg[end - 2] === 0xff && jpeg[end - 1] === 0xd9) return end;
    if (jpeg[end - 1] !== 0) break;
  }
  throw corrupt('a frame is cut: its JPEG has no end');
}

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${what}`);
}
