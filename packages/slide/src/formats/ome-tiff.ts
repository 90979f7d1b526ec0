/**
 * Reader of OME-TIFF, which Bio-Formats, QuPath and many microscopes write: TIFF whose first ImageDescription is OME-XML.
 * The XML assigns directories to the channels of its images. Reduced resolutions are SubIFDs of these directories, or
 * directories of the main chain that the XML does not mention.
 *
 * docs/formats/ome-tiff.md lists the features that are read, with the source of each fact.
 */
import type { Colour } from '../decode/raster.ts';
import { shownPlaneOf } from '../model/shown-plane.ts';
import { type AssociatedImageName, notSupportedError, type Slide, SlideError } from '../model/slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { type ChannelImages, MAX_CHANNELS, openChannelPyramid } from '../tiff/channel-pyramid.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readSampleLayout } from '../tiff/image-layout.ts';
import { openPyramid } from '../tiff/pyramid.ts';
import { readResolution, uprightMpp } from '../tiff/resolution.ts';
import { isMask, isReduced } from '../tiff/subfile-type.ts';
import { tag } from '../tiff/tags.ts';
import type { TiffFile } from '../tiff/tiff-file.ts';
import { readTiffImage, type TiffImage } from '../tiff/tiff-image.ts';
import { readWholeImage } from '../tiff/whole-image.ts';
import { readXmlTag } from '../tiff/xml-tag.ts';
import { readDecimal, readWholeNumber } from '../xml/read-numbers.ts';
import { elementsAt, type XmlElement } from '../xml/read-xml.ts';
import { corruptError, type OmeImage, type PlaneRange, readOmeImages } from './ome-tiff-planes.ts';
import type { SlideFormat } from './slide-format.ts';

export const omeTiff: SlideFormat = {
  name: 'ome-tiff',

  mismatchReason({ tiff, description }) {
    if (!tiff) return 'the file is not TIFF';
    const isOme = /<(\w+:)?OME\s/.test(description) && /openmicroscopy/i.test(description);
    return isOme ? null : 'its description is not OME-XML';
  },

  async open(files, { tiff }) {
    if (!tiff) throw corruptError('the file is not TIFF');
    const ome = await readOme(tiff);
    const directories = await tiff.directories();
    const { images, ranges } = await readOmeImages(ome, directories, files.name);
    const { main: mainImage, associated } = chooseImages(images);
    const reduced = await readReducedOutsideXml(directories, ranges);
    const channels = await readChannels(mainImage, { tiff, directories, reduced });
    const displayed = await openDisplayedChannels(files, channels);
    const { directory, orientation } = displayed.full;
    return {
      format: 'ome-tiff',
      fingerprint: files.fingerprint,
      // The manufacturer of the microscope is free text and might contain the name of a person.
      vendor: null,
      levels: displayed.levels,
      // Micrometres per pixel. The TIFF tags state them for the stored image; `uprightMpp` exchanges x and y if it lies on its side.
      mpp: readPhysicalSize(mainImage.pixels) ?? uprightMpp(await readResolution(directory), orientation),
      objectivePower: readMagnification(ome, mainImage.image),
      // The displayed focal plane is always the first, counted from 1.
      ...shownPlaneOf({ plane: 1, planes: mainImage.focalPlanes, times: mainImage.times }),
      background: displayed.background,
      associatedImages: new Set(associated.keys()),
      readTile: displayed.readTile,
      async readAssociatedImage(name) {
        const image = associated.get(name);
        const directory = image && directories[image.directoryIndexOf(0) ?? -1]; // there is no directory −1
        if (!directory) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        return readWholeImage(files.main, await readTiffImage(directory));
      },
      readIccProfile: displayed.readIccProfile,
      close: files.close,
    };
  },
};

/** Paths of the XML elements that the reader needs. The others may be long and contain names of people. */
const NEEDED_ELEMENTS = new Set([
  'OME/BinaryOnly',
  'OME/Image',
  'OME/Image/ObjectiveSettings',
  'OME/Image/ObjectiveRef',
  'OME/Image/Pixels',
  'OME/Image/Pixels/Channel',
  'OME/Image/Pixels/TiffData',
  'OME/Image/Pixels/TiffData/UUID',
  'OME/Instrument',
  'OME/Instrument/Objective',
]);

/** Reads the OME-XML. @throws SlideError FILE_CORRUPT, FORMAT_NOT_SUPPORTED when the metadata is in another file */
async function readOme(tiff: TiffFile): Promise<XmlElement> {
  const root = await readXmlTag(tiff.first, tag.ImageDescription, (path) =>
    NEEDED_ELEMENTS.has(path.join('/')),
  );
  if (root?.name !== 'OME') throw corruptError('its root element is not OME');
  if (elementsAt(root, 'BinaryOnly').length > 0)
    throw notSupportedError('OME-TIFF whose metadata is in a separate file');
  return root;
}

/** Matches the names that Bio-Formats gives to associated images, e.g. `label image` or `Macro`. */
const ASSOCIATED_NAME = /^(label|macro|overview|thumbnail)( mask)?( image)?$/i;

