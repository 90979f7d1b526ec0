/**
 * OME-TIFF: TIFF whose first description is OME-XML, as Bio-Formats, QuPath and many microscopes write it. The XML
 * says which directories are which channel of which picture; their smaller sizes are SubIFDs, or directories of the
 * main chain that the XML does not name.
 *
 * docs/formats/ome-tiff.md says what is read, and where each fact is from.
 */
import type { Colour } from '../decode/raster.ts';
import { type AssociatedImageName, type Slide, SlideError } from '../slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import { type ChannelPictures, MOST_CHANNELS, openChannelPyramid } from '../tiff/channel-pyramid.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readSampleLayout } from '../tiff/image-layout.ts';
import { readPicture, type TiffPicture } from '../tiff/picture.ts';
import { openPyramid } from '../tiff/pyramid.ts';
import { readResolution } from '../tiff/resolution.ts';
import { isMask, isReduced } from '../tiff/subfile-type.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readWholePicture } from '../tiff/whole-picture.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWhole } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';

export const omeTiff: SlideFormat = {
  name: 'ome-tiff',

  mismatch({ tiff, description }) {
    if (!tiff) return 'the file is no TIFF';
    const isOme = /<(\w+:)?OME\s/.test(description) && /openmicroscopy/i.test(description);
    return isOme ? null : 'its description is no OME-XML';
  },

  async open(files, { tiff }) {
    if (!tiff) throw corrupt('the file is no TIFF');
    const ome = await readOme(tiff);
    const directories = await tiff.directories();
    const { images, ranges } = await placeImages(ome, directories, files.name);
    const { main, associated } = chooseImages(images);
    const pages: Pages = { tiff, directories, reduced: await unnamedReduced(directories, ranges) };
    const channels = await readChannels(main, pages);
    const shown = await openShown(files, channels);
    return {
      format: 'ome-tiff',
      fingerprint: files.fingerprint,
      // Whoever made the microscope is free text.
      vendor: null,
      levels: shown.levels,
      mpp: readPhysicalSize(main.pixels) ?? (await readResolution(shown.full.directory)),
      objectivePower: readMagnification(ome, main.image),
      background: shown.background,
      associatedImages: new Set(associated.keys()),
      readTile: shown.readTile,
      async readAssociatedImage(name) {
        const image = associated.get(name);
        const directory = image && directories[image.planeOf(0) ?? -1];
        if (!directory) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholePicture(files.leading, await readPicture(directory));
      },
      readIccProfile: shown.readIccProfile,
      close: files.close,
    };
  },
};

/** What of the XML is read; the rest may be long, and names people. */
const KEPT = new Set([
  'OME/BinaryOnly',
  'OME/Image',
  'OME/Image/ObjectiveSettings',
  'OME/Image/ObjectiveRef',
  'OME/Image/Pixels',
  'OME/Image/Pixels/Channel',
  'OME/Image/Pixels/TiffData',
  'OME/Image/Pixels/TiffData/UUID',
  'OME/Instrument',
  'OME/Instrument/Objective',
]);

async function readOme(tiff: TiffFile): Promise<XmlElement> {
  const root = await readXmlTag(tiff.first, tag.ImageDescription, (path) => KEPT.has(path.join('/')));
  if (root?.name !== 'OME') throw corrupt('its root element is not OME');
  if (elementsAt(root, 'BinaryOnly').length > 0)
    throw notRead('OME-TIFF whose metadata is in a file beside it');
  return root;
}

/** A picture as the XML has it: one plane of pixels for every channel, focus and time. */
interface OmeImage {
  readonly image: XmlElement;
  readonly pixels: XmlElement;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** How many: of one sample or of three each. */
  readonly channels: number;
  /** Index among the file's directories of a channel's first plane: focus 0, time 0. Null when in another file. */
  planeOf(channel: number): number | null;
}

/** Directories that planes are in: `count` of them, from `first`. */
interface PlaneRange {
  readonly first: number;
  readonly count: number;
}

const DIMENSION_ORDERS = new Set(['XYZCT', 'XYZTC', 'XYCZT', 'XYCTZ', 'XYTZC', 'XYTCZ']);
/** Planes of one picture. */
const MOST_PLANES = 2 ** 31;

