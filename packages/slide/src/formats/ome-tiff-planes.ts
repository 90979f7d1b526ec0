/**
 * Reads the images that OME-XML describes, and finds the TIFF directory of each of their planes. A plane is the pixels
 * of one channel, focal plane and time point. A TiffData element assigns consecutive planes to consecutive directories.
 */
import { SlideError } from '../model/slide.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readSampleLayout } from '../tiff/image-layout.ts';
import { readWholeNumber } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';

/** An image that the XML describes. */
export interface OmeImage {
  /** The Image element, and the Pixels element inside it. */
  readonly image: XmlElement;
  readonly pixels: XmlElement;
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** Number of channels, of one or three samples each. */
  readonly channels: number;
  /** Number of focal planes, and of time points. */
  readonly focalPlanes: number;
  readonly times: number;
  /** Returns the directory index of a channel's first plane (focus 0, time 0); null if this file lacks the plane. */
  directoryIndexOf(channel: number): number | null;
}

/** Consecutive directories that contain planes: the index of the first directory, and the number of directories. */
export interface PlaneRange {
  readonly first: number;
  readonly count: number;
}

const DIMENSION_ORDERS = new Set(['XYZCT', 'XYZTC', 'XYCZT', 'XYCTZ', 'XYTZC', 'XYTCZ']);
/** Maximum number of planes of one image. */
const MAX_PLANES = 2 ** 31;

/**
 * Reads all images that the XML describes, and the ranges of directories that contain planes of these images in this file.
 *
 * @throws SlideError FILE_CORRUPT, LIMIT_EXCEEDED
 */
export async function readOmeImages(
  ome: XmlElement,
  directories: readonly TiffDirectory[],
  fileName: string,
): Promise<{ images: readonly OmeImage[]; ranges: readonly PlaneRange[] }> {
  const isThisFile = createFileTest(ome, fileName);
  const readSamplesPerPixel = createSamplesReader(directories);
  const images: OmeImage[] = [];
  const ranges: PlaneRange[] = [];
  // If an image has no TiffData elements, its planes follow those of the image before it.
  let nextDirectory = 0;
  for (const image of elementsAt(ome, 'Image')) {
    const [pixels] = elementsAt(image, 'Pixels');
    if (!pixels) throw corruptError('an Image has no Pixels');
    const readSize = (name: string) => {
      const value = readWholeNumber(pixels.attributes.get(name));
      if (!value) throw corruptError(`${name} is ${value === null ? 'no number' : value}`);
      return value;
    };
    const width = readSize('SizeX');
    const height = readSize('SizeY');
    const sizeZ = readSize('SizeZ');
    const sizeC = readSize('SizeC');
    const sizeT = readSize('SizeT');
    const tiffData = elementsAt(pixels, 'TiffData');
    const defaultDirectory = tiffData.length === 0 ? nextDirectory : 0;
    const firstDirectory = readWholeNumber(tiffData[0]?.attributes.get('IFD')) ?? defaultDirectory;
    const samples = await readSamplesPerPixel(firstDirectory);
    // SizeC counts samples: a channel of red, green and blue counts as three.
    if (sizeC % samples !== 0) throw corruptError(`SizeC is ${sizeC}, with ${samples} samples a pixel`);
    const counts = { Z: sizeZ, C: sizeC / samples, T: sizeT };
    const planes = counts.Z * counts.C * counts.T;
    if (planes > MAX_PLANES) throw new SlideError('LIMIT_EXCEEDED', `An image has ${planes} planes`);
    const blocks =
      tiffData.length === 0
        ? [{ firstPlane: 0, firstDirectory: nextDirectory, count: planes, isInThisFile: true }]
        : tiffData.map((element) => readBlock(element, pixels, counts, isThisFile));
    nextDirectory += planes;
    for (const block of blocks) {
      if (block.isInThisFile) ranges.push({ first: block.firstDirectory, count: block.count });
    }
    const channelStride = strideOf('C', pixels, counts);
    images.push({
      image,
      pixels,
      width,
      height,
      channels: counts.C,
      focalPlanes: counts.Z,
      times: counts.T,
      directoryIndexOf: (channel) => directoryIndexOfPlane(channel * channelStride, blocks),
    });
  }
  return { images, ranges };
}

/** Number of focal planes, channels and time points of an image. */
type PlaneCounts = Readonly<Record<'Z' | 'C' | 'T', number>>;

/**
 * Returns the distance between two neighbours of a dimension in the list of an image's planes: for `C`, the distance between two
 * neighbouring channels of the same focus and time.
 *
 * Source: OME data model, DimensionOrder.
 */
