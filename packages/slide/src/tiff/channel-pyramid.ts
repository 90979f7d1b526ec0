/**
 * The channels of a fluorescence slide, each stored as a grey pyramid, composed into one colour pyramid.
 *
 * docs/formats/channels.md explains how colours and contrast are chosen.
 */
import { addChannel, defaultChannelColour } from '../decode/compose-channels.ts';
import { cropToLevel, estimateGreyRange } from '../decode/contrast.ts';
import { decodeBrightness } from '../decode/decode-brightness.ts';
import type { Colour } from '../decode/raster.ts';
import {
  type EncodedImage,
  type GreyRange,
  notSupportedError,
  SlideError,
  type TileAddress,
} from '../model/slide.ts';
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
  /** The resolutions of the channel in the order of the file, at least one. */
  readonly tiffImages: readonly TiffImage[];
  /** Colour that the file states; null when it states none. */
  readonly colour: Colour | null;
  /** Number of bits per sample that the camera used; null or absent when the file does not state it. */
  readonly significantBits?: number | null;
}

/** Maximum number of channels. It limits the work per composed tile, which needs one tile of each channel. */
export const MAX_CHANNELS = 64;
/** Maximum pixels of a tile. It limits memory: the composed tile and the tile of one channel are in memory together. */
const MAX_TILE_PIXELS = 2 ** 24;
const WHITE: Colour = { r: 255, g: 255, b: 255 };

interface OpenChannel {
  readonly pyramid: Pyramid;
  readonly colour: Colour;
  /** Returns the sample values that are shown as black and as full brightness. */
  readonly readRange: () => Promise<GreyRange>;
}

/**
 * Opens the channels as one pyramid.
 *
 * @param contrast with `stretched`, the darkest sample of each channel becomes black and the brightest one full colour.
 *   If the file does not declare these samples, they are estimated from the pixels, without the darkest and brightest
 *   0.1 %. With `as-stored`, only 16-bit channels are stretched, because few cameras use all 16 bits.
 * @returns the levels, which must be equal in all channels, and the first channel's image of full resolution
 * @throws SlideError FORMAT_NOT_SUPPORTED when the channels cannot be composed, FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function openChannelPyramid(
  source: ByteSource,
  channels: readonly ChannelImages[],
  contrast: 'stretched' | 'as-stored',
): Promise<LevelTiles & Pick<Pyramid, 'full'>> {
  if (channels.length > MAX_CHANNELS) throw notSupportedError(`${channels.length} channels`);
  const openChannels: OpenChannel[] = [];
  for (const [i, channel] of channels.entries()) {
    openChannels.push(await openChannel(source, channel, i, channels.length, contrast));
  }
  const [first, ...others] = openChannels;
  if (!first) throw notSupportedError('a file without channels');
  for (const { pyramid } of others) checkSameLevels(pyramid, first.pyramid);
  const [full, ...smaller] = first.pyramid.levels.map((level) => ({
    ...level,
    needsRendering: true as const,
  }));
  if (!full) throw notSupportedError('a file without an image of the slide');
  for (const { tileWidth, tileHeight } of [full, ...smaller]) {
    if (tileWidth * tileHeight > MAX_TILE_PIXELS) {
      throw new SlideError('LIMIT_EXCEEDED', `Channels have tiles of ${tileWidth} × ${tileHeight} pixels`);
    }
  }
  return {
    full: first.pyramid.full,
    levels: [full, ...smaller],
    readTile: (address, signal) => readComposedTile(openChannels, address, signal),
  };
}

/** Opens one of `channelCount` channels. @param index number of the channel from 0, which selects its default colour */
async function openChannel(
  source: ByteSource,
  { tiffImages, colour, significantBits }: ChannelImages,
  index: number,
  channelCount: number,
  contrast: 'stretched' | 'as-stored',
): Promise<OpenChannel> {
  const pyramid = await openPyramid(source, tiffImages);
  const { directory, orientation } = pyramid.full;
  const bits = await readBits(directory);
  if (orientation !== 1) throw notSupportedError('channels that are stored rotated'); // 1 is upright
  const fullRange = { black: 0, white: 2 ** bits - 1 };
  const isStretched = contrast === 'stretched' || bits === 16;
  const usedBits = significantBits && significantBits < bits ? significantBits : bits;
  const declaredRange = await readDeclaredRange(directory, bits);
  const defaultColour = async () =>
    channelCount === 1 ? WHITE : ((await readPaletteColour(directory)) ?? defaultChannelColour(index));
  return {
    pyramid,
    colour: colour ?? (await defaultColour()),
    readRange: readOnce(async () =>
      isStretched ? (declaredRange ?? estimateGreyRange(pyramid, usedBits)) : fullRange,
    ),
  };
}

