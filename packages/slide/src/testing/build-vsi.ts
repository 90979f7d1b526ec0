/** Builds Olympus VSI slides for tests: a .vsi file with a tree of tags, and .ets files with tiles. */
import sharp from 'sharp';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { buildTiff, long } from './build-tiff.ts';
import { encodeJpeg2000 } from './encode-frames.ts';

/** A field of a volume in a .vsi file. A volume is a list of fields. */
export interface VsiField {
  readonly tag: number;
  /** Index among several fields of the same tag; absent for a single one. */
  readonly index?: number;
  /** A number stored in the field itself, a separate value, or nested fields. */
  readonly value: number | { readonly type: number; readonly bytes: Uint8Array } | readonly VsiField[];
}

/** Description of one picture of the slide. */
export interface VsiStackPlan {
  readonly number: number;
  readonly width: number;
  readonly height: number;
  /** 0 is the slide, 1 an overview, 256 a macro; absent when the file does not declare it. */
  readonly type?: number;
  readonly name?: string;
  readonly mpp?: number;
  readonly unit?: string;
  readonly objectivePower?: number;
  readonly isExternal?: boolean;
  /** Meaning of each tile coordinate after column and row: 1 is focus, 2 time, 4 channel. */
  readonly dimensions?: readonly number[];
  readonly channels?: readonly {
    readonly bgr?: readonly number[];
    readonly range?: readonly [number, number];
  }[];
}

/** Numbers of value types. */
const TYPE = { int: 5, double: 10, text: 8192, rectangle: 259, scale: 260, range: 268, bgr: 270 } as const;

/** Builds a .vsi file with these pictures. */
export function buildVsi(stacks: readonly VsiStackPlan[]): Buffer {
  return buildVsiOf([{ tag: 2000, index: 0, value: stacks.map(stackField) }]);
}

/** Builds a .vsi file with these fields and a TIFF directory after them. */
export function buildVsiOf(fields: readonly VsiField[]): Buffer {
  const tree = volume(fields);
  const preview = buildTiff({ directories: [{ tags: { 256: long(1), 257: long(1) } }] });
  // The values of this directory are stored in its entries, so it can be moved to another position.
  const directory = preview.bytes.subarray(preview.directories[0]?.at);
  const header = Buffer.alloc(8);
  header.write('II*\0', 'latin1');
  header.writeUInt32LE(8 + tree.length, 4);
  return Buffer.concat([header, tree, directory]);
}

function stackField(plan: VsiStackPlan): VsiField {
  const { number, width, height, type, name, mpp, unit = '10^-6m^1', objectivePower } = plan;
  const external: VsiField[] = [
    { tag: 2053, value: { type: TYPE.rectangle, bytes: int32s(0, 0, width, height) } },
    { tag: 20005, value: (plan.isExternal ?? true) ? 1 : 0 },
  ];
  const properties: VsiField[] = [
    ...(name === undefined ? [] : [{ tag: 2030, value: { type: TYPE.text, bytes: text(name) } }]),
    ...(mpp === undefined
      ? []
      : [
          { tag: 2019, value: { type: TYPE.scale, bytes: doubles(mpp, mpp) } },
          { tag: 2020, value: { type: 13, bytes: text(unit) } },
        ]),
    ...(objectivePower === undefined ? [] : [{ tag: 2043, value: opticalPath(objectivePower) }]),
    ...(type === undefined ? [] : [{ tag: 2074, value: type }]),
  ];
  const dimensions = (plan.dimensions ?? []).map((meaning, index): VsiField => {
    const channels = meaning === 4 ? (plan.channels ?? [{}]) : [{}];
    return { tag: 2007, index, value: channels.map((channel, i) => channelField(channel, i, meaning)) };
  });
  return {
    tag: 2001,
    index: number,
    value: [
      { tag: 2002, index: 0, value: [{ tag: 2018, value: external }] },
      { tag: 2005, value: properties },
      ...dimensions,
    ],
  };
}

function opticalPath(power: number): readonly VsiField[] {
  const objective = [{ tag: 120060, value: { type: TYPE.double, bytes: doubles(power) } }];
  return [{ tag: 3, value: [{ tag: 120114, value: objective }] }];
}

function channelField(
  { bgr, range }: NonNullable<VsiStackPlan['channels']>[number],
  index: number,
  meaning: number,
): VsiField {
  return {
    tag: 2008,
    index,
    value: [
      ...(index === 0 ? [{ tag: 2023, value: meaning }] : []),
      ...(range ? [{ tag: 2003, value: { type: TYPE.range, bytes: doubles(...range) } }] : []),
      ...(bgr
        ? [
            {
              tag: 2004,
              value: [{ tag: 268435458, value: { type: TYPE.bgr, bytes: Uint8Array.of(0, 0, 0, ...bgr) } }],
            },
          ]
        : []),
    ],
  };
}

function volume(fields: readonly VsiField[]): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt16LE(24, 0);
  header.writeUInt16LE(0x5349, 2);
  header.writeUInt32LE(402, 4);
  header.writeBigInt64LE(24n, 8);
  header.writeUInt32LE(fields.length, 16);
  const pieces: Buffer[] = [header];
  let at = header.length;
  for (const [i, field] of fields.entries()) {
    const piece = fieldOf(field);
    if (i < fields.length - 1) piece.writeUInt32LE(at + piece.length, 8);
    pieces.push(piece);
    at += piece.length;
  }
  return Buffer.concat(pieces);
}

