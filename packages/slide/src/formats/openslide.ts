/**
 * Slides that the system's OpenSlide reads where it is installed: MIRAX (.mrxs), Hamamatsu VMS and VMU, Sakura
 * (.svslide), and whatever else it knows and no reader of our own takes.
 *
 * docs/formats/openslide.md says what is read, and where each fact is from.
 */
import type { Colour } from '../decode/raster.ts';
import { loadOpenSlide, type OpenSlideLibrary, type OpenSlidePointer } from '../openslide/library.ts';
import { type OpenedFile, openInLibrary } from '../openslide/opened-file.ts';
import { readIni } from '../openslide/read-ini.ts';
import { checkHamamatsuFiles, checkMiraxFiles, hamamatsuNames } from '../openslide/side-files.ts';
import {
  type AssociatedImageName,
  type EncodedImage,
  isUnreachable,
  type Level,
  type Slide,
  SlideError,
} from '../slide.ts';
import type { SlideFiles, SlideFolder, SlideGroup } from '../source/slide-files.ts';
import type { FileHeader, SlideFormat } from '../source/slide-format.ts';

/** What is left to OpenSlide from the start, since no reader of our own knows it. */
interface Kind {
  /** For messages. */
  readonly name: string;
  isMatch(header: FileHeader): boolean;
  /** Looks at the files beside it, which the library opens by itself. */
  check?(files: SlideFiles): Promise<void>;
}

const VMS_START = /^\s*\[(Uncompressed )?Virtual Microscope Specimen\]/;

const kinds: readonly Kind[] = [
  { name: 'MIRAX', isMatch: ({ name }) => /\.mrxs$/i.test(name), check: checkMiraxFiles },
  {
    name: 'Hamamatsu VMS and VMU',
    isMatch: ({ start }) => VMS_START.test(textOf(start)),
    check: checkHamamatsuFiles,
  },
  { name: 'Sakura', isMatch: ({ start }) => textOf(start).startsWith('SQLite format 3\0') },
];

/** Makers by OpenSlide's words for their formats; `generic-tiff` is none. */
const vendors: Readonly<Record<string, string>> = {
  aperio: 'Aperio',
  dicom: 'DICOM',
  hamamatsu: 'Hamamatsu',
  leica: 'Leica',
  mirax: '3DHISTECH',
  philips: 'Philips',
  sakura: 'Sakura',
  synthetic: 'OpenSlide',
  trestle: 'Trestle',
  ventana: 'Ventana',
  zeiss: 'Zeiss',
};

/** Pixels. Tiles of the file itself may have any size, and none. */
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
  isOnlyMade: true,

  mismatch(header) {
    return kindOf(header) ? null : 'it is neither MIRAX nor VMS nor a database of Sakura';
  },

  async open(files, header) {
    const kind = kindOf(header);
    if (files.isObject) {
      throw new SlideError('FORMAT_NOT_SUPPORTED', `${kind?.name} slides are read from a folder alone.`);
    }
    await kind?.check?.(files);
    const library = files.path === null ? null : await loadOpenSlide();
    if (!library) {
      throw new SlideError('FORMAT_NOT_SUPPORTED', `Install libopenslide0 to read ${kind?.name} slides.`);
    }
    const slide = await openWith(library, files);
    if (!slide)
      throw new SlideError('FORMAT_NOT_RECOGNISED', `OpenSlide does not know this ${kind?.name} slide`);
    return slide;
  },

  group: groupFiles,
};

/**
 * Open a file that the readers of our own do not take, if OpenSlide is installed and takes it for a slide of a known
 * maker: TIFF of no particular maker it would draw without a word, whatever is strange about it.
 *
 * @returns null when it does not
 */
export async function openWithOpenSlide(files: SlideFiles): Promise<Slide | null> {
  const library = files.path === null ? null : await loadOpenSlide();
  const vendor = await library?.detectVendor(files.path ?? '');
  return library && vendor && Object.hasOwn(vendors, vendor) ? openWith(library, files) : null;
}

async function openWith(library: OpenSlideLibrary, files: SlideFiles): Promise<Slide | null> {
  const file = await openInLibrary(library, files.path ?? '');
  if (!file) return null;
  try {
    return await file.use((pointer) => describe(library, file, pointer, files));
  } catch (error) {
    await file.close();
    throw error;
  }
}

