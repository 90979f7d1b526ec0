/**
 * Builds DICOM whole-slide images for tests, also malformed ones: `planDicom` creates the data elements of a file,
 * which a test can change, and `writeDicom` serialises them.
 *
 * The file exceeds 350 lines because all transfer syntaxes and faults share one data set.
 */
import sharp from 'sharp';
import { type Raster, shrinkRaster } from '../decode/raster.ts';
import { tag } from '../dicom/tags.ts';
import { wholeSlideImage } from '../dicom/uids.ts';
import { marker, segments } from '../jpeg/header.ts';
import {
  encodeDicomRle,
  encodeJpeg2000,
  encodeJpegLs,
  type FrameSamples,
  planesOf,
} from './encode-frames.ts';
import { paintTissue } from './paint-tissue.ts';

/** A data element. Its declared length may be wrong, to build damaged files. */
export interface DicomElement {
  readonly tag: number;
  readonly vr: string;
  /** Bytes of a value; items of a sequence; encapsulated pixel data. */
  readonly value: Uint8Array | readonly DicomItem[] | DicomFragments;
  /** Declared length instead of the true one; 0xffff_ffff for a sequence that ends with a delimiter. */
  readonly length?: number;
}

/** An item of a sequence: a list of data elements. */
export type DicomItem = readonly DicomElement[];

/** Encapsulated pixel data: encoded frames, divided into fragments. */
export interface DicomFragments {
  /** The basic offset table: positions of the frames, 4 bytes each; empty if the file has none. */
  readonly offsetTable: Uint8Array;
  readonly fragments: readonly Uint8Array[];
  /** Whether a sequence delimiter follows the fragments; by default true. */
  readonly isDelimited?: boolean;
}

/** A DICOM file before serialisation. */
export interface DicomFile {
  /** The 128 bytes before "DICM". */
  readonly preamble: Uint8Array;
  /** File meta information. */
  readonly meta: readonly DicomElement[];
  /** Whether the elements of the data set state their value representation (VR). */
  readonly isExplicit: boolean;
  /** The data set. */
  readonly elements: readonly DicomElement[];
}

/** How frames are stored: uncompressed (the first three) or in an image codec. */
export type DicomCodec = 'explicit' | 'implicit' | 'encapsulated' | 'jpeg' | 'jpeg2000' | 'jpegls' | 'rle';

/** Options of `buildDicom`; all defaults are in `defaults` below. */
export interface DicomPlan {
  /** Size of the whole image at full resolution in pixels. */
  readonly width?: number;
  readonly height?: number;
  /** Size of a frame in pixels. */
  readonly tileWidth?: number;
  readonly tileHeight?: number;
  /** The file contains the image at width and height divided by this number. */
  readonly downsample?: number;
  /** Third value of ImageType: VOLUME (levels of the pyramid), LABEL, OVERVIEW, … */
  readonly kind?: string;
  readonly codec?: DicomCodec;
  /** PhotometricInterpretation. */
  readonly photometric?: string;
  readonly bits?: 8 | 16;
  /** Factor by which an 8-bit sample is multiplied to get a 16-bit sample; with the default 257, 255 becomes 65,535. */
  readonly wordStep?: number;
  /** Whether an uncompressed frame stores all red samples, then all green, then all blue ones. */
  readonly isPlanar?: boolean;
  /** DimensionOrganizationType; null for a file without it, which states the position of each frame, like TILED_SPARSE. */
  readonly organization?: 'TILED_FULL' | 'TILED_SPARSE' | null;
  /** Indices of the tiles that the file omits, row by row from 0; only for TILED_SPARSE. */
  readonly holes?: readonly number[];
  /** Which table states the positions of compressed frames; `empty` for none. */
  readonly offsetTable?: 'empty' | 'basic' | 'extended';
  readonly fragmentsPerFrame?: number;
  readonly focalPlanes?: number;
  readonly opticalPaths?: number;
  /** For a part of a concatenation: its number from 1, the number of parts, and its frames `from` to `to - 1` (from 0). */
  readonly part?: {
    readonly number: number;
    readonly total?: number;
    readonly from: number;
    readonly to: number;
  };
  /** Whether sequences have an undefined length and end with delimiters. */
  readonly hasUndefinedLengths?: boolean;
  /** The last components of the UIDs of series, instance and pyramid; with null, the file has no pyramid UID. */
  readonly series?: string;
  readonly instance?: string;
  readonly pyramid?: string | null;
  readonly patient?: string;
  /** Elements that the file contains instead of the default elements with the same tags. */
  readonly more?: readonly DicomElement[];
}

