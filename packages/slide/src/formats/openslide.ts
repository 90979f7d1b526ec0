/**
 * Reads slides with OpenSlide, a C library, if it is installed on the system: MIRAX (.mrxs), Hamamatsu VMS and VMU,
 * Sakura (.svslide), and TIFF variants that OpenSlide recognises and no other reader supports.
 *
 * docs/formats/openslide.md lists the features that are read, with the source of each fact. This file is long because every format
 * of the library shares its code.
 */
import type { Colour } from '../decode/raster.ts';
import {
  type AssociatedImageName,
  type EncodedImage,
  isTemporaryError,
  type Level,
  type Slide,
  SlideError,
} from '../model/slide.ts';
import { type LibraryPath, prepareForLibrary } from '../openslide/access.ts';
import { checkHamamatsuFiles, checkMiraxFiles, hamamatsuNames } from '../openslide/companion-files.ts';
import { loadOpenSlide, type OpenSlideLibrary, type OpenSlidePointer } from '../openslide/library.ts';
import { type OpenedFile, openInLibrary } from '../openslide/opened-file.ts';
import { readIni } from '../openslide/read-ini.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFiles, SlideFolder, SlideGroup } from '../source/slide-files.ts';
import { readWholeNumber } from '../xml/read-numbers.ts';
import type { FileHeader, SlideFormat } from './slide-format.ts';

/** A format that only OpenSlide reads. */
interface OpenSlideFormat {
  /** Name of the format for error messages. */
  readonly name: string;
  /** Whether a file with this header is in the format. */
  isMatch(header: FileHeader): boolean;
  /** Checks the companion files (all but the main file) before the library opens them; returns their names. */
  checkCompanions?(files: SlideFiles): Promise<readonly string[]>;
}

/** Matches the beginning of a VMS or VMU file. */
const VMS_START = /^\s*\[(Uncompressed )?Virtual Microscope Specimen\]/;

const openSlideFormats: readonly OpenSlideFormat[] = [
  { name: 'MIRAX', isMatch: ({ name }) => /\.mrxs$/i.test(name), checkCompanions: checkMiraxFiles },
  {
    name: 'Hamamatsu VMS and VMU',
    isMatch: ({ start }) => VMS_START.test(textOf(start)),
    checkCompanions: checkHamamatsuFiles,
  },
  { name: 'Sakura', isMatch: ({ start }) => textOf(start).startsWith('SQLite format 3\0') },
];

/** Vendor names by OpenSlide's identifiers. `generic-tiff` is missing on purpose: OpenSlide draws some of these files incorrectly. */
const vendors: Readonly<Record<string, string>> = {
  aperio: 'Aperio',
  dicom: 'DICOM',
  hamamatsu: 'Hamamatsu',
  leica: 'Leica',
  mirax: '3DHISTECH',
  philips: 'Philips',
  sakura: 'Sakura',
  synthetic: 'OpenSlide', // the test slide that OpenSlide generates
  trestle: 'Trestle',
  ventana: 'Ventana',
  zeiss: 'Zeiss',
};

/**
 * A confined process (a render worker that sees only the files of one slide) opens the slide through links.
 * `openWithOpenSlide` does not know which files belong to the slide, so it links all files in the folder. If the folder has
 * more files than this number, it links only the main file.
 */
const MAX_LINKS = 1000;
/** Maximum number of bytes to read from a VMS or VMU file, which lists the companion files. */
const MAX_LIST_BYTES = 2 ** 20;
/** Side of the tiles in pixels. OpenSlide reads any rectangle, whatever tiles the file contains. */
const TILE_SIDE = 256;
const WHITE: Colour = { r: 255, g: 255, b: 255 };
const limits = {
  levels: 64,
  imageSide: 2 ** 31 - 1,
  tilesPerLevel: 2 ** 26,
  associatedPixels: 2 ** 24,
  iccProfileBytes: 16 * 2 ** 20,
} as const;

