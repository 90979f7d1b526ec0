/**
 * Reads Hamamatsu NanoZoomer slides (.ndpi), a variant of TIFF with one directory and a single JPEG per resolution.
 *
 * docs/formats/ndpi.md lists what is read, with the source of each fact.
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

/** A directory and its role in the slide. */
interface NdpiDirectory {
  readonly directory: TiffDirectory;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Magnification; −1 for the macro, −2 for the map of tissue areas, null when the file does not state it. */
  readonly sourceLens: number | null;
  /** Distance of the focal plane from the middle one. */
  readonly focalPlane: number;
}

const MACRO = -1;
/** Upper limit of a plausible magnification. */
const MAX_POWER = 1000;
/** Tolerance in pixels for the aspect ratio of a smaller level, both of whose sides are rounded. */
const ROUNDING = 4;

export const ndpi: SlideFormat = {
  name: 'ndpi',

  mismatch({ tiff }) {
    if (!tiff) return 'the file is not TIFF';
    return tiff.first.count(tag.NdpiVersion) > 0 ? null : `it has no ${nameOfTag(tag.NdpiVersion)}`;
  },

  async open(files, { tiff }) {
    const { leading } = files;
    const tiffImages: NdpiDirectory[] = [];
    for (const directory of (await tiff?.directories()) ?? [])
      tiffImages.push(await readNdpiDirectory(directory));

    const [full, ...reduced] = choosePyramid(tiffImages);
    if (!full)
      throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: a file without an image of the slide');
    const first = await openNdpiLevel(leading, full.directory);
    if (!first) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `${full.width} × ${full.height} pixels in one JPEG whose restart markers do not cut it into tiles`,
      );
    }
    const readers: NdpiLevel[] = [first];
    const levels: [Level, ...Level[]] = [{ ...first.grid, downsample: 1 }];
    for (const tiffImage of reduced) {
      const level = await openNdpiLevel(leading, tiffImage.directory);
      if (!level) continue;
      readers.push(level);
      levels.push({ ...level.grid, downsample: downsampleOf(level.grid, first.grid) });
    }

    const macro = tiffImages.find(({ sourceLens }) => sourceLens === MACRO);
    return {
      format: 'ndpi',
      fingerprint: files.fingerprint,
      vendor: 'Hamamatsu',
      levels,
      mpp: await readResolution(full.directory),
      objectivePower: full.sourceLens !== null && full.sourceLens < MAX_POWER ? full.sourceLens : null,
      ...shownPlaneOf(focalPlanesOf(tiffImages, full)),
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(macro ? ['macro'] : []),
      async readTile({ level, column, row }, signal) {
        const reader = readers[level];
        if (!reader) throw new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`);
        return reader.readTile(column, row, signal);
      },
      async readAssociatedImage(name) {
        if (name === 'macro' && macro) return readNdpiImage(leading, macro.directory);
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      readIccProfile: () => readIccProfile(full.directory),
      close: files.close,
    };
  },
};

async function readNdpiDirectory(directory: TiffDirectory): Promise<NdpiDirectory> {
  const { width, height } = await readGeometry(directory);
  return {
    directory,
    width,
    height,
    sourceLens: await directory.real(tag.SourceLens),
    focalPlane: (await directory.real(tag.FocalPlane)) ?? 0,
  };
}

/** Counts the focal planes of the images with the size of full resolution. */
function focalPlanesOf(tiffImages: readonly NdpiDirectory[], full: NdpiDirectory): ShownPlane {
  const planes = new Set(
    tiffImages
      .filter(({ width, height }) => width === full.width && height === full.height)
      .map(({ focalPlane }) => focalPlane),
  );
  const sorted = [...planes].sort((one, other) => one - other);
  return { plane: sorted.indexOf(full.focalPlane) + 1, planes: sorted.length, times: 1 };
}

/**
 * Chooses the levels: images of the focal plane nearest to the middle that have a magnification and the aspect ratio of
 * the largest.
 *
 * @returns largest first; empty when there are none
 */
function choosePyramid(tiffImages: readonly NdpiDirectory[]): NdpiDirectory[] {
  const magnified = tiffImages.filter(({ sourceLens }) => sourceLens !== null && sourceLens > 0);
  const [nearest] = magnified.toSorted((one, other) => Math.abs(one.focalPlane) - Math.abs(other.focalPlane));
  const bySize = magnified
    .filter(({ focalPlane }) => focalPlane === nearest?.focalPlane)
    .sort((one, other) => other.width * other.height - one.width * one.height);
  const [full] = bySize;
  if (!full) return [];
  const chosen = [full];
  for (const tiffImage of bySize) {
    const isSmaller = tiffImage.width < (chosen.at(-1)?.width ?? 0);
    if (isSmaller && isReduced(tiffImage, full)) chosen.push(tiffImage);
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

function isReduced(tiffImage: Size, full: Size): boolean {
  return Math.abs((full.height * tiffImage.width) / full.width - tiffImage.height) <= ROUNDING;
}

function downsampleOf(level: Size, full: Size): number {
  return (full.width / level.width + full.height / level.height) / 2;
}
