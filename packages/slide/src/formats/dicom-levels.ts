/** Chooses the levels of a DICOM slide among its image files, joins concatenations, and reads tiles of the levels. */
import { withGreyRange } from '../decode/contrast.ts';
import { isJpeg, openFrameImages, type ReadFrameImage } from '../dicom/frame-images.ts';
import type { Instance } from '../dicom/instance.ts';
import { limits } from '../dicom/limits.ts';
import { indexTiles } from '../dicom/tile-index.ts';
import { type Level, type ShownPlane, type Slide, SlideError } from '../model/slide.ts';

/** An image of the slide at one resolution: one file, or the parts of a concatenation. */
interface LevelFiles {
  readonly first: Instance;
  /** Parts of the image, in the order of their frames. */
  readonly parts: readonly Instance[];
}

interface Pyramid {
  readonly full: Instance;
  /** Files of other focal planes, optical paths or areas of the glass. */
  readonly unused: readonly Instance[];
  readonly levels: readonly [Level, ...Level[]];
  readonly shownPlane: ShownPlane;
  readonly readTile: Slide['readTile'];
}

export function openPyramid(volumes: readonly Instance[]): Pyramid {
  const candidates = chooseLevelFiles(volumes);
  const [largest, ...smaller] = candidates;
  const used = new Set(candidates.flatMap(({ parts }) => parts));
  const full = largest.first;
  const fullLevel = openLevel(largest, full);
  const smallerLevels = smaller.map((image) => openLevel(image, full));
  const readers = [fullLevel, ...smallerLevels];
  const levels: Pyramid['levels'] = [fullLevel.level, ...smallerLevels.map(({ level }) => level)];
  const readTile: Pyramid['readTile'] = async ({ level, column, row }, signal) => {
    const reader = readers[level];
    if (!reader) throw new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`);
    return reader.readTile(column, row, signal);
  };
  const { samplesPerPixel, bitsStored, window } = full.pixels;
  const hasUnknownGreyRange = samplesPerPixel === 1 && bitsStored > 8 && window === null;
  return {
    full,
    unused: volumes.filter((instance) => !used.has(instance)),
    levels,
    shownPlane: focalPlanesOf(volumes, full),
    readTile: hasUnknownGreyRange ? withGreyRange({ levels, readTile }, bitsStored, null) : readTile,
  };
}

/** Counts the focal planes: those in the file of full resolution, or in files of its size and optical path. */
function focalPlanesOf(volumes: readonly Instance[], full: Instance): ShownPlane {
  if (full.focalPlanes > 1) return { plane: 1, planes: full.focalPlanes, times: 1 };
  const depths = new Set(
    volumes
      .filter(({ width, height }) => width === full.width && height === full.height)
      .filter(({ opticalPath }) => opticalPath === full.opticalPath)
      .map(({ depth }) => depth ?? 0),
  );
  const sorted = [...depths].sort((one, other) => one - other);
  return { plane: sorted.indexOf(full.depth ?? 0) + 1, planes: sorted.length, times: 1 };
}

/**
 * Chooses the levels. The largest image is full resolution; every smaller image of the same area is a level. Of
 * several images with the same size (other focal planes or optical paths) one is used: at full resolution the first
 * of the series, at smaller levels the one most similar to full resolution.
 */
function chooseLevelFiles(volumes: readonly Instance[]): [LevelFiles, ...LevelFiles[]] {
  const candidates = [
    ...Map.groupBy(volumes, ({ concatenation, sopInstance }) => concatenation?.uid ?? sopInstance).values(),
  ]
    .map(joinParts)
    .toSorted(({ first: one }, { first: other }) => {
      return (
        other.width * other.height - one.width * one.height ||
        (one.instanceNumber ?? 0) - (other.instanceNumber ?? 0)
      );
    });
  const [largest] = candidates;
  if (!largest) throw new SlideError('NOT_A_SLIDE', 'This DICOM series shows no slide');
  const full = largest.first;
  if (full.showsSpecimenLabel) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: a slide whose image shows its label');
  }

  const levels: [LevelFiles, ...LevelFiles[]] = [largest];
  for (const sameSize of Map.groupBy(candidates, ({ first }) => `${first.width}×${first.height}`).values()) {
    const usable = sameSize.filter(({ first }) => isReduced(first, full) && !first.showsSpecimenLabel);
    const [best] = usable.toSorted(
      ({ first: one }, { first: other }) => similarity(other, full) - similarity(one, full),
    );
    const isSmaller = (best?.first.width ?? 0) < (levels.at(-1)?.first.width ?? 0);
    if (best && isSmaller) levels.push(best);
  }
  if (levels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${levels.length} levels`);
  }
  return levels;
}

