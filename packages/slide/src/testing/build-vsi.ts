/** Builds Olympus VSI slides for tests: a .vsi file with a tree of tags, and .ets files with tiles. */
import sharp from 'sharp';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { vsiTag } from '../vsi/stacks.ts';
import { buildTiff, long } from './build-tiff.ts';
import { encodeJpeg2000 } from './encode-frames.ts';

/** A field of a volume in a .vsi file. A volume is a list of fields. */
export interface VsiField {
  /** Number that identifies the meaning of the field; see `vsiTag`. */
  readonly tag: number;
  /** Index among several fields of the same tag; absent for a single one. */
  readonly index?: number;
  /** An integer, stored in the header of the field; the bytes of a value of another type; or the fields of a volume. */
  readonly value: number | { readonly type: number; readonly bytes: Uint8Array } | readonly VsiField[];
}

/** Description of one image of the slide (a "stack"). */
export interface VsiStackPlan {
  /** Number of the folder `stack<number>` that contains the pixels. */
  readonly number: number;
  readonly width: number;
  readonly height: number;
  /** 0 is the slide, 1 an overview, 256 a macro; absent when the file does not declare it. */
  readonly type?: number;
  readonly name?: string;
  /** Pixel size in `unit`; absent when the file does not state it. */
  readonly mpp?: number;
  /** Unit of `mpp` as VSI writes it; by default micrometres (`10^-6m^1`). */
  readonly unit?: string;
  readonly objectivePower?: number;
  /** Whether the pixels are in an .ets file; by default true. */
  readonly isExternal?: boolean;
  /** Meaning of each tile coordinate after column and row: 1 is focus, 2 time, 4 channel. */
  readonly dimensions?: readonly number[];
  /** Display settings of each channel: colour (blue, green, red), and the samples shown as black and as full brightness. */
  readonly channels?: readonly {
    readonly bgr?: readonly number[];
    readonly range?: readonly [black: number, white: number];
  }[];
}

/** The meaning of a dimension whose positions are channels. */
const CHANNEL = 4;
/** Numbers of the types of values. */
const TYPE = {
  int: 5,
  double: 10,
  characters: 13,
  text: 8192,
  rectangle: 259,
  scale: 260,
  range: 268,
  bgr: 270,
} as const;

/** Builds a .vsi file that lists these images. */
export function buildVsi(stacks: readonly VsiStackPlan[]): Buffer {
  return buildVsiOf([{ tag: vsiTag.collection, index: 0, value: stacks.map(stackField) }]);
}

/** Builds a .vsi file with these fields and a TIFF directory after them. */
export function buildVsiOf(fields: readonly VsiField[]): Buffer {
  const tree = encodeVolume(fields);
  const [imageWidth, imageLength] = [256, 257];
  const preview = buildTiff({ directories: [{ tags: { [imageWidth]: long(1), [imageLength]: long(1) } }] });
  // The values of this directory are stored in its entries, so it can be moved to another position.
  const directory = preview.bytes.subarray(preview.directories[0]?.at);
  const header = Buffer.alloc(8);
  header.write('II*\0', 'latin1');
  header.writeUInt32LE(header.length + tree.length, 4); // the position of the directory
  return Buffer.concat([header, tree, directory]);
}

