// The triple-slash reference makes the declarations available to every project that compiles these sources.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./codecs.d.ts" />
import type openJpeg from '@cornerstonejs/codec-openjpeg/decodewasmjs';
import { type GreyRange, SlideError } from '../model/slide.ts';
import { type Jpeg2000Header, readJpeg2000Header } from './jpeg2000-header.ts';
import { paintSamples } from './paint-samples.ts';
import { type Raster, shrinkRaster } from './raster.ts';

/** Options of the decoder, and the size that the file declares. */
export interface Jpeg2000Request {
  /** Declared size in pixels; a picture of another size is rejected before it is decoded. */
  readonly width: number;
  readonly height: number;
  /** Reduction factor in both directions; a power of two that divides both sides. */
  readonly shrink?: number;
  /**
   * Interpretation of the samples.
   *
   * - `as-declared`: as the picture declares, RGB without a declaration.
   * - `ycc`: YCbCr without a declaration, as Aperio writes with compression 33003. Other writers of that
   * number let the code stream transform the colours; those are RGB.
   * - `ycc-of-openjpeg`: YCbCr where OpenJPEG wrote the stream, even if it transforms colours; else
   * `as-declared`.
   * - A range: for a picture of one component.
   */
  readonly colour: 'as-declared' | 'ycc' | 'ycc-of-openjpeg' | GreyRange;
}

/** Maximum decoded pixels; OpenJPEG needs some 24 bytes for each. */
const MAX_PIXELS = 2 ** 23;
/** The codec's memory never shrinks; an instance above this size is not used again. */
const MAX_KEPT_BYTES = 128 * 2 ** 20;

type OpenJpeg = Awaited<ReturnType<typeof openJpeg>>;

let codec: Promise<OpenJpeg> | null = null;
/** Error messages of OpenJPEG, which it prints instead of throwing. */
let codecErrors: string[] = [];

interface Decoded {
  readonly samples: Uint8ClampedArray;
  readonly codecErrors: readonly string[];
}

/**
 * Decodes a JPEG 2000 picture, a bare code stream or a .jp2 file. A reduction decodes less of it.
 *
 * Subsampled chroma (4:2:2, 4:2:0) always means YCbCr, whatever `colour` is.
 *
 * @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export async function decodeJpeg2000(bytes: Uint8Array, request: Jpeg2000Request): Promise<Raster> {
  const { width, height, shrink = 1, colour } = request;
  const header = readJpeg2000Header(bytes);
  if (header.width !== width || header.height !== height) {
    throw new SlideError(
      'FILE_CORRUPT',
      `A tile is ${header.width} × ${header.height} pixels, not ${width} × ${height}`,
    );
  }
  const isGrey = header.components === 1 && header.bits <= 16;
  const isDeep = header.bits > 8 && header.bits <= 16 && !header.isSubsampled;
  const isColour = header.components === 3 && (header.bits === 8 || isDeep);
  if ((!isGrey && !isColour) || header.isSigned) {
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      `Not supported: JPEG 2000 of ${header.components} components of ${header.bits} bits`,
    );
  }

  const halvings = Math.min(Math.log2(shrink), header.halvings);
  const scale = 2 ** halvings;
  const [reducedWidth, reducedHeight] = [Math.ceil(width / scale), Math.ceil(height / scale)];
  if (reducedWidth * reducedHeight > MAX_PIXELS) {
    throw new SlideError('LIMIT_EXCEEDED', `A picture has ${reducedWidth} × ${reducedHeight} pixels`);
  }
  const stream = header.isSubsampled ? wrapInJp2(header) : header.codeStream;
  const decoded = await decodeCodeStream(stream, halvings);
  const bytesPerSample = header.bits > 8 ? 2 : 1;
  if (decoded.samples.length !== reducedWidth * reducedHeight * header.components * bytesPerSample) {
    throw corrupt(decoded.codecErrors);
  }
  const samples = new Uint8Array(decoded.samples.buffer);
  const isYcc =
    (colour === 'ycc' && !header.isTransformed) ||
    (colour === 'ycc-of-openjpeg' && header.isByOpenJpeg) ||
    (colour !== 'ycc' && header.isDeclaredYcc);
  const range = typeof colour === 'object' ? colour : null;
  const values = header.isSubsampled
    ? spreadColours(samples, header, halvings)
    : bytesPerSample === 2
      ? new Uint16Array(samples.buffer)
      : samples;
  const raster = paintSamples(
    {
      width: reducedWidth,
      height: reducedHeight,
      samplesPerPixel: header.components,
      values:
        isGrey || header.bits === 8 ? values : Uint8Array.from(values, (value) => value >> (header.bits - 8)),
      isPlanar: false,
      maximum: isGrey ? 2 ** header.bits - 1 : 255,
    },
    isGrey ? range : isYcc || header.isSubsampled ? 'ycc' : 'rgb',
  );
  return shrinkRaster(raster, shrink / scale);
}

/**
 * Order of the components requested from the codec: the two subsampled ones, then the one of full resolution.
 */
