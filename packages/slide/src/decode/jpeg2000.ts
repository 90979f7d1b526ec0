// Whoever compiles this package's sources needs the declarations, and an untyped module takes none by import.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./codecs.d.ts" />
import type openJpeg from '@cornerstonejs/codec-openjpeg/decodewasmjs';
import { type GreyRange, SlideError } from '../slide.ts';
import { type Jpeg2000Header, readJpeg2000Header } from './jpeg2000-header.ts';
import { paintSamples } from './paint-samples.ts';
import { type Raster, shrinkRaster } from './raster.ts';

/** What to decode, and what the picture must be. */
export interface Jpeg2000Request {
  /** Pixels that were promised; a picture of another size is refused before it is decoded. */
  readonly width: number;
  readonly height: number;
  /** How many pixels, both ways, become one; a power of two that divides both sides. */
  readonly shrink?: number;
  /**
   * `as-declared`: by what the picture says of itself, RGB where it says nothing. `ycc`: YCbCr where it says nothing,
   * as Aperio writes with compression 33003; other writers of that number let the code stream transform the colours,
   * and then they are RGB. `ycc-of-openjpeg`: YCbCr
   * where OpenJPEG wrote the stream, even if it transforms colours, `as-declared` where another did. A range: of a picture with one component.
   */
  readonly colour: 'as-declared' | 'ycc' | 'ycc-of-openjpeg' | GreyRange;
}

/** Pixels decoded at once: OpenJPEG keeps some 24 bytes for each. */
const MAX_PIXELS = 2 ** 23;
/** The codec's memory never becomes smaller; one that has grown past this is not used again. */
const MAX_KEPT_BYTES = 128 * 2 ** 20;

type OpenJpeg = Awaited<ReturnType<typeof openJpeg>>;

let codec: Promise<OpenJpeg> | null = null;
/** What OpenJPEG says of the picture that it decodes, instead of throwing. */
let complaints: string[] = [];

interface Decoded {
  readonly samples: Uint8ClampedArray;
  readonly complaints: readonly string[];
}

/**
 * Decode a JPEG 2000 picture, a bare code stream or a .jp2 file. Shrinking decodes less of it instead of more.
 *
 * Colours at half resolution (4:2:2, 4:2:0) always become RGB, whatever `colour` says: nothing but YCbCr is stored
 * so.
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
      `Not read: JPEG 2000 of ${header.components} components of ${header.bits} bits`,
    );
  }

  const halvings = Math.min(Math.log2(shrink), header.halvings);
  const scale = 2 ** halvings;
  const [reducedWidth, reducedHeight] = [Math.ceil(width / scale), Math.ceil(height / scale)];
  if (reducedWidth * reducedHeight > MAX_PIXELS) {
    throw new SlideError('LIMIT_EXCEEDED', `A picture has ${reducedWidth} × ${reducedHeight} pixels`);
  }
  const stream = header.isSubsampled ? inBoxes(header) : header.codeStream;
  const decoded = await decodeCodeStream(stream, halvings);
  const bytesPerSample = header.bits > 8 ? 2 : 1;
  if (decoded.samples.length !== reducedWidth * reducedHeight * header.components * bytesPerSample) {
    throw corrupt(decoded.complaints);
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

/** Components as the codec shall hand them over: the two of half resolution, then the one of full resolution. */
const HANDED_OVER = [1, 2, 0] as const;

/**
 * A .jp2 file around a code stream whose colours have half the resolution.
 *
 * The codec turns such colours into RGB by itself, and cuts off fractions. Components in another order it hands over
 * as they are; then it takes each for a plane of full resolution, so that only the beginning of the smaller ones means
 * anything: the rest is whatever follows them in its memory, where the larger one stands last.
 *
 * Source: ITU-T T.800, annexes I.5.3.1 (ihdr), I.5.3.3 (colr: sRGB), I.5.3.4 (pclr) and I.5.3.5 (cmap: direct use).
 */
function inBoxes({ codeStream, width, height }: Jpeg2000Header): Uint8Array {
  const channels = HANDED_OVER.length;
  const bitsOfEach = HANDED_OVER.map(() => 7);
  const unusedPalette = HANDED_OVER.map(() => 0);
  return Buffer.concat([
    box('jP  ', [0x0d, 0x0a, 0x87, 0x0a]),
    box('ftyp', Buffer.from('jp2 \0\0\0\0jp2 ', 'latin1')),
    box('jp2h', [
      ...box('ihdr', [...bigEndian(height), ...bigEndian(width), 0, channels, 7, 7, 0, 0]),
      ...box('colr', [1, 0, 0, ...bigEndian(16)]),
      ...box('pclr', [0, 1, channels, ...bitsOfEach, ...unusedPalette]),
      ...box(
        'cmap',
        HANDED_OVER.flatMap((component) => [0, component, 0, 0]),
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
 * Every pixel with the colours that it shares with its neighbours, as OpenSlide does.
 *
 * @param handedOver planes in the order of `HANDED_OVER`, sample by sample side by side
 */
function spreadColours(
  handedOver: Uint8Array,
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
      ycc[to] = handedOver[to + 2] as number;
      ycc[to + 1] = handedOver[colour] as number;
      ycc[to + 2] = handedOver[colour + 1] as number;
    }
  }
  return ycc;
}

/** @returns empty when the stream cannot be decoded, with what the codec says of it */
async function decodeCodeStream(codeStream: Uint8Array, halvings: number): Promise<Decoded> {
  const loaded = await loadCodec();
  complaints = [];
  try {
    const decoder = new loaded.J2KDecoder();
    decoder.getEncodedBuffer(codeStream.length).set(codeStream);
    decoder.decodeSubResolution(halvings, 0);
    const samples = decoder.getDecodedBuffer();
    decoder.delete();
    if (loaded.HEAPU8.length > MAX_KEPT_BYTES) codec = null;
    return { samples, complaints };
  } catch (cause) {
    // What has thrown may have left its memory in any state.
    codec = null;
    throw corrupt([String(cause)]);
  }
}

function loadCodec(): Promise<OpenJpeg> {
  codec ??= import('@cornerstonejs/codec-openjpeg/decodewasmjs').then(({ default: openJpeg }) => {
    const listen = (line: string) => {
      if (line.startsWith('[ERROR]')) complaints.push(line);
    };
    return openJpeg({ print: listen, printErr: listen });
  });
  return codec;
}

function corrupt(reasons: readonly string[]): SlideError {
  const cause = reasons.join(' ');
  return new SlideError('FILE_CORRUPT', 'A JPEG 2000 tile cannot be decoded', cause === '' ? {} : { cause });
}
