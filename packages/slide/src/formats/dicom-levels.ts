/**
 * The pyramid of a DICOM slide. This module joins the files of each image, chooses the images that are levels, and
 * reads their tiles. In DICOM terms:
 * - a file is an "instance";
 * - an image of the slide (as opposed to its label or overview) is a "volume";
 * - an image split into several files is a "concatenation";
 * - a combination of illumination and filters, e.g. a fluorescence channel, is an "optical path".
 */
import { withGreyRange } from '../decode/contrast.ts';
import { isJpeg, openFrameImages, type ReadFrameImage } from '../dicom/frame-images.ts';
import type { Instance } from '../dicom/instance.ts';
import { limits } from '../dicom/limits.ts';
import { indexTiles } from '../dicom/tile-index.ts';
import { type Level, type ShownPlane, type Slide, SlideError } from '../model/slide.ts';

/** An image of the slide at one resolution: one file, or the parts of a concatenation. */
interface VolumeImage {
  /** The file with the first frames. The size, origin and other properties of this file are those of the image. */
  readonly first: Instance;
  /** All files of the image, in the order of their frames (a frame is a tile). */
  readonly parts: readonly Instance[];
}

interface Pyramid {
  /** The first file of full resolution. */
  readonly full: Instance;
  /** Files of other focal planes, optical paths or areas of the glass. They are not displayed. */
  readonly unused: readonly Instance[];
  readonly levels: readonly [Level, ...Level[]];
  readonly shownPlane: ShownPlane;
  readonly readTile: Slide['readTile'];
}

/**
 * Chooses the displayed images and opens them as levels.
 *
 * @param volumes all files of the slide that are not associated images
 * @throws SlideError NOT_A_SLIDE, FILE_MISSING, FILE_CORRUPT, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export function openPyramid(volumes: readonly Instance[]): Pyramid {
  const chosenImages = chooseImages(volumes);
  const [largest, ...smaller] = chosenImages;
  const usedFiles = new Set(chosenImages.flatMap(({ parts }) => parts));
  const full = largest.first;
  const fullLevel = openLevel(largest, full);
  const smallerLevels = smaller.map((image) => openLevel(image, full));
  const levelReaders = [fullLevel, ...smallerLevels];
  const levels: Pyramid['levels'] = [fullLevel.level, ...smallerLevels.map(({ level }) => level)];
  const readTile: Pyramid['readTile'] = async ({ level, column, row }, signal) => {
    const reader = levelReaders[level];
    if (!reader) throw new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`);
    return reader.readTile(column, row, signal);
  };
  // `window` is DICOM's term for the range of grey values to display. If the file declares none (null), `withGreyRange`
  // estimates the range of a dark image from its pixels.
  const { samplesPerPixel, bitsStored, window } = full.pixels;
  const hasUnknownGreyRange = samplesPerPixel === 1 && bitsStored > 8 && window === null;
  return {
    full,
    unused: volumes.filter((instance) => !usedFiles.has(instance)),
    levels,
    shownPlane: focalPlanesOf(volumes, full),
    readTile: hasUnknownGreyRange ? withGreyRange({ levels, readTile }, bitsStored, null) : readTile,
  };
}

/**
 * Counts the focal planes, and numbers the displayed one from 1, the lowest. If the file of full resolution contains
 * several planes, the first of these is displayed. Otherwise each plane is in a separate file. Such a file has the size and
 * the optical path of full resolution, and states the height of the plane above the glass (`zOffset`). A DICOM slide has one
 * time point (`times`).
 */
function focalPlanesOf(volumes: readonly Instance[], full: Instance): ShownPlane {
  if (full.focalPlanes > 1) return { plane: 1, planes: full.focalPlanes, times: 1 };
  const zOffsets = new Set(
    volumes
      .filter(({ width, height }) => width === full.width && height === full.height)
      .filter(({ opticalPath }) => opticalPath === full.opticalPath)
      .map(({ zOffset }) => zOffset ?? 0),
  );
  const sortedOffsets = [...zOffsets].sort((a, b) => a - b);
  return { plane: sortedOffsets.indexOf(full.zOffset ?? 0) + 1, planes: sortedOffsets.length, times: 1 };
}

