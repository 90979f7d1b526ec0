/**
 * Reader of slides from the Leica SCN400 scanner (.scn). The file is BigTIFF. XML in its first directory lists the
 * images: the macro image of the whole glass, and the scanned areas with their positions on the glass in nanometres.
 *
 * docs/formats/leica-scn.md lists the features that are read, with the source of each fact.
 */
import type { Colour } from '../decode/raster.ts';
import { notSupportedError, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { joinLevels, type LevelTiles, openDeclaredLevels } from '../tiff/declared-levels.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import { openImageTiles } from '../tiff/image-tiles.ts';
import { limits } from '../tiff/limits.ts';
import { checkAreaCounts, openMosaicLevel } from '../tiff/mosaic-level.ts';
import { tag } from '../tiff/tags.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readWholeImage } from '../tiff/whole-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWholeNumber } from '../xml/read-numbers.ts';
import { elementsAt, textAt, type XmlElement } from '../xml/read-xml.ts';
import type { SlideFormat } from './slide-format.ts';

/** Matches the XML namespaces of both versions of the format. */
const NAMESPACE = /http:\/\/www\.leica-microsystems\.com\/scn\/2010\/(10\/01|03\/10)/;
const WHITE: Colour = { r: 255, g: 255, b: 255 };

export const leicaScn: SlideFormat = {
  name: 'leica-scn',

  mismatchReason({ tiff, description }) {
    if (!tiff) return 'the file is not TIFF';
    return NAMESPACE.test(description) ? null : 'its description is not XML of an SCN collection';
  },

  async open(files, { tiff }) {
    const { main } = files;
    if (!tiff) throw corruptError('the file is not TIFF');
    const root = await readXmlTag(tiff.first, tag.ImageDescription, isNeededElement);
    const images = readImages(root);
    const scans = chooseScans(images);
    const [firstScan] = scans;
    const directories = await tiff.directories();
    const macro = images.find(({ isMacro }) => isMacro) ?? null;
    const scanLevels: ScanLevels[] = [];
    for (const image of scans) scanLevels.push({ image, levels: await readLevels(image, directories) });
    const { levels, readTile } = await openLevels(main, scanLevels);
    const full = scanLevels[0]?.levels[0];
    return {
      format: 'leica-scn',
      fingerprint: files.fingerprint,
      vendor: 'Leica',
      levels,
      mpp: full ? mppOf(firstScan.view, full) : null,
      objectivePower: firstScan.objectivePower,
      background: WHITE,
      associatedImages: new Set(macro ? ['macro'] : []),
      readTile,
      async readAssociatedImage(name) {
        if (name !== 'macro' || !macro) {
          throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        }
        const [tiffImage] = await readLevels(macro, directories);
        if (!tiffImage) throw corruptError('its macro image has no level');
        return readWholeImage(main, tiffImage);
      },
      readIccProfile: () => readIccProfile(full?.directory ?? tiff.first),
      close: files.close,
    };
  },
};

/** Paths of the XML elements that the reader needs. It skips the others, which contain the name, barcode and date of the slide. */
const NEEDED_ELEMENTS = new Set([
  'scn/collection',
  'scn/collection/image',
  'scn/collection/image/pixels',
  'scn/collection/image/pixels/dimension',
  'scn/collection/image/view',
  'scn/collection/image/scanSettings',
  'scn/collection/image/scanSettings/objectiveSettings',
  'scn/collection/image/scanSettings/objectiveSettings/objective',
  'scn/collection/image/scanSettings/illuminationSettings',
  'scn/collection/image/scanSettings/illuminationSettings/illuminationSource',
]);

function isNeededElement(path: readonly string[]): boolean {
  return NEEDED_ELEMENTS.has(path.join('/'));
}

/** Calculates micrometres per pixel from the size of an image on the glass and its size in pixels. */
function mppOf(view: View, { width, height }: TiffImage): { x: number; y: number } {
  const nanometresPerMicrometre = 1000;
  return {
    x: view.width / width / nanometresPerMicrometre,
    y: view.height / height / nanometresPerMicrometre,
  };
}