function stackField(plan: VsiStackPlan): VsiField {
  const { number, width, height, type, name, mpp, unit = '10^-6m^1', objectivePower } = plan;
  const externalFile: VsiField[] = [
    { tag: vsiTag.imageBoundary, value: { type: TYPE.rectangle, bytes: int32s(0, 0, width, height) } },
    { tag: vsiTag.hasExternalFile, value: (plan.isExternal ?? true) ? 1 : 0 },
  ];
  const properties: VsiField[] = [
    ...(name === undefined ? [] : [{ tag: vsiTag.stackName, value: { type: TYPE.text, bytes: text(name) } }]),
    ...(mpp === undefined
      ? []
      : [
          { tag: vsiTag.frameScale, value: { type: TYPE.scale, bytes: doubles(mpp, mpp) } },
          { tag: vsiTag.frameUnit, value: { type: TYPE.characters, bytes: text(unit) } },
        ]),
    ...(objectivePower === undefined
      ? []
      : [{ tag: vsiTag.opticalPath, value: objectiveFields(objectivePower) }]),
    ...(type === undefined ? [] : [{ tag: vsiTag.stackType, value: type }]),
  ];
  const dimensions = (plan.dimensions ?? []).map((meaning, index): VsiField => {
    // A dimension that is not the channel has a single field, which states only its meaning.
    const channels = meaning === CHANNEL ? (plan.channels ?? [{}]) : [{}];
    return {
      tag: vsiTag.dimension,
      index,
      value: channels.map((channel, i) => channelField(channel, i, meaning)),
    };
  });
  return {
    tag: vsiTag.stack,
    index: number,
    value: [
      { tag: vsiTag.frame, index: 0, value: [{ tag: vsiTag.externalFile, value: externalFile }] },
      { tag: vsiTag.stackProperties, value: properties },
      ...dimensions,
    ],
  };
}

/** Builds the fields of an optical path. Readers find the magnification at any depth, whatever tags contain it. */
function objectiveFields(power: number): readonly VsiField[] {
  const magnification = [{ tag: vsiTag.magnification, value: { type: TYPE.double, bytes: doubles(power) } }];
  return [{ tag: 3, value: [{ tag: 120114, value: magnification }] }];
}

/** Builds the field of a channel, or of a position of another dimension; the first one states the dimension's meaning. */
function channelField(
  { bgr, range }: NonNullable<VsiStackPlan['channels']>[number],
  index: number,
  meaning: number,
): VsiField {
  return {
    tag: vsiTag.channelProperties,
    index,
    value: [
      ...(index === 0 ? [{ tag: vsiTag.dimensionMeaning, value: meaning }] : []),
      ...(range
        ? [{ tag: vsiTag.displayLimits, value: { type: TYPE.range, bytes: doubles(...range) } }]
        : []),
      ...(bgr ? [{ tag: vsiTag.colourTable, value: [colourTable(bgr)] }] : []),
    ],
  };
}

/** Builds a colour table from black to a colour (blue, green, red). */
function colourTable(bgr: readonly number[]): VsiField {
  const black = [0, 0, 0];
  return { tag: vsiTag.tableElements, value: { type: TYPE.bgr, bytes: Uint8Array.of(...black, ...bgr) } };
}

function encodeVolume(fields: readonly VsiField[]): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt16LE(header.length, 0);
  header.writeUInt16LE(0x5349, 2); // magic number of volumes
  header.writeUInt32LE(402, 4); // version
  header.writeBigInt64LE(BigInt(header.length), 8); // offset of the first field
  header.writeUInt32LE(fields.length, 16);
  const pieces: Buffer[] = [header];
  let at = header.length;
  for (const [i, field] of fields.entries()) {
    const piece = encodeField(field);
    // Each field except the last states the offset of the next one, counted from the start of the volume.
    if (i < fields.length - 1) piece.writeUInt32LE(at + piece.length, 8);
    pieces.push(piece);
    at += piece.length;
  }
  return Buffer.concat(pieces);
}

/** Bits of a field's type. `volume` is the bit of extended fields (0x1000_0000) and a bit that readers ignore. */
const FLAG = { hasIndex: 0x0800_0000, isInline: 0x4000_0000, volume: 0x9000_0000 } as const;