const defaults = {
  width: 96,
  height: 64,
  tileWidth: 32,
  tileHeight: 32,
  downsample: 1,
  kind: 'VOLUME',
  codec: 'explicit',
  photometric: 'RGB',
  bits: 8,
  wordStep: 257,
  isPlanar: false,
  organization: 'TILED_FULL',
  holes: [],
  offsetTable: 'basic',
  fragmentsPerFrame: 1,
  focalPlanes: 1,
  opticalPaths: 1,
  hasUndefinedLengths: false,
  series: '1',
  instance: '1',
  pyramid: null,
  patient: 'P-1',
  more: [],
} as const satisfies DicomPlan;

type CompletePlan = Required<Omit<DicomPlan, 'part'>> & Pick<DicomPlan, 'part'>;

const transferSyntaxes: Readonly<Record<DicomCodec, string>> = {
  implicit: '1.2.840.10008.1.2',
  explicit: '1.2.840.10008.1.2.1',
  encapsulated: '1.2.840.10008.1.2.1.98',
  jpeg: '1.2.840.10008.1.2.4.50',
  jpeg2000: '1.2.840.10008.1.2.4.90',
  jpegls: '1.2.840.10008.1.2.4.80',
  rle: '1.2.840.10008.1.2.5',
};

const UNDEFINED_LENGTH = 0xffff_ffff;
/** All UIDs of the built files start with this prefix. */
const UID_ROOT = '1.2.826.0.1.3680043.10.999';
const MM_PER_PIXEL = 0.0005;

/** Builds a small DICOM whole-slide image. */
export async function buildDicom(plan: DicomPlan = {}): Promise<Uint8Array> {
  return writeDicom(await planDicom(plan));
}

/** Returns the image that the tiles of a plan show, reduced by its downsample. */
export function pictureOf(plan: DicomPlan): Raster {
  const { width, height, downsample } = { ...defaults, ...plan };
  return shrinkRaster(paintTissue(width, height), downsample);
}

