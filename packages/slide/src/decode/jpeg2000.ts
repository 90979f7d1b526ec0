// The triple-slash reference makes the type declarations of the codec available to every project that compiles these sources.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./codecs.d.ts" />
/** A decoder of JPEG 2000 images. It uses OpenJPEG, compiled to WebAssembly. */
import type openJpeg from '@cornerstonejs/codec-openjpeg/decodewasmjs';
import { type GreyRange, SlideError } from '../model/slide.ts';
import { type Jpeg2000Header, readJpeg2000Header } from './jpeg2000-header.ts';
import { type Raster, shrinkRaster } from './raster.ts';
import { samplesToRgb } from './samples-to-rgb.ts';

/** Options of `decodeJpeg2000`, with the size that the file declares for the image. */
export interface Jpeg2000Request {
  /** Declared size in pixels; an image of another size is rejected before it is decoded. */
  readonly width: number;
  readonly height: number;
  /** Reduction factor in both directions; a power of two that divides both sides; 1 by default. */
  readonly shrink?: number;
  /**
   * Interpretation of the samples.
   *
   * - `as-declared`: the colour space that the boxes (the header records of a .jp2 file) declare, or RGB without one.
   * - `ycc`: YCbCr, which Aperio writes without declaring it (TIFF compression 33003); but RGB if the code stream
   *   contains a colour transform, as other writers of that compression do.
   * - `ycc-of-openjpeg`: YCbCr if OpenJPEG wrote the stream, even if the stream contains a colour transform;
   *   otherwise like `as-declared`.
   * - A grey range, for an image of one component.
   */
  readonly colour: 'as-declared' | 'ycc' | 'ycc-of-openjpeg' | GreyRange;
}

/** Maximum decoded pixels; OpenJPEG needs about 24 bytes of memory for each. */
const MAX_PIXELS = 2 ** 23;
/** The memory of a codec instance never shrinks; an instance with more than this is not used again. */
const MAX_REUSED_CODEC_BYTES = 128 * 2 ** 20;

type OpenJpeg = Awaited<ReturnType<typeof openJpeg>>;

/** The codec instance of this process; null before the first image and after an instance was discarded. */
let codec: Promise<OpenJpeg> | null = null;
/** Error messages for the current image; OpenJPEG prints messages instead of throwing errors. */
let codecErrors: string[] = [];

interface Decoded {
  readonly samples: Uint8ClampedArray;
  readonly codecErrors: readonly string[];
}

/**
 * Decodes a JPEG 2000 image: a code stream or a .jp2 file. To reduce the image, it decodes a smaller resolution of the stream.
 * If the smallest resolution is still larger than requested, it also averages pixels.
 *
 * An image with subsampled chroma (4:2:2, 4:2:0) is always interpreted as YCbCr, whatever `colour` is.
 *
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export async function decodeJpeg2000(bytes: Uint8Array, request: Jpeg2000Request): Promise<Raster> {
  const { width, height, shrink = 1, colour } = request;
  const header = readJpeg2000Header(bytes);
  if (header.width !== width || header.height !== height) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile has ${header.width} × ${header.height} pixels, but the file declares ${width} × ${height}`,
    );
  }
  const isGrey = header.components === 1 && header.bits <= 16;
  const isDeepColour = header.bits > 8 && header.bits <= 16 && !header.isSubsampled;
  const isColour = header.components === 3 && (header.bits === 8 || isDeepColour);
  if ((!isGrey && !isColour) || header.isSigned) {
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      `Not supported: JPEG 2000 of ${header.components} ${header.isSigned ? 'signed ' : ''}components of ${header.bits} bits`,
    );
  }

  const halvings = Math.min(Math.log2(shrink), header.halvings);
  const scale = 2 ** halvings;
  const [reducedWidth, reducedHeight] = [Math.ceil(width / scale), Math.ceil(height / scale)];
  if (reducedWidth * reducedHeight > MAX_PIXELS) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A JPEG 2000 image of ${reducedWidth} × ${reducedHeight} pixels is too large (maximum ${MAX_PIXELS} pixels)`,
    );
  }
  const stream = header.isSubsampled ? wrapInJp2(header) : header.codeStream;
  const decoded = await decodeCodeStream(stream, halvings);
  const bytesPerSample = header.bits > 8 ? 2 : 1;
  if (decoded.samples.length !== reducedWidth * reducedHeight * header.components * bytesPerSample) {
    throw corruptError(decoded.codecErrors);
  }
  const samples = new Uint8Array(decoded.samples.buffer); // `decoded.samples` is a copy that fills its buffer
  const isYcc =
    (colour === 'ycc' && !header.isTransformed) ||
    (colour === 'ycc-of-openjpeg' && header.isByOpenJpeg) ||
    // `ycc` has priority over the boxes: for a stream with a colour transform, `ycc` means RGB, whatever the boxes declare.
    (colour !== 'ycc' && header.isDeclaredYcc);
  let values: Uint8Array | Uint16Array = samples;
  if (header.isSubsampled) values = upsampleChroma(samples, header, halvings);
  else if (bytesPerSample === 2) values = new Uint16Array(samples.buffer);
  // Colours are reduced to 8 bits; grey keeps all its bits, because its range is chosen later.
  const isReducedTo8Bits = !isGrey && header.bits > 8;

  const range = typeof colour === 'object' ? colour : null;
  const colourModel = isYcc || header.isSubsampled ? 'ycc' : 'rgb';
  const raster = samplesToRgb(
    {
      width: reducedWidth,
      height: reducedHeight,
      samplesPerPixel: header.components,
      values: isReducedTo8Bits ? Uint8Array.from(values, (value) => value >> (header.bits - 8)) : values,
      isPlanar: false,
      maximum: isGrey ? 2 ** header.bits - 1 : 255,
    },
    isGrey ? range : colourModel,
  );
  return shrinkRaster(raster, shrink / scale);
}

/** Order in which the codec returns the components: the two subsampled ones, then the one of full resolution. */
const COMPONENT_ORDER = [1, 2, 0] as const;

