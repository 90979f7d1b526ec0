/**
 * Hamamatsu NanoZoomer slides (.ndpi): like TIFF, one directory and one JPEG for every resolution, however large.
 *
 * docs/formats/ndpi.md says what is read, and where each fact is from.
 */
import { type Level, SlideError } from '../slide.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import { readGeometry } from '../tiff/image-layout.ts';
import { limits } from '../tiff/limits.ts';
import { readResolution } from '../tiff/resolution.ts';
import { nameOfTag, tag } from '../tiff/tags.ts';
import { type NdpiLevel, openNdpiLevel, readNdpiPicture } from './ndpi-level.ts';

/** What a directory is there for. */
interface NdpiPicture {
  readonly directory: TiffDirectory;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Magnification; −1 for the macro, −2 for the map of where there is tissue, null when the file does not say. */
  readonly sourceLens: number | null;
  /** How far the focal plane is from the middle one. */
  readonly focalPlane: number;
}

const MACRO = -1;
/** No microscope magnifies more. */
const MOST_POWER = 1000;
/** Pixels that a smaller level may be off the proportions of the slide: both its sides are rounded. */
const ROUNDING = 4;

export const ndpi: SlideFormat = {
  name: 'ndpi',

  mismatch({ tiff }) {
    if (!tiff) return 'the file is no TIFF';
    return tiff.first.count(tag.NdpiVersion) > 0 ? null : `it has no ${nameOfTag(tag.NdpiVersion)}`;
  },

  async open(files, { tiff }) {
    const { leading } = files;
    const pictures: NdpiPicture[] = [];
    for (const directory of (await tiff?.directories()) ?? [])
      pictures.push(await readNdpiDirectory(directory));

    const [full, ...reduced] = choosePyramid(pictures);
    if (!full)
      throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: a file without a picture of the slide');
    const first = await openNdpiLevel(leading, full.directory);
    if (!first) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `${full.width} × ${full.height} pixels in one JPEG whose restart markers do not cut it into tiles`,
      );
    }
    const readers: NdpiLevel[] = [first];
    const levels: [Level, ...Level[]] = [{ ...first.grid, downsample: 1 }];
    for (const picture of reduced) {
      const level = await openNdpiLevel(leading, picture.directory);
      if (!level) continue;
      readers.push(level);
      levels.push({ ...level.grid, downsample: downsampleOf(level.grid, first.grid) });
    }

    const macro = pictures.find(({ sourceLens }) => sourceLens === MACRO);
    return {
      format: 'ndpi',
      fingerprint: files.fingerprint,
      vendor: 'Hamamatsu',
      levels,
      mpp: await readResolution(full.directory),
      objectivePower: full.sourceLens !== null && full.sourceLens < MOST_POWER ? full.sourceLens : null,
      background: { r: 255, g: 255, b: 255 },
      associatedImages: new Set(macro ? ['macro'] : []),
      async readTile({ level, column, row }, signal) {
        const reader = readers[level];
        if (!reader) throw new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`);
        return reader.readTile(column, row, signal);
      },
      async readAssociatedImage(name) {
        if (name === 'macro' && macro) return readNdpiPicture(leading, macro.directory);
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      readIccProfile: () => readIccProfile(full.directory),
      close: files.close,
    };
  },
};

async function readNdpiDirectory(directory: TiffDirectory): Promise<NdpiPicture> {
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
 * The resolutions of one focal plane, the one nearest to the middle: what has a magnification, and the proportions of
 * the largest.
 *
 * @returns largest first; empty when there is none
 */
function choosePyramid(pictures: readonly NdpiPicture[]): NdpiPicture[] {
  const magnified = pictures.filter(({ sourceLens }) => sourceLens !== null && sourceLens > 0);
  const [nearest] = magnified.toSorted((one, other) => Math.abs(one.focalPlane) - Math.abs(other.focalPlane));
  const bySize = magnified
    .filter(({ focalPlane }) => focalPlane === nearest?.focalPlane)
    .sort((one, other) => other.width * other.height - one.width * one.height);
  const [full] = bySize;
  if (!full) return [];
  const chosen = [full];
  for (const picture of bySize) {
    const isSmaller = picture.width < (chosen.at(-1)?.width ?? 0);
    if (isSmaller && isReduced(picture, full)) chosen.push(picture);
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

function isReduced(picture: Size, full: Size): boolean {
  return Math.abs((full.height * picture.width) / full.width - picture.height) <= ROUNDING;
}

function downsampleOf(level: Size, full: Size): number {
  return (full.width / level.width + full.height / level.height) / 2;
}