/** Creates the data elements of a small DICOM whole-slide image. */
// oxlint-disable-next-line lamina/max-own-lines -- a list of DICOM attributes
export async function planDicom(plan: DicomPlan = {}): Promise<DicomFile> {
  const completePlan: CompletePlan = { ...defaults, ...plan };
  const { codec, series, instance, patient } = completePlan;
  const picture = pictureOf(completePlan);
  const places = placesOf(completePlan, picture);
  const frames = await Promise.all(places.map((place) => encodeFrame(completePlan, picture, place)));
  const samples = completePlan.photometric.startsWith('MONOCHROME') ? 1 : 3;
  const isEncapsulated = codec !== 'explicit' && codec !== 'implicit';

  const elements: DicomElement[] = [
    text(tag.ImageType, 'CS', 'ORIGINAL', 'PRIMARY', completePlan.kind, 'NONE'),
    text(tag.SOPClassUID, 'UI', wholeSlideImage),
    text(tag.SOPInstanceUID, 'UI', `${UID_ROOT}.${series}.${instance}`),
    ...(completePlan.pyramid === null
      ? []
      : [text(tag.PyramidUID, 'UI', `${UID_ROOT}.9.${completePlan.pyramid}`)]),
    text(tag.Manufacturer, 'LO', 'Leica Biosystems'),
    text(0x0010_0010, 'PN', 'Doe^Jane'), // PatientName, which readers must not return
    text(tag.PatientID, 'LO', patient),
    text(0x0018_1000, 'LO', 'SERIAL-12345'), // DeviceSerialNumber, which readers must not return
    text(tag.StudyInstanceUID, 'UI', `${UID_ROOT}.8`),
    text(tag.SeriesInstanceUID, 'UI', `${UID_ROOT}.${series}`),
    text(tag.InstanceNumber, 'IS', '1'),
    ...concatenationOf(completePlan),
    ...(completePlan.organization === null
      ? []
      : [text(tag.DimensionOrganizationType, 'CS', completePlan.organization)]),
    us(tag.SamplesPerPixel, samples),
    text(tag.PhotometricInterpretation, 'CS', completePlan.photometric),
    ...(samples === 1 ? [] : [us(tag.PlanarConfiguration, completePlan.isPlanar ? 1 : 0)]),
    text(tag.NumberOfFrames, 'IS', String(frames.length)),
    us(tag.Rows, completePlan.tileHeight),
    us(tag.Columns, completePlan.tileWidth),
    us(tag.BitsAllocated, completePlan.bits),
    us(tag.BitsStored, completePlan.bits),
    us(tag.HighBit, completePlan.bits - 1),
    us(tag.PixelRepresentation, 0),
    text(tag.ContainerIdentifier, 'LO', 'SLIDE-1'),
    fl(tag.ImagedVolumeWidth, picture.width * MM_PER_PIXEL * completePlan.downsample),
    fl(tag.ImagedVolumeHeight, picture.height * MM_PER_PIXEL * completePlan.downsample),
    ul(tag.TotalPixelMatrixColumns, picture.width),
    ul(tag.TotalPixelMatrixRows, picture.height),
    sequence(tag.TotalPixelMatrixOriginSequence, [
      [
        text(tag.XOffsetInSlideCoordinateSystem, 'DS', '20'),
        text(tag.YOffsetInSlideCoordinateSystem, 'DS', '40'),
      ],
    ]),
    sequence(tag.OpticalPathSequence, range(completePlan.opticalPaths).map(opticalPathOf)),
    ul(tag.NumberOfOpticalPaths, completePlan.opticalPaths),
    ul(tag.TotalPixelMatrixFocalPlanes, completePlan.focalPlanes),
    sequence(tag.SharedFunctionalGroupsSequence, [
      [
        sequence(tag.PixelMeasuresSequence, [
          [
            text(
              tag.PixelSpacing,
              'DS',
              String(MM_PER_PIXEL * completePlan.downsample),
              String(MM_PER_PIXEL * completePlan.downsample),
            ),
          ],
        ]),
      ],
    ]),
    ...(completePlan.organization === 'TILED_FULL'
      ? []
      : [sequence(tag.PerFrameFunctionalGroupsSequence, places.map(functionalGroupsOf(completePlan)))]),
    ...(isEncapsulated ? encapsulatedPixelData(completePlan, frames) : [nativePixelData(frames)]),
  ];
  const replacedTags = new Set(completePlan.more.map((element) => element.tag));
  const unreplaced = elements.filter((element) => !replacedTags.has(element.tag));
  const sorted = [...unreplaced, ...completePlan.more].sort((a, b) => a.tag - b.tag);
  return {
    preamble: new Uint8Array(128),
    meta: [
      ul(0x0002_0000, 0), // FileMetaInformationGroupLength, which the reader ignores
      text(tag.MediaStorageSOPClassUID, 'UI', wholeSlideImage),
      text(tag.TransferSyntaxUID, 'UI', transferSyntaxes[codec]),
    ],
    isExplicit: codec !== 'implicit',
    elements: completePlan.hasUndefinedLengths ? sorted.map(withoutLength) : sorted,
  };
}

/** Position of a frame in pixels from the top left, and the indices of its focal plane and optical path, from 0. */
interface FramePlace {
  readonly x: number;
  readonly y: number;
  readonly plane: number;
  readonly path: number;
}

/** Returns the places of the file's frames, in order. A part of a concatenation contains only some of the frames. */
function placesOf(plan: CompletePlan, { width, height }: Raster): FramePlace[] {
  const columns = Math.ceil(width / plan.tileWidth);
  const rows = Math.ceil(height / plan.tileHeight);
  const places: FramePlace[] = [];
  for (let path = 0; path < plan.opticalPaths; path++) {
    for (let plane = 0; plane < plan.focalPlanes; plane++) {
      for (let tile = 0; tile < columns * rows; tile++) {
        if (plan.holes.includes(tile)) continue;
        const [x, y] = [(tile % columns) * plan.tileWidth, Math.floor(tile / columns) * plan.tileHeight];
        places.push({ x, y, plane, path });
      }
    }
  }
  return plan.part ? places.slice(plan.part.from, plan.part.to) : places;
}

/**
 * Returns the RGB samples of a tile. Pixels outside the image are magenta, which tissue never contains. Tests can
 * tell planes and paths apart: each sample is darker by 20 per focal plane and by 40 per optical path.
 */
