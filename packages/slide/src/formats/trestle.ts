/**
 * Reader of Trestle (MedScan) slides: tiled TIFF in which neighbouring tiles overlap. All tiles of a level overlap by
 * the same number of pixels. The reader ignores the companion files: a photograph of the glass, and files with more
 * precise overlaps.
 *
 * docs/formats/trestle.md lists the features that are read, with the source of each fact.
 */
import type { Colour } from '../decode/raster.ts';
import { notSupportedError, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideGroup } from '../source/slide-files.ts';
import { joinLevels, type LevelTiles, type ReadableLevel } from '../tiff/declared-levels.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import { openImageTiles } from '../tiff/image-tiles.ts';
import { checkAreaCounts, openMosaicLevel } from '../tiff/mosaic-level.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readDecimal, readWholeNumber } from '../xml/read-numbers.ts';
import type { SlideFormat } from './slide-format.ts';

/** Beginning of the Software tag. */
const SOFTWARE = 'MedScan';
/** Maximum number of bytes to read from an ImageDescription. */
const DESCRIPTION_BYTES = 64 * 1024;

export const trestle: SlideFormat = {
  name: 'trestle',

  mismatchReason({ tiff, software, description }) {
    if (!tiff) return 'the file is not TIFF';
    if (!software.startsWith(SOFTWARE)) return `its software is not "${SOFTWARE}…"`;
    return description === '' ? 'it has no description' : null;
  },

  async open(files, { tiff }) {
    if (!tiff) throw corruptError('the file is not TIFF');
    const properties = readProperties((await tiff.first.text(tag.ImageDescription, DESCRIPTION_BYTES)) ?? '');
    const tiffImages = await readLevels(tiff);
    const background = readBackground(properties.get('Background Color'));
    const overlaps = readOverlaps(properties.get('OverlapsXY'));
    const { levels, readTile } = await openLevels(files.main, tiffImages, overlaps, background);
    const power = readDecimal(properties.get('Objective Power'));
    return {
      format: 'trestle',
      fingerprint: files.fingerprint,
      vendor: 'Trestle',
      levels,
      mpp: await readMpp(tiff),
      objectivePower: power !== null && power > 0 && power < 1000 ? power : null, // 1000 and more are implausible
      background,
      associatedImages: new Set(),
      readTile,
      async readAssociatedImage(name) {
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      readIccProfile: () => readIccProfile(tiff.first),
      close: files.close,
    };
  },

  /** Groups a slide with its companions by name: `slide.tif`, the photograph `slide.Full`, the overlaps `slide.tif-1b`. */
  async group({ names }) {
    const groups: SlideGroup[] = [];
    for (const main of names) {
      const base = main.replace(/\.tif$/i, '');
      if (base === main) continue;
      const members = names.filter((name) => name === `${base}.Full` || isOverlapFile(name, main));
      if (members.length > 0) groups.push({ main, members });
    }
    return groups;
  },
};

/** Returns whether a file contains the overlaps for the main file, e.g. `slide.tif-1b` for `slide.tif`. */
function isOverlapFile(name: string, main: string): boolean {
  return name.startsWith(`${main}-`) && /^\d+b$/.test(name.slice(main.length + 1));
}

/** Reads pairs separated by semicolons, e.g. `Objective Power=20;OverlapsXY= 64 64 32 32`. */
function readProperties(description: string): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  for (const pair of description.split(';')) {
    const [name = '', ...values] = pair.split('=');
    if (values.length > 0) properties.set(name.trim(), values.join('=').trim());
  }
  return properties;
}