/** Serialises a field: type and flags, tag, offset of the next field, number of value bytes, index, value. */
function encodeField({ tag, index, value }: VsiField): Buffer {
  const indexFlag = index === undefined ? 0 : FLAG.hasIndex;
  const header = Buffer.alloc(16 + (index === undefined ? 0 : 4));
  if (index !== undefined) header.writeUInt32LE(index, 16);
  header.writeUInt32LE(tag, 4);
  if (typeof value === 'number') {
    header.writeUInt32LE(FLAG.isInline + indexFlag + TYPE.int, 0);
    header.writeUInt32LE(value, 12); // instead of the number of value bytes
    return header;
  }
  if ('bytes' in value) {
    header.writeUInt32LE(indexFlag + value.type, 0);
    header.writeUInt32LE(value.bytes.length, 12);
    return Buffer.concat([header, value.bytes]);
  }
  const volumeType = index === undefined ? 1 : 0; // readers treat both types of volumes alike
  header.writeUInt32LE(FLAG.volume + indexFlag + volumeType, 0);
  return Buffer.concat([header, encodeVolume(value)]);
}

/** A tile of an .ets file. */
export interface EtsTile {
  /** Coordinates of the tile: column, row, others (focus, channel, …) and, with `hasResolutions`, the resolution. */
  readonly coordinates: readonly number[];
  readonly data: Uint8Array;
}

/** Content of an .ets file. */
export interface EtsPlan {
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly tiles: readonly EtsTile[];
  /** A value of `etsCompressions`. */
  readonly compression: number;
  /** Type of a sample: 2 has 8 bits, 4 has 16; by default 2. */
  readonly componentType?: number;
  /** Samples per pixel; by default 3. */
  readonly components?: number;
  /** 1 is grey, 3 RGB, 4 BGR; by default RGB for three samples per pixel, otherwise grey. */
  readonly colourSpace?: number;
  /** 1 declares that a pixel starts with blue; by default 0. */
  readonly componentOrder?: number;
  /** Colour of missing tiles, one value per sample; by default white. */
  readonly background?: readonly number[];
  /** Whether the last tile coordinate is the resolution; by default true. */
  readonly hasResolutions?: boolean;
}

const SIS_HEADER_BYTES = 64;
const ETS_HEADER_BYTES = 228;
/** Positions in an .ets file, for tests that damage it: of the second header ("ETS") and of the first tile. */
export const etsPlaces = {
  etsHeader: SIS_HEADER_BYTES,
  tiles: SIS_HEADER_BYTES + ETS_HEADER_BYTES,
} as const;

/** Builds an .ets file: headers "SIS" and "ETS", tiles, list of tiles. `ets-file.ts` names the field offsets. */
export function buildEts(plan: EtsPlan): Buffer {
  const { tiles, components = 3, componentType = 2, background = [255, 255, 255] } = plan;
  const coordinatesPerTile = tiles[0]?.coordinates.length ?? 4;
  const sisHeader = Buffer.alloc(SIS_HEADER_BYTES);
  const sisVersion = 3;
  sisHeader.write('SIS', 'latin1');
  sisHeader.writeUInt32LE(sisHeader.length, 4);
  sisHeader.writeUInt32LE(sisVersion, 8);
  sisHeader.writeUInt32LE(coordinatesPerTile, 12);
  sisHeader.writeBigUInt64LE(BigInt(etsPlaces.etsHeader), 16);
  sisHeader.writeUInt32LE(ETS_HEADER_BYTES, 24);
  const etsHeader = Buffer.alloc(ETS_HEADER_BYTES);
  etsHeader.write('ETS', 'latin1');
  const colourSpace = plan.colourSpace ?? (components === 3 ? 3 : 1);
  const [etsVersion, quality, tileDepth] = [0x30006, 90, 1];
  const fieldsAfterMagic = [
    ...[etsVersion, componentType, components, colourSpace, plan.compression],
    ...[quality, plan.tileWidth, plan.tileHeight, tileDepth],
  ];
  for (const [i, field] of fieldsAfterMagic.entries()) etsHeader.writeUInt32LE(field, 4 + 4 * i);
  etsHeader.set(background, 108);
  etsHeader.writeUInt32LE(plan.componentOrder ?? 0, 148);
  etsHeader.writeUInt32LE((plan.hasResolutions ?? true) ? 1 : 0, 152);

  let at: number = etsPlaces.tiles;
  // An entry has 4 unused bytes, the coordinates, the offset (8 bytes), the number of bytes (4), and 4 unused bytes.
  const entries = tiles.map(({ coordinates, data }) => {
    const coordinatesEnd = 4 + 4 * coordinates.length;
    const entry = Buffer.alloc(coordinatesEnd + 16);
    for (const [i, number] of coordinates.entries()) entry.writeInt32LE(number, 4 + 4 * i);
    entry.writeBigUInt64LE(BigInt(at), coordinatesEnd);
    entry.writeUInt32LE(data.length, coordinatesEnd + 8);
    at += data.length;
    return entry;
  });
  sisHeader.writeBigUInt64LE(BigInt(at), 32); // the position of the list
  sisHeader.writeUInt32LE(tiles.length, 40);
  return Buffer.concat([sisHeader, etsHeader, ...tiles.map(({ data }) => data), ...entries]);
}

