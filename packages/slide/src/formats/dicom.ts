/**
 * DICOM whole slide images: each resolution a file, or several, of one series.
 *
 * docs/formats/dicom.md says what is read, and where each fact is from.
 */
import { withGreyRange } from '../decode/contrast.ts';
import { rgbOfCieLab } from '../dicom/cie-lab.ts';
import { isDicom } from '../dicom/file-meta.ts';
import { isJpeg, openPictures, type ReadPicture } from '../dicom/frame-pictures.ts';
import type { Identity, ImageKind } from '../dicom/identity.ts';
import { type Instance, readInstance } from '../dicom/instance.ts';
import { limits } from '../dicom/limits.ts';
import { indexTiles } from '../dicom/tile-index.ts';
import { type AssociatedImageName, type Level, type Slide, SlideError } from '../slide.ts';
import { readOnce } from '../source/read-once.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import type { SlideFormat } from '../source/slide-format.ts';
import {
  bySlide,
  checkFileCount,
  checkVolumeCount,
  groupDicomFiles,
  readIdentities,
} from './dicom-series.ts';

export const dicom: SlideFormat = {
  name: 'dicom',

  mismatch({ start }) {
    return isDicom(start) ? null : 'the file does not say DICM at byte 128';
  },

  async open(files) {
    const leading = await readInstance(files.leading);
    if (leading.kind !== 'volume') {
      throw new SlideError(
        'NOT_A_SLIDE',
        `This DICOM file is ${kindNames[leading.kind]}, not the slide itself`,
      );
    }
    const others = await findOthers(files, leading);
    const volumes = others.filter(({ identity }) => identity.kind === 'volume');
    checkVolumeCount(volumes.length);
    const pyramid = openPyramid([leading, ...(await Promise.all(volumes.map(({ read }) => read())))]);
    const { full } = pyramid;
    for (const { source } of pyramid.unused) if (source !== files.leading) await source.close();
    const associated = new Map<AssociatedImageName, OtherFile>();
    for (const other of others) {
      const name = associatedNames[other.identity.kind];
      if (name && !associated.has(name)) associated.set(name, other);
    }

    return {
      format: 'dicom',
      fingerprint: files.fingerprint,
      vendor: vendorOf(full.manufacturer),
      levels: pyramid.levels,
      mpp: mppOf(full),
      objectivePower: plausible(full.objectivePower, 1000),
      background: full.absentPixel ? rgbOfCieLab(full.absentPixel) : { r: 255, g: 255, b: 255 },
      associatedImages: new Set(associated.keys()),
      readTile: pyramid.readTile,
      async readAssociatedImage(name) {
        const file = associated.get(name);
        if (!file) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        const instance = await file.read();
        if (instance.frames > 1) throw new SlideError('FORMAT_NOT_SUPPORTED', `Not read: a ${name} in tiles`);
        return openPictures(instance)(0);
      },
      async readIccProfile() {
        const length = full.iccProfile?.length ?? 0;
        if (!full.iccProfile || length === 0) return null;
        if (length > limits.iccProfileBytes) {
          throw new SlideError('LIMIT_EXCEEDED', `The colour profile has ${length} bytes`);
        }
        return full.source.read(full.iccProfile.at, length);
      },
      close: files.close,
    };
  },

  group: groupDicomFiles,
};

const kindNames: Readonly<Record<ImageKind, string>> = {
  volume: 'a slide',
  thumbnail: 'the thumbnail of a slide',
  label: 'the label of a slide',
  overview: 'the overview of a slide',
};
const associatedNames: Readonly<Record<ImageKind, AssociatedImageName | null>> = {
  volume: null,
  thumbnail: 'thumbnail',
  label: 'label',
  overview: 'macro',
};

/** Another file of the slide: what it is, and its whole header once somebody asks for it. */
interface OtherFile {
  readonly identity: Identity;
  readonly read: () => Promise<Instance>;
}

/** @returns sorted by name */
async function findOthers(files: SlideFiles, leading: Instance): Promise<OtherFile[]> {
  const names = (await files.list()).filter((name) => name !== files.name && !name.endsWith('/'));
  checkFileCount(names.length);
  const self = { name: files.name, identity: leading };
  const identities = await readIdentities(names, files.open);
  const slide = bySlide([self, ...identities]).find((group) => group.includes(self)) ?? [];
  // A copy of a file has its UID, and shows nothing new.
  const known = new Set([leading.sopInstance]);
  const isNew = ({ sopInstance }: Identity) => !known.has(sopInstance) && known.add(sopInstance);
  return slide
    .filter(({ identity }) => isNew(identity))
    .map(({ name, identity }) => ({
      identity,
      read: readOnce(async () => readInstance(await files.open(name))),
    }));
}

