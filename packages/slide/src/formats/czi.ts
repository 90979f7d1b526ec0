/**
 * Reads Zeiss slides (.czi): subblocks of any position and size, with or without smaller resolutions, composed to tiles.
 *
 * docs/formats/czi.md lists what is read, with the source of each fact.
 */

import { readDisplayedSubblocks, type Subblock } from '../czi/directory.ts';
import { corrupt, limitExceeded, notSupported } from '../czi/errors.ts';
import { limits } from '../czi/limits.ts';
import { type ChannelMetadata, type CziMetadata, readCziMetadata } from '../czi/metadata.ts';
import { type MosaicLevel, openMosaic } from '../czi/mosaic.ts';
import {
  type Attachment,
  isCzi,
  readAttachmentSegment,
  readAttachments,
  readFileSegment,
  readMetadata,
} from '../czi/segments.ts';
import {
  bitsOf,
  checkReadable,
  isColour,
  type ReadSubblock,
  subblockReader,
} from '../czi/subblock-pixels.ts';
import { type Channel, colourOfChannel, composeChannels } from '../decode/compose-channels.ts';
import { estimateRange, isOfFewBits } from '../decode/contrast.ts';
import type { Colour, Raster } from '../decode/raster.ts';
import { readJpegHeader } from '../jpeg/header.ts';
import { shownPlaneOf } from '../model/shown-plane.ts';
import {
  type AssociatedImageName,
  type EncodedImage,
  type GreyRange,
  type Level,
  type Slide,
  SlideError,
  type TileAddress,
} from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { partOfSource } from '../source/part-of-source.ts';
import { readOnce } from '../source/read-once.ts';
import type { SlideFormat } from './slide-format.ts';

/** Side of the composed tiles in pixels. Subblocks, the stored images, are larger and may be at any position. */
const TILE_SIDE = 512;
const WHITE: Colour = { r: 255, g: 255, b: 255 };
const BLACK: Colour = { r: 0, g: 0, b: 0 };

export const czi: SlideFormat = {
  name: 'czi',
  needsRendering: true,

  mismatch({ start }) {
    return isCzi(start) ? null : 'the file does not begin with "ZISRAWFILE"';
  },

  async open(files) {
    const { leading } = files;
    const { image, metadata, attachments, shown } = await openDisplayedImage(leading);
    const associated = new Map<AssociatedImageName, Attachment>();
    for (const attachment of attachments) {
      const name = associatedNames[attachment.name];
      if (name && !associated.has(name)) associated.set(name, attachment);
    }
    return {
      format: 'czi',
      fingerprint: files.fingerprint,
      vendor: 'Zeiss',
      levels: image.levels,
      mpp: metadata.mpp,
      objectivePower: metadata.objectivePower,
      ...shownPlaneOf({ plane: 1, ...shown }),
      background: image.background,
      associatedImages: new Set(associated.keys()),
      readTile: image.readTile,
      async readAssociatedImage(name) {
        const attachment = associated.get(name);
        if (!attachment) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readAttachedImage(leading, attachment);
      },
      readIccProfile: async () => null,
      close: files.close,
    };
  },
};

/** Source: OpenSlide's notes on the Zeiss format. */
const associatedNames: Readonly<Record<string, AssociatedImageName>> = {
  Label: 'label',
  SlidePreview: 'macro',
  Thumbnail: 'thumbnail',
};

/** The displayed part of a CZI file, or of a CZI file embedded in another. */
interface DisplayedImage extends Pick<Slide, 'levels' | 'background' | 'readTile'> {
  /** Returns the pixels of a tile, cropped to its level; null when no subblock overlaps it. */
  readonly drawTile: (
    level: number,
    column: number,
    row: number,
    signal?: AbortSignal,
  ) => Promise<Raster | null>;
}

/** A displayed channel. */
interface DisplayedChannel {
  readonly number: number;
  readonly colour: Colour;
  /** Null when the file does not state the range, which is then estimated from the pixels. */
  readonly range: GreyRange | null;
  /** Number of bits of a sample that the camera used. */
  readonly bits: number;
}