/** The rectangle on the glass that an image shows, in nanometres. */
interface View {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** One resolution of an image, as the XML lists it. */
interface Dimension {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  /** Index of the TIFF directory with the pixels. */
  readonly directoryIndex: number;
}

/** An image that the XML lists. */
interface ScnImage {
  readonly view: View;
  /** Whether the image shows the whole glass. */
  readonly isMacro: boolean;
  /** Light source, e.g. `brightfield` (white light through the tissue) or `fluorescence`; empty when not stated. */
  readonly illumination: string;
  readonly objectivePower: number | null;
  /** Resolutions of the first focal plane and channel, largest first. */
  readonly dimensions: readonly Dimension[];
}

function readImages(root: XmlElement | null): readonly ScnImage[] {
  const [collection] = root?.name === 'scn' ? elementsAt(root, 'collection') : [];
  if (!collection) throw corruptError('its XML has no collection');
  const glass = {
    width: readIntegerAttribute(collection, 'sizeX'),
    height: readIntegerAttribute(collection, 'sizeY'),
  };
  return elementsAt(collection, 'image').map((image) => readImage(image, glass));
}

function readImage(image: XmlElement, glass: Pick<View, 'width' | 'height'>): ScnImage {
  const [viewElement] = elementsAt(image, 'view');
  if (!viewElement) throw corruptError('an image has no view');
  const view = {
    x: readIntegerAttribute(viewElement, 'offsetX'),
    y: readIntegerAttribute(viewElement, 'offsetY'),
    width: readIntegerAttribute(viewElement, 'sizeX'),
    height: readIntegerAttribute(viewElement, 'sizeY'),
  };
  const isMacro = view.x === 0 && view.y === 0 && view.width === glass.width && view.height === glass.height;
  const isZero = (dimension: XmlElement, attribute: string) =>
    (dimension.attributes.get(attribute) ?? '0').trim() === '0';
  // The attributes z and c are the numbers of the focal plane and of the channel; 0 is the first one.
  const dimensions = elementsAt(image, 'pixels/dimension')
    .filter((dimension) => isZero(dimension, 'z') && isZero(dimension, 'c'))
    .map((dimension) => ({
      width: readIntegerAttribute(dimension, 'sizeX'),
      height: readIntegerAttribute(dimension, 'sizeY'),
      directoryIndex: readIntegerAttribute(dimension, 'ifd'),
    }))
    .toSorted((a, b) => b.width - a.width);
  const [full] = dimensions;
  if (!full || full.width === 0 || full.height === 0 || view.width === 0 || view.height === 0) {
    throw corruptError('an image has no size');
  }
  if (dimensions.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${dimensions.length} levels`);
  }
  const power = readDecimal(textAt(image, 'scanSettings/objectiveSettings/objective'));
  return {
    view,
    isMacro,
    illumination: textAt(image, 'scanSettings/illuminationSettings/illuminationSource') ?? '',
    objectivePower: power !== null && power > 0 && power < 1000 ? power : null, // 1000 and more are implausible
    dimensions,
  };
}

/** Reads an integer of at least 0. @throws SlideError FILE_CORRUPT when the attribute is missing or has another value */
function readIntegerAttribute({ attributes, name }: XmlElement, attribute: string): number {
  const value = readWholeNumber(attributes.get(attribute));
  if (value === null)
    throw corruptError(
      `${attribute} of ${name === 'collection' ? 'the collection' : 'an image'} is not a whole number`,
    );
  return value;
}

/** Chooses the brightfield scans, which must have the same objective and number of levels; ignores scans with other or unstated light. */
function chooseScans(images: readonly ScnImage[]): readonly [ScnImage, ...ScnImage[]] {
  const scans = images.filter(({ isMacro }) => !isMacro);
  const columnsAndRows = 0; // not known yet, so this call checks only the number of scans
  checkAreaCounts(scans.length, columnsAndRows);
  const [first, ...others] = scans.filter(({ illumination }) => illumination === 'brightfield');
  if (!first && scans.length > 0) throw notSupportedError('an SCN file without a brightfield image');
  if (!first) throw new SlideError('NOT_A_SLIDE', 'The SCN file has only the image of the whole glass');
  for (const other of others) {
    const hasSameObjective = other.objectivePower === first.objectivePower;
    if (!hasSameObjective || other.dimensions.length !== first.dimensions.length) {
      throw notSupportedError('an SCN file whose images have different objectives or numbers of levels');
    }
  }
  return [first, ...others];
}

/** A scanned area and its stored resolutions. */
interface ScanLevels {
  readonly image: ScnImage;
  /** Largest first. */
  readonly levels: readonly TiffImage[];
}

/** Reads the directories of all resolutions of an image, and checks that they have the sizes that the XML states. */
async function readLevels(
  { dimensions }: ScnImage,
  directories: readonly TiffDirectory[],
): Promise<readonly TiffImage[]> {
  const levels: TiffImage[] = [];
  for (const { width, height, directoryIndex } of dimensions) {
    const directory = directories[directoryIndex];
    if (!directory) throw corruptError('it refers to a directory that does not exist');
    const tiffImage = await readTiffImage(directory);
    if (tiffImage.width !== width || tiffImage.height !== height) {
      throw corruptError(
        `a level of ${width} × ${height} pixels is stored as ${tiffImage.width} × ${tiffImage.height}`,
      );
    }
    const last = levels.at(-1);
    if (last && tiffImage.width >= last.width) throw corruptError('two of its levels have the same size');
    levels.push(tiffImage);
  }
  return levels;
}

/**
 * Opens the levels of the slide. The tiles of a single scanned area can be sent as they are stored; several areas must be
 * composed into one image.
 */
async function openLevels(source: ByteSource, scans: readonly ScanLevels[]): Promise<LevelTiles> {
  const [first, ...others] = scans;
  if (!first || others.length > 0) return composeLevels(source, scans);
  const [full] = first.levels;
  return openDeclaredLevels(
    source,
    // A declared level has the size that the XML states. Its downsample is the mean of the ratios of both sides.
    first.levels.map((tiffImage) => ({
      tiffImage,
      width: tiffImage.width,
      height: tiffImage.height,
      downsample: ((full?.width ?? 1) / tiffImage.width + (full?.height ?? 1) / tiffImage.height) / 2,
    })),
  );
}

/** Maximum relative difference between the resolutions (nanometres per pixel) of the scanned areas. */
const MAX_SCALE_DIFFERENCE = 0.02;

/**
 * Composes scanned areas into one image, with white glass between them. `openMosaicLevel` places the cells of an area by their
 * left and top edges; here, each tile of the file is one cell.
 */
async function composeLevels(source: ByteSource, scans: readonly ScanLevels[]): Promise<LevelTiles> {
  const left = Math.min(...scans.map(({ image }) => image.view.x));
  const top = Math.min(...scans.map(({ image }) => image.view.y));
  const right = Math.max(...scans.map(({ image }) => image.view.x + image.view.width));
  const bottom = Math.max(...scans.map(({ image }) => image.view.y + image.view.height));
  const levels = [];
  let fullScale: number | null = null; // nanometres per pixel of level 0
  for (const i of (scans[0]?.levels ?? []).keys()) {
    const nanometresPerPixel = scans.map(
      ({ image, levels: tiffImages }) => image.view.width / (tiffImages[i]?.width ?? 1),
    );
    // With the finest resolution, the distances between areas have the most pixels, so that areas do not overlap.
    const scale = Math.min(...nanometresPerPixel);
    if (Math.max(...nanometresPerPixel) > scale * (1 + MAX_SCALE_DIFFERENCE)) {
      throw notSupportedError('an SCN file whose images have different resolutions');
    }
    fullScale ??= scale;
    const areas = [];
    let columnsAndRows = 0;
    for (const { image, levels: tiffImages } of scans) {
      const tiffImage = tiffImages[i];
      if (!tiffImage) continue;
      const { grid, readTile } = await openImageTiles(source, tiffImage);
      columnsAndRows += grid.columns + grid.rows;
      checkAreaCounts(scans.length, columnsAndRows);
      const x = Math.round((image.view.x - left) / scale);
      const y = Math.round((image.view.y - top) / scale);
      areas.push({
        readTile,
        tileWidth: grid.tileWidth,
        tileHeight: grid.tileHeight,
        cellsPerTile: 1,
        firstColumn: 0, // the area begins at the first tile of its image
        firstRow: 0,
        lefts: Array.from({ length: grid.columns }, (_, column) => x + column * grid.tileWidth),
        tops: Array.from({ length: grid.rows }, (_, row) => y + row * grid.tileHeight),
        imageWidth: grid.width,
        imageHeight: grid.height,
      });
    }
    levels.push(
      openMosaicLevel({
        width: Math.ceil((right - left) / scale),
        height: Math.ceil((bottom - top) / scale),
        downsample: scale / fullScale,
        areas,
        background: WHITE,
      }),
    );
  }
  return joinLevels(levels);
}

function corruptError(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The SCN file contradicts itself: ${what}`);
}
