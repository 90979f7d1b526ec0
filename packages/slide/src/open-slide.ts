import { aperio } from './formats/aperio.ts';
import { czi } from './formats/czi.ts';
import { dicom } from './formats/dicom.ts';
import { genericTiff } from './formats/generic-tiff.ts';
import { leicaScn } from './formats/leica-scn.ts';
import { ndpi } from './formats/ndpi.ts';
import { omeTiff } from './formats/ome-tiff.ts';
import { openslide, openWithOpenSlide } from './formats/openslide.ts';
import { philipsTiff } from './formats/philips-tiff.ts';
import { plainImage } from './formats/plain-image.ts';
import { qptiff } from './formats/qptiff.ts';
import { trestle } from './formats/trestle.ts';
import { ventanaBif } from './formats/ventana-bif.ts';
import { vsi } from './formats/vsi.ts';
import { type Slide, SlideError, type SlideLocation } from './slide.ts';
import { isGitLfsPointer } from './source/git-lfs-pointer.ts';
import type { SlideFiles, SlideGroup } from './source/slide-files.ts';
import { type FileHeader, readFileHeader, type SlideFormat } from './source/slide-format.ts';
import { type FolderLocation, type Objects, openSlideFiles, openSlideFolder } from './source/slide-place.ts';

/** Asked in this order: the first format without a mismatch opens the file, so specific before generic. */
const formats: readonly SlideFormat[] = [
  openslide,
  vsi,
  aperio,
  dicom,
  czi,
  ndpi,
  philipsTiff,
  ventanaBif,
  leicaScn,
  qptiff,
  omeTiff,
  trestle,
  genericTiff,
  plainImage,
];

/** In that order. */
export const formatNames: readonly string[] = formats.map(({ name }) => name);

/**
 * Open a slide; the caller closes it.
 *
 * @param objects through which objects are read; without it, slides are files
 * @throws SlideError FORMAT_NOT_RECOGNISED with every format's reason for refusing, FILE_MISSING, whatever the format
 *   finds wrong with the file, and what the object store throws
 */
export async function openSlide(location: SlideLocation, objects: Objects = null): Promise<Slide> {
  return openSlideFrom(await openSlideFiles(location, objects));
}

/** The same for files that are open already; they are closed when the slide is, or cannot be opened. */
export async function openSlideFrom(files: SlideFiles): Promise<Slide> {
  try {
    const header = await readFileHeader(files);
    try {
      return await formatOf(header).open(files, header);
    } catch (error) {
      if (!mayOpenSlideKnow(error, header)) throw error;
      // What our own reader says of the file is more than what OpenSlide does.
      const slide = await openWithOpenSlide(files).catch(() => null);
      if (slide) return slide;
      throw error;
    }
  } catch (error) {
    await files.close();
    throw error;
  }
}

/**
 * Open a slide for its stored tiles, in a process that others depend on: nothing is decoded there, and no library in
 * C is let at the file.
 *
 * @returns null when none of its tiles can go out as it is stored; only a making process opens such a slide, or says
 *   why it cannot
 * @throws SlideError what openSlide throws
 */
export async function openStoredSlide(
  location: SlideLocation,
  objects: Objects = null,
): Promise<Slide | null> {
  const files = await openSlideFiles(location, objects);
  let header: FileHeader | null = null;
  try {
    header = await readFileHeader(files);
    const format = formatOf(header);
    if (!format.isOnlyMade) return await format.open(files, header);
  } catch (error) {
    if (!header || !mayOpenSlideKnow(error, header)) {
      await files.close();
      throw error;
    }
  }
  await files.close();
  return null;
}

/** @throws SlideError FORMAT_NOT_RECOGNISED */
function formatOf(header: FileHeader): SlideFormat {
  if (isGitLfsPointer(header.start)) {
    throw new SlideError(
      'FORMAT_NOT_RECOGNISED',
      'This is not the slide but a pointer to it, as Git LFS leaves one',
    );
  }
  const mismatches: string[] = [];
  for (const format of formats) {
    const mismatch = format.mismatch(header);
    if (mismatch === null) return format;
    mismatches.push(`${format.name}: ${mismatch}`);
  }
  throw new SlideError('FORMAT_NOT_RECOGNISED', `No format knows the file (${mismatches.join('; ')})`);
}

/** TIFF that no reader of our own takes, and what one of them knows and does not read. */
function mayOpenSlideKnow(error: unknown, { tiff }: FileHeader): boolean {
  if (!(error instanceof SlideError)) return false;
  return error.code === 'FORMAT_NOT_SUPPORTED' || (error.code === 'FORMAT_NOT_RECOGNISED' && tiff !== null);
}

/**
 * Which files of a folder are one slide together: the resolutions of a DICOM series, say.
 *
 * For whoever looks through folders: a slide of several files is one entry of the catalogue, known by its leading
 * file; what is named as a member is none by itself. A file that no group names is a slide of its own, or none.
 * `SlideLocation.members` takes the members as they are here. A few kilobytes of every file are read.
 *
 * @param names of regular files in the folder
 * @param folders names of folders in it
 * @throws SlideError what the object store throws
 */
export async function groupSlideFiles(
  folder: FolderLocation,
  names: readonly string[],
  folders: readonly string[] = [],
  objects: Objects = null,
): Promise<readonly SlideGroup[]> {
  const groups: SlideGroup[] = [];
  const taken = new Set<string>();
  for (const format of formats) {
    if (!format.group) continue;
    const left = names.filter((name) => !taken.has(name)).sort();
    const found = await format.group(openSlideFolder(folder, left, folders, objects));
    for (const { leading, members } of found) for (const name of [leading, ...members]) taken.add(name);
    groups.push(...found);
  }
  return groups;
}