export const openslide: SlideFormat = {
  name: 'openslide',
  needsRendering: true,

  mismatchReason(header) {
    return openSlideFormatOf(header) ? null : 'it is neither MIRAX nor VMS nor a Sakura database';
  },

  async open(files, header) {
    const format = openSlideFormatOf(header);
    if (files.isObject) {
      // The slide is in object storage.
      throw new SlideError(
        'FORMAT_NOT_SUPPORTED',
        `${format?.name} slides can be read only from a slide folder.`,
      );
    }
    const companions = (await format?.checkCompanions?.(files)) ?? [];
    const library = files.path === null ? null : await loadOpenSlide(); // path null: not a local file
    if (!library) {
      throw new SlideError('FORMAT_NOT_SUPPORTED', `Install libopenslide0 to read ${format?.name} slides.`);
    }
    const slide = await openSlideAt(library, files, await prepareForLibrary(files, companions));
    if (!slide)
      throw new SlideError('FORMAT_NOT_RECOGNISED', `OpenSlide does not know this ${format?.name} slide`);
    return slide;
  },

  group: groupFiles,
};

/**
 * Opens a file that no other reader supports, if OpenSlide is installed and recognises one of the `vendors`. Generic TIFF is
 * excluded, because OpenSlide draws TIFF with unsupported properties incorrectly, without reporting an error.
 *
 * @returns null when OpenSlide is not installed, the slide is in object storage, or OpenSlide recognises no such vendor
 */
export async function openWithOpenSlide(files: SlideFiles): Promise<Slide | null> {
  const library = files.path === null ? null : await loadOpenSlide(); // path null: in object storage
  if (!library) return null;
  const fileNames = (await files.list()).filter((name) => !name.endsWith('/')); // names of folders end with a slash
  // A path through temporary links if this process is confined; `remove` deletes the links.
  const libraryPath = await prepareForLibrary(files, fileNames.length > MAX_LINKS ? [] : fileNames);
  const vendor = await library.detectVendor(libraryPath.path).catch(async (error: unknown) => {
    await libraryPath.remove();
    throw error;
  });
  if (vendor !== null && Object.hasOwn(vendors, vendor)) return openSlideAt(library, files, libraryPath);
  await libraryPath.remove();
  return null;
}

/** Opens a slide at a path prepared for the library; removes the links if that fails. @returns null for an unknown format */
async function openSlideAt(
  library: OpenSlideLibrary,
  files: SlideFiles,
  libraryPath: LibraryPath,
): Promise<Slide | null> {
  try {
    const file = await openInLibrary(library, libraryPath.path);
    if (file) return await readSlideOrClose(library, file, files, libraryPath);
  } catch (error) {
    await libraryPath.remove();
    throw error;
  }
  await libraryPath.remove();
  return null;
}

