/** Reader of the frames of one DICOM file as encoded images with their codec, colour model and sample layout. */
import {
  completeJpeg,
  type JpegColour,
  type JpegPrefix,
  jpegPrefix,
  tileOffset,
} from '../jpeg/complete-jpeg.ts';
import type { JpegHeader } from '../jpeg/header.ts';
import { type EncodedImage, type GreyRange, notSupportedError, type SampleColour } from '../model/slide.ts';
import { corruptError, limitExceededError } from './errors.ts';
import { openFrames } from './frames.ts';
import type { Instance, PixelDescription } from './instance.ts';
import { limits } from './limits.ts';
import { transferSyntaxOf } from './uids.ts';

/** Reads one frame by its index from 0. @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED, FORMAT_NOT_SUPPORTED */
export type ReadFrameImage = (frame: number, signal?: AbortSignal) => Promise<EncodedImage>;

/**
 * Returns a function that reads the frames of a file without decoding them.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED when the encoding is not supported, FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export function openFrameImages(instance: Instance): ReadFrameImage {
  const { pixels, tileWidth: width, tileHeight: height } = instance;
  const syntax = transferSyntaxOf(instance.transferSyntax);
  if (!syntax) throw notSupportedError('its transfer syntax');
  const colour = colourOf(pixels);
  const bits = bitsOf(pixels, colour);
  const frameBytes = (width * height * pixels.samplesPerPixel * bits) / 8;
  if (frameBytes > limits.frameBytes) throw limitExceededError(`a frame has ${frameBytes} bytes`);
  const readFrame = openFrames(instance, syntax, frameBytes);

  if (syntax.codec === 'jpeg') {
    const jpegColour = jpegColourOf(pixels, colour);
    // `null`: the prefix contains no tables, because every frame has its own. It declares only the colours.
    const prefix = jpegPrefix(null, jpegColour);
    return async (frame, signal) => {
      const buffer = await readFrame(frame, tileOffset(prefix), signal); // leaves space for the prefix
      const bytes = completeFrame(buffer, prefix, jpegColour, width, height);
      return { codec: 'jpeg', bytes, width, height };
    };
  }
  if (syntax.codec === 'jpeg2000') {
    // States the colour only for YCbCr and for grey, whose colour is an object (`GreyRange`). Other frames are decoded to RGB: a
    // decoder reverses YBR_ICT and YBR_RCT as the code stream declares. Source: PS3.5, section 8.2.4.
    const declaredColour = colour === 'ycc' || typeof colour === 'object' ? { colour } : {};
    return async (frame, signal) => ({
      codec: 'jpeg2000',
      bytes: await readFrame(frame, 0, signal),
      width,
      height,
      ...declaredColour,
    });
  }
  if (colour === 'transformed') throw corruptError(`${pixels.photometric} is allowed only in JPEG 2000`);
  if (syntax.codec === 'jpegls') {
    return async (frame, signal) => ({
      codec: 'jpegls',
      bytes: await readFrame(frame, 0, signal),
      width,
      height,
      colour,
    });
  }
  if (pixels.photometric === 'YBR_FULL_422') throw notSupportedError('YBR_FULL_422 that is not compressed');
  const samplesPerPixel = typeof colour === 'object' ? 1 : 3;
  const isPlanar = syntax.codec === 'rle' || pixels.planarConfiguration === 1;
  const layout = { samplesPerPixel, bits, isPlanar } as const;
  const { codec } = syntax;
  return async (frame, signal) => {
    const bytes = await readFrame(frame, 0, signal);
    // An odd number of bytes is padded to an even one.
    const isComplete = bytes.length === frameBytes || bytes.length === frameBytes + 1;
    if (codec === 'samples' && !isComplete) throw corruptError(`a frame has ${bytes.length} bytes`);
    return { codec, bytes, width, height, colour, layout };
  };
}

/** Returns whether the frames are JPEG, so that they can be sent without decoding. */
export function isJpeg({ transferSyntax }: Instance): boolean {
  return transferSyntaxOf(transferSyntax)?.codec === 'jpeg';
}

/**
 * Colour model of a frame's samples. `transformed`: the codec converts RGB for compression, and its decoder returns RGB.
 * Grey samples have a `GreyRange` instead of a name: the samples displayed as black and white. `ycc-of-openjpeg` does not
 * occur in DICOM files.
 */
type FrameColour = Exclude<SampleColour, 'ycc-of-openjpeg'> | 'transformed';

/** Colours by photometric interpretation. Source: PS3.3 C.7.6.3.1.2; for slides, C.8.12.4.1.5. */
const coloursByPhotometric = new Map<string, FrameColour>([
  ['RGB', 'rgb'],
  ['YBR_FULL', 'ycc'],
  ['YBR_FULL_422', 'ycc'],
  ['YBR_ICT', 'transformed'],
  ['YBR_RCT', 'transformed'],
]);

