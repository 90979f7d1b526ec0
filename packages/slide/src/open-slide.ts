/** Entry point of the package: recognises the format of a file, opens it with its reader, and groups files into slides. */
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
import { type FileHeader, readFileHeader, type SlideFormat } from './formats/slide-format.ts';
import { trestle } from './formats/trestle.ts';
import { ventanaBif } from './formats/ventana-bif.ts';
import { vsi } from './formats/vsi.ts';
import {
  type FolderLocation,
  type OptionalObjectReader,
  openSlideFiles,
  openSlideFolder,
} from './location/open-slide-files.ts';
import { type Slide, SlideError, type SlideLocation } from './model/slide.ts';
import { NeedsOwnProcess } from './openslide/access.ts';
import { isGitLfsPointer } from './source/git-lfs-pointer.ts';
import type { SlideFiles, SlideGroup } from './source/slide-files.ts';

/**
 * In order of precedence: the first format that reports no mismatch opens the file, so specific formats come first.
 * `openslide` matches only formats that have no other reader, such as MIRAX.
 */
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

/** Names of the format readers, in order of precedence. */
export const formatReaderNames: readonly string[] = formats.map(({ name }) => name);

/**
 * Opens a slide; the caller closes it.
 *
 * @param objects reads object storage; may be null for a slide in a local folder
 * @throws SlideError FORMAT_NOT_RECOGNISED with the reason from every format, FILE_MISSING, or an error from the
 *   format's reader or from object storage
 */
export async function openSlide(
  location: SlideLocation,
  objects: OptionalObjectReader = null,
): Promise<Slide> {
  return openSlideFrom(await openSlideFiles(location, objects));
}

/** Opens a slide from open files. The slide closes them; if opening fails, this function does. */
export async function openSlideFrom(files: SlideFiles): Promise<Slide> {
  try {
    const header = await readFileHeader(files);
    try {
      return await formatOf(header).open(files, header);
    } catch (error) {
      if (!mayOpenSlideReadIt(error, header)) throw error;
      // If OpenSlide fails too, the first, more specific error is thrown. NeedsOwnProcess is no failure: it asks
      // the caller to open the slide in another process.
      const slide = await openWithOpenSlide(files).catch((failure: unknown) => {
        if (failure instanceof NeedsOwnProcess) throw failure;
        return null;
      });
      if (slide) return slide;
      throw error;
    }
  } catch (error) {
    await files.close();
    throw error;
  }
}

/**
 * Opens a slide for a caller that reads only its native tiles (those sent exactly as stored). It runs in a server process, so
 * it decodes nothing and calls no C library.
 *
 * @returns null when a render worker (a process that decodes and draws tiles) must open the slide or report why it cannot: the
 *   format has no native tiles, or only OpenSlide may be able to read the file
 * @throws SlideError as openSlide does
 */
export async function openSlideForNativeTiles(
  location: SlideLocation,
  objects: OptionalObjectReader = null,
): Promise<Slide | null> {
  const files = await openSlideFiles(location, objects);
  let header: FileHeader | null = null;
  try {
    header = await readFileHeader(files);
    const format = formatOf(header);
    if (!format.needsRendering) return await format.open(files, header);
  } catch (error) {
    if (!header || !mayOpenSlideReadIt(error, header)) {
      await files.close();
      throw error;
    }
  }
  await files.close();
  return null;
}

/** Returns the first format that does not report a mismatch. @throws SlideError FORMAT_NOT_RECOGNISED */
function formatOf(header: FileHeader): SlideFormat {
  if (isGitLfsPointer(header.start)) {
    throw new SlideError(
      'FORMAT_NOT_RECOGNISED',
      'The file is a Git LFS pointer, not the slide itself. Fetch the slide with "git lfs pull".',
    );
  }
  const mismatches: string[] = [];
  for (const format of formats) {
    const reason = format.mismatchReason(header);
    if (reason === null) return format;
    mismatches.push(`${format.name}: ${reason}`);
  }
  throw new SlideError(
    'FORMAT_NOT_RECOGNISED',
    `The file has no supported format (${mismatches.join('; ')})`,
  );
}

/** Whether the C library OpenSlide may be able to read a file: unrecognised TIFF, or an unsupported variant. */
function mayOpenSlideReadIt(error: unknown, { tiff }: FileHeader): boolean {
  if (!(error instanceof SlideError)) return false;
  return error.code === 'FORMAT_NOT_SUPPORTED' || (error.code === 'FORMAT_NOT_RECOGNISED' && tiff !== null);
}

/**
 * Groups the files of a folder into slides, e.g. the files of a DICOM series.
 *
 * A slide of several files is one catalogue entry, identified by its main file; its other files (members) get none. A
 * file in no group is a slide of one file, or not a slide. Callers pass the members to `openSlide` unchanged, as
 * `SlideLocation.members`. The function reads a few kilobytes of every file.
 *
 * @param names names of the regular files in the folder
 * @param folders names of its subfolders
 * @throws SlideError errors from object storage
 */
export async function groupSlideFiles(
  folder: FolderLocation,
  names: readonly string[],
  folders: readonly string[] = [],
  objects: OptionalObjectReader = null,
): Promise<readonly SlideGroup[]> {
  const groups: SlideGroup[] = [];
  const groupedNames = new Set<string>();
  for (const format of formats) {
    if (!format.group) continue;
    const ungrouped = names.filter((name) => !groupedNames.has(name)).sort();
    const groupsOfFormat = await format.group(openSlideFolder(folder, ungrouped, folders, objects));
    for (const { main, members } of groupsOfFormat)
      for (const name of [main, ...members]) groupedNames.add(name);
    groups.push(...groupsOfFormat);
  }
  return groups;
}