/** @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED */
async function placeImages(
  ome: XmlElement,
  directories: readonly TiffDirectory[],
  fileName: string,
): Promise<{ images: readonly OmeImage[]; ranges: readonly PlaneRange[] }> {
  const own = ownFile(ome, fileName);
  const samplesOf = samplesPerPixel(directories);
  const images: OmeImage[] = [];
  const ranges: PlaneRange[] = [];
  // Where no TiffData says it, the pictures follow one another.
  let next = 0;
  for (const image of elementsAt(ome, 'Image')) {
    const [pixels] = elementsAt(image, 'Pixels');
    if (!pixels) throw corrupt('an Image has no Pixels');
    const size = (name: string) => {
      const value = readWhole(pixels.attributes.get(name));
      if (!value) throw corrupt(`${name} is ${value === null ? 'no number' : value}`);
      return value;
    };
    const [width, height, sizeZ, sizeC, sizeT] = ['SizeX', 'SizeY', 'SizeZ', 'SizeC', 'SizeT'].map(size) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const blocks = elementsAt(pixels, 'TiffData');
    const start = readWhole(blocks[0]?.attributes.get('IFD')) ?? (blocks.length === 0 ? next : 0);
    const samples = await samplesOf(start);
    if (sizeC % samples !== 0) throw corrupt(`SizeC is ${sizeC}, with ${samples} samples a pixel`);
    const count = { Z: sizeZ, C: sizeC / samples, T: sizeT };
    const planes = count.Z * count.C * count.T;
    if (planes > MOST_PLANES) throw new SlideError('LIMIT_EXCEEDED', `A picture has ${planes} planes`);
    const placed = blocks.length === 0 ? [{ first: 0, at: next, count: planes, isOwn: true }] : [];
    for (const block of blocks) placed.push(placeBlock(block, pixels, count, own));
    next += planes;
    for (const { at, count: length, isOwn } of placed) if (isOwn) ranges.push({ first: at, count: length });
    const step = strideOf('C', pixels, count);
    images.push({
      image,
      pixels,
      width,
      height,
      channels: count.C,
      planeOf: (channel) => directoryOf(channel * step, placed),
    });
  }
  return { images, ranges };
}

type PlaneCounts = Readonly<Record<'Z' | 'C' | 'T', number>>;

/** How many planes lie between two neighbours along a dimension. Source: OME data model, DimensionOrder. */
function strideOf(dimension: 'Z' | 'C' | 'T', pixels: XmlElement, count: PlaneCounts): number {
  const order = pixels.attributes.get('DimensionOrder') ?? 'XYZCT';
  if (!DIMENSION_ORDERS.has(order)) throw corrupt('DimensionOrder is none');
  let stride = 1;
  for (const name of order.slice(2)) {
    if (name === dimension) return stride;
    stride *= count[name as 'Z' | 'C' | 'T'];
  }
  return stride;
}

interface PlacedBlock {
  /** Index of its first plane in the picture. */
  readonly first: number;
  /** Index of that plane's directory. */
  readonly at: number;
  readonly count: number;
  readonly isOwn: boolean;
}

/**
 * Source: OME-TIFF specification, "The TiffData element": IFD and the First… are 0 by default, PlaneCount is 1 where
 * IFD is given and all planes where neither is.
 */
function placeBlock(
  { attributes, children }: XmlElement,
  pixels: XmlElement,
  count: PlaneCounts,
  isOwnFile: (uuid: XmlElement | null) => boolean,
): PlacedBlock {
  const read = (name: string) => {
    const text = attributes.get(name);
    const value = text === undefined ? null : readWhole(text);
    if (text !== undefined && value === null) throw corrupt(`${name} of a TiffData is no number`);
    return value;
  };
  let first = 0;
  for (const dimension of ['Z', 'C', 'T'] as const) {
    const index = read(`First${dimension}`) ?? 0;
    if (index >= count[dimension]) throw corrupt(`First${dimension} of a TiffData is ${index}`);
    first += index * strideOf(dimension, pixels, count);
  }
  const ifd = read('IFD');
  const left = count.Z * count.C * count.T - first;
  const isOwn = isOwnFile(children.find(({ name }) => name === 'UUID') ?? null);
  return {
    first,
    at: ifd ?? 0,
    count: Math.min(read('PlaneCount') ?? (ifd === null ? left : 1), left),
    isOwn,
  };
}

/** @returns null when the plane is in another file, or nowhere */
function directoryOf(plane: number, blocks: readonly PlacedBlock[]): number | null {
  for (const { first, at, count, isOwn } of blocks) {
    if (isOwn && plane >= first && plane < first + count) return at + plane - first;
  }
  return null;
}

/**
 * Which TiffData are of this file: those with its UUID, whatever its name is now. Where the file does not say its
 * UUID, those that name it, if they name several.
 */
