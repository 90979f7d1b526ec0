/**
 * QPTIFF of Akoya's (earlier PerkinElmer's) Vectra and PhenoCycler: TIFF whose directories each have a small XML that
 * says what they are. Fluorescence has one grey directory a channel, and again for every smaller size.
 *
 * docs/formats/qptiff.md says what is read, and where each fact is from.
 */
import type { Colour } from '../decode/raster.ts';
import { type AssociatedImageName, SlideError } from '../slide.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import { openChannelPyramid } from '../tiff/channel-pyramid.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readSampleLayout } from '../tiff/image-layout.ts';
import { readPicture, type TiffPicture } from '../tiff/picture.ts';
import { openPyramid } from '../tiff/pyramid.ts';
import { readResolution } from '../tiff/resolution.ts';
import { tag } from '../tiff/tags.ts';
import { readWholePicture } from '../tiff/whole-picture.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWhole } from '../xml/read-numbers.ts';
import { textAt, type XmlElement, xmlLimits } from '../xml/read-xml.ts';

const ROOT = 'PerkinElmer-QPI-ImageDescription';

export const qptiff: SlideFormat = {
  name: 'qptiff',

  mismatch({ tiff, description }) {
    if (!tiff) return 'the file is no TIFF';
    return description.includes(`<${ROOT}`) ? null : `its description is no ${ROOT}`;
  },

  async open(files, { tiff }) {
    const { leading } = files;
    const pages = await readPages((await tiff?.directories()) ?? []);
    const full = pages.filter(({ type }) => type === 'FullResolution');
    const [first] = full;
    if (!first) throw corrupt('none of its directories is FullResolution');
    const associated = associatedPages(pages);
    const pictures = await groupBySize(pages);
    const { samplesPerPixel } = await readSampleLayout(first.directory);
    const isInColour = samplesPerPixel > 1;
    if (isInColour && full.length > 1) throw notRead(`${full.length} pictures in colours`);
    const shown = isInColour
      ? { ...(await openPyramid(leading, pictures[0] ?? [])), background: { r: 255, g: 255, b: 255 } }
      : {
          ...(await openChannelPyramid(
            leading,
            full.map(({ xml }, i) => ({ pictures: pictures[i] ?? [], colour: readColour(xml) })),
            'stretched',
          )),
          background: { r: 0, g: 0, b: 0 },
          readIccProfile: async () => null,
        };
    return {
      format: 'qptiff',
      fingerprint: files.fingerprint,
      vendor: 'PerkinElmer',
      levels: shown.levels,
      mpp: (await readResolution(first.directory)) ?? readPixelSize(first.xml),
      objectivePower: readObjective(first.xml),
      background: shown.background,
      associatedImages: new Set(associated.keys()),
      readTile: shown.readTile,
      async readAssociatedImage(name) {
        const page = associated.get(name);
        if (!page) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholePicture(leading, await readPicture(page.directory));
      },
      readIccProfile: shown.readIccProfile,
      close: files.close,
    };
  },
};

/** A directory of the main chain. */
interface Page {
  readonly directory: TiffDirectory;
  readonly xml: XmlElement;
  /** ImageType; empty when the page does not say. */
  readonly type: string;
}

/** What of the XML is read; the rest is long, and names slides, computers and dates. */
const KEPT = new Set([
  `${ROOT}/ImageType`,
  `${ROOT}/Name`,
  `${ROOT}/Color`,
  `${ROOT}/Objective`,
  `${ROOT}/ScanProfile`,
  `${ROOT}/ScanProfile/root`,
  `${ROOT}/ScanProfile/root/ScanResolution`,
  `${ROOT}/ScanProfile/root/ScanResolution/PixelSizeMicrons`,
]);

/** Pages that have no XML, or another one, are nobody's. */
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
    const xml = await readXmlTag(directory, tag.ImageDescription, (path) => KEPT.has(path.join('/')));
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
 * The pictures of every channel: those of full resolution, and of each smaller size as many, in the same order.
 *
 * @throws SlideError FILE_CORRUPT when a size has more or fewer, or names them otherwise
 */
async function groupBySize(pages: readonly Page[]): Promise<readonly (readonly TiffPicture[])[]> {
  const full: { picture: TiffPicture; name: string | null }[] = [];
  const reduced = new Map<string, typeof full>();
  for (const { type, directory, xml } of pages) {
    if (type !== 'FullResolution' && type !== 'ReducedResolution') continue;
    const picture = await readPicture(directory);
    const member = { picture, name: textAt(xml, 'Name') };
    const size = `${picture.width} × ${picture.height}`;
    if (type === 'FullResolution') full.push(member);
    else reduced.set(size, [...(reduced.get(size) ?? []), member]);
  }
  const channels = full.map(({ picture }) => [picture]);
  for (const [size, members] of reduced) {
    if (members.length !== full.length) {
      throw corrupt(`${full.length} channels have ${members.length} pictures of ${size} pixels`);
    }
    for (const [i, { picture, name }] of members.entries()) {
      const fullName = full[i]?.name ?? null;
      if (name && fullName && name !== fullName)
        throw corrupt(`the channels of ${size} pixels are in another order`);
      channels[i]?.push(picture);
    }
  }
  return channels;
}

/** Red, green and blue, as `255,128,0`. */
function readColour(xml: XmlElement): Colour | null {
  const parts = (textAt(xml, 'Color') ?? '').split(',').map((part) => readWhole(part));
  const [r, g, b] = parts;
  const isColour = parts.length === 3 && parts.every((part) => part !== null && part <= 255);
  return isColour ? { r: r ?? 0, g: g ?? 0, b: b ?? 0 } : null;
}

/** As `20x`. */
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

function notRead(what: string): SlideError {
  return new SlideError('FORMAT_NOT_SUPPORTED', `Not read: ${what}`);
}
