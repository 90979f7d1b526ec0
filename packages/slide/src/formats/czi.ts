/**
 * Reader of Zeiss slides (.czi). The file stores images ("subblocks") of any position and size, at full and often also at
 * smaller resolutions. This module composes them into tiles of one size and overlays the fluorescence channels.
 *
 * docs/formats/czi.md lists the features that are read, with the source of each fact.
 */
import { readDisplayedSubblocks, type Subblock } from '../czi/directory.ts';
import { corruptError, limitExceededError, notSupportedError } from '../czi/errors.ts';
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
  bitsPerSample,
  checkReadable,
  createSubblockReader,
  isColour,
  type ReadSubblock,
} from '../czi/subblock-pixels.ts';
import { type Channel, composeChannels, defaultChannelColour } from '../decode/compose-channels.ts';
import { estimateBrightnessRange, isTooDark } from '../decode/contrast.ts';
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

/** Side of the composed tiles in pixels. */
const TILE_SIDE = 512;
const WHITE: Colour = { r: 255, g: 255, b: 255 };
const BLACK: Colour = { r: 0, g: 0, b: 0 };

export const czi: SlideFormat = {
  name: 'czi',
  needsRendering: true,

  mismatchReason({ start }) {
    return isCzi(start) ? null : 'the file does not begin with "ZISRAWFILE"';
  },

  async open(files) {
    const { main } = files;
    const { image, metadata, attachments, planeCounts } = await openDisplayedImage(main);
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
      mpp: metadata.mpp, // micrometres per pixel
      objectivePower: metadata.objectivePower,
      ...shownPlaneOf({ plane: 1, ...planeCounts }), // the first focal plane and time point
      background: image.background,
      associatedImages: new Set(associated.keys()),
      readTile: image.readTile,
      async readAssociatedImage(name) {
        const attachment = associated.get(name);
        if (!attachment) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readAttachedImage(main, attachment);
      },
      readIccProfile: async () => null,
      close: files.close,
    };
  },
};

/** Associated images by the name of their attachment. Source: OpenSlide's notes on the Zeiss format. */
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

/** A fluorescence or brightfield channel that is part of the displayed image. */
interface DisplayedChannel {
  readonly number: number;
  readonly colour: Colour;
  /** Sample values displayed as black and as white; null when the file states none, so that they are estimated from pixels. */
  readonly range: GreyRange | null;
  /** Number of bits per sample that the camera uses, at most the bits of the stored samples. */
  readonly bits: number;
}

async function openDisplayedImage(source: ByteSource): Promise<{
  image: DisplayedImage;
  metadata: CziMetadata;
  attachments: readonly Attachment[];
  planeCounts: { planes: number; times: number };
}> {
  const { metadataOffset, attachmentsOffset, directoryOffset } = await readFileSegment(source);
  const metadata = readCziMetadata(await readMetadata(source, metadataOffset));
  const attachments = await readAttachments(source, attachmentsOffset);
  const { subblocks: allSubblocks, ...planeCounts } = await readDisplayedSubblocks(source, directoryOffset);

  const channels = chooseChannels(allSubblocks, metadata);
  const channelNumbers = new Set(channels.map(({ number }) => number));
  const displayedSubblocks = allSubblocks.filter(({ channel }) => channelNumbers.has(channel));
  for (const subblock of displayedSubblocks) checkReadable(subblock);
  checkOnePixelTypePerChannel(displayedSubblocks);

  const mosaic = openMosaic(displayedSubblocks);
  const [firstChannel] = channels;
  const isSingleBrightfieldChannel =
    channels.length === 1 && metadata.channels.get(firstChannel.number)?.isTransmitted === true;
  const background = displayedSubblocks.some(isColour) || isSingleBrightfieldChannel ? WHITE : BLACK;
  return {
    image: openMosaicImage(mosaic, channels, createSubblockReader(source), background),
    metadata,
    attachments,
    planeCounts,
  };
}

/**
 * Chooses the channels to display. A channel of colour pixels is a complete image, so the first such channel is displayed
 * alone. If all channels are grey, the visible ones are overlaid; if the file hides all channels, all are overlaid.
 */