interface ChosenImages {
  /** The displayed image. */
  readonly main: OmeImage;
  readonly associated: ReadonlyMap<AssociatedImageName, OmeImage>;
}

/** Chooses the largest image for display, and associated images by name. Other images are ignored. */
function chooseImages(images: readonly OmeImage[]): ChosenImages {
  const associated = new Map<AssociatedImageName, OmeImage>();
  let main: OmeImage | null = null;
  for (const omeImage of images) {
    const imageName = omeImage.image.attributes.get('Name')?.trim() ?? '';
    const kind = ASSOCIATED_NAME.exec(imageName)?.[1]?.toLowerCase();
    if (kind) {
      const name = kind === 'label' || kind === 'thumbnail' ? kind : 'macro';
      if (!associated.has(name)) associated.set(name, omeImage);
    } else if (!main || omeImage.width * omeImage.height > main.width * main.height) main = omeImage;
  }
  if (images.length === 0) throw corruptError('it has no Image');
  if (!main) throw new SlideError('NOT_A_SLIDE', 'The file has only associated images');
  return { main, associated };
}

/** The directories of the file that may hold pixels of the displayed image. */
interface Pages {
  readonly tiff: TiffFile;
  /** Directories of the main chain (outside SubIFDs). The XML refers to them by index. */
  readonly directories: readonly TiffDirectory[];
  /** Directories marked as reduced images that the XML does not mention, grouped by size. */
  readonly reduced: readonly (readonly TiffImage[])[];
}

/**
 * Reads the reduced images that the XML does not mention, grouped by size.
 *
 * Source: OME-TIFF specification: TiffData elements do not mention sub-resolutions.
 *
 * @param ranges ranges of directories that the XML mentions; they may overlap
 */
async function readReducedOutsideXml(
  directories: readonly TiffDirectory[],
  ranges: readonly PlaneRange[],
): Promise<readonly (readonly TiffImage[])[]> {
  /** For each directory: the number of ranges that begin with it minus the number that end with the directory before it. */
  const rangeChanges = new Int32Array(directories.length + 1);
  for (const { first, count } of ranges) {
    if (first >= directories.length) continue;
    const end = Math.min(first + count, directories.length);
    rangeChanges[first] = (rangeChanges[first] ?? 0) + 1;
    rangeChanges[end] = (rangeChanges[end] ?? 0) - 1;
  }
  const imagesBySize = new Map<string, TiffImage[]>();
  let coveringRanges = 0; // number of ranges that contain the current directory
  for (const [i, directory] of directories.entries()) {
    coveringRanges += rangeChanges[i] ?? 0;
    if (coveringRanges > 0 || !(await isReduced(directory))) continue;
    const tiffImage = await readTiffImage(directory);
    const size = `${tiffImage.width} × ${tiffImage.height}`;
    const sameSize = imagesBySize.get(size);
    if (sameSize) sameSize.push(tiffImage);
    else imagesBySize.set(size, [tiffImage]);
  }
  return [...imagesBySize.values()];
}

/** A channel of the displayed image. */
interface OmeChannel extends ChannelImages {
  /** Samples per pixel, and bits per sample, of the channel's first plane. */
  readonly samplesPerPixel: number;
  readonly bits: number;
}

/** Reads each channel of the displayed image with its smaller levels. */
async function readChannels(
  main: OmeImage,
  { tiff, directories, reduced }: Pages,
): Promise<readonly OmeChannel[]> {
  if (main.channels > MAX_CHANNELS) throw notSupportedError(`${main.channels} channels`);
  const channelElements = elementsAt(main.pixels, 'Channel');
  const channels: OmeChannel[] = [];
  for (let i = 0; i < main.channels; i++) {
    const directoryIndex = main.directoryIndexOf(i);
    if (directoryIndex === null) throw notSupportedError('OME-TIFF with planes in other files');
    const directory = directories[directoryIndex];
    if (!directory) throw corruptError('it refers to a directory that does not exist');
    const full = await readTiffImage(directory);
    if (full.width !== main.width || full.height !== main.height) {
      throw corruptError(
        `it states ${main.width} × ${main.height} pixels, the directory ${full.width} × ${full.height}`,
      );
    }
    const subImages: TiffImage[] = [];
    for (const subDirectory of await tiff.subDirectories(directory)) {
      if (!(await isMask(subDirectory))) subImages.push(await readTiffImage(subDirectory));
    }
    // A size with one directory per channel is a level; its directories are assumed to be in channel order.
    const sizesWithAllChannels = reduced.filter(({ length }) => length === main.channels);
    const mainChainImages = sizesWithAllChannels.flatMap((sameSize) => sameSize[i] ?? []);
    const { samplesPerPixel, bitsPerSample } = await readSampleLayout(directory);
    channels.push({
      tiffImages: [full, ...subImages, ...mainChainImages],
      colour: readColour(channelElements[i] ?? null),
      significantBits: readWholeNumber(main.pixels.attributes.get('SignificantBits')),
      samplesPerPixel,
      bits: bitsPerSample[0] ?? 1, // 1 is the default of TIFF
    });
  }
  return channels;
}

