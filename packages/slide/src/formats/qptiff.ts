/**
 * Reader of QPTIFF, which the Vectra and PhenoCycler scanners of Akoya (formerly PerkinElmer) write: TIFF in which short XML in
 * each directory states the type of its image. A fluorescence slide has one grey directory per channel and size.
 *
 * docs/formats/qptiff.md lists the features that are read, with the source of each fact.
 */
import type { Colour } from '../decode/raster.ts';
import { type AssociatedImageName, notSupportedError, SlideError } from '../model/slide.ts';
import { openChannelPyramid } from '../tiff/channel-pyramid.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readSampleLayout } from '../tiff/image-layout.ts';
import { openPyramid } from '../tiff/pyramid.ts';
import { readResolution } from '../tiff/resolution.ts';
import { tag } from '../tiff/tags.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readWholeImage } from '../tiff/whole-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWholeNumber } from '../xml/read-numbers.ts';
import { textAt, type XmlElement, xmlLimits } from '../xml/read-xml.ts';
import type { SlideFormat } from './slide-format.ts';

/** Name of the root element of the XML. */
const ROOT = 'PerkinElmer-QPI-ImageDescription';

export const qptiff: SlideFormat = {
  name: 'qptiff',

  mismatchReason({ tiff, description }) {
    if (!tiff) return 'the file is not TIFF';
    return description.includes(`<${ROOT}`) ? null : `its description has no ${ROOT}`;
  },

  async open(files, { tiff }) {
    const { main } = files;
    const pages = await readPages((await tiff?.directories()) ?? []);
    const fullPages = pages.filter(({ type }) => type === 'FullResolution');
    const [first] = fullPages;
    if (!first) throw corruptError('none of its directories is FullResolution');
    const associated = associatedPages(pages);
    const imagesByChannel = await groupByChannel(pages);
    const { samplesPerPixel } = await readSampleLayout(first.directory);
    const isRgb = samplesPerPixel > 1; // a slide in transmitted light has one image, not one per channel
    if (isRgb && fullPages.length > 1) throw notSupportedError(`${fullPages.length} colour images`);
    const channels = fullPages.map(({ xml }, i) => ({
      tiffImages: imagesByChannel[i] ?? [],
      colour: readColour(xml),
    }));
    const displayed = isRgb
      ? {
          ...(await openPyramid(main, imagesByChannel[0] ?? [])),
          background: { r: 255, g: 255, b: 255 },
        }
      : {
          // Stretches each channel's contrast to the range of its samples.
          ...(await openChannelPyramid(main, channels, 'stretched')),
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
        return readWholeImage(main, await readTiffImage(page.directory));
      },
      readIccProfile: displayed.readIccProfile,
      close: files.close,
    };
  },
};

/** A TIFF directory (outside SubIFDs) with the XML of its ImageDescription. */
interface Page {
  readonly directory: TiffDirectory;
  readonly xml: XmlElement;
  /** The ImageType that the XML states, e.g. `FullResolution` or `Label`; empty when it states none. */
  readonly type: string;
}

/** Paths of the XML elements that the reader needs. The others are long and contain dates and the names of slides and computers. */
const NEEDED_ELEMENTS = new Set([
  `${ROOT}/ImageType`,
  `${ROOT}/Name`,
  `${ROOT}/Color`,
  `${ROOT}/Objective`,
  `${ROOT}/ScanProfile`,
  `${ROOT}/ScanProfile/root`,
  `${ROOT}/ScanProfile/root/ScanResolution`,
  `${ROOT}/ScanProfile/root/ScanResolution/PixelSizeMicrons`,
]);