/** Returns the bits per sample, 8 or 16, of a grey or palette image. @throws SlideError FORMAT_NOT_SUPPORTED for all others */
async function readBits(directory: TiffDirectory): Promise<8 | 16> {
  const { samplesPerPixel, bitsPerSample, photometric } = await readSampleLayout(directory);
  const [bits] = bitsPerSample;
  // 0 and 1 are grey, 2 is RGB, 3 is a palette (its indices are the channel's samples). Source: TIFF 6.0, section 8.
  const isGrey = photometric !== null && photometric <= 3 && photometric !== 2;
  if (samplesPerPixel !== 1 || !isGrey) {
    throw notSupportedError(
      `a channel of ${samplesPerPixel} samples a pixel and ${nameOfPhotometric(photometric)}`,
    );
  }
  if (bits !== 8 && bits !== 16) throw notSupportedError(`a channel of ${bits} bits a sample`);
  return bits;
}

/**
 * Returns the last colour of a palette if the palette rises linearly from black to that colour; ImageJ and Bio-Formats
 * state the colour of a channel in this way. Returns null for other palettes and for images without a palette.
 */
async function readPaletteColour(directory: TiffDirectory): Promise<Colour | null> {
  const coding = await readImageCoding(directory);
  if (coding.codec !== 'tiff' || coding.samples.colour.model !== 'palette') return null;
  const { palette } = coding.samples.colour;
  const lastIndex = palette.length / 3 - 1;
  const colourAt = (index: number): Colour => ({
    r: palette[index * 3] ?? 0,
    g: palette[index * 3 + 1] ?? 0,
    b: palette[index * 3 + 2] ?? 0,
  });
  const lastColour = colourAt(lastIndex);
  // Checks the colours at 0, 1/4 … 4/4 of the palette; each red, green and blue may differ by 4 from the exact value.
  const isLinear = [0, 1, 2, 3, 4].every((quarter) => {
    const { r, g, b } = colourAt(Math.round((lastIndex * quarter) / 4));
    const isNear = (value: number, lastValue: number) => Math.abs(value - (lastValue * quarter) / 4) <= 4;
    return isNear(r, lastColour.r) && isNear(g, lastColour.g) && isNear(b, lastColour.b);
  });
  return isLinear ? lastColour : null;
}

/** Checks that two channels have the same levels and tile sizes. @throws SlideError FILE_CORRUPT */
function checkSameLevels(pyramid: Pyramid, firstPyramid: Pyramid): void {
  const sizesOf = ({ levels }: Pyramid) =>
    levels
      .map(
        ({ width, height, tileWidth, tileHeight }) => `${width} × ${height} / ${tileWidth} × ${tileHeight}`,
      )
      .join(', ');
  const [sizes, firstSizes] = [sizesOf(pyramid), sizesOf(firstPyramid)];
  if (sizes !== firstSizes)
    throw new SlideError('FILE_CORRUPT', `Channels differ: ${sizes} and ${firstSizes}`);
}

/** Returns the sum of the channels in their colours; null when the tile is empty in every channel. */
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
    const rgb = new Uint8ClampedArray(composed.bytes.buffer); // a view, so addChannel changes `composed`
    addChannel(rgb, { brightness, colour });
  }
  return composed;
}