const COMPONENT_ORDER = [1, 2, 0] as const;

/**
 * Wraps a code stream with subsampled chroma in a .jp2 file.
 *
 * The codec would convert such colours to RGB and truncate fractions. Components in another order are
 * returned unchanged. The codec then treats each as a plane of full resolution, so only the start of the
 * smaller ones is valid. The rest is whatever follows in its memory, so the larger component stands last.
 *
 * Source: ITU-T T.800, annexes I.5.3.1 (ihdr), I.5.3.3 (colr: sRGB), I.5.3.4 (pclr) and I.5.3.5 (cmap: direct
 * use).
 */
function wrapInJp2({ codeStream, width, height }: Jpeg2000Header): Uint8Array {
  const channels = COMPONENT_ORDER.length;
  const bitsOfEach = COMPONENT_ORDER.map(() => 7);
  const unusedPalette = COMPONENT_ORDER.map(() => 0);
  return Buffer.concat([
    box('jP  ', [0x0d, 0x0a, 0x87, 0x0a]),
    box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')),
    box('jp2h', [
      ...box('ihdr', [...bigEndian(height), ...bigEndian(width), 0, channels, 7, 7, 0, 0]),
      ...box('colr', [1, 0, 0, ...bigEndian(16)]),
      ...box('pclr', [0, 1, channels, ...bitsOfEach, ...unusedPalette]),
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

function bigEndian(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/**
 * Assigns every pixel the chroma that it shares with its neighbours, as OpenSlide does.
 *
 * @param handedOver samples of the planes in the order of `COMPONENT_ORDER`, interleaved
 */
function spreadColours(
  decodedPlanes: Uint8Array,
  { width, height, isHalvedInHeight }: Jpeg2000Header,
  halvings: number,
): Uint8Array {
  const scale = 2 ** halvings;
  const [wide, high] = [Math.ceil(width / scale), Math.ceil(height / scale)];
  const colourWide = Math.ceil(Math.ceil(width / 2) / scale);
  const down = isHalvedInHeight ? 1 : 0;
  const ycc = new Uint8Array(wide * high * 3);
  for (let y = 0, to = 0; y < high; y++) {
    const colourRow = (y >> down) * colourWide;
    for (let x = 0; x < wide; x++, to += 3) {
      const colour = (colourRow + (x >> 1)) * 3;
      ycc[to] = decodedPlanes[to + 2] as number;
      ycc[to + 1] = decodedPlanes[colour] as number;
      ycc[to + 2] = decodedPlanes[colour + 1] as number;
    }
  }
  return ycc;
}

/** @returns no samples when the stream cannot be decoded, and the codec's error messages */
async function decodeCodeStream(codeStream: Uint8Array, halvings: number): Promise<Decoded> {
  const loaded = await loadCodec();
  codecErrors = [];
  try {
    const decoder = new loaded.J2KDecoder();
    decoder.getEncodedBuffer(codeStream.length).set(codeStream);
    decoder.decodeSubResolution(halvings, 0);
    const samples = decoder.getDecodedBuffer();
    decoder.delete();
    if (loaded.HEAPU8.length > MAX_KEPT_BYTES) codec = null;
    return { samples, codecErrors };
  } catch (cause) {
    // After an exception the codec's memory is in an undefined state.
    codec = null;
    throw corrupt([String(cause)]);
  }
}

function loadCodec(): Promise<OpenJpeg> {
  codec ??= import('@cornerstonejs/codec-openjpeg/decodewasmjs').then(({ default: openJpeg }) => {
    const listen = (line: string) => {
      if (line.startsWith('[ERROR]')) codecErrors.push(line);
    };
    return openJpeg({ print: listen, printErr: listen });
  });
  return codec;
}

function corrupt(reasons: readonly string[]): SlideError {
  const cause = reasons.join(' ');
  return new SlideError('FILE_CORRUPT', 'A JPEG 2000 tile cannot be decoded', cause === '' ? {} : { cause });
}