/** Reads a colour as `RRGGBB`; returns white for anything else. */
function readBackground(text: string | undefined): Colour {
  const [, r, g, b] = /^([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text ?? '') ?? [];
  const sampleOf = (hex: string | undefined) => (hex === undefined ? 255 : Number.parseInt(hex, 16));
  return { r: sampleOf(r), g: sampleOf(g), b: sampleOf(b) };
}

/** Pixels by which neighbouring tiles of a level overlap. */
interface Overlap {
  readonly x: number;
  readonly y: number;
}

/** Parses `64 64 32 32 16 16`: horizontal and vertical overlap of each level, full resolution first. */
function readOverlaps(text: string | undefined): readonly Overlap[] {
  const numbers = (text ?? '').split(/\s+/).flatMap((part) => (part === '' ? [] : [readWholeNumber(part)]));
  const overlaps: Overlap[] = [];
  for (let i = 0; i < numbers.length; i += 2) {
    const x = numbers[i] ?? null;
    const y = numbers[i + 1] ?? null;
    if (x === null || y === null) throw corruptError('its overlaps are not pairs of numbers');
    overlaps.push({ x, y });
  }
  return overlaps;
}

/** Reads the levels, largest first; every directory of the file is a level. */
async function readLevels(tiff: TiffFile): Promise<readonly TiffImage[]> {
  const tiffImages: TiffImage[] = [];
  for (const directory of await tiff.directories()) {
    const tiffImage = await readTiffImage(directory);
    const last = tiffImages.at(-1);
    if (last && tiffImage.width >= last.width)
      throw corruptError('a level is not smaller than the one before it');
    if (!tiffImage.tiles) throw notSupportedError('a Trestle slide with a level that is not tiled');
    tiffImages.push(tiffImage);
  }
  return tiffImages;
}

/** Opens the levels. Overlapping tiles are composed so that each overlap appears once; other levels are not changed. */
async function openLevels(
  source: ByteSource,
  tiffImages: readonly TiffImage[],
  overlaps: readonly Overlap[],
  background: Colour,
): Promise<LevelTiles> {
  const levels: ReadableLevel[] = [];
  let full: { width: number; height: number } | null = null;
  for (const [i, tiffImage] of tiffImages.entries()) {
    const { grid, readTile } = await openImageTiles(source, tiffImage);
    const overlap = overlaps[i] ?? { x: 0, y: 0 };
    if (overlap.x >= grid.tileWidth / 2 || overlap.y >= grid.tileHeight / 2)
      throw corruptError('its tiles overlap by half or more');
    const width = grid.width - (grid.columns - 1) * overlap.x;
    const height = grid.height - (grid.rows - 1) * overlap.y;
    full ??= { width, height };
    const downsample = (full.width / width + full.height / height) / 2;
    if (overlap.x === 0 && overlap.y === 0) {
      levels.push({ level: { ...grid, downsample }, readTile });
      continue;
    }
    const areaCount = 1;
    checkAreaCounts(areaCount, grid.columns + grid.rows);
    // The only area is the whole stored image, which contains every overlap twice. Each tile is one cell. Where two tiles
    // overlap, the right or lower tile is drawn over the other.
    const area = {
      readTile,
      tileWidth: grid.tileWidth,
      tileHeight: grid.tileHeight,
      cellsPerTile: 1,
      firstColumn: 0,
      firstRow: 0,
      lefts: Array.from({ length: grid.columns }, (_, column) => column * (grid.tileWidth - overlap.x)),
      tops: Array.from({ length: grid.rows }, (_, row) => row * (grid.tileHeight - overlap.y)),
      imageWidth: grid.width,
      imageHeight: grid.height,
    };
    levels.push(openMosaicLevel({ width, height, downsample, areas: [area], background }));
  }
  return joinLevels(levels);
}

/** Reads XResolution and YResolution, which contain micrometres per pixel; ResolutionUnit is ignored. */
async function readMpp({ first }: TiffFile): Promise<{ x: number; y: number } | null> {
  const x = (await first.real(tag.XResolution)) ?? 0;
  const y = (await first.real(tag.YResolution)) ?? 0;
  const isPlausible = (mpp: number) => mpp > 0 && mpp < 1000;
  return isPlausible(x) && isPlausible(y) ? { x, y } : null;
}

function corruptError(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The Trestle slide contradicts itself: ${what}`);
}