function chooseChannels(
  subblocks: readonly Subblock[],
  metadata: CziMetadata,
): readonly [DisplayedChannel, ...DisplayedChannel[]] {
  const firstSubblockByChannel = new Map<number, Subblock>(); // all subblocks of a channel have the same pixel type
  for (const subblock of subblocks) {
    if (!firstSubblockByChannel.has(subblock.channel)) firstSubblockByChannel.set(subblock.channel, subblock);
  }
  const numbers = [...firstSubblockByChannel.keys()].sort((a, b) => a - b);
  const colourChannels = numbers.filter((number) => isColour(firstSubblockByChannel.get(number) as Subblock));
  const visibleChannels = numbers.filter((number) => metadata.channels.get(number)?.isVisible ?? true);
  const greyChannels = visibleChannels.length > 0 ? visibleChannels : numbers;
  const chosen = colourChannels.length > 0 ? colourChannels.slice(0, 1) : greyChannels;
  if (chosen.length > limits.channels) throw notSupportedError(`${chosen.length} channels`);

  const channels = chosen.map((number, i) => {
    const metadataOfChannel = metadata.channels.get(number) ?? null;
    return {
      number,
      // A single channel is displayed in grey, at full brightness.
      colour: chosen.length === 1 ? WHITE : (metadataOfChannel?.colour ?? defaultChannelColour(i)),
      ...displayedRangeOf(firstSubblockByChannel.get(number) as Subblock, metadataOfChannel),
    };
  });
  const [first, ...others] = channels;
  if (!first) throw corruptError('it has no channel to display');
  return [first, ...others];
}

/**
 * Returns the range of sample values to display. For colour pixels, it is the camera's full range. For grey pixels, it is the
 * range in the file's display settings; without settings, the full range if the camera uses at most 8 bits, else null.
 */
function displayedRangeOf(
  subblock: Subblock,
  metadataOfChannel: ChannelMetadata | null,
): Pick<DisplayedChannel, 'range' | 'bits'> {
  const storedBits = bitsPerSample(subblock);
  const cameraBits = Math.min(storedBits, metadataOfChannel?.bits ?? storedBits);
  const cameraRange = { black: 0, white: 2 ** cameraBits - 1 };
  if (isColour(subblock)) return { range: cameraRange, bits: cameraBits };

  const defaultRange = { range: cameraBits > 8 ? null : cameraRange, bits: cameraBits };
  const { low = null, high = null } = metadataOfChannel ?? {}; // fractions of the largest sample, 0 to 1
  if (low === null && high === null) return defaultRange;
  const maxSample = 2 ** storedBits - 1;
  const black = (low ?? 0) * maxSample;
  const white = high === null ? cameraRange.white : high * maxSample;
  return white > black ? { range: { black, white }, bits: cameraBits } : defaultRange;
}

/** Rejects a file with a channel of several pixel types, e.g. grey and colour, or 8 and 16 bits. */
function checkOnePixelTypePerChannel(subblocks: readonly Subblock[]): void {
  const pixelTypes = new Map<number, number>();
  for (const { channel, pixelType } of subblocks) {
    if ((pixelTypes.get(channel) ?? pixelType) !== pixelType)
      throw corruptError('a channel has two types of pixels');
    pixelTypes.set(channel, pixelType);
  }
}