function colourOf(pixels: PixelDescription): FrameColour {
  const { photometric, samplesPerPixel } = pixels;
  const isGrey = photometric === 'MONOCHROME1' || photometric === 'MONOCHROME2';
  const colour = isGrey ? greyRangeOf(pixels) : coloursByPhotometric.get(photometric);
  if (!colour) throw notSupportedError(`the photometric interpretation ${nameOf(photometric)}`);
  if (samplesPerPixel !== (isGrey ? 1 : 3))
    throw corruptError(`${photometric} has ${samplesPerPixel} samples a pixel`);
  return colour;
}

const unsupportedColours = new Set([
  'PALETTE COLOR',
  'YBR_PARTIAL_420',
  'YBR_PARTIAL_422',
  'XYB',
  'HSV',
  'ARGB',
  'CMYK',
]);

/** Returns the name for an error message if the standard defines it. Other text of the file may contain anything. */
function nameOf(photometric: string): string {
  return unsupportedColours.has(photometric) ? photometric : 'of the file';
}

/**
 * Returns the stored values displayed as black and white. They are the ends of the file's window (the range of grey values to
 * display); without a window, 0 and the maximum of the stored bits. In MONOCHROME1, the smallest value is white.
 *
 * Source: PS3.3 C.11.2.1.2.1 (the values that become black and white), C.11.1.1.2 (slope and intercept).
 */
function greyRangeOf({ photometric, bitsStored, window, rescale }: PixelDescription): GreyRange {
  const storedValue = (value: number) => (value - rescale.intercept) / rescale.slope;
  const fullRange = { black: 0, white: 2 ** bitsStored - 1 };
  const range = window
    ? {
        black: storedValue(window.center - 0.5 - (window.width - 1) / 2),
        white: storedValue(window.center - 0.5 + (window.width - 1) / 2),
      }
    : fullRange;
  return photometric === 'MONOCHROME1' ? { black: range.white, white: range.black } : range;
}

/** Returns the bits per sample, and rejects sample layouts that are not supported. */
function bitsOf(pixels: PixelDescription, colour: FrameColour): 8 | 16 {
  const { bitsAllocated, bitsStored, highBit, pixelRepresentation } = pixels;
  const isGrey = typeof colour === 'object';
  if (bitsAllocated !== 8 && !(isGrey && bitsAllocated === 16)) {
    throw notSupportedError(`${bitsAllocated} bits a sample${isGrey ? '' : ' of colour'}`);
  }
  if (bitsStored < 1 || bitsStored > bitsAllocated)
    throw corruptError(`it stores ${bitsStored} bits in ${bitsAllocated}`);
  if (!isGrey && bitsStored !== 8) throw notSupportedError(`${bitsStored} bits a sample of colour`);
  if (highBit !== bitsStored - 1) throw notSupportedError('samples that do not fill their lowest bits');
  if (pixelRepresentation !== 0) throw notSupportedError('signed samples');
  return bitsAllocated;
}

function jpegColourOf(pixels: PixelDescription, colour: FrameColour): JpegColour {
  if (pixels.bitsAllocated !== 8) throw notSupportedError(`JPEG of ${pixels.bitsAllocated} bits a sample`);
  if (colour === 'transformed') throw corruptError(`${pixels.photometric} is allowed only in JPEG 2000`);
  if (colour === 'rgb') return 'rgb';
  if (colour === 'ycc') return 'ycbcr';
  if (colour.black !== 0 || colour.white !== 255)
    throw notSupportedError('grey JPEG with a window or MONOCHROME1');
  return 'grey';
}

/** Adds the prefix to a JPEG frame, checks that the frame matches the header of the file, and removes trailing padding. */
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

/** SOF2, the JPEG frame marker of progressive Huffman coding; higher ones are lossless, hierarchical or arithmetic. */
const LAST_SUPPORTED_FRAME_MARKER = 0xc2;

function checkHeader(header: JpegHeader, colour: JpegColour, width: number, height: number): void {
  if (header.width !== width || header.height !== height) {
    throw corruptError(`a frame is ${header.width} × ${header.height} pixels, not ${width} × ${height}`);
  }
  if (header.frameMarker > LAST_SUPPORTED_FRAME_MARKER || header.precision !== 8) {
    throw notSupportedError('lossless, arithmetic or 12-bit JPEG');
  }
  if (header.components.length !== (colour === 'grey' ? 1 : 3)) {
    throw corruptError(`a frame has ${header.components.length} components`);
  }
}

/** Maximum number of zero bytes after the marker EOI (FF D9). One makes an odd length even; some writers add more. */
const MAX_PADDING = 15;

/** Returns the end of the JPEG. Rejects a truncated JPEG, because a decoder would fill the missing part with grey. */
function endOfJpeg(jpeg: Uint8Array): number {
  for (let end = jpeg.length; end >= jpeg.length - MAX_PADDING && end >= 2; end--) {
    if (jpeg[end - 2] === 0xff && jpeg[end - 1] === 0xd9) return end;
    if (jpeg[end - 1] !== 0) break;
  }
  throw corruptError('a frame is truncated: its JPEG has no EOI marker');
}