/** A picture of the slide at one resolution: one file, or the parts it is cut into. */
interface Picture {
  readonly first: Instance;
  /** In the order of their frames. */
  readonly parts: readonly Instance[];
}

interface Pyramid {
  readonly full: Instance;
  /** Files of other focal planes, other optical paths, other places of the glass. */
  readonly unused: readonly Instance[];
  readonly levels: readonly [Level, ...Level[]];
  readonly readTile: Slide['readTile'];
}

function openPyramid(volumes: readonly Instance[]): Pyramid {
  const pictures = choosePictures(volumes);
  const [largest, ...smaller] = pictures;
  const used = new Set(pictures.flatMap(({ parts }) => parts));
  const full = largest.first;
  const fullLevel = openLevel(largest, full);
  const smallerLevels = smaller.map((picture) => openLevel(picture, full));
  const readers = [fullLevel, ...smallerLevels];
  const levels: Pyramid['levels'] = [fullLevel.level, ...smallerLevels.map(({ level }) => level)];
  const readTile: Pyramid['readTile'] = async ({ level, column, row }, signal) => {
    const reader = readers[level];
    if (!reader) throw new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`);
    return reader.readTile(column, row, signal);
  };
  const { samplesPerPixel, bitsStored, window } = full.pixels;
  const isUnsaidGrey = samplesPerPixel === 1 && bitsStored > 8 && window === null;
  return {
    full,
    unused: volumes.filter((instance) => !used.has(instance)),
    levels,
    readTile: isUnsaidGrey ? withGreyRange({ levels, readTile }, bitsStored, null) : readTile,
  };
}

/**
 * The largest picture is full resolution, every other that is the same made smaller is a level. Of pictures of the
 * same size, which show other focal planes or optical paths, one counts: the first of the series at full
 * resolution, further down that which is most like it.
 */
function choosePictures(volumes: readonly Instance[]): [Picture, ...Picture[]] {
  const pictures = [
    ...Map.groupBy(volumes, ({ concatenation, sopInstance }) => concatenation?.uid ?? sopInstance).values(),
  ]
    .map(joinParts)
    .toSorted(({ first: one }, { first: other }) => {
      return (
        other.width * other.height - one.width * one.height ||
        (one.instanceNumber ?? 0) - (other.instanceNumber ?? 0)
      );
    });
  const [largest] = pictures;
  if (!largest) throw new SlideError('NOT_A_SLIDE', 'This DICOM series shows no slide');
  const full = largest.first;
  if (full.showsSpecimenLabel) {
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: a slide whose picture shows its label');
  }

  const levels: [Picture, ...Picture[]] = [largest];
  for (const sameSize of Map.groupBy(pictures, ({ first }) => `${first.width}×${first.height}`).values()) {
    const usable = sameSize.filter(({ first }) => isReduced(first, full) && !first.showsSpecimenLabel);
    const [best] = usable.toSorted(
      ({ first: one }, { first: other }) => likeness(other, full) - likeness(one, full),
    );
    const isSmaller = (best?.first.width ?? 0) < (levels.at(-1)?.first.width ?? 0);
    if (best && isSmaller) levels.push(best);
  }
  if (levels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${levels.length} levels`);
  }
  return levels;
}

function likeness(instance: Instance, full: Instance): number {
  return 2 * Number(instance.opticalPath === full.opticalPath) + Number(instance.depth === full.depth);
}

/** How far levels of one picture may begin from one another, as a part of its side: they are rounded differently. */
const ORIGIN_TOLERANCE = 0.02;

/**
 * Whether one picture is the other made smaller: some downsample gives both its sides, each off by at most the one
 * pixel that rounding makes, and both begin at the same place of the glass.
 */
function isReduced(picture: Instance, full: Instance): boolean {
  if (picture.width >= full.width || picture.height > full.height) return false;
  const { least, most } = downsamples(picture, full);
  return least <= most && beginsWith(picture, full);
}

function beginsWith(picture: Instance, full: Instance): boolean {
  if (!picture.origin || !full.origin || !full.spacing || !picture.spacing) return true;
  const far = (axis: 'x' | 'y', side: number) => {
    const distance = Math.abs((picture.origin?.[axis] ?? 0) - (full.origin?.[axis] ?? 0));
    const spacing = full.spacing?.[axis] ?? 0;
    return distance > ORIGIN_TOLERANCE * side * spacing + 2 * (picture.spacing?.[axis] ?? 0);
  };
  return !far('x', full.width) && !far('y', full.height);
}

function downsamples(picture: Instance, full: Instance): { least: number; most: number } {
  return {
    least: Math.max(full.width / (picture.width + 1), full.height / (picture.height + 1)),
    most: Math.min(full.width / (picture.width - 1), full.height / (picture.height - 1)),
  };
}