/** Reads the slide of an open file, and closes the file if reading fails. */
async function readSlideOrClose(
  library: OpenSlideLibrary,
  file: OpenedFile,
  files: SlideFiles,
  libraryPath: LibraryPath,
): Promise<Slide> {
  try {
    return await file.use((pointer) => readSlide(library, file, pointer, files, libraryPath));
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Builds the `Slide` from the properties of an open file. */
function readSlide(
  library: OpenSlideLibrary,
  file: OpenedFile,
  pointer: OpenSlidePointer,
  files: SlideFiles,
  libraryPath: LibraryPath,
): Slide {
  const property = (name: string) => library.property(pointer, `openslide.${name}`);
  const vendor = property('vendor') ?? '';
  const levels = readLevels(library, pointer);
  const background = readColour(property('background-color'));
  const names = library.associatedImageNames(pointer);
  const associated = (['label', 'macro', 'thumbnail'] as const).filter((name) => names.includes(name));
  const mppX = readPositive(property('mpp-x'), 1000); // micrometres per pixel; 1000 and more are implausible
  const mppY = readPositive(property('mpp-y'), 1000);
  const boundsX = readWholeNumber(property('bounds-x')); // left edge of the scanned area
  const boundsY = readWholeNumber(property('bounds-y'));
  return {
    format: Object.hasOwn(vendors, vendor) ? vendor : 'openslide',
    fingerprint: files.fingerprint,
    vendor: Object.hasOwn(vendors, vendor) ? (vendors[vendor] ?? null) : null,
    levels,
    mpp: mppX === null || mppY === null ? null : { x: mppX, y: mppY },
    objectivePower: readPositive(property('objective-power'), 1000),
    background,
    associatedImages: new Set(associated),
    ...(boundsX !== null && boundsY !== null && { boundsOrigin: { x: boundsX, y: boundsY } }),

    async readTile({ level: index, column, row }, signal) {
      const level = levels[index];
      const isInside = level && column >= 0 && column < level.columns && row >= 0 && row < level.rows;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${index}`);
      }
      signal?.throwIfAborted();
      const x = column * TILE_SIDE;
      const y = row * TILE_SIDE;
      const width = Math.min(TILE_SIDE, level.width - x);
      const height = Math.min(TILE_SIDE, level.height - y);
      // readRegion takes the position in pixels of full resolution.
      const fullX = Math.round(x * level.downsample);
      const fullY = Math.round(y * level.downsample);
      const bgra = new Uint8Array(width * height * 4);
      // `pointer` may be closed by now, so the read uses the current one.
      await file.use((current) => library.readRegion(current, bgra, fullX, fullY, index, width, height));
      signal?.throwIfAborted();
      const rgb = drawOnBackground(bgra, background);
      return rgb && { codec: 'rgb', bytes: rgb, width, height };
    },

    async readAssociatedImage(name) {
      if (!associated.includes(name)) {
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      }
      return readAssociatedImage(library, file, name);
    },

    readIccProfile: () => readIccProfile(library, file),

    async close() {
      await Promise.all([file.close(), files.close()]);
      await libraryPath.remove();
    },
  };
}

function readLevels(library: OpenSlideLibrary, pointer: OpenSlidePointer): readonly [Level, ...Level[]] {
  const count = library.levelCount(pointer);
  if (count < 1) throw new SlideError('FILE_CORRUPT', 'The slide has no level');
  if (count > limits.levels) throw new SlideError('LIMIT_EXCEEDED', `The slide has ${count} levels`);
  const levels = Array.from({ length: count }, (_, index) => {
    const { width, height } = library.levelSize(pointer, index);
    const downsample = library.downsample(pointer, index);
    if (!(width >= 1 && height >= 1 && downsample >= 1 && Number.isFinite(downsample))) {
      throw new SlideError('FILE_CORRUPT', `A level has ${width} × ${height} pixels`);
    }
    const columns = Math.ceil(width / TILE_SIDE);
    const rows = Math.ceil(height / TILE_SIDE);
    if (Math.max(width, height) > limits.imageSide || columns * rows > limits.tilesPerLevel) {
      throw new SlideError('LIMIT_EXCEEDED', `A level has ${width} × ${height} pixels`);
    }
    const tiles = { tileWidth: TILE_SIDE, tileHeight: TILE_SIDE, columns, rows };
    return { width, height, ...tiles, downsample, needsRendering: true as const };
  });
  return levels as [Level, ...Level[]];
}

/**
 * Draws OpenSlide's pixels (premultiplied blue, green, red, and alpha) on a background colour.
 *
 * @returns RGB; null when all pixels are transparent
 */
function drawOnBackground(bgra: Uint8Array, { r, g, b }: Colour): Uint8Array | null {
  const rgb = new Uint8Array((bgra.length / 4) * 3);
  let isEmpty = true;
  for (let from = 0, to = 0; from < bgra.length; from += 4, to += 3) {
    const alpha = bgra[from + 3] as number;
    if (alpha > 0) isEmpty = false;
    const transparency = (255 - alpha) / 255;
    // + 0.5 rounds, because the Uint8Array drops the fraction.
    rgb[to] = (bgra[from + 2] as number) + r * transparency + 0.5;
    rgb[to + 1] = (bgra[from + 1] as number) + g * transparency + 0.5;
    rgb[to + 2] = (bgra[from] as number) + b * transparency + 0.5;
  }
  return isEmpty ? null : rgb;
}

async function readAssociatedImage(
  library: OpenSlideLibrary,
  file: OpenedFile,
  name: AssociatedImageName,
): Promise<EncodedImage> {
  const image = await file.use(async (pointer) => {
    const { width, height } = library.associatedImageSize(pointer, name);
    if (!(width >= 1 && height >= 1)) throw new SlideError('FILE_CORRUPT', `The ${name} has no pixels`);
    if (width * height > limits.associatedPixels) {
      throw new SlideError('LIMIT_EXCEEDED', `The ${name} has ${width} × ${height} pixels`);
    }
    const bgra = new Uint8Array(width * height * 4);
    await library.readAssociatedImage(pointer, name, bgra);
    return { width, height, bgra };
  });
  const { width, height, bgra } = image;
  const bytes = drawOnBackground(bgra, WHITE) ?? new Uint8Array(width * height * 3).fill(255);
  return { codec: 'rgb', bytes, width, height };
}

async function readIccProfile(library: OpenSlideLibrary, file: OpenedFile): Promise<Uint8Array | null> {
  return file.use(async (pointer) => {
    const size = library.iccProfileSize(pointer);
    if (size <= 0) return null;
    if (size > limits.iccProfileBytes)
      throw new SlideError('LIMIT_EXCEEDED', `The profile has ${size} bytes`);
    const profile = new Uint8Array(size);
    await library.readIccProfile(pointer, profile);
    return profile;
  });
}

function openSlideFormatOf(header: FileHeader): OpenSlideFormat | null {
  return openSlideFormats.find((format) => format.isMatch(header)) ?? null;
}

function textOf(start: Uint8Array): string {
  return new TextDecoder('latin1').decode(start);
}

/** Reads six hexadecimal digits; returns white for other text. Source: openslide.h, OPENSLIDE_PROPERTY_NAME_BACKGROUND_COLOR. */
function readColour(text: string | null): Colour {
  if (!/^[\da-f]{6}$/i.test(text ?? '')) return WHITE;
  const number = Number.parseInt(text ?? '', 16);
  return { r: number >> 16, g: (number >> 8) & 255, b: number & 255 };
}

/** Reads a number above 0 and below the limit; returns null for anything else. OpenSlide writes a decimal point in any locale. */
function readPositive(text: string | null, limit: number): number | null {
  const value = Number(text || Number.NaN); // Number('') would be 0
  return value > 0 && value < limit ? value : null;
}

/** Groups a MIRAX slide with its folder (`a.mrxs` with `a/`), and a VMS or VMU slide with the files that it lists. */
async function groupFiles(folder: SlideFolder): Promise<readonly SlideGroup[]> {
  const groups: SlideGroup[] = [];
  for (const main of folder.names) {
    if (/\.mrxs$/i.test(main)) {
      const folderName = main.slice(0, -'.mrxs'.length);
      groups.push({ main, members: folder.folders.includes(folderName) ? [`${folderName}/`] : [] });
    } else if (/\.vm[su]$/i.test(main)) {
      groups.push({ main, members: await readHamamatsuMembers(folder, main) });
    }
  }
  return groups;
}

/** Returns those files in the folder that the main file of a VMS or VMU slide lists. */
async function readHamamatsuMembers(folder: SlideFolder, main: string): Promise<readonly string[]> {
  let source: ByteSource | undefined;
  try {
    source = await folder.open(main);
    const text = new TextDecoder().decode(await source.read(0, Math.min(source.size, MAX_LIST_BYTES)));
    const listedNames = new Set(hamamatsuNames(readIni(text)));
    return folder.names.filter((name) => name !== main && listedNames.has(name));
  } catch (error) {
    // A slide whose list cannot be read gets no companion files; opening that slide reports the error.
    if (error instanceof SlideError && !isTemporaryError(error)) return [];
    throw error;
  } finally {
    await source?.close();
  }
}
