/**
 * Reads QPTIFF of Akoya's (formerly PerkinElmer's) Vectra and PhenoCycler: TIFF whose directories each contain a small
 * XML with their type. Fluorescence has one grey directory per channel and size.
 *
 * docs/formats/qptiff.md lists the features that are read, with the source of each fact.
 */
import type { Colour } from '../decode/raster.ts';
import { type AssociatedImageName, SlideError } from '../model/slide.ts';
import { openChannelPyramid } from '../tiff/channel-pyramid.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readSampleLayout } from '../tiff/image-layout.ts';
import { openPyramid } from '../tiff/pyramid.ts';
import { readResolution } from '../tiff/resolution.ts';
import { tag } from '../tiff/tags.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readWholeImage } from '../tiff/whole-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWhole } from '../xml/read-numbers.ts';
import { textAt, type XmlElement, xmlLimits } from '../xml/read-xml.ts';
import type { SlideFormat } from './slide-format.ts';

const ROOT = 'PerkinElmer-QPI-ImageDescription';

export const qptiff: SlideFormat = {
  name: 'qptiff',

  mismatch({ tiff, description }) {
    if (!tiff) return 'the file is not TIFF';
    return description.includes(`<${ROOT}`) ? null : `its description has no ${ROOT}`;
  },

  async open(files, { tiff }) {
    const { leading } = files;
    const pages = await readPages((await tiff?.directories()) ?? []);
    const full = pages.filter(({ type }) => type === 'FullResolution');
    const [first] = full;
    if (!first) throw corrupt('none of its directories is FullResolution');
    const associated = associatedPages(pages);
    const tiffImages = await groupBySize(pages);
    const { samplesPerPixel } = await readSampleLayout(first.directory);
    const isInColour = samplesPerPixel > 1;
    if (isInColour && full.length > 1) throw notSupported(`${full.length} colour images`);
    const displayed = isInColour
      ? { ...(await openPyramid(leading, tiffImages[0] ?? [])), background: { r: 255, g: 255, b: 255 } }
      : {
          ...(await openChannelPyramid(
            leading,
            full.map(({ xml }, i) => ({ tiffImages: tiffImages[i] ?? [], colour: readColour(xml) })),
            'stretched',
          )),
          background: { r: 0, g: 0, b: 0 },
          readIccProfile: async () => null,
        };
    return {
      format: 'qptiff',
      fingerprint: files.fingerprint,
      vendor: 'PerkinElmer',
      levels: displayed.levels,
      mpp: (await readResolution(first.directory)) ?? readPixelSize(first.xml),
      objectivePower: readObjective(first.xml),
      background: displayed.background,
      associatedImages: new Set(associated.keys()),
      readTile: displayed.readTile,
      async readAssociatedImage(name) {
        const page = associated.get(name);
        if (!page) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholeImage(leading, await readTiffImage(page.directory));
      },
      readIccProfile: displayed.readIccProfile,
      close: files.close,
    };
  },
};

/** A directory of the main chain. */
interface Page {
  readonly directory: TiffDirectory;
  readonly xml: XmlElement;
  /** The ImageType of the page; empty when it does not state one. */
  readonly type: string;
}

/** XML elements that are read; the others are long and contain names of slides and computers, and dates. */
const READ_ELEMENTS = new Set([
  `${ROOT}/ImageType`,
  `${ROOT}/Name`,
  `${ROOT}/Color`,
  `${ROOT}/Objective`,
  `${ROOT}/ScanProfile`,
  `${ROOT}/ScanProfile/root`,
  `${ROOT}/ScanProfile/root/ScanResolution`,
  `${ROOT}/ScanProfile/root/ScanResolution/PixelSizeMicrons`,
]);

/** Reads the pages; directories without XML of this format are skipped. */
async function readPages(directories: readonly TiffDirectory[]): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let bytes = 0;
  for (const directory of directories) {
    bytes += directory.count(tag.ImageDescription);
    if (bytes > xmlLimits.characters) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `The directories have more than ${xmlLimits.characters} bytes of XML`,
      );
    }
    const xml = await readXmlTag(directory, tag.ImageDescription, (path) =>
      READ_ELEMENTS.has(path.join('/')),
    );
    if (xml?.name === ROOT) pages.push({ directory, xml, type: textAt(xml, 'ImageType') ?? '' });
  }
  return pages;
}

const associatedTypes: ReadonlyMap<string, AssociatedImageName> = new Map([
  ['Thumbnail', 'thumbnail'],
  ['Overview', 'macro'],
  ['Macro', 'macro'],
  ['Label', 'label'],
]);

function associatedPages(pages: readonly Page[]): ReadonlyMap<AssociatedImageName, Page> {
  const associated = new Map<AssociatedImageName, Page>();
  for (const page of pages) {
    const name = associatedTypes.get(page.type);
    if (name && !associated.has(name)) associated.set(name, page);
  }
  return associated;
}

/**
 * Groups the images by channel: those of full resolution, and as many of each smaller size, in the same order.
 *
 * @throws SlideError FILE_CORRUPT when a size has more or fewer images, or names them differently
 */
async function groupBySize(pages: readonly Page[]): Promise<readonly (readonly TiffImage[])[]> {
  const full: { tiffImage: TiffImage; name: string | null }[] = [];
  const reduced = new Map<string, typeof full>();
  for (const { type, directory, xml } of pages) {
    if (type !== 'FullResolution' && type !== 'ReducedResolution') continue;
    const tiffImage = await readTiffImage(directory);
    const member = { tiffImage, name: textAt(xml, 'Name') };
    const size = `${tiffImage.width} × ${tiffImage.height}`;
    if (type === 'FullResolution') full.push(member);
    else reduced.set(size, [...(reduced.get(size) ?? []), member]);
  }
  const channels = full.map(({ tiffImage }) => [tiffImage]);
  for (const [size, members] of reduced) {
    if (members.length !== full.length) {
      throw corrupt(`${full.length} channels have ${members.length} images of ${size} pixels`);
    }
    for (const [i, { tiffImage, name }] of members.entries()) {
      const fullName = full[i]?.name ?? null;
      if (name && fullName && name !== fullName)
        throw corrupt(`the channels of ${size} pixels are in a different order`);
      channels[i]?.push(tiffImage);
    }
  }
  return channels;
}

/** Reads red, green and blue, as `255,128,0`. */
function readColour(xml: XmlElement): Colour | null {
  const parts = (textAt(xml, 'Color') ?? '').split(',').map((part) => readWhole(part));
  const [r, g, b] = parts;
  const isColour = parts.length === 3 && parts.every((part) => part !== null && part <= 255);
  return isColour ? { r: r ?? 0, g: g ?? 0, b: b ?? 0 } : null;
}

/** Reads the magnification, as `20x`. */
function readObjective(xml: XmlElement): number | null {
  const [, number] = /^\s*([\d.]+)\s*x/i.exec(textAt(xml, 'Objective') ?? '') ?? [];
  const power = readDecimal(number);
  return power !== null && power > 0 && power < 1000 ? power : null;
}

function readPixelSize(xml: XmlElement): { x: number; y: number } | null {
  const size = readDecimal(textAt(xml, 'ScanProfile/root/ScanResolution/PixelSizeMicrons'));
  return size !== null && size > 0 && size < 1000 ? { x: size, y: size } : null;
}

function corrupt(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The QPTIFF contradicts itself: ${what}`);
}

function notSupported(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: ${what}`);
}