function similarity(instance: Instance, full: Instance): number {
  return 2 * Number(instance.opticalPath === full.opticalPath) + Number(instance.depth === full.depth);
}

/** Maximum difference between the origins of two levels, as a fraction of the image side; files round them differently. */
const ORIGIN_TOLERANCE = 0.02;

/**
 * Whether one image is a reduced version of the other: one downsample gives both sides, each within one pixel of
 * rounding, and both begin at the same position on the glass.
 */
function isReduced(image: Instance, full: Instance): boolean {
  if (image.width >= full.width || image.height > full.height) return false;
  const { least, most } = downsamples(image, full);
  return least <= most && hasSameOrigin(image, full);
}

function hasSameOrigin(image: Instance, full: Instance): boolean {
  if (!image.origin || !full.origin || !full.spacing || !image.spacing) return true;
  const isFar = (axis: 'x' | 'y', side: number) => {
    const distance = Math.abs((image.origin?.[axis] ?? 0) - (full.origin?.[axis] ?? 0));
    const spacing = full.spacing?.[axis] ?? 0;
    return distance > ORIGIN_TOLERANCE * side * spacing + 2 * (image.spacing?.[axis] ?? 0);
  };
  return !isFar('x', full.width) && !isFar('y', full.height);
}

function downsamples(image: Instance, full: Instance): { least: number; most: number } {
  return {
    least: Math.max(full.width / (image.width + 1), full.height / (image.height + 1)),
    most: Math.min(full.width / (image.width - 1), full.height / (image.height - 1)),
  };
}

/**
 * Sorts and checks the files of a concatenation.
 *
 * Source: DICOM PS3.3, C.7.6.16.2.2.4.
 *
 * @throws SlideError FILE_MISSING when a part is absent, FILE_CORRUPT when the parts contradict each other
 */
function joinParts(files: readonly Instance[]): LevelFiles {
  const parts = files.toSorted(
    (one, other) => (one.concatenation?.number ?? 0) - (other.concatenation?.number ?? 0),
  );
  const [first] = parts;
  if (!first) throw new SlideError('FILE_MISSING', 'A file of this slide is missing');
  if (!first.concatenation) return { first, parts };
  const total = Math.max(...parts.map(({ concatenation }) => concatenation?.total ?? 0), parts.length);
  let frames = 0;
  for (const [i, part] of parts.entries()) {
    const { number, frameOffset } = part.concatenation ?? { number: 0, frameOffset: 0 };
    if (number < i + 1 || (number === i + 1 && frameOffset < frames)) throw contradictingParts();
    if (number > i + 1 || frameOffset > frames) throw missingPart(i + 1, total);
    const isAlike =
      part.width === first.width &&
      part.height === first.height &&
      part.tileWidth === first.tileWidth &&
      part.tileHeight === first.tileHeight;
    if (!isAlike) throw contradictingParts();
    frames += part.frames;
  }
  if (parts.length < total) throw missingPart(parts.length + 1, total);
  return { first, parts };
}

function missingPart(part: number, total: number): SlideError {
  return new SlideError('FILE_MISSING', `Part ${part} of the ${total} files of an image is missing`);
}

function contradictingParts(): SlideError {
  return new SlideError('FILE_CORRUPT', 'The files of one image contradict each other');
}

interface LevelReader {
  readonly level: Level;
  readTile(column: number, row: number, signal?: AbortSignal): ReturnType<Slide['readTile']>;
}

function openLevel({ first, parts }: LevelFiles, full: Instance): LevelReader {
  const { width, height, tileWidth, tileHeight } = first;
  const index = indexTiles({ width, height, tileWidth, tileHeight, parts });
  const readers: ReadFrameImage[] = parts.map(openFrameImages);
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
      ...(isJpeg(first) ? {} : { needsRendering: true as const }),
    },
    async readTile(column, row, signal) {
      const isInside = column >= 0 && column < columns && row >= 0 && row < rows;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row}`);
      }
      const place = index.frameOf(column, row);
      return place ? (readers[place.part]?.(place.frame, signal) ?? null) : null;
    },
  };
}

/** Returns the downsample of a level: a power of two if one fits the rounded sizes, else the mean ratio of the sides. */
function downsampleOf(image: Instance, full: Instance): number {
  const mean = (full.width / image.width + full.height / image.height) / 2;
  const power = 2 ** Math.round(Math.log2(mean));
  const { least, most } = downsamples(image, full);
  return power >= least && power <= most ? power : mean;
}