/**
 * The files of a concatenation, in order.
 *
 * Source: DICOM PS3.3, C.7.6.16.2.2.4.
 *
 * @throws SlideError FILE_MISSING when one is not there, FILE_CORRUPT when they contradict each other
 */
function joinParts(files: readonly Instance[]): Picture {
  const parts = files.toSorted(
    (one, other) => (one.concatenation?.number ?? 0) - (other.concatenation?.number ?? 0),
  );
  const [first] = parts;
  if (!first) throw new SlideError('FILE_MISSING', 'A file of this slide is missing');
  if (!first.concatenation) return { first, parts };
  const total = Math.max(...parts.map(({ concatenation }) => concatenation?.total ?? 0), parts.length);
  let frames = 0;
  for (const [i, part] of parts.entries()) {
    const { number, frameOffset } = part.concatenation ?? { number: 0, frameOffset: 0 };
    if (number < i + 1 || (number === i + 1 && frameOffset < frames)) throw contradiction();
    if (number > i + 1 || frameOffset > frames) throw missing(i + 1, total);
    const isAlike =
      part.width === first.width &&
      part.height === first.height &&
      part.tileWidth === first.tileWidth &&
      part.tileHeight === first.tileHeight;
    if (!isAlike) throw contradiction();
    frames += part.frames;
  }
  if (parts.length < total) throw missing(parts.length + 1, total);
  return { first, parts };
}

function missing(part: number, total: number): SlideError {
  return new SlideError('FILE_MISSING', `Part ${part} of the ${total} files of a picture is missing`);
}

function contradiction(): SlideError {
  return new SlideError('FILE_CORRUPT', 'The files that a picture is cut into contradict each other');
}

interface LevelReader {
  readonly level: Level;
  readTile(column: number, row: number, signal?: AbortSignal): ReturnType<Slide['readTile']>;
}

function openLevel({ first, parts }: Picture, full: Instance): LevelReader {
  const { width, height, tileWidth, tileHeight } = first;
  const index = indexTiles({ width, height, tileWidth, tileHeight, parts });
  const readers: ReadPicture[] = parts.map(openPictures);
  const { columns, rows } = index;
  return {
    level: {
      width,
      height,
      tileWidth,
      tileHeight,
      columns,
      rows,
      downsample: downsampleOf(first, full),
      ...(isJpeg(first) ? {} : { isMade: true as const }),
    },
    async readTile(column, row, signal) {
      const isInside = column >= 0 && column < columns && row >= 0 && row < rows;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row}`);
      }
      const place = index.frameOf(column, row);
      return place ? (readers[place.part]?.(place.frame, signal) ?? null) : null;
    },
  };
}

/** Sides of a few pixels say little of what they were divided by: a power of two, if one fits. */
function downsampleOf(picture: Instance, full: Instance): number {
  const mean = (full.width / picture.width + full.height / picture.height) / 2;
  const power = 2 ** Math.round(Math.log2(mean));
  const { least, most } = downsamples(picture, full);
  return power >= least && power <= most ? power : mean;
}

function mppOf({ spacing }: Instance): Slide['mpp'] {
  // Twelve digits are more than any scanner knows, and hide what binary numbers make of 16.783.
  const micrometres = (millimetres: number) => Number((millimetres * 1000).toPrecision(12));
  const x = plausible(spacing && micrometres(spacing.x), 1000);
  const y = plausible(spacing && micrometres(spacing.y), 1000);
  return x === null || y === null ? null : { x, y };
}

function plausible(value: number | null, most: number): number | null {
  return value !== null && value > 0.001 && value < most ? value : null;
}

/**
 * Makers of slide scanners, by how their files name them; of what a file says, nothing but these names goes out.
 *
 * Manufacturer is free text: what stands in it may be a laboratory, or a person.
 */
const makers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/aperio/i, 'Aperio'],
  [/leica/i, 'Leica Biosystems'],
  [/hamamatsu/i, 'Hamamatsu'],
  [/philips/i, 'Philips'],
  [/roche|ventana/i, 'Roche'],
  [/3d ?histech/i, '3DHISTECH'],
  [/zeiss/i, 'Zeiss'],
  [/olympus|evident/i, 'Olympus'],
  [/motic/i, 'Motic'],
  [/huron/i, 'Huron'],
  [/grundium/i, 'Grundium'],
  [/sakura/i, 'Sakura'],
  [/pramana/i, 'Pramana'],
  [/optrascan/i, 'OptraScan'],
  [/microvisioneer/i, 'microvisioneer'],
  [/precipoint/i, 'PreciPoint'],
  [/google/i, 'Google'],
];

function vendorOf(manufacturer: string | null): string | null {
  return makers.find(([pattern]) => pattern.test(manufacturer ?? ''))?.[1] ?? null;
}
