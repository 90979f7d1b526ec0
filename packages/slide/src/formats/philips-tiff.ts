/**
 * TIFF as Philips' pathology software exports it: the description of the first directory is XML whose names are
 * those of DICOM. Sizes in the directories are whole tiles; what is picture follows from the pixel spacings.
 *
 * docs/formats/philips-tiff.md says what is read, and where each fact is from.
 */
import { readJpegHeader } from '../jpeg/header.ts';
import { type AssociatedImageName, type EncodedImage, SlideError } from '../slide.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import { readIccProfile } from '../tiff/icc-profile.ts';
import { readPicture, type TiffPicture } from '../tiff/picture.ts';
import { openStatedLevels, type StatedLevel } from '../tiff/stated-levels.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readWholePicture } from '../tiff/whole-picture.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWhole } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';

export const philipsTiff: SlideFormat = {
  name: 'philips-tiff',

  mismatch({ tiff, software, description }) {
    if (!tiff) return 'the file is no TIFF';
    if (!software.startsWith('Philips')) return 'its software is not "Philips…"';
    return description.includes('DPUfsImport') ? null : 'its description is no DPUfsImport';
  },

  async open(files, { tiff }) {
    const { leading } = files;
    if (!tiff) throw corrupt('the file is no TIFF');
    const scan = await readScan(tiff);
    const { tiled, beside } = await sortDirectories(tiff);
    const { levels, readTile } = await openStatedLevels(leading, stateLevels(tiled, scan.spacings));
    const associated = new Set<AssociatedImageName>([...beside.keys(), ...scan.embedded]);
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
        const picture = beside.get(name);
        if (picture) return readWholePicture(leading, picture);
        if (associated.has(name)) return readEmbedded(tiff, name);
        throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
      },
      readIccProfile: () => readIccProfile(tiled[0]?.directory ?? tiff.first),
      close: files.close,
    };
  },
};

/** Micrometres. */
interface Spacing {
  readonly x: number;
  readonly y: number;
}

interface Scan {
  /** Of full resolution. */
  readonly spacing: Spacing | null;
  /** Of every level, full resolution first. */
  readonly spacings: readonly Spacing[];
  readonly objectivePower: number | null;
  /** Pictures whose bytes stand in the XML. */
  readonly embedded: readonly AssociatedImageName[];
}

const imageTypes: ReadonlyMap<string, AssociatedImageName> = new Map([
  ['LABELIMAGE', 'label'],
  ['MACROIMAGE', 'macro'],
]);

async function readScan(tiff: TiffFile): Promise<Scan> {
  const images = await readScannedImages(tiff);
  const scans = images.filter((image) => textOf(image, 'PIM_DP_IMAGE_TYPE') === 'WSI');
  const [scan] = scans;
  if (!scan || scans.length > 1) throw corrupt(`it has ${scans.length} images of the type WSI`);
  const representations = objectsOf(scan, 'PIIM_PIXEL_DATA_REPRESENTATION_SEQUENCE')
    .map((each) => ({
      number: readWhole(textOf(each, 'PIIM_PIXEL_DATA_REPRESENTATION_NUMBER')),
      spacing: readSpacing(each),
    }))
    .toSorted((one, other) => (one.number ?? 0) - (other.number ?? 0));
  const spacings = representations.map(({ spacing }) => {
    if (!spacing) throw corrupt('a level has no DICOM_PIXEL_SPACING');
    return spacing;
  });
  return {
    spacing: readSpacing(scan) ?? spacings[0] ?? null,
    spacings,
    objectivePower: readObjectivePower(textOf(scan, 'DICOM_DERIVATION_DESCRIPTION') ?? ''),
    embedded: images.flatMap((image) => {
      const name = associatedName(image);
      return name && textOf(image, 'PIM_DP_IMAGE_DATA') ? [name] : [];
    }),
  };
}

function associatedName(image: XmlElement): AssociatedImageName | null {
  return imageTypes.get(textOf(image, 'PIM_DP_IMAGE_TYPE') ?? '') ?? null;
}

async function readScannedImages(tiff: TiffFile): Promise<readonly XmlElement[]> {
  const root = await readXmlTag(tiff.first, tag.ImageDescription);
  if (root?.name !== 'DataObject' || root.attributes.get('ObjectType') !== 'DPUfsImport') {
    throw corrupt('its root element is no DPUfsImport');
  }
  return objectsOf(root, 'PIM_DP_SCANNED_IMAGES');
}