function cutTile(picture: Raster, { tileWidth, tileHeight }: CompletePlan, place: FramePlace): Uint8Array {
  const rgb = new Uint8Array(tileWidth * tileHeight * 3);
  for (let y = 0; y < tileHeight; y++) {
    for (let x = 0; x < tileWidth; x++) {
      const [pictureX, pictureY] = [place.x + x, place.y + y];
      const isInside = pictureX < picture.width && pictureY < picture.height;
      for (let sample = 0; sample < 3; sample++) {
        const value = picture.rgb[(pictureY * picture.width + pictureX) * 3 + sample] as number;
        rgb[(y * tileWidth + x) * 3 + sample] = isInside
          ? Math.max(value - 20 * place.plane - 40 * place.path, 0)
          : ([255, 0, 255][sample] as number);
      }
    }
  }
  return rgb;
}

async function encodeFrame(plan: CompletePlan, picture: Raster, place: FramePlace): Promise<Uint8Array> {
  const { tileWidth: width, tileHeight: height, codec } = plan;
  const rgb = cutTile(picture, plan, place);
  if (codec === 'jpeg') return encodeJpeg(rgb, width, height, plan.photometric);
  const samples = samplesOf(rgb, plan);
  if (codec === 'jpeg2000') return encodeJpeg2000(samples);
  const interleave = samples.samplesPerPixel === 1 ? 0 : 2; // 0: one plane; 2: three components, interleaved by pixel
  if (codec === 'jpegls') return encodeJpegLs(samples, interleave);
  if (codec === 'rle') return encodeDicomRle(samples);
  const values = plan.isPlanar ? planesOf(samples) : samples.values;
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Converts RGB to the samples that the plan declares; grey images contain the green samples. */
function samplesOf(rgb: Uint8Array, plan: CompletePlan): FrameSamples {
  const { tileWidth: width, tileHeight: height, photometric, bits, wordStep } = plan;
  if (!photometric.startsWith('MONOCHROME')) {
    return { width, height, samplesPerPixel: 3, values: photometric === 'YBR_FULL' ? toYcc(rgb) : rgb };
  }
  const green = rgb.filter((_, i) => i % 3 === 1);
  const values = bits === 16 ? Uint16Array.from(green, (value) => value * wordStep) : green;
  return { width, height, samplesPerPixel: 1, values };
}

/** Converts RGB to YCbCr. Source: ITU-T T.871, section 7. */
function toYcc(rgb: Uint8Array): Uint8Array {
  const ycc = new Uint8ClampedArray(rgb.length);
  for (let i = 0; i < rgb.length; i += 3) {
    const [r, g, b] = [rgb[i] as number, rgb[i + 1] as number, rgb[i + 2] as number];
    ycc[i] = 0.299 * r + 0.587 * g + 0.114 * b;
    ycc[i + 1] = -0.168736 * r - 0.331264 * g + 0.5 * b + 128;
    ycc[i + 2] = 0.5 * r - 0.418688 * g - 0.081312 * b + 128;
  }
  return new Uint8Array(ycc.buffer);
}

/** Encodes a JPEG without a JFIF marker, as DICOM stores it, so that only the data set declares the colour space. */
async function encodeJpeg(
  rgb: Uint8Array,
  width: number,
  height: number,
  photometric: string,
): Promise<Uint8Array> {
  const picture = sharp(rgb, { raw: { width, height, channels: 3 } });
  if (photometric.startsWith('MONOCHROME')) picture.toColourspace('b-w');
  // sharp cannot encode 4:2:2, so this function encodes 4:2:0 instead.
  const chromaSubsampling = photometric === 'YBR_FULL_422' ? '4:2:0' : '4:4:4';
  const jpeg = await picture.jpeg({ quality: 90, chromaSubsampling }).toBuffer();
  for (const segment of segments(jpeg)) {
    if (segment.marker === marker.APP0)
      return Buffer.concat([jpeg.subarray(0, segment.at), jpeg.subarray(segment.end)]);
  }
  return jpeg;
}

/** Returns a function that describes a frame: its optical path, and its position from the top left, counted from 1. */
function functionalGroupsOf({ holes }: CompletePlan) {
  return ({ x, y, plane, path }: FramePlace): DicomItem => [
    sequence(tag.OpticalPathIdentificationSequence, [
      [text(tag.OpticalPathIdentifier, 'SH', String(path + 1))],
    ]),
    sequence(tag.PlanePositionSlideSequence, [
      [
        text(tag.XOffsetInSlideCoordinateSystem, 'DS', '20'),
        text(tag.YOffsetInSlideCoordinateSystem, 'DS', '40'),
        // If tiles are missing, the depth has a fraction, which a DS value (decimal string) may have.
        text(tag.ZOffsetInSlideCoordinateSystem, 'DS', String(plane * 2 + holes.length / 1000)),
        sl(tag.ColumnPositionInTotalImagePixelMatrix, x + 1),
        sl(tag.RowPositionInTotalImagePixelMatrix, y + 1),
      ],
    ]),
  ];
}

function opticalPathOf(path: number): DicomItem {
  return [
    { tag: tag.ICCProfile, vr: 'OB', value: Buffer.from(`profile ${path + 1} `) },
    text(tag.OpticalPathIdentifier, 'SH', String(path + 1)),
    text(tag.ObjectiveLensPower, 'DS', '40'),
  ];
}

function concatenationOf({ part }: CompletePlan): DicomElement[] {
  if (!part) return [];
  return [
    text(tag.ConcatenationUID, 'UI', `${UID_ROOT}.7`),
    us(tag.InConcatenationNumber, part.number),
    ...(part.total === undefined ? [] : [us(tag.InConcatenationTotalNumber, part.total)]),
    ul(tag.ConcatenationFrameOffsetNumber, part.from),
  ];
}

function nativePixelData(frames: readonly Uint8Array[]): DicomElement {
  return { tag: tag.PixelData, vr: 'OW', value: Buffer.concat(frames) };
}

/** Builds the elements of compressed pixel data: the frames and, if the plan has one, the extended offset table. */
function encapsulatedPixelData(
  { offsetTable, fragmentsPerFrame }: CompletePlan,
  frames: readonly Uint8Array[],
): DicomElement[] {
  const pieces = frames.map((frame) => cutInto(frame, fragmentsPerFrame));
  // In the file, each fragment follows a header of 8 bytes and is padded to an even length.
  const storedBytes = pieces.map((fragments) =>
    fragments.reduce((sum, { length }) => sum + 8 + length + (length % 2), 0),
  );
  /** Position of each frame, counted from the first frame. */
  const starts = storedBytes.map((_, i) => storedBytes.slice(0, i).reduce((sum, bytes) => sum + bytes, 0));
  const pixels: DicomElement = {
    tag: tag.PixelData,
    vr: 'OB',
    value: {
      offsetTable: offsetTable === 'basic' ? littleEndian(4, starts) : new Uint8Array(),
      fragments: pieces.flat(),
    },
  };
  if (offsetTable !== 'extended') return [pixels];
  return [
    { tag: tag.ExtendedOffsetTable, vr: 'OV', value: littleEndian(8, starts) },
    {
      tag: tag.ExtendedOffsetTableLengths,
      vr: 'OV',
      value: littleEndian(
        8,
        frames.map((frame) => frame.length),
      ),
    },
    pixels,
  ];
}

/** Cuts a frame into fragments of equal, even length; only the last one may be shorter. */
function cutInto(frame: Uint8Array, count: number): Uint8Array[] {
  const length = Math.ceil(frame.length / count / 2) * 2;
  return range(count).map((i) => frame.subarray(i * length, (i + 1) * length));
}

/** Serialises a file. Lengths that an element declares are written even if they are wrong. */
export function writeDicom({ preamble, meta, isExplicit, elements }: DicomFile): Uint8Array {
  return Buffer.concat([
    preamble,
    Buffer.from('DICM'),
    ...meta.map((element) => writeElement(element, true)), // always explicit
    ...elements.map((element) => writeElement(element, isExplicit)),
  ]);
}

/** Value representations whose length has 4 bytes in explicit encoding; the length of others has 2. */
const longVrs = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'SQ', 'SV', 'UC', 'UN', 'UR', 'UT', 'UV']);