async function openDisplayedImage(source: ByteSource): Promise<{
  image: DisplayedImage;
  metadata: CziMetadata;
  attachments: readonly Attachment[];
  shown: { planes: number; times: number };
}> {
  const places = await readFileSegment(source);
  const metadata = readCziMetadata(await readMetadata(source, places.metadataAt));
  const attachments = await readAttachments(source, places.attachmentsAt);
  const { subblocks: all, ...shown } = await readDisplayedSubblocks(source, places.directoryAt);
  const channels = chooseChannels(all, metadata);
  const numbers = new Set(channels.map(({ number }) => number));
  const displayed = all.filter(({ channel }) => numbers.has(channel));
  for (const subblock of displayed) checkReadable(subblock);
  checkSameKind(displayed);

  const mosaic = openMosaic(displayed);
  const [first] = channels;
  const hasBrightBackground =
    displayed.some(isColour) ||
    (channels.length === 1 && metadata.channels.get(first.number)?.isTransmitted === true);
  const background = hasBrightBackground ? WHITE : BLACK;
  return {
    image: displayedImageOf(mosaic, channels, subblockReader(source), background),
    metadata,
    attachments,
    shown,
  };
}

/**
 * Chooses the channels to display. A colour channel is an image of its own: only the first one is displayed. Grey
 * channels are overlaid, except those that the file hides.
 */
function chooseChannels(
  subblocks: readonly Subblock[],
  metadata: CziMetadata,
): readonly [DisplayedChannel, ...DisplayedChannel[]] {
  const byNumber = new Map<number, Subblock>();
  for (const subblock of subblocks)
    if (!byNumber.has(subblock.channel)) byNumber.set(subblock.channel, subblock);
  const numbers = [...byNumber.keys()].sort((one, other) => one - other);
  const inColour = numbers.filter((number) => isColour(byNumber.get(number) as Subblock)).slice(0, 1);
  const visible = numbers.filter((number) => metadata.channels.get(number)?.isVisible ?? true);
  const chosen = inColour.length > 0 ? inColour : visible.length > 0 ? visible : numbers;
  if (chosen.length > limits.channels) throw notSupported(`${chosen.length} channels`);
  const channels = chosen.map((number, i) => {
    const metadataOfChannel = metadata.channels.get(number) ?? null;
    return {
      number,
      // A single channel is displayed in grey, at full brightness.
      colour: chosen.length === 1 ? WHITE : (metadataOfChannel?.colour ?? colourOfChannel(i)),
      ...rangeOf(byNumber.get(number) as Subblock, metadataOfChannel),
    };
  });
  const [first, ...others] = channels;
  if (!first) throw corrupt('it has no channel to display');
  return [first, ...others];
}

/** Returns black and white of the display settings; without them, for 8 bits, the full range of the camera. */
function rangeOf(
  subblock: Subblock,
  metadataOfChannel: ChannelMetadata | null,
): Pick<DisplayedChannel, 'range' | 'bits'> {
  const bits = bitsOf(subblock);
  const used = Math.min(bits, metadataOfChannel?.bits ?? bits);
  const full = { black: 0, white: 2 ** used - 1 };
  if (isColour(subblock)) return { range: full, bits: used };
  const defaultRange = { range: used > 8 ? null : full, bits: used };
  if (metadataOfChannel === null || (metadataOfChannel.low === null && metadataOfChannel.high === null))
    return defaultRange;
  const most = 2 ** bits - 1;
  const black = (metadataOfChannel.low ?? 0) * most;
  const white = metadataOfChannel.high === null ? full.white : metadataOfChannel.high * most;
  return white > black ? { range: { black, white }, bits: used } : defaultRange;
}

/** Checks that all subblocks of a channel have one pixel type: a mix of grey and colour, or 8 and 16 bits, has no meaning. */
function checkSameKind(subblocks: readonly Subblock[]): void {
  const kinds = new Map<number, number>();
  for (const { channel, pixelType } of subblocks) {
    if ((kinds.get(channel) ?? pixelType) !== pixelType) throw corrupt('a channel has two types of pixels');
    kinds.set(channel, pixelType);
  }
}