/**
 * Reads the colour of a channel; returns null when it is missing. The XML states one signed 32-bit number, whose bytes are red
 * (the most significant), green, blue and alpha. Source: OME data model, Channel.
 */
function readColour(channel: XmlElement | null): Colour | null {
  const colour = readDecimal(channel?.attributes.get('Color'));
  if (colour === null || !Number.isInteger(colour)) return null;
  const bits = colour | 0;
  return { r: (bits >>> 24) & 255, g: (bits >>> 16) & 255, b: (bits >>> 8) & 255 };
}

/**
 * Removes the colours if several channels all have the same grey, so that each channel gets its own default colour. Some
 * writers store white, the default of the data model, for channels without a colour.
 */
function withoutDefaultColours(channels: readonly OmeChannel[]): readonly OmeChannel[] {
  const [first] = channels;
  const haveSameGrey = channels.every(({ colour }) => colour?.r === first?.colour?.r && isGrey(colour));
  if (channels.length === 1 || !haveSameGrey) return channels;
  return channels.map((channel) => ({ ...channel, colour: null }));
}

/** The properties of `Slide` that depend on the displayed channels, and the first channel's image of full resolution. */
type DisplayedChannels = Pick<Slide, 'levels' | 'readTile' | 'background' | 'readIccProfile'> & {
  readonly full: TiffImage;
};

/** Opens RGB, or a single grey channel of at most 8 bits, as stored; composes all other channels in their colours. */
async function openDisplayedChannels(
  { main }: SlideFiles,
  channels: readonly OmeChannel[],
): Promise<DisplayedChannels> {
  const [first] = channels;
  if (!first) throw corruptError('it has no channel');
  const isRgb = first.samplesPerPixel > 1;
  const isSingleGrey8Bit = channels.length === 1 && first.bits <= 8 && isGrey(first.colour);
  if (isRgb && channels.length > 1) throw notSupportedError(`${channels.length} colour channels`);
  if (isRgb || isSingleGrey8Bit) {
    const pyramid = await openPyramid(main, first.tiffImages);
    return { ...pyramid, background: { r: 255, g: 255, b: 255 } };
  }
  // With `as-stored`, 8-bit samples keep their contrast; 16-bit samples are still stretched to the range in use.
  const pyramid = await openChannelPyramid(main, withoutDefaultColours(channels), 'as-stored');
  return { ...pyramid, background: { r: 0, g: 0, b: 0 }, readIccProfile: async () => null };
}

/** Returns whether a channel of this colour is displayed in grey; null (no colour stated) counts as grey. */
function isGrey(colour: Colour | null): boolean {
  return colour === null || (colour.r === colour.g && colour.g === colour.b);
}

/** Micrometres per unit of length. Unicode has two characters for µ and two for Å. Source: OME data model, UnitsLength. */
const MICROMETRES: ReadonlyMap<string, number> = new Map([
  ['m', 1e6],
  ['dm', 1e5],
  ['cm', 1e4],
  ['mm', 1e3],
  ['\u00b5m', 1],
  ['\u03bcm', 1],
  ['um', 1],
  ['nm', 1e-3],
  ['\u00c5', 1e-4],
  ['\u212b', 1e-4],
  ['pm', 1e-6],
  ['in', 25_400],
  ['mil', 25.4],
]);

/** Returns micrometres per pixel; null when a size is missing, implausible or in an unknown unit. */
function readPhysicalSize({ attributes }: XmlElement): { x: number; y: number } | null {
  const micrometresOf = (name: string) => {
    const size = readDecimal(attributes.get(name));
    const unitMicrometres = MICROMETRES.get(attributes.get(`${name}Unit`)?.trim() ?? 'um');
    return size === null || unitMicrometres === undefined ? 0 : size * unitMicrometres;
  };
  const x = micrometresOf('PhysicalSizeX');
  const y = micrometresOf('PhysicalSizeY');
  const isPlausible = (micrometres: number) => micrometres > 0 && micrometres < 1000;
  return isPlausible(x) && isPlausible(y) ? { x, y } : null;
}

/** Returns the magnification of the objective that the image refers to, or of the file's only objective; null for neither. */
function readMagnification(ome: XmlElement, image: XmlElement): number | null {
  const objectives = elementsAt(ome, 'Instrument/Objective');
  const [reference] = [...elementsAt(image, 'ObjectiveSettings'), ...elementsAt(image, 'ObjectiveRef')];
  const id = reference?.attributes.get('ID');
  const referenced = objectives.find(({ attributes }) => id !== undefined && attributes.get('ID') === id);
  const onlyObjective = objectives.length === 1 ? objectives[0] : undefined;
  const objective = referenced ?? onlyObjective;
  const power = readDecimal(objective?.attributes.get('NominalMagnification'));
  return power !== null && power > 0 && power < 1000 ? power : null; // 1000 and more are implausible
}