function describe(
  library: OpenSlideLibrary,
  file: OpenedFile,
  pointer: OpenSlidePointer,
  files: SlideFiles,
): Slide {
  const property = (name: string) => library.property(pointer, `openslide.${name}`);
  const vendor = property('vendor') ?? '';
  const levels = readLevels(library, pointer);
  const background = readColour(property('background-color'));
  const names = library.associatedImageNames(pointer);
  const associated = (['label', 'macro', 'thumbnail'] as const).filter((name) => names.includes(name));
  const [mppX, mppY] = [between(property('mpp-x'), 1000), between(property('mpp-y'), 1000)];
  return {
    format: Object.hasOwn(vendors, vendor) ? vendor : 'openslide',
    fingerprint: files.fingerprint,
    vendor: Object.hasOwn(vendors, vendor) ? (vendors[vendor] ?? null) : null,
    levels,
    mpp: mppX === null || mppY === null ? null : { x: mppX, y: mppY },
    objectivePower: between(property('objective-power'), 1000),
    background,
    associatedImages: new Set(associated),

    async readTile({ level: index, column, row }, signal) {
      const level = levels[index];
      const isInside = level && column >= 0 && column < level.columns && row >= 0 && row < level.rows;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${index}`);
      }
      signal?.throwIfAborted();
      const [x, y] = [column * TILE_SIDE, row * TILE_SIDE];
      const [width, height] = [Math.min(TILE_SIDE, level.width - x), Math.min(TILE_SIDE, level.height - y)];
      const bgra = new Uint8Array(width * height * 4);
      await file.use((slide) =>
        library.readRegion(
          slide,
          bgra,
          Math.round(x * level.downsample),
          Math.round(y * level.downsample),
          index,
          width,
          height,
        ),
      );
      signal?.throwIfAborted();
      const rgb = layOn(bgra, background);
      return rgb && { codec: 'rgb', bytes: rgb, width, height };
    },

    async readAssociatedImage(name) {
      if (!associated.includes(name)) {
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      }
      return readAssociated(library, file, name);
    },

    readIccProfile: () => readProfile(library, file),

    async close() {
      await Promise.all([file.close(), files.close()]);
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
    const [columns, rows] = [Math.ceil(width / TILE_SIDE), Math.ceil(height / TILE_SIDE)];
    if (Math.max(width, height) > limits.imageSide || columns * rows > limits.tilesPerLevel) {
      throw new SlideError('LIMIT_EXCEEDED', `A level has ${width} × ${height} pixels`);
    }
    const level: Level = {
      width,
      height,
      tileWidth: TILE_SIDE,
      tileHeight: TILE_SIDE,
      columns,
      rows,
      downsample,
      isMade: true,
    };
    return level;
  });
  return levels as [Level, ...Level[]];
}

/**
 * What OpenSlide draws (blue, green, red, each times alpha, and alpha) laid on a colour.
 *
 * @returns RGB; null where there is nothing at all
 */
function layOn(bgra: Uint8Array, { r, g, b }: Colour): Uint8Array | null {
  const rgb = new Uint8Array((bgra.length / 4) * 3);
  let isEmpty = true;
  for (let from = 0, to = 0; from < bgra.length; from += 4, to += 3) {
    const alpha = bgra[from + 3] as number;
    isEmpty &&= alpha === 0;
    const rest = (255 - alpha) / 255;
    rgb[to] = (bgra[from + 2] as number) + r * rest + 0.5;
    rgb[to + 1] = (bgra[from + 1] as number) + g * rest + 0.5;
    rgb[to + 2] = (bgra[from] as number) + b * rest + 0.5;
  }
  return isEmpty ? null : rgb;
}

async function readAssociated(
  library: OpenSlideLibrary,
  file: OpenedFile,
  name: AssociatedImageName,
): Promise<EncodedImage> {
  const image = await file.use(async (slide) => {
    const { width, height } = library.associatedImageSize(slide, name);
    if (!(width >= 1 && height >= 1)) throw new SlideError('FILE_CORRUPT', `The ${name} has no pixels`);
    if (width * height > limits.associatedPixels) {
      throw new SlideError('LIMIT_EXCEEDED', `The ${name} has ${width} × ${height} pixels`);
    }
    const bgra = new Uint8Array(width * height * 4);
    await library.readAssociatedImage(slide, name, bgra);
    return { width, height, bgra };
  });
  const { width, height, bgra } = image;
  const bytes = layOn(bgra, WHITE) ?? new Uint8Array(width * height * 3).fill(255);
  return { codec: 'rgb', bytes, width, height };
}

async function readProfile(library: OpenSlideLibrary, file: OpenedFile): Promise<Uint8Array | null> {
  return file.use(async (slide) => {
    const size = library.iccProfileSize(slide);
    if (size <= 0) return null;
    if (size > limits.iccProfileBytes)
      throw new SlideError('LIMIT_EXCEEDED', `The profile has ${size} bytes`);
    const profile = new Uint8Array(size);
    await library.readIccProfile(slide, profile);
    return profile;
  });
}

function kindOf(header: FileHeader): Kind | null {
  return kinds.find((kind) => kind.isMatch(header)) ?? null;
}

function textOf(start: Uint8Array): string {
  return new TextDecoder('latin1').decode(start);
}

/** Six hexadecimal digits. Source: openslide.h, OPENSLIDE_PROPERTY_NAME_BACKGROUND_COLOR. */
function readColour(text: string | null): Colour {
  if (!/^[\da-f]{6}$/i.test(text ?? '')) return WHITE;
  const number = Number.parseInt(text ?? '', 16);
  return { r: number >> 16, g: (number >> 8) & 255, b: number & 255 };
}

/** OpenSlide writes numbers with a point, whatever the language. */
function between(text: string | null, limit: number): number | null {
  const value = Number(text || Number.NaN);
  return value > 0 && value < limit ? value : null;
}

/** A MIRAX slide is a file and the folder of the same name, a VMS slide the files that it names. */
async function groupFiles(folder: SlideFolder): Promise<readonly SlideGroup[]> {
  const groups: SlideGroup[] = [];
  for (const leading of folder.names) {
    if (/\.mrxs$/i.test(leading)) {
      const stem = leading.slice(0, -'.mrxs'.length);
      groups.push({ leading, members: folder.folders.includes(stem) ? [`${stem}/`] : [] });
    } else if (/\.vm[su]$/i.test(leading)) {
      groups.push({ leading, members: await membersOfHamamatsu(folder, leading) });
    }
  }
  return groups;
}

/** What is known to belong to another slide, or is not there, is none of them. */
async function membersOfHamamatsu(folder: SlideFolder, leading: string): Promise<readonly string[]> {
  const source = await folder.open(leading);
  try {
    const text = new TextDecoder().decode(await source.read(0, Math.min(source.size, 2 ** 20)));
    const named = new Set(hamamatsuNames(readIni(text)));
    return folder.names.filter((name) => name !== leading && named.has(name));
  } catch (error) {
    // It will be refused, with its reason, when it is opened.
    if (error instanceof SlideError && !isUnreachable(error)) return [];
    throw error;
  } finally {
    await source.close();
  }
}
