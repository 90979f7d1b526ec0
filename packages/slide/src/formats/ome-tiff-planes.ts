/** Assigns the planes of OME-XML images to directories of the TIFF file, by their TiffData elements. */
import { SlideError } from '../model/slide.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readSampleLayout } from '../tiff/image-layout.ts';
import { readWhole } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';

/** An image of the XML: one plane of pixels for every channel, focus and time. */
export interface OmeImage {
  readonly image: XmlElement;
  readonly pixels: XmlElement;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Number of channels, of one or three samples each. */
  readonly channels: number;
  /** Number of focal planes and of time points. */
  readonly focalPlanes: number;
  readonly times: number;
  /** Returns the index of the directory with a channel's first plane (focus 0, time 0); null when in another file. */
  planeOf(channel: number): number | null;
}

/** Consecutive directories that hold planes: `count` of them, from index `first`. */
export interface PlaneRange {
  readonly first: number;
  readonly count: number;
}

const DIMENSION_ORDERS = new Set(['XYZCT', 'XYZTC', 'XYCZT', 'XYCTZ', 'XYTZC', 'XYTCZ']);
/** Maximum number of planes of one image. */
const MAX_PLANES = 2 ** 31;

/** Reads the images of the XML. @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED */
export async function placeImages(
  ome: XmlElement,
  directories: readonly TiffDirectory[],
  fileName: string,
): Promise<{ images: readonly OmeImage[]; ranges: readonly PlaneRange[] }> {
  const own = ownFile(ome, fileName);
  const samplesOf = samplesPerPixel(directories);
  const images: OmeImage[] = [];
  const ranges: PlaneRange[] = [];
  // Without TiffData, the planes of the images follow one another.
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
    if (planes > MAX_PLANES) throw new SlideError('LIMIT_EXCEEDED', `An image has ${planes} planes`);
    const placedBlocks = blocks.length === 0 ? [{ first: 0, at: next, count: planes, isOwn: true }] : [];
    for (const block of blocks) placedBlocks.push(placeBlock(block, pixels, count, own));
    next += planes;
    for (const { at, count: length, isOwn } of placedBlocks)
      if (isOwn) ranges.push({ first: at, count: length });
    const step = strideOf('C', pixels, count);
    images.push({
      image,
      pixels,
      width,
      height,
      channels: count.C,
      focalPlanes: count.Z,
      times: count.T,
      planeOf: (channel) => directoryOf(channel * step, placedBlocks),
    });
  }
  return { images, ranges };
}

type PlaneCounts = Readonly<Record<'Z' | 'C' | 'T', number>>;

/** Returns the number of planes between two neighbours along a dimension. Source: OME data model, DimensionOrder. */
function strideOf(dimension: 'Z' | 'C' | 'T', pixels: XmlElement, count: PlaneCounts): number {
  const order = pixels.attributes.get('DimensionOrder') ?? 'XYZCT';
  if (!DIMENSION_ORDERS.has(order)) throw corrupt('its DimensionOrder is not one of the OME data model');
  let stride = 1;
  for (const name of order.slice(2)) {
    if (name === dimension) return stride;
    stride *= count[name as 'Z' | 'C' | 'T'];
  }
  return stride;
}

interface PlacedBlock {
  /** Index of the first plane of the run in the image. */
  readonly first: number;
  /** Index of that plane's directory. */
  readonly at: number;
  readonly count: number;
  readonly isOwn: boolean;
}

/**
 * Reads a TiffData element: which planes lie in which directories.
 *
 * Source: OME-TIFF specification, "The TiffData element": IFD and the First… attributes default to 0; PlaneCount is 1
 * where IFD is given, and all planes where neither is.
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

/** Returns the directory of a plane; null when the plane is in another file or not assigned. */
function directoryOf(plane: number, blocks: readonly PlacedBlock[]): number | null {
  for (const { first, at, count, isOwn } of blocks) {
    if (isOwn && plane >= first && plane < first + count) return at + plane - first;
  }
  return null;
}

/**
 * Returns a test for TiffData elements of this file: those with its UUID, whatever its name is now. Where the file has
 * no UUID, those with its name, if the XML names several files.
 */
function ownFile(ome: XmlElement, fileName: string): (uuid: XmlElement | null) => boolean {
  const own = ome.attributes.get('UUID')?.trim().toLowerCase();
  if (own) return (uuid) => !uuid || uuid.text === '' || uuid.text.toLowerCase() === own;
  const nameOf = (uuid: XmlElement) => uuid.attributes.get('FileName') ?? uuid.text;
  const names = new Set(elementsAt(ome, 'Image/Pixels/TiffData/UUID').map(nameOf));
  return (uuid) => !uuid || names.size < 2 || nameOf(uuid) === fileName;
}

/** Caches the samples per pixel by directory: the XML may contain many more images than the file has directories. */
function samplesPerPixel(directories: readonly TiffDirectory[]): (index: number) => Promise<number> {
  const known = new Map<number, number>();
  return async (index) => {
    const directory = directories[index];
    if (!directory) throw corrupt('it refers to a directory that does not exist');
    const samples = known.get(index) ?? Math.max(1, (await readSampleLayout(directory)).samplesPerPixel);
    known.set(index, samples);
    return samples;
  };
}

export function corrupt(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The OME-XML contradicts itself or the file: ${what}`);
}
