/**
 * Reader of Hamamatsu NanoZoomer slides (.ndpi), a variant of TIFF in which each resolution is a directory with one JPEG. This
 * module chooses the images of the pyramid; `ndpi-level.ts` reads their tiles.
 *
 * docs/formats/ndpi.md lists the features that are read, with the source of each fact.
 */
import { shownPlaneOf } from '../model/shown-plane.ts';
import { type Level, type ShownPlane, SlideError } from '../model/slide.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import { readGeometry } from '../tiff/image-layout.ts';
import { limits } from '../tiff/limits.ts';
import { readResolution } from '../tiff/resolution.ts';
import { nameOfTag, tag } from '../tiff/tags.ts';
import { type NdpiLevel, openNdpiLevel, readNdpiImage } from './ndpi-level.ts';
import type { SlideFormat } from './slide-format.ts';

/** The image of a directory, and the tags that state its role in the slide. */
interface NdpiImage {
  readonly directory: TiffDirectory;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Magnification; −1 for the macro, −2 for the map of tissue areas, null when the file does not state it. */
  readonly sourceLens: number | null;
  /** Signed distance of the focal plane from the middle plane, in the scanner's unit; 0 if the file states none. */
  readonly focalPlane: number;
}

/** Value of the SourceLens tag that marks the macro (the picture of the whole glass). */
const MACRO_LENS = -1;
/** This magnification and larger ones are implausible and ignored. */
const MAX_OBJECTIVE_POWER = 1000;
/** Maximum difference in pixels between the height of a smaller level and the height that its width predicts. */
const HEIGHT_TOLERANCE = 4;

export const ndpi: SlideFormat = {
  name: 'ndpi',

  mismatchReason({ tiff }) {
    if (!tiff) return 'the file is not TIFF';
    return tiff.first.count(tag.NdpiVersion) > 0 ? null : `it has no ${nameOfTag(tag.NdpiVersion)}`;
  },

  async open(files, { tiff }) {
    const { main } = files;
    const images: NdpiImage[] = [];
    for (const directory of (await tiff?.directories()) ?? []) images.push(await readNdpiTags(directory));

    const [full, ...reduced] = choosePyramid(images);
    if (!full)
      throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: a file without an image of the slide');
    const first = await openNdpiLevel(main, full.directory);
    if (!first) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `A level of ${full.width} × ${full.height} pixels is one JPEG whose restart markers do not divide it into tiles`,
      );
    }
    const readers: NdpiLevel[] = [first];
    const levels: [Level, ...Level[]] = [{ ...first.grid, downsample: 1 }];
    for (const image of reduced) {
      const level = await openNdpiLevel(main, image.directory);
      // A level that cannot be read in parts is skipped; the renderer draws it from a larger one.
      if (!level) continue;
      readers.push(level);
      levels.push({ ...level.grid, downsample: downsampleOf(level.grid, first.grid) });
    }

    const macro = images.find(({ sourceLens }) => sourceLens === MACRO_LENS);
    return {
      format: 'ndpi',
      fingerprint: files.fingerprint,
      vendor: 'Hamamatsu',
      levels,
      mpp: await readResolution(full.directory), // micrometres per pixel
      objectivePower:
        full.sourceLens !== null && full.sourceLens < MAX_OBJECTIVE_POWER ? full.sourceLens : null,
      ...shownPlaneOf(focalPlanesOf(images, full)),
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(macro ? ['macro'] : []),
      async readTile({ level, column, row }, signal) {
        const reader = readers[level];
        if (!reader) throw new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`);
        return reader.readTile(column, row, signal);
      },
      async readAssociatedImage(name) {
        if (name === 'macro' && macro) return readNdpiImage(main, macro.directory);
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      readIccProfile: () => readIccProfile(full.directory),
      close: files.close,
    };
  },
};

/** Reads the tags by which the pyramid and the macro are chosen. */
async function readNdpiTags(directory: TiffDirectory): Promise<NdpiImage> {
  const { width, height } = await readGeometry(directory);
  return {
    directory,
    width,
    height,
    sourceLens: await directory.real(tag.SourceLens),
    focalPlane: (await directory.real(tag.FocalPlane)) ?? 0,
  };
}

/**
 * Counts the focal planes of the images that have the size of full resolution, and numbers the displayed plane from 1. An NDPI
 * file has one time point (`times`).
 */
function focalPlanesOf(images: readonly NdpiImage[], full: NdpiImage): ShownPlane {
  const planes = new Set(
    images
      .filter(({ width, height }) => width === full.width && height === full.height)
      .map(({ focalPlane }) => focalPlane),
  );
  const sortedPlanes = [...planes].sort((a, b) => a - b);
  return { plane: sortedPlanes.indexOf(full.focalPlane) + 1, planes: sortedPlanes.length, times: 1 };
}

/**
 * Chooses the levels. Only images with a magnification on the focal plane closest to the middle are considered. The largest of
 * them is full resolution, and all with its aspect ratio are levels. Each level is narrower than the level before it.
 *
 * @returns the levels, largest first; empty when there are none
 */
function choosePyramid(images: readonly NdpiImage[]): NdpiImage[] {
  const magnified = images.filter(({ sourceLens }) => sourceLens !== null && sourceLens > 0);
  const [closest] = magnified.toSorted((a, b) => Math.abs(a.focalPlane) - Math.abs(b.focalPlane));
  const largestFirst = magnified
    .filter(({ focalPlane }) => focalPlane === closest?.focalPlane)
    .sort((a, b) => b.width * b.height - a.width * a.height);
  const [full] = largestFirst;
  if (!full) return [];
  const chosen = [full];
  for (const image of largestFirst) {
    const isNarrower = image.width < (chosen.at(-1)?.width ?? 0);
    if (isNarrower && hasSameAspectRatio(image, full)) chosen.push(image);
  }
  if (chosen.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${chosen.length} levels`);
  }
  return chosen;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns whether an image has the aspect ratio of full resolution, within `HEIGHT_TOLERANCE`. */
function hasSameAspectRatio(image: Size, full: Size): boolean {
  const expectedHeight = (full.height * image.width) / full.width;
  return Math.abs(expectedHeight - image.height) <= HEIGHT_TOLERANCE;
}

function downsampleOf(level: Size, full: Size): number {
  return (full.width / level.width + full.height / level.height) / 2;
}
