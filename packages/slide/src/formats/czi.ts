/**
 * Zeiss slides (.czi): subblocks of any place and size, with or without smaller resolutions, put together to tiles.
 *
 * docs/formats/czi.md says what is read, and where each fact is from.
 */
import { corrupt, notRead, tooMuch } from '../czi/damage.ts';
import { readShownSubblocks, type Subblock } from '../czi/directory.ts';
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
import {
  type AssociatedImageName,
  type EncodedImage,
  type GreyRange,
  type Level,
  type Slide,
  SlideError,
  type TileAddress,
} from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { partOfSource } from '../source/part-of-source.ts';
import { readOnce } from '../source/read-once.ts';
import type { SlideFormat } from '../source/slide-format.ts';

/** Pixels. Subblocks are larger, and lie anywhere. */
const TILE_SIDE = 512;
const WHITE: Colour = { r: 255, g: 255, b: 255 };
const BLACK: Colour = { r: 0, g: 0, b: 0 };

export const czi: SlideFormat = {
  name: 'czi',
  isOnlyMade: true,

  mismatch({ start }) {
    return isCzi(start) ? null : 'the file does not begin with "ZISRAWFILE"';
  },

  async open(files) {
    const { leading } = files;
    const { picture, metadata, attachments } = await openPicture(leading);
    const associated = new Map<AssociatedImageName, Attachment>();
    for (const attachment of attachments) {
      const name = associatedNames[attachment.name];
      if (name && !associated.has(name)) associated.set(name, attachment);
    }
    return {
      format: 'czi',
      fingerprint: files.fingerprint,
      vendor: 'Zeiss',
      levels: picture.levels,
      mpp: metadata.mpp,
      objectivePower: metadata.objectivePower,
      background: picture.background,
      associatedImages: new Set(associated.keys()),
      readTile: picture.readTile,
      async readAssociatedImage(name) {
        const attachment = associated.get(name);
        if (!attachment) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readAttachedPicture(leading, attachment);
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

/** What is shown of a CZI file, or of one inside another. */
interface Picture extends Pick<Slide, 'levels' | 'background' | 'readTile'> {
  /** Pixels of a tile, as many as its level has there; null where there is no subblock. */
  readonly drawTile: (
    level: number,
    column: number,
    row: number,
    signal?: AbortSignal,
  ) => Promise<Raster | null>;
}

/** A channel that is shown. */
interface ShownChannel {
  readonly number: number;
  readonly colour: Colour;
  /** Null where the file does not say it: then it is found. */
  readonly range: GreyRange | null;
  /** Of a sample, as many as the camera used. */
  readonly bits: number;
}

async function openPicture(
  source: ByteSource,
): Promise<{ picture: Picture; metadata: CziMetadata; attachments: readonly Attachment[] }> {
  const places = await readFileSegment(source);
  const metadata = readCziMetadata(await readMetadata(source, places.metadataAt));
  const attachments = await readAttachments(source, places.attachmentsAt);
  const all = await readShownSubblocks(source, places.directoryAt);
  const channels = chooseChannels(all, metadata);
  const numbers = new Set(channels.map(({ number }) => number));
  const shown = all.filter(({ channel }) => numbers.has(channel));
  for (const subblock of shown) checkReadable(subblock);
  checkSameKind(shown);

  const mosaic = openMosaic(shown);
  const [first] = channels;
  const isBright =
    shown.some(isColour) ||
    (channels.length === 1 && metadata.channels.get(first.number)?.isTransmitted === true);
  const background = isBright ? WHITE : BLACK;
  return { picture: pictureOf(mosaic, channels, subblockReader(source), background), metadata, attachments };
}

/**
 * A channel in colours is a picture of its own: the first one is shown alone. Grey ones are laid over one another,
 * but for those that the file hides.
 */
function chooseChannels(
  subblocks: readonly Subblock[],
  metadata: CziMetadata,
): readonly [ShownChannel, ...ShownChannel[]] {
  const byNumber = new Map<number, Subblock>();
  for (const subblock of subblocks)
    if (!byNumber.has(subblock.channel)) byNumber.set(subblock.channel, subblock);
  const numbers = [...byNumber.keys()].sort((one, other) => one - other);
  const inColour = numbers.filter((number) => isColour(byNumber.get(number) as Subblock)).slice(0, 1);
  const visible = numbers.filter((number) => metadata.channels.get(number)?.isVisible ?? true);
  const chosen = inColour.length > 0 ? inColour : visible.length > 0 ? visible : numbers;
  if (chosen.length > limits.channels) throw notRead(`${chosen.length} channels`);
  const channels = chosen.map((number, i) => {
    const known = metadata.channels.get(number) ?? null;
    return {
      number,
      // A channel alone is shown as bright as it can be: grey.
      colour: chosen.length === 1 ? WHITE : (known?.colour ?? colourOfChannel(i)),
      ...rangeOf(byNumber.get(number) as Subblock, known),
    };
  });
  const [first, ...others] = channels;
  if (!first) throw corrupt('it shows nothing');
  return [first, ...others];
}

/** What the display settings call black and white; else, of 8 bits, all values that the camera can give. */
function rangeOf(subblock: Subblock, known: ChannelMetadata | null): Pick<ShownChannel, 'range' | 'bits'> {
  const bits = bitsOf(subblock);
  const used = Math.min(bits, known?.bits ?? bits);
  const full = { black: 0, white: 2 ** used - 1 };
  if (isColour(subblock)) return { range: full, bits: used };
  const unsaid = { range: used > 8 ? null : full, bits: used };
  if (known === null || (known.low === null && known.high === null)) return unsaid;
  const most = 2 ** bits - 1;
  const black = (known.low ?? 0) * most;
  const white = known.high === null ? full.white : known.high * most;
  return white > black ? { range: { black, white }, bits: used } : unsaid;
}

/** One channel may not be of grey and colours, or of 8 and 16 bits: nobody could say what it means. */
function checkSameKind(subblocks: readonly Subblock[]): void {
  const kinds = new Map<number, number>();
  for (const { channel, pixelType } of subblocks) {
    if ((kinds.get(channel) ?? pixelType) !== pixelType) throw corrupt('a channel has two types of pixels');
    kinds.set(channel, pixelType);
  }
}

function pictureOf(
  mosaic: readonly [MosaicLevel, ...MosaicLevel[]],
  channels: readonly [ShownChannel, ...ShownChannel[]],
  readSubblock: ReadSubblock,
  background: Colour,
): Picture {
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
    for (const { subblock, x, y } of level.under(number, left, top, width, height)) {
      signal?.throwIfAborted();
      isEmpty = false;
      const within = {
        x: Math.max(0, left - x),
        y: Math.max(0, top - y),
        width: Math.min(left + width, x + subblock.storedWidth) - Math.max(left, x),
        height: Math.min(top + height, y + subblock.storedHeight) - Math.max(top, y),
      };
      const part = await readSubblock(subblock, within, range, signal);
      copyPixels(part, canvas, { x: x + within.x - left, y: y + within.y - top });
    }
    return { canvas, isEmpty };
  };

  const shown = channels.map(({ number, colour, range: said, bits }) => ({
    number,
    colour,
    readRange: readOnce(async () => {
      const draw = async (address: TileAddress, range: GreyRange) => {
        const { canvas, isEmpty } = await drawChannel({ number, range, address });
        return isEmpty ? null : canvas;
      };
      if (said) return said;
      const found = await estimateRange(levels, bits, draw);
      return isOfFewBits(found, bits, false) ? found : { black: 0, white: 2 ** bits - 1 };
    }),
  }));

  const drawTile: Picture['drawTile'] = async (level, column, row, signal) => {
    const address = { level, column, row };
    const drawn: Channel[] = [];
    let isAllEmpty = true;
    for (const { number, colour, readRange } of shown) {
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
    isMade: true,
  };
}

function blank(width: number, height: number, { r, g, b }: Colour): Raster {
  const rgb = new Uint8Array(width * height * 3);
  if (r === g && g === b) rgb.fill(r);
  else for (let at = 0; at < rgb.length; at += 3) rgb.set([r, g, b], at);
  return { width, height, rgb };
}

/** Lays one picture on another, in which it has room. */
function copyPixels(from: Raster, to: Raster, at: { readonly x: number; readonly y: number }): void {
  for (let row = 0; row < from.height; row++) {
    const start = row * from.width * 3;
    to.rgb.set(from.rgb.subarray(start, start + from.width * 3), ((at.y + row) * to.width + at.x) * 3);
  }
}

/** A picture beside the slide: a JPEG, or a CZI file inside this one. */
async function readAttachedPicture(source: ByteSource, attachment: Attachment): Promise<EncodedImage> {
  const { at, length } = await readAttachmentSegment(source, attachment.at);
  if (attachment.fileType === 'JPG') {
    if (length > limits.associatedBytes) throw tooMuch(`a picture beside it has ${length} bytes`);
    const bytes = await source.read(at, length);
    const { width, height } = readJpegHeader(bytes);
    return { codec: 'jpeg', bytes, width, height };
  }
  if (attachment.fileType !== 'CZI') throw notRead('a picture beside it that is neither JPEG nor CZI');
  const { picture } = await openPicture(partOfSource(source, at, length));
  const [{ width, height, columns, rows }] = picture.levels;
  if (width * height > limits.associatedPixels)
    throw tooMuch(`a picture beside it has ${width} × ${height} pixels`);
  const whole = blank(width, height, picture.background);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const tile = await picture.drawTile(0, column, row);
      if (tile) copyPixels(tile, whole, { x: column * TILE_SIDE, y: row * TILE_SIDE });
    }
  }
  return { codec: 'rgb', bytes: whole.rgb, width, height };
}