/** Composes tiles from subblocks: draws each channel, then adds the channels in their colours. */
function displayedImageOf(
  mosaic: readonly [MosaicLevel, ...MosaicLevel[]],
  channels: readonly [DisplayedChannel, ...DisplayedChannel[]],
  readSubblock: ReadSubblock,
  background: Colour,
): DisplayedImage {
  const [full, ...smaller] = mosaic;
  const levels: readonly [Level, ...Level[]] = [levelOf(full), ...smaller.map(levelOf)];

  const drawChannel = async (
    { number, range, address }: { number: number; range: GreyRange; address: TileAddress },
    signal?: AbortSignal,
  ): Promise<{ readonly canvas: Raster; readonly isEmpty: boolean }> => {
    const { level: index, column, row } = address;
    const [level, { columns, rows }] = [mosaic[index], levels[index] ?? { columns: 0, rows: 0 }];
    const isInside = column >= 0 && column < columns && row >= 0 && row < rows;
    if (!level || !isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
      throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${index}`);
    }
    const [left, top] = [column * TILE_SIDE, row * TILE_SIDE];
    const width = Math.min(TILE_SIDE, level.width - left);
    const height = Math.min(TILE_SIDE, level.height - top);
    const canvas = blank(width, height, background);
    let isEmpty = true;
    for (const { subblock, x, y } of level.subblocksIn(number, left, top, width, height)) {
      signal?.throwIfAborted();
      isEmpty = false;
      const rectangle = {
        x: Math.max(0, left - x),
        y: Math.max(0, top - y),
        width: Math.min(left + width, x + subblock.storedWidth) - Math.max(left, x),
        height: Math.min(top + height, y + subblock.storedHeight) - Math.max(top, y),
      };
      const part = await readSubblock(subblock, rectangle, range, signal);
      copyPixels(part, canvas, { x: x + rectangle.x - left, y: y + rectangle.y - top });
    }
    return { canvas, isEmpty };
  };

  const displayed = channels.map(({ number, colour, range: declaredRange, bits }) => ({
    number,
    colour,
    readRange: readOnce(async () => {
      const draw = async (address: TileAddress, range: GreyRange) => {
        const { canvas, isEmpty } = await drawChannel({ number, range, address });
        return isEmpty ? null : canvas;
      };
      if (declaredRange) return declaredRange;
      const estimated = await estimateRange(levels, bits, draw);
      return isOfFewBits(estimated, bits, false) ? estimated : { black: 0, white: 2 ** bits - 1 };
    }),
  }));

  const drawTile: DisplayedImage['drawTile'] = async (level, column, row, signal) => {
    const address = { level, column, row };
    const drawn: Channel[] = [];
    let isAllEmpty = true;
    for (const { number, colour, readRange } of displayed) {
      const { canvas, isEmpty } = await drawChannel({ number, range: await readRange(), address }, signal);
      isAllEmpty &&= isEmpty;
      drawn.push({ brightness: canvas, colour });
    }
    const [first, ...others] = drawn;
    if (isAllEmpty || !first) return null;
    return others.length === 0 ? first.brightness : composeChannels([first, ...others]);
  };

  return {
    levels,
    background,
    drawTile,
    async readTile({ level, column, row }, signal) {
      const raster = await drawTile(level, column, row, signal);
      return raster && { codec: 'rgb', bytes: raster.rgb, width: raster.width, height: raster.height };
    },
  };
}

function levelOf({ width, height, downsample }: MosaicLevel): Level {
  return {
    width,
    height,
    tileWidth: TILE_SIDE,
    tileHeight: TILE_SIDE,
    columns: Math.ceil(width / TILE_SIDE),
    rows: Math.ceil(height / TILE_SIDE),
    downsample,
    needsRendering: true,
  };
}

function blank(width: number, height: number, { r, g, b }: Colour): Raster {
  const rgb = new Uint8Array(width * height * 3);
  if (r === g && g === b) rgb.fill(r);
  else for (let at = 0; at < rgb.length; at += 3) rgb.set([r, g, b], at);
  return { width, height, rgb };
}

/** Copies one raster onto another, which must be large enough. */
function copyPixels(from: Raster, to: Raster, at: { readonly x: number; readonly y: number }): void {
  for (let row = 0; row < from.height; row++) {
    const start = row * from.width * 3;
    to.rgb.set(from.rgb.subarray(start, start + from.width * 3), ((at.y + row) * to.width + at.x) * 3);
  }
}

/** Reads an associated image: a JPEG, or a CZI file embedded in this one. */
async function readAttachedImage(source: ByteSource, attachment: Attachment): Promise<EncodedImage> {
  const { at, length } = await readAttachmentSegment(source, attachment.at);
  if (attachment.fileType === 'JPG') {
    if (length > limits.associatedBytes) throw limitExceeded(`an associated image has ${length} bytes`);
    const bytes = await source.read(at, length);
    const { width, height } = readJpegHeader(bytes);
    return { codec: 'jpeg', bytes, width, height };
  }
  if (attachment.fileType !== 'CZI') throw notSupported('an associated image that is neither JPEG nor CZI');
  const { image } = await openDisplayedImage(partOfSource(source, at, length));
  const [{ width, height, columns, rows }] = image.levels;
  if (width * height > limits.associatedPixels)
    throw limitExceeded(`an associated image has ${width} × ${height} pixels`);
  const whole = blank(width, height, image.background);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const tile = await image.drawTile(0, column, row);
      if (tile) copyPixels(tile, whole, { x: column * TILE_SIDE, y: row * TILE_SIDE });
    }
  }
  return { codec: 'rgb', bytes: whole.rgb, width, height };
}