/**
 * Chooses the levels. The largest image is full resolution; every smaller image of the same area is a level. Several images of
 * one size show different focal planes or optical paths, and only one of them is used. At full resolution, it is the image with
 * the lowest instance number; at smaller levels, it is the image most similar to full resolution.
 */
function chooseImages(volumes: readonly Instance[]): [VolumeImage, ...VolumeImage[]] {
  const filesByImage = Map.groupBy(
    volumes,
    ({ concatenation, sopInstance }) => concatenation?.uid ?? sopInstance,
  );
  const images = [...filesByImage.values()].map(joinParts).toSorted(({ first: a }, { first: b }) => {
    const areaDifference = b.width * b.height - a.width * a.height;
    return areaDifference || (a.instanceNumber ?? 0) - (b.instanceNumber ?? 0);
  });
  const [largest] = images;
  if (!largest) throw new SlideError('NOT_A_SLIDE', 'This DICOM series shows no slide');
  const full = largest.first;
  if (full.showsSpecimenLabel) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: a slide whose image shows its label');
  }

  const levels: [VolumeImage, ...VolumeImage[]] = [largest];
  /** Sorted like `images`: largest size first. */
  const imagesBySize = Map.groupBy(images, ({ first }) => `${first.width}×${first.height}`);
  for (const sameSize of imagesBySize.values()) {
    const usable = sameSize.filter(({ first }) => isReduced(first, full) && !first.showsSpecimenLabel);
    const [best] = usable.toSorted(
      ({ first: a }, { first: b }) => similarityScore(b, full) - similarityScore(a, full),
    );
    const isSmaller = (best?.first.width ?? 0) < (levels.at(-1)?.first.width ?? 0);
    if (best && isSmaller) levels.push(best);
  }
  if (levels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${levels.length} levels`);
  }
  return levels;
}

/** Returns how similar an image is to full resolution, 0 to 3: the same optical path counts 2, the same focal plane 1. */
function similarityScore(instance: Instance, full: Instance): number {
  const opticalPathScore = instance.opticalPath === full.opticalPath ? 2 : 0;
  const focalPlaneScore = instance.zOffset === full.zOffset ? 1 : 0;
  return opticalPathScore + focalPlaneScore;
}

/** Maximum distance between the rounded origins of two levels, as a share of a side of the image; two pixels are added. */
const ORIGIN_TOLERANCE = 0.02;

/**
 * Returns whether an image is a smaller version of full resolution: a single downsample yields both sides of the image, within
 * a pixel, and both images begin at the same position on the glass.
 */
function isReduced(image: Instance, full: Instance): boolean {
  if (image.width >= full.width || image.height > full.height) return false;
  const { min, max } = downsampleBounds(image, full);
  return min <= max && hasSameOrigin(image, full);
}

/** Returns whether both images begin at the same place on the glass; true if an origin or a spacing is missing. */
function hasSameOrigin(image: Instance, full: Instance): boolean {
  if (!image.origin || !full.origin || !full.spacing || !image.spacing) return true;
  // All lengths are in millimetres.
  const isFar = (axis: 'x' | 'y', sidePixels: number) => {
    const distance = Math.abs((image.origin?.[axis] ?? 0) - (full.origin?.[axis] ?? 0));
    const sideLength = sidePixels * (full.spacing?.[axis] ?? 0);
    const twoPixels = 2 * (image.spacing?.[axis] ?? 0);
    return distance > ORIGIN_TOLERANCE * sideLength + twoPixels;
  };
  return !isFar('x', full.width) && !isFar('y', full.height);
}

/** Returns the range of downsamples that yield both sides of an image, if each side was rounded by less than a pixel. */
function downsampleBounds(image: Instance, full: Instance): { min: number; max: number } {
  return {
    min: Math.max(full.width / (image.width + 1), full.height / (image.height + 1)),
    max: Math.min(full.width / (image.width - 1), full.height / (image.height - 1)),
  };
}

/**
 * Joins the files of an image: sorts the parts of a concatenation and checks that they are complete.
 *
 * Source: DICOM PS3.3, C.7.6.16.2.2.4.
 *
 * @throws SlideError FILE_MISSING when a part is absent, FILE_CORRUPT when the parts contradict each other
 */
function joinParts(files: readonly Instance[]): VolumeImage {
  const parts = files.toSorted((a, b) => (a.concatenation?.number ?? 0) - (b.concatenation?.number ?? 0));
  const [first] = parts;
  if (!first) throw new SlideError('FILE_MISSING', 'A file of this slide is missing');
  if (!first.concatenation) return { first, parts };
  const total = Math.max(...parts.map(({ concatenation }) => concatenation?.total ?? 0), parts.length);
  let previousFrames = 0;
  for (const [i, part] of parts.entries()) {
    const expectedNumber = i + 1;
    // Every part has a concatenation, by whose UID the parts were grouped; the default only satisfies the type.
    const { number, frameOffset } = part.concatenation ?? { number: 0, frameOffset: 0 };
    const overlapsPreviousPart = number === expectedNumber && frameOffset < previousFrames;
    if (number < expectedNumber || overlapsPreviousPart) throw contradictingPartsError();
    if (number > expectedNumber || frameOffset > previousFrames)
      throw missingPartError(expectedNumber, total);
    const hasSameSizes =
      part.width === first.width &&
      part.height === first.height &&
      part.tileWidth === first.tileWidth &&
      part.tileHeight === first.tileHeight;
    if (!hasSameSizes) throw contradictingPartsError();
    previousFrames += part.frames;
  }
  if (parts.length < total) throw missingPartError(parts.length + 1, total);
  return { first, parts };
}

function missingPartError(part: number, total: number): SlideError {
  return new SlideError('FILE_MISSING', `Part ${part} of the ${total} files of an image is missing`);
}

function contradictingPartsError(): SlideError {
  return new SlideError('FILE_CORRUPT', 'The files of one image contradict each other');
}

interface LevelReader {
  readonly level: Level;
  readTile(column: number, row: number, signal?: AbortSignal): ReturnType<Slide['readTile']>;
}

/** Opens an image as a level. @param full the first file of full resolution, from which the downsample follows */
function openLevel({ first, parts }: VolumeImage, full: Instance): LevelReader {
  const { width, height, tileWidth, tileHeight } = first;
  const index = indexTiles({ width, height, tileWidth, tileHeight, parts });
  const partReaders: ReadFrameImage[] = parts.map(openFrameImages);
  const { columns, rows } = index;
  return {
    level: {
      width,
      height,
      tileWidth,
      tileHeight,
      columns,
      rows,
      downsample: downsampleOf(first, full),
      ...(isJpeg(first) ? {} : { needsRendering: true as const }), // only JPEG tiles can be sent as stored
    },
    async readTile(column, row, signal) {
      const isInside = column >= 0 && column < columns && row >= 0 && row < rows;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row}`);
      }
      const frameAddress = index.frameOf(column, row);
      if (!frameAddress) return null;
      return partReaders[frameAddress.part]?.(frameAddress.frame, signal) ?? null;
    },
  };
}

/** Returns a level's downsample: the nearest power of two if it gives the level's size, else the mean side ratio. */
function downsampleOf(image: Instance, full: Instance): number {
  const meanRatio = (full.width / image.width + full.height / image.height) / 2;
  const powerOfTwo = 2 ** Math.round(Math.log2(meanRatio));
  const { min, max } = downsampleBounds(image, full);
  return powerOfTwo >= min && powerOfTwo <= max ? powerOfTwo : meanRatio;
}
