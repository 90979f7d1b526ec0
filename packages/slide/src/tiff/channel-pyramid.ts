/**
 * Composes the channels of a slide, each a grey pyramid of its own, into one colour pyramid.
 *
 * docs/formats/channels.md explains how colours and contrast are chosen.
 */
import { addChannel, colourOfChannel } from '../decode/compose-channels.ts';
import { cropToLevel, estimateContrast } from '../decode/contrast.ts';
import { decodeBrightness } from '../decode/decode-brightness.ts';
import type { Colour } from '../decode/raster.ts';
import { type EncodedImage, type GreyRange, SlideError, type TileAddress } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readOnce } from '../source/read-once.ts';
import type { LevelTiles } from './declared-levels.ts';
import { readDeclaredRange } from './declared-range.ts';
import type { TiffDirectory } from './directory.ts';
import { readImageCoding } from './image-coding.ts';
import { nameOfPhotometric, readSampleLayout } from './image-layout.ts';
import { openPyramid, type Pyramid } from './pyramid.ts';
import type { TiffImage } from './tiff-image.ts';

/** One channel at all its resolutions. */
export interface ChannelImages {
  /** In the order of the file, at least one. */
  readonly tiffImages: readonly TiffImage[];
  /** Colour stated by the file; null when there is none. */
  readonly colour: Colour | null;
  /** Bits of a sample that the camera used, if the file states them. */
  readonly significantBits?: number | null;
}

/** Every tile of the slide reads one native tile per channel. */
export const MAX_CHANNELS = 64;
/** Pixels of a tile: one channel and the composed tile are in memory at once. */
const MAX_PIXELS = 2 ** 24;
const WHITE: Colour = { r: 255, g: 255, b: 255 };

interface OpenChannel {
  readonly pyramid: Pyramid;
  readonly colour: Colour;
  /** Bits of one sample. */
  readonly bits: 8 | 16;
  readonly readRange: () => Promise<GreyRange>;
}

/**
 * @param contrast `stretched`: nearly the darkest and brightest samples of a channel become black and full colour;
 *   `as-stored`: only samples of 16 bits are stretched, because few cameras use all of them
 * @returns the levels that all channels have; empty tiles are black
 * @throws SlideError FORMAT_NOT_SUPPORTED when the channels cannot be composed, FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function openChannelPyramid(
  source: ByteSource,
  channels: readonly ChannelImages[],
  contrast: 'stretched' | 'as-stored',
): Promise<LevelTiles & Pick<Pyramid, 'full'>> {
  if (channels.length > MAX_CHANNELS) throw notSupported(`${channels.length} channels`);
  const open: OpenChannel[] = [];
  for (const [i, channel] of channels.entries()) {
    open.push(await openChannel(source, channel, i, channels.length, contrast));
  }
  const [first, ...others] = open;
  if (!first) throw notSupported('a file without channels');
  for (const { pyramid } of others) checkSameLevels(pyramid, first.pyramid);
  const [full, ...smaller] = first.pyramid.levels.map((level) => ({
    ...level,
    needsRendering: true as const,
  }));
  if (!full) throw notSupported('a file without an image of the slide');
  for (const { tileWidth, tileHeight } of [full, ...smaller]) {
    if (tileWidth * tileHeight > MAX_PIXELS) {
      throw new SlideError('LIMIT_EXCEEDED', `Channels have tiles of ${tileWidth} × ${tileHeight} pixels`);
    }
  }
  return {
    full: first.pyramid.full,
    levels: [full, ...smaller],
    readTile: (address, signal) => readComposedTile(open, address, signal),
  };
}

async function openChannel(
  source: ByteSource,
  { tiffImages, colour, significantBits }: ChannelImages,
  index: number,
  count: number,
  contrast: 'stretched' | 'as-stored',
): Promise<OpenChannel> {
  const pyramid = await openPyramid(source, tiffImages);
  const { directory, orientation } = pyramid.full;
  const bits = await readBits(directory);
  if (orientation !== 1) throw notSupported('channels that are stored rotated');
  const whole = { black: 0, white: 2 ** bits - 1 };
  const isStretched = contrast === 'stretched' || bits === 16;
  const used = significantBits && significantBits < bits ? significantBits : bits;
  const declared = await readDeclaredRange(directory, bits);
  return {
    pyramid,
    bits,
    colour:
      colour ?? (count === 1 ? WHITE : ((await readPaletteColour(directory)) ?? colourOfChannel(index))),
    readRange: readOnce(async () => (isStretched ? (declared ?? estimateContrast(pyramid, used)) : whole)),
  };
}

/** @throws SlideError FORMAT_NOT_SUPPORTED for more than one sample per pixel, or not 8 or 16 bits */
async function readBits(directory: TiffDirectory): Promise<8 | 16> {
  const { samplesPerPixel, bitsPerSample, photometric } = await readSampleLayout(directory);
  const [bits] = bitsPerSample;
  const isGrey = photometric !== null && photometric <= 3 && photometric !== 2;
  if (samplesPerPixel !== 1 || !isGrey) {
    throw notSupported(
      `a channel of ${samplesPerPixel} samples a pixel and ${nameOfPhotometric(photometric)}`,
    );
  }
  if (bits !== 8 && bits !== 16) throw notSupported(`a channel of ${bits} bits a sample`);
  return bits;
}

/** Reads the last colour of a palette that is linear from black, which ImageJ and Bio-Formats write as channel colour. */
async function readPaletteColour(directory: TiffDirectory): Promise<Colour | null> {
  const coding = await readImageCoding(directory);
  if (coding.codec !== 'tiff' || coding.samples.colour.model !== 'palette') return null;
  const { palette } = coding.samples.colour;
  const last = palette.length / 3 - 1;
  const at = (index: number): Colour => ({
    r: palette[index * 3] ?? 0,
    g: palette[index * 3 + 1] ?? 0,
    b: palette[index * 3 + 2] ?? 0,
  });
  const colour = at(last);
  const isEven = [0, 1, 2, 3, 4].every((quarter) => {
    const { r, g, b } = at(Math.round((last * quarter) / 4));
    const isNear = (one: number, whole: number) => Math.abs(one - (whole * quarter) / 4) <= 4;
    return isNear(r, colour.r) && isNear(g, colour.g) && isNear(b, colour.b);
  });
  return isEven ? colour : null;
}

function checkSameLevels(one: Pyramid, other: Pyramid): void {
  const sizesOf = ({ levels }: Pyramid) =>
    levels
      .map(
        ({ width, height, tileWidth, tileHeight }) => `${width} × ${height} / ${tileWidth} × ${tileHeight}`,
      )
      .join(', ');
  if (sizesOf(one) !== sizesOf(other)) {
    throw new SlideError('FILE_CORRUPT', `Channels differ: ${sizesOf(one)} and ${sizesOf(other)}`);
  }
}

async function readComposedTile(
  channels: readonly OpenChannel[],
  address: TileAddress,
  signal?: AbortSignal,
): Promise<EncodedImage | null> {
  let composed: EncodedImage | null = null;
  for (const { pyramid, colour, readRange } of channels) {
    const tile = await pyramid.readTile(address, signal);
    const level = pyramid.levels[address.level];
    if (!tile || !level) continue;
    const brightness = cropToLevel(await decodeBrightness(tile, await readRange()), level, address);
    const { width, height } = brightness;
    composed ??= { codec: 'rgb', bytes: new Uint8Array(width * height * 3), width, height };
    addChannel(new Uint8ClampedArray(composed.bytes.buffer), { brightness, colour });
  }
  return composed;
}

function notSupported(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: ${what}`);
}