function strideOf(dimension: 'Z' | 'C' | 'T', pixels: XmlElement, counts: PlaneCounts): number {
  const order = pixels.attributes.get('DimensionOrder') ?? 'XYZCT';
  if (!DIMENSION_ORDERS.has(order)) throw corruptError('its DimensionOrder is not one of the OME data model');
  let stride = 1;
  const planeDimensions = order.slice('XY'.length); // the fastest-changing dimension first
  for (const faster of planeDimensions) {
    if (faster === dimension) return stride;
    stride *= counts[faster as 'Z' | 'C' | 'T'];
  }
  return stride;
}

/** A TiffData element: consecutive planes of an image that are in consecutive directories. */
interface PlaneBlock {
  /** Index of the first plane in the image. */
  readonly firstPlane: number;
  /** Index of the directory with the first plane. */
  readonly firstDirectory: number;
  /** Number of planes and directories. */
  readonly count: number;
  readonly isInThisFile: boolean;
}

/**
 * Reads a TiffData element.
 *
 * Source: OME-TIFF specification, "The TiffData element": IFD (the index of the first directory) and the attributes
 * First… default to 0. PlaneCount defaults to 1 if IFD is given, otherwise to all remaining planes.
 */
function readBlock(
  { attributes, children }: XmlElement,
  pixels: XmlElement,
  counts: PlaneCounts,
  isThisFile: (uuid: XmlElement | null) => boolean,
): PlaneBlock {
  const readAttribute = (name: string) => {
    const text = attributes.get(name);
    const value = text === undefined ? null : readWholeNumber(text);
    if (text !== undefined && value === null) throw corruptError(`${name} of a TiffData is no number`);
    return value;
  };
  let firstPlane = 0;
  for (const dimension of ['Z', 'C', 'T'] as const) {
    const index = readAttribute(`First${dimension}`) ?? 0;
    if (index >= counts[dimension]) throw corruptError(`First${dimension} of a TiffData is ${index}`);
    firstPlane += index * strideOf(dimension, pixels, counts);
  }
  const ifd = readAttribute('IFD');
  const remainingPlanes = counts.Z * counts.C * counts.T - firstPlane;
  const defaultCount = ifd === null ? remainingPlanes : 1;
  return {
    firstPlane,
    firstDirectory: ifd ?? 0,
    count: Math.min(readAttribute('PlaneCount') ?? defaultCount, remainingPlanes),
    isInThisFile: isThisFile(children.find(({ name }) => name === 'UUID') ?? null),
  };
}

/** Returns the index of the directory with a plane; null when the plane is in another file or in no TiffData element. */
function directoryIndexOfPlane(plane: number, blocks: readonly PlaneBlock[]): number | null {
  for (const { firstPlane, firstDirectory, count, isInThisFile } of blocks) {
    const index = plane - firstPlane;
    if (isInThisFile && index >= 0 && index < count) return firstDirectory + index;
  }
  return null;
}

/**
 * Returns a function that decides, from the UUID element of a TiffData element, whether the planes are in this file:
 * - A TiffData element without UUID element refers to this file.
 * - If the XML states the UUID of this file, UUIDs are compared.
 * - Otherwise file names are compared, but only if the XML names several files. A single name means this file, which may have
 *   been renamed.
 */
function createFileTest(ome: XmlElement, fileName: string): (uuid: XmlElement | null) => boolean {
  const ownUuid = ome.attributes.get('UUID')?.trim().toLowerCase();
  if (ownUuid) return (uuid) => !uuid || uuid.text === '' || uuid.text.toLowerCase() === ownUuid;
  const nameOf = (uuid: XmlElement) => uuid.attributes.get('FileName') ?? uuid.text;
  const names = new Set(elementsAt(ome, 'Image/Pixels/TiffData/UUID').map(nameOf));
  return (uuid) => !uuid || names.size < 2 || nameOf(uuid) === fileName;
}

/**
 * Returns a function that reads the samples per pixel of a directory. It caches the results, because the XML may
 * describe many more images than the file has directories.
 */
function createSamplesReader(directories: readonly TiffDirectory[]): (index: number) => Promise<number> {
  const cache = new Map<number, number>();
  return async (index) => {
    const directory = directories[index];
    if (!directory) throw corruptError('it refers to a directory that does not exist');
    const samples = cache.get(index) ?? Math.max(1, (await readSampleLayout(directory)).samplesPerPixel);
    cache.set(index, samples);
    return samples;
  };
}

/** Returns the error for a contradiction. In all values of `what`, "it" is the OME-XML. */
export function corruptError(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The OME-XML contradicts itself or the file: ${what}`);
}
