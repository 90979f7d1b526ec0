/**
 * Reader of TIFF exported by Philips' pathology software. The ImageDescription of the first directory is XML whose root
 * is an object of the type DPUfsImport; its attributes are named like those of DICOM. The directories state sizes
 * rounded up to whole tiles; the true size of a smaller level follows from its pixel spacing.
 *
 * docs/formats/philips-tiff.md lists the features that are read, with the source of each fact.
 */
import { readJpegHeader } from '../jpeg/header.ts';
import { type AssociatedImageName, type EncodedImage, SlideError } from '../model/slide.ts';
import { type DeclaredLevel, openDeclaredLevels } from '../tiff/declared-levels.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readWholeImage } from '../tiff/whole-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWholeNumber } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';
import type { SlideFormat } from './slide-format.ts';

export const philipsTiff: SlideFormat = {
  name: 'philips-tiff',

  mismatchReason({ tiff, software, description }) {
    if (!tiff) return 'the file is not TIFF';
    if (!software.startsWith('Philips')) return 'its software is not "Philips…"';
    return description.includes('DPUfsImport') ? null : 'its description is not DPUfsImport XML';
  },

  async open(files, { tiff }) {
    const { main } = files;
    if (!tiff) throw corruptError('the file is not TIFF');
    const scan = await readScan(tiff);
    const { levelTiffImages, associatedTiffImages } = await sortDirectories(tiff);
    const declaredLevels = declareLevels(levelTiffImages, scan.levelSpacings);
    const { levels, readTile } = await openDeclaredLevels(main, declaredLevels);
    const associated = new Set<AssociatedImageName>([...associatedTiffImages.keys(), ...scan.embedded]);
    return {
      format: 'philips-tiff',
      fingerprint: files.fingerprint,
      vendor: 'Philips',
      levels,
      mpp: scan.spacing,
      objectivePower: scan.objectivePower,
      background: { r: 255, g: 255, b: 255 },
      associatedImages: associated,
      readTile,
      async readAssociatedImage(name) {
        const tiffImage = associatedTiffImages.get(name);
        if (tiffImage) return readWholeImage(main, tiffImage);
        if (associated.has(name)) return readEmbedded(tiff, name);
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      readIccProfile: () => readIccProfile(levelTiffImages[0]?.directory ?? tiff.first),
      close: files.close,
    };
  },
};

/** Pixel size in micrometres. */
interface Spacing {
  readonly x: number;
  readonly y: number;
}

/** Metadata of the scanned slide, from the XML. */
interface Scan {
  /** Pixel size at full resolution; null when the XML states none. */
  readonly spacing: Spacing | null;
  /** Pixel size of every level, full resolution first. */
  readonly levelSpacings: readonly Spacing[];
  readonly objectivePower: number | null;
  /** Associated images that the XML contains as Base64-encoded JPEG. */
  readonly embedded: readonly AssociatedImageName[];
}

/** Associated images by their PIM_DP_IMAGE_TYPE. */
const imageTypes: ReadonlyMap<string, AssociatedImageName> = new Map([
  ['LABELIMAGE', 'label'],
  ['MACROIMAGE', 'macro'],
]);

/** Reads the metadata of the slide. The XML must contain exactly one image of the type WSI (whole-slide image). */
async function readScan(tiff: TiffFile): Promise<Scan> {
  const images = await readScannedImages(tiff);
  const scans = images.filter((image) => textOf(image, 'PIM_DP_IMAGE_TYPE') === 'WSI');
  const [scan] = scans;
  if (!scan || scans.length > 1) throw corruptError(`it has ${scans.length} images of the type WSI`);
  // The XML calls a level a pixel data representation.
  const representations = objectsOf(scan, 'PIIM_PIXEL_DATA_REPRESENTATION_SEQUENCE')
    .map((object) => ({
      number: readWholeNumber(textOf(object, 'PIIM_PIXEL_DATA_REPRESENTATION_NUMBER')),
      spacing: readSpacing(object),
    }))
    .toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const levelSpacings = representations.map(({ spacing }) => {
    if (!spacing) throw corruptError('a level has no DICOM_PIXEL_SPACING');
    return spacing;
  });
  return {
    spacing: readSpacing(scan) ?? levelSpacings[0] ?? null,
    levelSpacings,
    objectivePower: readObjectivePower(textOf(scan, 'DICOM_DERIVATION_DESCRIPTION') ?? ''),
    embedded: images.flatMap((image) => {
      const name = associatedName(image);
      return name && textOf(image, 'PIM_DP_IMAGE_DATA') ? [name] : [];
    }),
  };
}

/** Returns the name of an associated image; null for an image of another type. */
function associatedName(image: XmlElement): AssociatedImageName | null {
  return imageTypes.get(textOf(image, 'PIM_DP_IMAGE_TYPE') ?? '') ?? null;
}

/** Returns the XML objects of the slide and its associated images. */
async function readScannedImages(tiff: TiffFile): Promise<readonly XmlElement[]> {
  const root = await readXmlTag(tiff.first, tag.ImageDescription);
  if (root?.name !== 'DataObject' || root.attributes.get('ObjectType') !== 'DPUfsImport') {
    throw corruptError('its root element is not DPUfsImport');
  }
  return objectsOf(root, 'PIM_DP_SCANNED_IMAGES');
}

/** Returns the `<Attribute Name="…">` element with a name in a `<DataObject>` element. */
function attributeOf(object: XmlElement, name: string): XmlElement | null {
  return (
    object.children.find((child) => child.name === 'Attribute' && child.attributes.get('Name') === name) ??
    null
  );
}

function textOf(object: XmlElement, name: string): string | null {
  return attributeOf(object, name)?.text ?? null;
}

/** Returns the `<DataObject>` elements in the array of an attribute; none when the attribute is missing. */
function objectsOf(object: XmlElement, name: string): readonly XmlElement[] {
  const attribute = attributeOf(object, name);
  return attribute ? elementsAt(attribute, 'Array/DataObject') : [];
}

/**
 * Reads the pixel size of an object from text such as `"0.00025" "0.0002"`: row spacing, then column spacing, in millimetres.
 * Row spacing is the distance between two rows, so it is `y`.
 *
 * @returns null when the object states none
 * @throws SlideError FILE_CORRUPT for text in another form
 */
function readSpacing(object: XmlElement): Spacing | null {
  const text = textOf(object, 'DICOM_PIXEL_SPACING');
  if (text === null) return null;
  const [rowSpacing, columnSpacing, excess] = text.replaceAll('"', ' ').trim().split(/\s+/);
  const x = (readDecimal(columnSpacing) ?? 0) * 1000;
  const y = (readDecimal(rowSpacing) ?? 0) * 1000;
  const isPlausible = x > 0 && y > 0 && x < 1e6 && y < 1e6; // micrometres
  if (!isPlausible || excess !== undefined)
    throw corruptError('a DICOM_PIXEL_SPACING is not a pair of plausible numbers');
  return { x, y };
}

/** Maximum magnification of a scanner; a larger number after `levels=` is not a magnification. */
const MAX_OBJECTIVE_POWER = 200;

/**
 * Reads the magnification, which is the first number after `levels=`: 40 in `tiff-useBigTIFF=1-levels=40,20002,10000-…`.
 *
 * @returns null when there is no such number or it is above `MAX_OBJECTIVE_POWER`
 */
function readObjectivePower(derivation: string): number | null {
  // The text ends with the name of a file, which might contain `levels=` too.
  const [textBeforeFileName = ''] = derivation.split('sourceFilename');
  const [, firstNumber] = /(?:^|-)levels=(\d+)/.exec(textBeforeFileName) ?? [];
  const power = readWholeNumber(firstNumber);
  return power !== null && power > 0 && power <= MAX_OBJECTIVE_POWER ? power : null;
}

/** Sorts directories: the ImageDescription of an associated image begins with its name; any other tiled image is a level. */
async function sortDirectories(tiff: TiffFile): Promise<{
  levelTiffImages: readonly TiffImage[];
  associatedTiffImages: ReadonlyMap<AssociatedImageName, TiffImage>;
}> {
  const levelTiffImages: TiffImage[] = [];
  const associatedTiffImages = new Map<AssociatedImageName, TiffImage>();
  for (const directory of await tiff.directories()) {
    const tiffImage = await readTiffImage(directory);
    const description = (await directory.text(tag.ImageDescription, 64)) ?? ''; // enough bytes for the name
    const [, word] = /^(label|macro|thumbnail)/i.exec(description) ?? [];
    const name = word?.toLowerCase();
    if (name === 'label' || name === 'macro' || name === 'thumbnail') {
      if (!associatedTiffImages.has(name)) associatedTiffImages.set(name, tiffImage);
    } else if (tiffImage.tiles) levelTiffImages.push(tiffImage);
  }
  return { levelTiffImages, associatedTiffImages };
}

/**
 * Calculates the size and the downsample of each level. The downsample is the pixel size of the level divided by that of full
 * resolution, rounded to an integer.
 */
function declareLevels(
  tiffImages: readonly TiffImage[],
  spacings: readonly Spacing[],
): readonly DeclaredLevel[] {
  const [full] = tiffImages;
  const [fullSpacing] = spacings;
  if (!full || !fullSpacing) throw corruptError('it has no level');
  if (tiffImages.length !== spacings.length) {
    throw corruptError(`${tiffImages.length} levels have ${spacings.length} pixel spacings`);
  }
  let previousDownsample = 0; // less than 1, the downsample of full resolution
  return tiffImages.map((tiffImage, i) => {
    const { x, y } = spacings[i] ?? fullSpacing;
    const downsample = Math.round((x / fullSpacing.x + y / fullSpacing.y) / 2);
    if (downsample <= previousDownsample)
      throw corruptError('its pixel spacings do not grow from level to level');
    previousDownsample = downsample;
    const width = Math.ceil(full.width / downsample);
    const height = Math.ceil(full.height / downsample);
    return { tiffImage, width, height, downsample };
  });
}

/** Reads an associated image that the XML contains as Base64-encoded JPEG. */
async function readEmbedded(tiff: TiffFile, name: AssociatedImageName): Promise<EncodedImage> {
  const image = (await readScannedImages(tiff)).find((candidate) => associatedName(candidate) === name);
  const text = (image && textOf(image, 'PIM_DP_IMAGE_DATA')) ?? '';
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  const { width, height } = readJpegHeader(bytes);
  return { codec: 'jpeg', bytes, width, height };
}

function corruptError(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The Philips slide contradicts itself: ${what}`);
}