/** Encoding of a tile; `samples` is uncompressed RGB. */
export type EtsCoding = 'samples' | 'jpeg' | 'jpeg2000' | 'png';
export const etsCompressions: Readonly<Record<EtsCoding, number>> = {
  samples: 0,
  jpeg: 2,
  jpeg2000: 3,
  png: 8,
};

/**
 * Cuts an image into tiles of an .ets file.
 *
 * @param resolutions number of stored resolutions, each half the size of the one before
 * @param otherCoordinates coordinates of all tiles between row and resolution, for example focus and channel
 */
export async function cutEtsTiles(
  picture: Raster,
  tileSide: number,
  resolutions: number,
  coding: EtsCoding,
  otherCoordinates: readonly number[] = [0],
): Promise<EtsTile[]> {
  const tiles: EtsTile[] = [];
  for (let resolution = 0; resolution < resolutions; resolution++) {
    const reduced = shrinkRaster(picture, 2 ** resolution);
    for (let row = 0; row * tileSide < reduced.height; row++) {
      for (let column = 0; column * tileSide < reduced.width; column++) {
        const tile = paddedTile(reduced, column * tileSide, row * tileSide, tileSide);
        tiles.push({
          coordinates: [column, row, ...otherCoordinates, resolution],
          data: await encode(tile, coding),
        });
      }
    }
  }
  return tiles;
}

/** Cuts out a tile at a position in pixels; its pixels outside the image are black. */
function paddedTile(picture: Raster, x: number, y: number, side: number): Raster {
  const [width, height] = [Math.min(side, picture.width - x), Math.min(side, picture.height - y)];
  const part = cropRaster(picture, x, y, width, height);
  const rgb = new Uint8Array(side * side * 3);
  for (let row = 0; row < height; row++) {
    rgb.set(part.rgb.subarray(row * width * 3, (row + 1) * width * 3), row * side * 3);
  }
  return { width: side, height: side, rgb };
}

async function encode({ width, height, rgb }: Raster, coding: EtsCoding): Promise<Uint8Array> {
  const picture = sharp(rgb, { raw: { width, height, channels: 3 } });
  switch (coding) {
    case 'samples':
      return rgb;
    case 'jpeg':
      return picture.jpeg({ quality: 90, chromaSubsampling: '4:4:4' }).toBuffer();
    case 'png':
      return picture.png().toBuffer();
    case 'jpeg2000':
      return encodeJpeg2000({ width, height, samplesPerPixel: 3, values: rgb });
  }
}

function int32s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeInt32LE(value, 4 * i);
  return bytes;
}

function doubles(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [i, value] of values.entries()) bytes.writeDoubleLE(value, 8 * i);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'utf16le');
}