function ownFile(ome: XmlElement, fileName: string): (uuid: XmlElement | null) => boolean {
  const own = ome.attributes.get('UUID')?.trim().toLowerCase();
  if (own) return (uuid) => !uuid || uuid.text === '' || uuid.text.toLowerCase() === own;
  const nameOf = (uuid: XmlElement) => uuid.attributes.get('FileName') ?? uuid.text;
  const names = new Set(elementsAt(ome, 'Image/Pixels/TiffData/UUID').map(nameOf));
  return (uuid) => !uuid || names.size < 2 || nameOf(uuid) === fileName;
}

/** Asked for every picture of the XML, of which there may be many more than directories. */
function samplesPerPixel(directories: readonly TiffDirectory[]): (index: number) => Promise<number> {
  const known = new Map<number, number>();
  return async (index) => {
    const directory = directories[index];
    if (!directory) throw corrupt('it names a directory that there is not');
    const samples = known.get(index) ?? Math.max(1, (await readSampleLayout(directory)).samplesPerPixel);
    known.set(index, samples);
    return samples;
  };
}

/** Bio-Formats names the pictures beside a slide so. */
const BESIDE = /^(label|macro|overview|thumbnail)( mask)?( image)?$/i;

interface ChosenImages {
  readonly main: OmeImage;
  readonly associated: ReadonlyMap<AssociatedImageName, OmeImage>;
}

/** The largest picture is shown: others, that are not the same made smaller, may be a label. */
function chooseImages(images: readonly OmeImage[]): ChosenImages {
  const associated = new Map<AssociatedImageName, OmeImage>();
  let main: OmeImage | null = null;
  for (const each of images) {
    const [, word] = BESIDE.exec(each.image.attributes.get('Name')?.trim() ?? '') ?? [];
    const named = word?.toLowerCase();
    if (named) {
      const name = named === 'label' || named === 'thumbnail' ? named : 'macro';
      if (!associated.has(name)) associated.set(name, each);
    } else if (!main || each.width * each.height > main.width * main.height) main = each;
  }
  if (images.length === 0) throw corrupt('it has no Image');
  if (!main) throw new SlideError('NOT_A_SLIDE', 'The file has only pictures that stand beside a slide');
  return { main, associated };
}

interface Pages {
  readonly tiff: TiffFile;
  /** The main chain. */
  readonly directories: readonly TiffDirectory[];
  /** Those of it that say they are a picture made smaller, and that the XML does not name: one size after the other. */
  readonly reduced: readonly (readonly TiffPicture[])[];
}

/** Source: OME-TIFF specification: sub-resolutions are in no TiffData. */
async function unnamedReduced(
  directories: readonly TiffDirectory[],
  ranges: readonly PlaneRange[],
): Promise<readonly (readonly TiffPicture[])[]> {
  const steps = new Int32Array(directories.length + 1);
  for (const { first, count } of ranges) {
    if (first >= directories.length) continue;
    const end = Math.min(first + count, directories.length);
    steps[first] = (steps[first] ?? 0) + 1;
    steps[end] = (steps[end] ?? 0) - 1;
  }
  const bySize = new Map<string, TiffPicture[]>();
  let naming = 0;
  for (const [i, directory] of directories.entries()) {
    naming += steps[i] ?? 0;
    if (naming > 0 || !(await isReduced(directory))) continue;
    const picture = await readPicture(directory);
    const size = `${picture.width} × ${picture.height}`;
    const known = bySize.get(size);
    if (known) known.push(picture);
    else bySize.set(size, [picture]);
  }
  return [...bySize.values()];
}

/** A channel of the picture that is shown. */
interface OmeChannel extends ChannelPictures {
  /** Of the first plane. */
  readonly samplesPerPixel: number;
  readonly bits: number;
}

async function readChannels(
  main: OmeImage,
  { tiff, directories, reduced }: Pages,
): Promise<readonly OmeChannel[]> {
  if (main.channels > MOST_CHANNELS) throw notRead(`${main.channels} channels`);
  const described = elementsAt(main.pixels, 'Channel');
  const channels: OmeChannel[] = [];
  for (let i = 0; i < main.channels; i++) {
    const plane = main.planeOf(i);
    if (plane === null) throw notRead('OME-TIFF with planes in other files');
    const directory = directories[plane];
    if (!directory) throw corrupt('it names a directory that there is not');
    const full = await readPicture(directory);
    if (full.width !== main.width || full.height !== main.height) {
      throw corrupt(
        `it says ${main.width} × ${main.height} pixels, the directory ${full.width} × ${full.height}`,
      );
    }
    const below: TiffPicture[] = [];
    for (const each of await tiff.subDirectories(directory)) {
      if (!(await isMask(each))) below.push(await readPicture(each));
    }
    // Of every size there is one for each channel, in their order; sizes of which there are more or fewer are made.
    const after = reduced.flatMap((group) => (group.length === main.channels ? (group[i] ?? []) : []));
    const { samplesPerPixel: samples, bitsPerSample } = await readSampleLayout(directory);
    channels.push({
      pictures: [full, ...below, ...after],
      colour: readColour(described[i] ?? null),
      significantBits: readWhole(main.pixels.attributes.get('SignificantBits')),
      samplesPerPixel: samples,
      bits: bitsPerSample[0] ?? 1,
    });
  }
  return channels;
}

