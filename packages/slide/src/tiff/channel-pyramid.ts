/**
 * A slide whose channels are pictures of their own, one grey pyramid each, shown as one picture in colours.
 *
 * docs/formats/channels.md says how the colours and the contrast are chosen.
 */
import { addChannel, colourOfChannel } from '../decode/compose-channels.ts';
import { cropToLevel, estimateContrast } from '../decode/contrast.ts';
import { decodeBrightness } from '../decode/decode-brightness.ts';
import type { Colour } from '../decode/raster.ts';
import { type EncodedImage, type GreyRange, SlideError, type TileAddress } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readOnce } from '../source/read-once.ts';
import { readDeclaredRange } from './declared-range.ts';
import type { TiffDirectory } from './directory.ts';
import { nameOfPhotometric, readSampleLayout } from './image-layout.ts';
import type { TiffPicture } from './picture.ts';
import { readPictureCoding } from './picture-coding.ts';
import { openPyramid, type Pyramid } from './pyramid.ts';
import type { LevelTiles } from './stated-levels.ts';

/** One channel at all its resolutions. */
export interface ChannelPictures {
  /** In the order of the file, at least one. */
  readonly pictures: readonly TiffPicture[];
  /** As the file says; null when it does not. */
  readonly colour: Colour | null;
  /** How many bits of a sample the camera used, if the file says so. */
  readonly significantBits?: number | null;
}

/** More would take too many tiles of the file for each that is shown. */
export const MOST_CHANNELS = 64;
/** Pixels of a tile: a channel of it, and what has been composed, are in memory at once. */
const MOST_PIXELS = 2 ** 24;
const WHITE: Colour = { r: 255, g: 255, b: 255 };

interface OpenChannel {
  readonly pyramid: Pyramid;
  readonly colour: Colour;
  /** Of one sample. */
  readonly bits: 8 | 16;
  readonly readRange: () => Promise<GreyRange>;
}

/**
 * @param contrast `stretched`: what is nearly darkest and brightest in a channel becomes black and full colour;
 *   `as-stored`: that is done for samples of 16 bits alone, for few cameras use all of them
 * @returns the levels that all channels have, and what stands for empty tiles is black
 * @throws SlideError FORMAT_NOT_SUPPORTED when the channels cannot be composed, FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function openChannelPyramid(
  source: ByteSource,
  channels: readonly ChannelPictures[],
  contrast: 'stretched' | 'as-stored',
): Promise<LevelTiles & Pick<Pyramid, 'full'>> {
  if (channels.length > MOST_CHANNELS) throw notRead(`${channels.length} channels`);
  const open: OpenChannel[] = [];
  for (const [i, channel] of channels.entries()) {
    open.push(await openChannel(source, channel, i, channels.length, contrast));
  }
  const [first, ...others] = open;
  if (!first) throw notRead('a file without channels');
  for (const { pyramid } of others) checkSameLevels(pyramid, first.pyramid);
  const [full, ...smaller] = first.pyramid.levels.map((level) => ({ ...level, isMade: true as const }));
  if (!full) throw notRead('a file without a picture of the slide');
  for (const { tileWidth, tileHeight } of [full, ...smaller]) {
    if (tileWidth * tileHeight > MOST_PIXELS) {
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
  { pictures, colour, significantBits }: ChannelPictures,
  index: number,
  count: number,
  contrast: 'stretched' | 'as-stored',
): Promise<OpenChannel> {
  const pyramid = await openPyramid(source, pictures);
  const { directory, orientation } = pyramid.full;
  const bits = await readBits(directory);
  if (orientation !== 1) throw notRead('channels that are stored turned');
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

/** @throws SlideError FORMAT_NOT_SUPPORTED for what is no channel: more than one sample a pixel, or not 8 or 16 bits */
async function readBits(directory: TiffDirectory): Promise<8 | 16> {
  const { samplesPerPixel, bitsPerSample, photometric } = await readSampleLayout(directory);
  const [bits] = bitsPerSample;
  const isGrey = photometric !== null && photometric <= 3 && photometric !== 2;
  if (samplesPerPixel !== 1 || !isGrey) {
    throw notRead(`a channel of ${samplesPerPixel} samples a pixel and ${nameOfPhotometric(photometric)}`);
  }
  if (bits !== 8 && bits !== 16) throw notRead(`a channel of ${bits} bits a sample`);
  return bits;
}

/** A palette that goes evenly from black to a colour is how ImageJ and Bio-Formats write the colour of a channel. */
async function readPaletteColour(directory: TiffDirectory): Promise<Colour | null> {
  const coding = await readPictureCoding(directory);
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

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${what}`);
}