function attributeOf(object: XmlElement, name: string): XmlElement | null {
  return (
    object.children.find((child) => child.name === 'Attribute' && child.attributes.get('Name') === name) ??
    null
  );
}

function textOf(object: XmlElement, name: string): string | null {
  return attributeOf(object, name)?.text ?? null;
}

/** The objects in a list that is an attribute of another one. */
function objectsOf(object: XmlElement, name: string): readonly XmlElement[] {
  const attribute = attributeOf(object, name);
  return attribute ? elementsAt(attribute, 'Array/DataObject') : [];
}

/** Millimetres from row to row, then from column to column, each in quotation marks: `"0.00025" "0.00025"`. */
function readSpacing(object: XmlElement): Spacing | null {
  const text = textOf(object, 'DICOM_PIXEL_SPACING');
  if (text === null) return null;
  const [down, across, more] = text.replaceAll('"', ' ').trim().split(/\s+/);
  const [x, y] = [(readDecimal(across) ?? 0) * 1000, (readDecimal(down) ?? 0) * 1000];
  const isSpacing = more === undefined && x > 0 && y > 0 && x < 1e6 && y < 1e6;
  if (!isSpacing) throw corrupt('a DICOM_PIXEL_SPACING is none');
  return { x, y };
}

/** No objective of a scanner magnifies more; greater numbers in its place mean something else. */
const MOST_POWER = 200;

/** The first of the levels that a slide was made from: `tiff-useBigTIFF=1-levels=40,20002,10000-…`. */
function readObjectivePower(derivation: string): number | null {
  // A file name stands at the end, and may hold anything.
  const [beforeName = ''] = derivation.split('sourceFilename');
  const [, levels] = /(?:^|-)levels=(\d+)/.exec(beforeName) ?? [];
  const power = readWhole(levels);
  return power !== null && power > 0 && power <= MOST_POWER ? power : null;
}

async function sortDirectories(tiff: TiffFile): Promise<{
  tiled: readonly TiffPicture[];
  beside: ReadonlyMap<AssociatedImageName, TiffPicture>;
}> {
  const tiled: TiffPicture[] = [];
  const beside = new Map<AssociatedImageName, TiffPicture>();
  for (const directory of await tiff.directories()) {
    const picture = await readPicture(directory);
    const description = (await directory.text(tag.ImageDescription, 64)) ?? '';
    const [, word] = /^(label|macro|thumbnail)/i.exec(description) ?? [];
    const name = word?.toLowerCase();
    if (name === 'label' || name === 'macro' || name === 'thumbnail') {
      if (!beside.has(name)) beside.set(name, picture);
    } else if (picture.tiles) tiled.push(picture);
  }
  return { tiled, beside };
}

/** How often a level is reduced is a whole number; the spacings say it nearly. */
function stateLevels(tiled: readonly TiffPicture[], spacings: readonly Spacing[]): readonly StatedLevel[] {
  const [full] = tiled;
  const [first] = spacings;
  if (!full || !first) throw corrupt('it has no level');
  if (tiled.length !== spacings.length) {
    throw corrupt(`${tiled.length} levels have ${spacings.length} pixel spacings`);
  }
  let last = 0;
  return tiled.map((picture, i) => {
    const { x, y } = spacings[i] ?? first;
    const downsample = Math.round((x / first.x + y / first.y) / 2);
    if (downsample <= last) throw corrupt('its pixel spacings do not grow from level to level');
    last = downsample;
    const [width, height] = [Math.ceil(full.width / downsample), Math.ceil(full.height / downsample)];
    return { picture, width, height, downsample };
  });
}

/** A JPEG, in Base64, among the metadata. */
async function readEmbedded(tiff: TiffFile, wanted: AssociatedImageName): Promise<EncodedImage> {
  const image = (await readScannedImages(tiff)).find((each) => associatedName(each) === wanted);
  const text = (image && textOf(image, 'PIM_DP_IMAGE_DATA')) ?? '';
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  const { width, height } = readJpegHeader(bytes);
  return { codec: 'jpeg', bytes, width, height };
}

function corrupt(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The Philips slide contradicts itself: ${what}`);
}
