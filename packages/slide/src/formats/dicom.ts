/**
 * Reader of DICOM whole-slide images: each level is one or several files of the same series. `dicom-series.ts` finds the files
 * of a slide, `dicom-levels.ts` builds the pyramid from them.
 *
 * docs/formats/dicom.md lists the features that are read, with the source of each fact.
 */
import { rgbOfCieLab } from '../dicom/cie-lab.ts';
import { isDicom } from '../dicom/file-meta.ts';
import { openFrameImages } from '../dicom/frame-images.ts';
import type { Identity, ImageKind } from '../dicom/identity.ts';
import { type Instance, readInstance } from '../dicom/instance.ts';
import { limits } from '../dicom/limits.ts';
import { shownPlaneOf } from '../model/shown-plane.ts';
import { type AssociatedImageName, type Slide, SlideError } from '../model/slide.ts';
import { readOnce } from '../source/read-once.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { openPyramid } from './dicom-levels.ts';
import {
  checkFileCount,
  checkVolumeCount,
  groupBySlide,
  groupDicomFiles,
  readIdentities,
} from './dicom-series.ts';
import type { SlideFormat } from './slide-format.ts';

export const dicom: SlideFormat = {
  name: 'dicom',

  mismatchReason({ start }) {
    return isDicom(start) ? null : 'the file has no "DICM" at byte 128';
  },

  async open(files) {
    // DICOM calls a file an instance, and an image of the pyramid (as opposed to label or overview) a volume.
    const mainInstance = await readInstance(files.main);
    if (mainInstance.kind !== 'volume') {
      throw new SlideError(
        'NOT_A_SLIDE',
        `This DICOM file is ${kindNames[mainInstance.kind]}, not the slide itself`,
      );
    }
    const otherFiles = await findOtherFiles(files, mainInstance);
    const volumeFiles = otherFiles.filter(({ identity }) => identity.kind === 'volume');
    checkVolumeCount(volumeFiles.length);
    const otherVolumes = await Promise.all(volumeFiles.map(({ readHeader }) => readHeader()));
    const pyramid = openPyramid([mainInstance, ...otherVolumes]);
    const { full } = pyramid;
    // Files that no level uses are closed, except the main file, which closes with the slide.
    for (const { source } of pyramid.unused) if (source !== files.main) await source.close();

    const associated = new Map<AssociatedImageName, OtherFile>();
    for (const file of otherFiles) {
      const name = associatedNames[file.identity.kind];
      if (name && !associated.has(name)) associated.set(name, file);
    }

    return {
      format: 'dicom',
      fingerprint: files.fingerprint,
      vendor: vendorOf(full.manufacturer),
      levels: pyramid.levels,
      mpp: mppOf(full),
      objectivePower: plausibleOrNull(full.objectivePower),
      ...shownPlaneOf(pyramid.shownPlane),
      ...(full.origin !== null &&
        full.orientation !== null && {
          placeOnGlass: { origin: full.origin, orientation: full.orientation },
        }),
      // `absentPixel` is the colour that the file recommends for tiles that it does not contain.
      background: full.absentPixel ? rgbOfCieLab(full.absentPixel) : { r: 255, g: 255, b: 255 },
      associatedImages: new Set(associated.keys()),
      readTile: pyramid.readTile,
      async readAssociatedImage(name) {
        const file = associated.get(name);
        if (!file) throw new SlideError('ASSOCIATED_IMAGE_MISSING', `The slide has no ${name}`);
        const instance = await file.readHeader();
        if (instance.frames > 1)
          throw new SlideError('FORMAT_NOT_SUPPORTED', `Not supported: a ${name} in tiles`);
        const readFrame = openFrameImages(instance);
        return readFrame(0);
      },
      async readIccProfile() {
        const length = full.iccProfile?.length ?? 0;
        if (!full.iccProfile || length === 0) return null;
        if (length > limits.iccProfileBytes) {
          throw new SlideError('LIMIT_EXCEEDED', `The colour profile has ${length} bytes`);
        }
        return full.source.read(full.iccProfile.offset, length);
      },
      close: files.close,
    };
  },

  group: groupDicomFiles,
};

/** What a file of each kind shows, for error messages. */
const kindNames: Readonly<Record<ImageKind, string>> = {
  volume: 'a slide',
  thumbnail: 'the thumbnail of a slide',
  label: 'the label of a slide',
  overview: 'the overview of a slide',
};

/** Associated images by the kind of their file; null for a file that is not an associated image. */
const associatedNames: Readonly<Record<ImageKind, AssociatedImageName | null>> = {
  volume: null,
  thumbnail: 'thumbnail',
  label: 'label',
  overview: 'macro',
};

/** A file of the slide other than the main file (the one by which the slide was opened). */
interface OtherFile {
  readonly identity: Identity;
  /** Reads the whole header on the first call and returns it on every later call. */
  readonly readHeader: () => Promise<Instance>;
}

/** Finds the slide's other files in the folder. @returns the files sorted by name; of several copies of a file, only the first */
async function findOtherFiles(files: SlideFiles, mainInstance: Instance): Promise<OtherFile[]> {
  // The name of a folder ends with "/".
  const names = (await files.list()).filter((name) => name !== files.name && !name.endsWith('/'));
  checkFileCount(names.length);
  const mainFile = { name: files.name, identity: mainInstance };
  const identities = await readIdentities(names, files.open);
  const slide = groupBySlide([mainFile, ...identities]).find((group) => group.includes(mainFile)) ?? [];
  // A copy of a file has the same SOP instance UID.
  const seenUids = new Set([mainInstance.sopInstance]);
  const otherFiles: OtherFile[] = [];
  for (const { name, identity } of slide) {
    if (seenUids.has(identity.sopInstance)) continue;
    seenUids.add(identity.sopInstance);
    const readHeader = readOnce(async () => readInstance(await files.open(name)));
    otherFiles.push({ identity, readHeader });
  }
  return otherFiles;
}

/** Returns micrometres per pixel; null when the file states no plausible pixel spacing. */
function mppOf({ spacing }: Instance): Slide['mpp'] {
  // Twelve digits are more than any scanner measures, and few enough to remove errors of binary rounding.
  const micrometres = (millimetres: number) => Number((millimetres * 1000).toPrecision(12));
  const x = plausibleOrNull(spacing && micrometres(spacing.x));
  const y = plausibleOrNull(spacing && micrometres(spacing.y));
  return x === null || y === null ? null : { x, y };
}

/** Returns a magnification, or a pixel size in µm, if it is between 0.001 and 1000; null for anything else. */
function plausibleOrNull(value: number | null): number | null {
  return value !== null && value > 0.001 && value < 1000 ? value : null;
}

/**
 * Vendors of slide scanners with the pattern that recognises them in the Manufacturer value. Only the names in this list leave
 * the server: Manufacturer is free text and may contain the name of a laboratory or a person.
 */
const vendors: readonly (readonly [pattern: RegExp, name: string])[] = [
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

/** Returns the name of a known vendor; null for any other. */
function vendorOf(manufacturer: string | null): string | null {
  return vendors.find(([pattern]) => pattern.test(manufacturer ?? ''))?.[1] ?? null;
}
