/**
 * Leica SCN400: BigTIFF whose first description is XML of a collection of images. One of them shows the whole glass
 * and is kept back; the others are what was scanned, each where it lies on the glass, in nanometres.
 *
 * docs/formats/leica-scn.md says what is read, and where each fact is from.
 */
import type { Colour } from '../decode/raster.ts';
import { SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import { limits } from '../tiff/limits.ts';
import { checkAreas, openMosaicLevel } from '../tiff/mosaic-level.ts';
import { readPicture, type TiffPicture } from '../tiff/picture.ts';
import { openPictureTiles } from '../tiff/picture-tiles.ts';
import { joinLevels, type LevelTiles, openStatedLevels } from '../tiff/stated-levels.ts';
import { tag } from '../tiff/tags.ts';
import { readWholePicture } from '../tiff/whole-picture.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWhole } from '../xml/read-numbers.ts';
import { elementsAt, textAt, type XmlElement } from '../xml/read-xml.ts';

const NAMESPACE = /http:\/\/www\.leica-microsystems\.com\/scn\/2010\/(10\/01|03\/10)/;
const WHITE: Colour = { r: 255, g: 255, b: 255 };

export const leicaScn: SlideFormat = {
  name: 'leica-scn',

  mismatch({ tiff, description }) {
    if (!tiff) return 'the file is no TIFF';
    return NAMESPACE.test(description) ? null : 'its description is no XML of an SCN collection';
  },

  async open(files, { tiff }) {
    const { leading } = files;
    if (!tiff) throw corrupt('the file is no TIFF');
    const root = await readXmlTag(tiff.first, tag.ImageDescription, isKept);
    const images = readImages(root);
    const scans = chooseScans(images);
    const [first] = scans;
    const directories = await tiff.directories();
    const macro = images.find(({ isMacro }) => isMacro) ?? null;
    const pictures: ScanPictures[] = [];
    for (const image of scans) pictures.push({ image, levels: await readLevels(image, directories) });
    const { levels, readTile } = await openLevels(leading, pictures);
    const full = pictures[0]?.levels[0];
    return {
      format: 'leica-scn',
      fingerprint: files.fingerprint,
      vendor: 'Leica',
      levels,
      mpp: full
        ? { x: first.view.width / full.width / 1000, y: first.view.height / full.height / 1000 }
        : null,
      objectivePower: first.objectivePower,
      background: WHITE,
      associatedImages: new Set(macro ? ['macro'] : []),
      readTile,
      async readAssociatedImage(name) {
        if (name !== 'macro' || !macro) {
          throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        }
        const [picture] = await readLevels(macro, directories);
        if (!picture) throw corrupt('its macro image has no picture');
        return readWholePicture(leading, picture);
      },
      readIccProfile: () => readIccProfile(full?.directory ?? tiff.first),
      close: files.close,
    };
  },
};

/** What of the XML is read; the rest names the slide, its barcode and its date. */
const KEPT = new Set([
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

function isKept(path: readonly string[]): boolean {
  return KEPT.has(path.join('/'));
}

/** Nanometres. */
interface View {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Dimension {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Index among the file's directories. */
  readonly directory: number;
}

interface ScnImage {
  readonly view: View;
  readonly isMacro: boolean;
  readonly illumination: string;
  readonly objectivePower: number | null;
  /** Of the first focus and channel, largest first. */
  readonly dimensions: readonly Dimension[];
}

function readImages(root: XmlElement | null): readonly ScnImage[] {
  const [collection] = root?.name === 'scn' ? elementsAt(root, 'collection') : [];
  if (!collection) throw corrupt('its XML has no collection');
  const glass = { width: numberOf(collection, 'sizeX'), height: numberOf(collection, 'sizeY') };
  return elementsAt(collection, 'image').map((image) => readImage(image, glass));
}

function readImage(image: XmlElement, glass: Pick<View, 'width' | 'height'>): ScnImage {
  const [seen] = elementsAt(image, 'view');
  if (!seen) throw corrupt('an image has no view');
  const view = {
    x: numberOf(seen, 'offsetX'),
    y: numberOf(seen, 'offsetY'),
    width: numberOf(seen, 'sizeX'),
    height: numberOf(seen, 'sizeY'),
  };
  const isMacro = view.x === 0 && view.y === 0 && view.width === glass.width && view.height === glass.height;
  const isFirst = (dimension: XmlElement, name: string) =>
    (dimension.attributes.get(name) ?? '0').trim() === '0';
  const dimensions = elementsAt(image, 'pixels/dimension')
    .filter((dimension) => isFirst(dimension, 'z') && isFirst(dimension, 'c'))
    .map((dimension) => ({
      width: numberOf(dimension, 'sizeX'),
      height: numberOf(dimension, 'sizeY'),
      directory: numberOf(dimension, 'ifd'),
    }))
    .toSorted((one, other) => other.width - one.width);
  const [full] = dimensions;
  if (!full || full.width === 0 || full.height === 0 || view.width === 0 || view.height === 0) {
    throw corrupt('an image has no size');
  }
  if (dimensions.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${dimensions.length} levels`);
  }
  const power = readDecimal(textAt(image, 'scanSettings/objectiveSettings/objective'));
  return {
    view,
    isMacro,
    illumination: textAt(image, 'scanSettings/illuminationSettings/illuminationSource') ?? '',
    objectivePower: power !== null && power > 0 && power < 1000 ? power : null,
    dimensions,
  };
}

function numberOf({ attributes, name }: XmlElement, wanted: string): number {
  const value = readWhole(attributes.get(wanted));
  if (value === null)
    throw corrupt(`${wanted} of ${name === 'collection' ? 'the collection' : 'an image'} is no number`);
  return value;
}

/** What was scanned in light that goes through; what was scanned in fluorescence is not shown beside it. */
function chooseScans(images: readonly ScnImage[]): readonly [ScnImage, ...ScnImage[]] {
  const scans = images.filter(({ isMacro }) => !isMacro);
  checkAreas(scans.length, 0);
  const [first, ...others] = scans.filter(({ illumination }) => illumination === 'brightfield');
  if (!first && scans.length > 0) throw notRead('an SCN file of fluorescence');
  if (!first) throw new SlideError('NOT_A_SLIDE', 'The SCN file has no image but the one of the whole glass');
  for (const other of others) {
    if (
      other.objectivePower !== first.objectivePower ||
      other.dimensions.length !== first.dimensions.length
    ) {
      throw notRead('an SCN file whose images were scanned in different ways');
    }
  }
  return [first, ...others];
}

interface ScanPictures {
  readonly image: ScnImage;
  /** Largest first. */
  readonly levels: readonly TiffPicture[];
}

async function readLevels(
  { dimensions }: ScnImage,
  directories: readonly TiffDirectory[],
): Promise<readonly TiffPicture[]> {
  const levels: TiffPicture[] = [];
  for (const { width, height, directory } of dimensions) {
    const found = directories[directory];
    if (!found) throw corrupt('it names a directory that there is not');
    const picture = await readPicture(found);
    if (picture.width !== width || picture.height !== height) {
      throw corrupt(
        `a level of ${width} × ${height} pixels is stored as ${picture.width} × ${picture.height}`,
      );
    }
    const last = levels.at(-1);
    if (last && picture.width >= last.width) throw corrupt('two of its levels are equally large');
    levels.push(picture);
  }
  return levels;
}

async function openLevels(source: ByteSource, scans: readonly ScanPictures[]): Promise<LevelTiles> {
  const [only, ...others] = scans;
  if (!only || others.length > 0) return composeLevels(source, scans);
  const [full] = only.levels;
  return openStatedLevels(
    source,
    only.levels.map((picture) => ({
      picture,
      width: picture.width,
      height: picture.height,
      downsample: ((full?.width ?? 1) / picture.width + (full?.height ?? 1) / picture.height) / 2,
    })),
  );
}

/** How much the resolutions of two images may differ, and still be one slide. */
const MOST_OFF = 0.02;

/** Images that lie apart on the glass, in one picture with glass between them. */
async function composeLevels(source: ByteSource, scans: readonly ScanPictures[]): Promise<LevelTiles> {
  const left = Math.min(...scans.map(({ image }) => image.view.x));
  const top = Math.min(...scans.map(({ image }) => image.view.y));
  const right = Math.max(...scans.map(({ image }) => image.view.x + image.view.width));
  const bottom = Math.max(...scans.map(({ image }) => image.view.y + image.view.height));
  const levels = [];
  let fullScale: number | null = null;
  for (const i of (scans[0]?.levels ?? []).keys()) {
    // Nanometres of a pixel. The finest, so that no image reaches into its neighbour.
    const scales = scans.map(({ image, levels: pictures }) => image.view.width / (pictures[i]?.width ?? 1));
    const scale = Math.min(...scales);
    if (Math.max(...scales) > scale * (1 + MOST_OFF)) {
      throw notRead('an SCN file whose images have different resolutions');
    }
    fullScale ??= scale;
    const areas = [];
    let lines = 0;
    for (const { image, levels: pictures } of scans) {
      const picture = pictures[i];
      if (!picture) continue;
      const { grid, readTile } = await openPictureTiles(source, picture);
      lines += grid.columns + grid.rows;
      checkAreas(scans.length, lines);
      const x = Math.round((image.view.x - left) / scale);
      const y = Math.round((image.view.y - top) / scale);
      areas.push({
        readTile,
        tileWidth: grid.tileWidth,
        tileHeight: grid.tileHeight,
        cellsPerTile: 1,
        firstColumn: 0,
        firstRow: 0,
        lefts: Array.from({ length: grid.columns }, (_, column) => x + column * grid.tileWidth),
        tops: Array.from({ length: grid.rows }, (_, row) => y + row * grid.tileHeight),
        width: grid.width,
        height: grid.height,
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

function corrupt(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The SCN file contradicts itself: ${what}`);
}

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${what}`);
}