/** Red, green, blue and alpha, one byte each, as one signed number. Source: OME data model, Channel. */
function readColour(channel: XmlElement | null): Colour | null {
  const colour = readDecimal(channel?.attributes.get('Color'));
  if (colour === null || !Number.isInteger(colour)) return null;
  const bits = colour | 0;
  return { r: (bits >>> 24) & 255, g: (bits >>> 16) & 255, b: (bits >>> 8) & 255 };
}

/**
 * White is what the data model gives a channel that has no colour, and some writers write it out: where all of
 * several channels are of the same grey, none of them has a colour.
 */
function withoutDefaultColours(channels: readonly OmeChannel[]): readonly OmeChannel[] {
  const [first] = channels;
  const isSame = channels.every(({ colour }) => colour?.r === first?.colour?.r && isGrey(colour));
  return channels.length > 1 && isSame ? channels.map((channel) => ({ ...channel, colour: null })) : channels;
}

/** What is shown of the file, as far as `Slide` speaks of it. */
type Shown = Pick<Slide, 'levels' | 'readTile' | 'background' | 'readIccProfile'> & {
  readonly full: TiffPicture;
};

async function openShown({ leading }: SlideFiles, channels: readonly OmeChannel[]): Promise<Shown> {
  const [first] = channels;
  if (!first) throw corrupt('it has no channel');
  const isInColour = first.samplesPerPixel > 1;
  const isPlainGrey = channels.length === 1 && first.bits <= 8 && isGrey(first.colour);
  if (isInColour && channels.length > 1) throw notRead(`${channels.length} channels in colours`);
  if (isInColour || isPlainGrey) {
    const pyramid = await openPyramid(leading, first.pictures);
    return { ...pyramid, background: { r: 255, g: 255, b: 255 } };
  }
  const pyramid = await openChannelPyramid(leading, withoutDefaultColours(channels), 'as-stored');
  return { ...pyramid, background: { r: 0, g: 0, b: 0 }, readIccProfile: async () => null };
}

function isGrey(colour: Colour | null): boolean {
  return colour === null || (colour.r === colour.g && colour.g === colour.b);
}

/** Micrometres. Source: OME data model, UnitsLength. */
const MICROMETRES: ReadonlyMap<string, number> = new Map([
  ['m', 1e6],
  ['dm', 1e5],
  ['cm', 1e4],
  ['mm', 1e3],
  ['\u00b5m', 1],
  ['\u03bcm', 1],
  ['um', 1],
  ['nm', 1e-3],
  ['\u00c5', 1e-4],
  ['\u212b', 1e-4],
  ['pm', 1e-6],
  ['in', 25_400],
  ['mil', 25.4],
]);

function readPhysicalSize({ attributes }: XmlElement): { x: number; y: number } | null {
  const side = (name: string) => {
    const size = readDecimal(attributes.get(name));
    const unit = MICROMETRES.get(attributes.get(`${name}Unit`)?.trim() ?? 'um');
    return size === null || unit === undefined ? 0 : size * unit;
  };
  const mpp = { x: side('PhysicalSizeX'), y: side('PhysicalSizeY') };
  return [mpp.x, mpp.y].every((each) => each > 0 && each < 1000) ? mpp : null;
}

/** Of the objective that the picture refers to, or of the only one there is. */
function readMagnification(ome: XmlElement, image: XmlElement): number | null {
  const objectives = elementsAt(ome, 'Instrument/Objective');
  const [reference] = [...elementsAt(image, 'ObjectiveSettings'), ...elementsAt(image, 'ObjectiveRef')];
  const id = reference?.attributes.get('ID');
  const named = objectives.find(({ attributes }) => id !== undefined && attributes.get('ID') === id);
  const [only, another] = objectives;
  const objective = named ?? (another ? undefined : only);
  const power = readDecimal(objective?.attributes.get('NominalMagnification'));
  return power !== null && power > 0 && power < 1000 ? power : null;
}

function corrupt(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The OME-XML contradicts itself or the file: ${what}`);
}

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${what}`);
}