/** Composes tiles from subblocks: draws each channel separately, then adds the channels in their colours. */
function openMosaicImage(
  mosaic: readonly [MosaicLevel, ...MosaicLevel[]],
  channels: readonly [DisplayedChannel, ...DisplayedChannel[]],
  readSubblock: ReadSubblock,
  background: Colour,
): DisplayedImage {
  const [fullResolution, ...smallerLevels] = mosaic;
  const levels: readonly [Level, ...Level[]] = [levelOf(fullResolution), ...smallerLevels.map(levelOf)];

  /** Draws one channel of a tile; `isEmpty` is true when no subblock overlaps the tile. */
  const drawChannel = async (
    { number, range, address }: { number: number; range: GreyRange; address: TileAddress },
    signal?: AbortSignal,
  ): Promise<{ readonly canvas: Raster; readonly isEmpty: boolean }> => {
    const { level: index, column, row } = address;
    const level = mosaic[index];
    const { columns, rows } = levels[index] ?? { columns: 0, rows: 0 };
    const isInside = column >= 0 && column < columns && row >= 0 && row < rows;
    if (!level || !isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
      throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${index}`);
    }
    const left = column * TILE_SIDE;
    const top = row * TILE_SIDE;
    const width = Math.min(TILE_SIDE, level.width - left);
    const height = Math.min(TILE_SIDE, level.height - top);
    const canvas = filledRaster(width, height, background);
    let isEmpty = true;
    for (const { subblock, x, y } of level.subblocksIn(number, left, top, width, height)) {
      signal?.throwIfAborted();
      isEmpty = false;
      /** The part of the subblock inside the tile, in stored pixels of the subblock. */
      const overlap = {
        x: Math.max(0, left - x),
        y: Math.max(0, top - y),
        width: Math.min(left + width, x + subblock.storedWidth) - Math.max(left, x),
        height: Math.min(top + height, y + subblock.storedHeight) - Math.max(top, y),
      };
      const pixels = await readSubblock(subblock, overlap, range, signal);
      copyPixels(pixels, canvas, { x: x + overlap.x - left, y: y + overlap.y - top });
    }
    return { canvas, isEmpty };
  };

  const rangedChannels = channels.map(({ number, colour, range: declaredRange, bits }) => ({
    number,
    colour,
    readRange: readOnce(async () => {
      if (declaredRange) return declaredRange;
      const drawTileOfChannel = async (address: TileAddress, range: GreyRange) => {
        const { canvas, isEmpty } = await drawChannel({ number, range, address });
        return isEmpty ? null : canvas;
      };
      const estimated = await estimateBrightnessRange(levels, bits, drawTileOfChannel);
      // A channel that is not too dark is displayed in the camera's full range.
      const isInverted = false; // the smallest sample is black
      return isTooDark(estimated, bits, isInverted) ? estimated : { black: 0, white: 2 ** bits - 1 };
    }),
  }));

  const drawTile: DisplayedImage['drawTile'] = async (level, column, row, signal) => {
    const address = { level, column, row };
    // A channel without subblocks in the tile is drawn as background, which is black if channels are overlaid.
    const drawnChannels: Channel[] = [];
    let isTileEmpty = true;
    for (const { number, colour, readRange } of rangedChannels) {
      const { canvas, isEmpty } = await drawChannel({ number, range: await readRange(), address }, signal);
      if (!isEmpty) isTileEmpty = false;
      drawnChannels.push({ brightness: canvas, colour });
    }
    const [first, ...others] = drawnChannels;
    if (isTileEmpty || !first) return null;
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

function filledRaster(width: number, height: number, { r, g, b }: Colour): Raster {
  const rgb = new Uint8Array(width * height * 3);
  if (r === g && g === b) rgb.fill(r);
  else for (let i = 0; i < rgb.length; i += 3) rgb.set([r, g, b], i);
  return { width, height, rgb };
}

/** Copies a raster into the target at a position; the raster must fit there. */
function copyPixels(source: Raster, target: Raster, position: { x: number; y: number }): void {
  const rowBytes = source.width * 3;
  for (let row = 0; row < source.height; row++) {
    const sourceRow = source.rgb.subarray(row * rowBytes, (row + 1) * rowBytes);
    target.rgb.set(sourceRow, ((position.y + row) * target.width + position.x) * 3);
  }
}

/** Reads an associated image: a JPEG, or a CZI file embedded in this one. */
async function readAttachedImage(source: ByteSource, attachment: Attachment): Promise<EncodedImage> {
  const { offset, length } = await readAttachmentSegment(source, attachment.offset);
  if (attachment.fileType === 'JPG') {
    if (length > limits.associatedBytes) throw limitExceededError(`an associated image has ${length} bytes`);
    const bytes = await source.read(offset, length);
    const { width, height } = readJpegHeader(bytes);
    return { codec: 'jpeg', bytes, width, height };
  }
  if (attachment.fileType !== 'CZI')
    throw notSupportedError('an associated image that is neither JPEG nor CZI');
  const { image } = await openDisplayedImage(partOfSource(source, offset, length));
  const [{ width, height, columns, rows }] = image.levels;
  if (width * height > limits.associatedPixels)
    throw limitExceededError(`an associated image has ${width} × ${height} pixels`);
  const whole = filledRaster(width, height, image.background);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const tile = await image.drawTile(0, column, row);
      if (tile) copyPixels(tile, whole, { x: column * TILE_SIDE, y: row * TILE_SIDE });
    }
  }
  return { codec: 'rgb', bytes: whole.rgb, width, height };
}