function fieldOf({ tag, index, value }: VsiField): Buffer {
  const hasIndex = index === undefined ? 0 : 0x0800_0000;
  const header = Buffer.alloc(16 + (index === undefined ? 0 : 4));
  if (index !== undefined) header.writeUInt32LE(index, 16);
  header.writeUInt32LE(tag, 4);
  if (typeof value === 'number') {
    header.writeUInt32LE((0x4000_0000 + hasIndex + TYPE.int) >>> 0, 0);
    header.writeUInt32LE(value, 12);
    return header;
  }
  if ('bytes' in value) {
    header.writeUInt32LE(hasIndex + value.type, 0);
    header.writeUInt32LE(value.bytes.length, 12);
    return Buffer.concat([header, value.bytes]);
  }
  header.writeUInt32LE((0x9000_0000 + hasIndex + (index === undefined ? 1 : 0)) >>> 0, 0);
  return Buffer.concat([header, volume(value)]);
}

/** A tile of an .ets file: its coordinates, and its bytes. */
export interface EtsTile {
  readonly place: readonly number[];
  readonly data: Uint8Array;
}

export interface EtsPlan {
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly tiles: readonly EtsTile[];
  /** 0 is uncompressed samples, 2 JPEG, 3 JPEG 2000, 8 PNG. */
  readonly compression: number;
  /** 2 is 8 bits per sample, 4 is 16. */
  readonly componentType?: number;
  readonly components?: number;
  /** 1 is grey, 3 RGB, 4 BGR. */
  readonly colourSpace?: number;
  readonly componentOrder?: number;
  readonly background?: readonly number[];
  /** Whether the last tile coordinate is the resolution. */
  readonly hasResolutions?: boolean;
}

/** Positions in an .ets file, for tests that damage it: of the second header and of the first tile. */
export const etsPlaces = { moreHeader: 64, tiles: 292 } as const;

/** Builds an .ets file: header, second header, tiles, tile list. */
export function buildEts(plan: EtsPlan): Buffer {
  const { tiles, components = 3, componentType = 2, background = [255, 255, 255] } = plan;
  const dimensions = tiles[0]?.place.length ?? 4;
  const header = Buffer.alloc(64);
  header.write('SIS', 'latin1');
  header.writeUInt32LE(64, 4);
  header.writeUInt32LE(3, 8);
  header.writeUInt32LE(dimensions, 12);
  header.writeBigUInt64LE(BigInt(etsPlaces.moreHeader), 16);
  header.writeUInt32LE(228, 24);
  const more = Buffer.alloc(228);
  more.write('ETS', 'latin1');
  const numbers = [
    0x30006,
    componentType,
    components,
    plan.colourSpace ?? (components === 3 ? 3 : 1),
    plan.compression,
    90,
    plan.tileWidth,
    plan.tileHeight,
    1,
  ];
  for (const [i, number] of numbers.entries()) more.writeUInt32LE(number, 4 + 4 * i);
  more.set(background, 108);
  more.writeUInt32LE(plan.componentOrder ?? 0, 148);
  more.writeUInt32LE((plan.hasResolutions ?? true) ? 1 : 0, 152);

  let at: number = etsPlaces.tiles;
  const entries = tiles.map(({ place, data }) => {
    const entry = Buffer.alloc(4 + 4 * place.length + 16);
    for (const [i, number] of place.entries()) entry.writeInt32LE(number, 4 + 4 * i);
    entry.writeBigUInt64LE(BigInt(at), 4 + 4 * place.length);
    entry.writeUInt32LE(data.length, 12 + 4 * place.length);
    at += data.length;
    return entry;
  });
  header.writeBigUInt64LE(BigInt(at), 32);
  header.writeUInt32LE(tiles.length, 40);
  return Buffer.concat([header, more, ...tiles.map(({ data }) => data), ...entries]);
}

export type EtsCoding = 'samples' | 'jpeg' | 'jpeg2000' | 'png';
export const etsCompressions: Readonly<Record<EtsCoding, number>> = {
  samples: 0,
  jpeg: 2,
  jpeg2000: 3,
  png: 8,
};

/**
 * Cuts a picture into tiles of an .ets file.
 *
 * @param resolutions number of stored resolutions, each half the size of the one before
 * @param between coordinates of the tiles between row and resolution
 */
export async function cutEtsTiles(
  picture: Raster,
  tileSide: number,
  resolutions: number,
  coding: EtsCoding,
  between: readonly number[] = [0],
): Promise<EtsTile[]> {
  const tiles: EtsTile[] = [];
  for (let resolution = 0; resolution < resolutions; resolution++) {
    const reduced = shrinkRaster(picture, 2 ** resolution);
    for (let row = 0; row * tileSide < reduced.height; row++) {
      for (let column = 0; column * tileSide < reduced.width; column++) {
        const tile = paddedTile(reduced, column * tileSide, row * tileSide, tileSide);
        tiles.push({ place: [column, row, ...between, resolution], data: await encode(tile, coding) });
      }
    }
  }
  return tiles;
}

/** Returns a tile; its pixels outside the picture are black. */
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