/** Reads the pages; skips directories without XML of this format. @throws SlideError LIMIT_EXCEEDED for too much XML */
async function readPages(directories: readonly TiffDirectory[]): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let xmlBytes = 0;
  for (const directory of directories) {
    xmlBytes += directory.count(tag.ImageDescription);
    if (xmlBytes > xmlLimits.characters) {
      throw new SlideError(
        'LIMIT_EXCEEDED',
        `The directories have more than ${xmlLimits.characters} bytes of XML`,
      );
    }
    const xml = await readXmlTag(directory, tag.ImageDescription, (path) =>
      NEEDED_ELEMENTS.has(path.join('/')),
    );
    if (xml?.name === ROOT) pages.push({ directory, xml, type: textAt(xml, 'ImageType') ?? '' });
  }
  return pages;
}

/** Associated images by their ImageType. */
const associatedTypes: ReadonlyMap<string, AssociatedImageName> = new Map([
  ['Thumbnail', 'thumbnail'],
  ['Overview', 'macro'],
  ['Macro', 'macro'],
  ['Label', 'label'],
]);

/** Returns the first page of each type of associated image. */
function associatedPages(pages: readonly Page[]): ReadonlyMap<AssociatedImageName, Page> {
  const associated = new Map<AssociatedImageName, Page>();
  for (const page of pages) {
    const name = associatedTypes.get(page.type);
    if (name && !associated.has(name)) associated.set(name, page);
  }
  return associated;
}

/**
 * Groups the images by channel, the image of full resolution first. Each image size must have one image per channel, in the
 * same order of channels as full resolution.
 *
 * @throws SlideError FILE_CORRUPT when a size has more or fewer images than channels, or names its channels differently
 */
async function groupByChannel(pages: readonly Page[]): Promise<readonly (readonly TiffImage[])[]> {
  const full: { tiffImage: TiffImage; name: string | null }[] = [];
  const reducedBySize = new Map<string, typeof full>();
  for (const { type, directory, xml } of pages) {
    if (type !== 'FullResolution' && type !== 'ReducedResolution') continue;
    const tiffImage = await readTiffImage(directory);
    const channelImage = { tiffImage, name: textAt(xml, 'Name') };
    const size = `${tiffImage.width} × ${tiffImage.height}`;
    if (type === 'FullResolution') full.push(channelImage);
    else reducedBySize.set(size, [...(reducedBySize.get(size) ?? []), channelImage]);
  }
  const imagesOfChannels = full.map(({ tiffImage }) => [tiffImage]);
  for (const [size, channelImages] of reducedBySize) {
    if (channelImages.length !== full.length) {
      throw corruptError(`${full.length} channels have ${channelImages.length} images of ${size} pixels`);
    }
    for (const [i, { tiffImage, name }] of channelImages.entries()) {
      const fullName = full[i]?.name ?? null;
      if (name && fullName && name !== fullName)
        throw corruptError(`the channels of ${size} pixels are in a different order`);
      imagesOfChannels[i]?.push(tiffImage);
    }
  }
  return imagesOfChannels;
}

/** Reads the colour of a channel from text such as `255,128,0`; returns null for anything else. */
function readColour(xml: XmlElement): Colour | null {
  const parts = (textAt(xml, 'Color') ?? '').split(',').map((part) => readWholeNumber(part));
  const [r, g, b] = parts;
  const isColour = parts.length === 3 && parts.every((part) => part !== null && part <= 255);
  return isColour ? { r: r ?? 0, g: g ?? 0, b: b ?? 0 } : null;
}

/** Reads the magnification from text such as `20x`; returns null for anything else and for 1000 or more. */
function readObjective(xml: XmlElement): number | null {
  const [, number] = /^\s*([\d.]+)\s*x/i.exec(textAt(xml, 'Objective') ?? '') ?? [];
  const power = readDecimal(number);
  return power !== null && power > 0 && power < 1000 ? power : null;
}

/** Reads micrometres per pixel from the settings of the scan; returns null when they are missing or implausible. */
function readPixelSize(xml: XmlElement): { x: number; y: number } | null {
  const size = readDecimal(textAt(xml, 'ScanProfile/root/ScanResolution/PixelSizeMicrons'));
  return size !== null && size > 0 && size < 1000 ? { x: size, y: size } : null;
}

function corruptError(what: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The QPTIFF contradicts itself: ${what}`);
}