function writeElement(element: DicomElement, isExplicit: boolean): Uint8Array {
  const { vr, value } = element;
  const hasNoLength = 'fragments' in value || element.length === UNDEFINED_LENGTH;
  let bytes: Uint8Array;
  if (value instanceof Uint8Array) bytes = value;
  else if ('fragments' in value) bytes = writeFragments(value);
  else bytes = writeItems(value, isExplicit && vr !== 'UN', hasNoLength); // items in UN are always implicit
  const length = element.length ?? (hasNoLength ? UNDEFINED_LENGTH : bytes.length);
  const isLong = longVrs.has(vr);
  const header = Buffer.alloc(isExplicit && isLong ? 12 : 8);
  header.writeUInt16LE(element.tag >>> 16, 0);
  header.writeUInt16LE(element.tag & 0xffff, 2);
  if (isExplicit) header.write(vr, 4, 'latin1');
  if (isExplicit && !isLong) header.writeUInt16LE(length & 0xffff, 6);
  else header.writeUInt32LE(length, header.length - 4);
  return Buffer.concat([header, bytes]);
}

function writeItems(items: readonly DicomItem[], isExplicit: boolean, hasNoLength: boolean): Uint8Array {
  const encoded = items.map((item) => {
    const contents = Buffer.concat(item.map((element) => writeElement(element, isExplicit)));
    return hasNoLength
      ? Buffer.concat([
          itemHeader(tag.Item, UNDEFINED_LENGTH),
          contents,
          itemHeader(tag.ItemDelimitationItem, 0),
        ])
      : Buffer.concat([itemHeader(tag.Item, contents.length), contents]);
  });
  return Buffer.concat([...encoded, ...(hasNoLength ? [itemHeader(tag.SequenceDelimitationItem, 0)] : [])]);
}