/**
 * Wraps a code stream with subsampled chroma in a .jp2 file that maps its components to another order.
 *
 * The codec would convert YCbCr in the usual order to RGB and truncate fractions; with another order it does not change
 * the samples. It copies every component as if it had full resolution, so only the start of a subsampled plane
 * is valid, and the bytes after it are other memory of the codec. The component of full resolution must be the last,
 * so that the codec does not read beyond its memory.
 *
 * Source: ITU-T T.800, annexes I.5.3.1 (ihdr), I.5.3.3 (colr: sRGB), I.5.3.4 (pclr) and I.5.3.5 (cmap: direct use).
 */
function wrapInJp2({ codeStream, width, height }: Jpeg2000Header): Uint8Array {
  const channels = COMPONENT_ORDER.length;
  /** How boxes state a depth of 8 bits: as the number of bits minus 1. */
  const depth8 = 7;
  const compression = 7; // the only value that the standard allows
  const depths = COMPONENT_ORDER.map(() => depth8);
  const unusedPalette = COMPONENT_ORDER.map(() => 0);
  return Buffer.concat([
    box('jP  ', [0x0d, 0x0a, 0x87, 0x0a]), // the signature
    box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')), // the brand, version 0, one compatible brand
    box('jp2h', [
      ...box('ihdr', [...bigEndian(height), ...bigEndian(width), 0, channels, depth8, compression, 0, 0]),
      ...box('colr', [1, 0, 0, ...bigEndian(16)]), // 1: an enumerated colour space; 16: sRGB
      ...box('pclr', [0, 1, channels, ...depths, ...unusedPalette]), // 0, 1: a palette of one entry
      // Each component: its index (2 bytes), 0 for direct use, a palette column (unused).
      ...box(
        'cmap',
        COMPONENT_ORDER.flatMap((component) => [0, component, 0, 0]),
      ),
    ]),
    box('jp2c', codeStream),
  ]);
}

function box(type: string, contents: ArrayLike<number>): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(contents.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, Buffer.from(contents)]);
}

/** Returns the four bytes of a big-endian number. */
function bigEndian(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/**
 * Repeats each chroma sample for all pixels that share it, without interpolation, as OpenSlide does.
 *
 * @param decodedPlanes samples of the planes in the order of `COMPONENT_ORDER`, interleaved
 * @returns interleaved YCbCr samples
 */
function upsampleChroma(
  decodedPlanes: Uint8Array,
  { width, height, isHalvedInHeight }: Jpeg2000Header,
  halvings: number,
): Uint8Array {
  const scale = 2 ** halvings;
  const [reducedWidth, reducedHeight] = [Math.ceil(width / scale), Math.ceil(height / scale)];
  const chromaWidth = Math.ceil(Math.ceil(width / 2) / scale);
  const rowShift = isHalvedInHeight ? 1 : 0;
  const ycc = new Uint8Array(reducedWidth * reducedHeight * 3);
  for (let y = 0, i = 0; y < reducedHeight; y++) {
    const chromaRowStart = (y >> rowShift) * chromaWidth;
    for (let x = 0; x < reducedWidth; x++, i += 3) {
      const chromaAt = (chromaRowStart + (x >> 1)) * 3;
      ycc[i] = decodedPlanes[i + 2] as number;
      ycc[i + 1] = decodedPlanes[chromaAt] as number;
      ycc[i + 2] = decodedPlanes[chromaAt + 1] as number;
    }
  }
  return ycc;
}

/**
 * Decodes a code stream, or a .jp2 file, with the codec.
 *
 * @returns the interleaved samples, none when the stream cannot be decoded; and the codec's error messages
 * @throws SlideError FILE_CORRUPT when the codec throws
 */
async function decodeCodeStream(codeStream: Uint8Array, halvings: number): Promise<Decoded> {
  const loaded = await loadCodec();
  codecErrors = [];
  try {
    const decoder = new loaded.J2KDecoder();
    decoder.getEncodedBuffer(codeStream.length).set(codeStream);
    const allLayers = 0;
    decoder.decodeSubResolution(halvings, allLayers);
    const samples = decoder.getDecodedBuffer();
    decoder.delete();
    if (loaded.HEAPU8.length > MAX_REUSED_CODEC_BYTES) codec = null;
    return { samples, codecErrors };
  } catch (cause) {
    // After an exception the codec's memory is in an undefined state.
    codec = null;
    throw corruptError([String(cause)]);
  }
}

function loadCodec(): Promise<OpenJpeg> {
  codec ??= import('@cornerstonejs/codec-openjpeg/decodewasmjs').then(({ default: openJpeg }) => {
    const collectErrors = (line: string) => {
      if (line.startsWith('[ERROR]')) codecErrors.push(line);
    };
    return openJpeg({ print: collectErrors, printErr: collectErrors });
  });
  return codec;
}

function corruptError(reasons: readonly string[]): SlideError {
  const cause = reasons.join(' ');
  return new SlideError('FILE_CORRUPT', 'A JPEG 2000 tile cannot be decoded', cause === '' ? {} : { cause });
}