function writeFragments({ offsetTable, fragments, isDelimited = true }: DicomFragments): Uint8Array {
  const items = [offsetTable, ...fragments].flatMap((bytes) => {
    const padding = new Uint8Array(bytes.length % 2);
    return [itemHeader(tag.Item, bytes.length + padding.length), bytes, padding];
  });
  return Buffer.concat([...items, ...(isDelimited ? [itemHeader(tag.SequenceDelimitationItem, 0)] : [])]);
}

/** Serialises the header of an item, or a delimiter: its tag and its length. */
export function itemHeader(itemTag: number, length: number): Uint8Array {
  const header = Buffer.alloc(8);
  header.writeUInt16LE(itemTag >>> 16, 0);
  header.writeUInt16LE(itemTag & 0xffff, 2);
  header.writeUInt32LE(length, 4);
  return header;
}

/** Replaces the lengths of a sequence and its nested sequences by delimiters. */
function withoutLength(element: DicomElement): DicomElement {
  if (!Array.isArray(element.value)) return element;
  const value = (element.value as readonly DicomItem[]).map((item) => item.map(withoutLength));
  return { ...element, value, length: UNDEFINED_LENGTH };
}

/** Creates an element with text values. @param elementTag tag of the element @param vr value representation */
export function text(elementTag: number, vr: string, ...values: readonly string[]): DicomElement {
  const joined = values.join('\\');
  // Values have an even length.
  const padding = vr === 'UI' ? '\0' : ' ';
  const value = joined.length % 2 === 0 ? joined : joined + padding;
  return { tag: elementTag, vr, value: Buffer.from(value, 'latin1') };
}

// The following functions create elements with numbers; a function has the name of its value representation.

export function us(elementTag: number, ...values: readonly number[]): DicomElement {
  return { tag: elementTag, vr: 'US', value: littleEndian(2, values) };
}

export function ul(elementTag: number, ...values: readonly number[]): DicomElement {
  return { tag: elementTag, vr: 'UL', value: littleEndian(4, values) };
}

export function sl(elementTag: number, ...values: readonly number[]): DicomElement {
  return {
    tag: elementTag,
    vr: 'SL',
    value: littleEndian(
      4,
      values.map((value) => value >>> 0),
    ),
  };
}

export function fl(elementTag: number, value: number): DicomElement {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return { tag: elementTag, vr: 'FL', value: bytes };
}

export function sequence(elementTag: number, items: readonly DicomItem[]): DicomElement {
  return { tag: elementTag, vr: 'SQ', value: items };
}

/** Serialises non-negative integers in `bytesPerValue` bytes each. */
export function littleEndian(bytesPerValue: 2 | 4 | 8, values: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * bytesPerValue);
  for (const [i, value] of values.entries()) {
    if (bytesPerValue === 8) bytes.writeBigUInt64LE(BigInt(value), i * 8);
    else bytes.writeUIntLE(value, i * bytesPerValue, bytesPerValue);
  }
  return bytes;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
