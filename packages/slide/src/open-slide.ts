import { join } from 'node:path';
import { aperio } from './formats/aperio.ts';
import { czi } from './formats/czi.ts';
import { dicom } from './formats/dicom.ts';
import { genericTiff } from './formats/generic-tiff.ts';
import { leicaScn } from './formats/leica-scn.ts';
import { ndpi } from './formats/ndpi.ts';
import { omeTiff } from './formats/ome-tiff.ts';
import { philipsTiff } from './formats/philips-tiff.ts';
import { qptiff } from './formats/qptiff.ts';
import { trestle } from './formats/trestle.ts';
import { ventanaBif } from './formats/ventana-bif.ts';
import { type Slide, SlideError, type SlideLocation } from './slide.ts';
import { openFileSource } from './source/file-source.ts';
import { openSlideFiles, type SlideFiles, type SlideGroup } from './source/slide-files.ts';
import { readFileHeader, type SlideFormat } from './source/slide-format.ts';

/** Asked in this order: the first format without a mismatch opens the file, so specific before generic. */
const formats: readonly SlideFormat[] = [
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
];

/**
 * Open a slide; the caller closes it.
 *
 * @throws SlideError FORMAT_NOT_RECOGNISED with every format's reason for refusing, FILE_MISSING, and whatever
 *   the format finds wrong with the file
 */
export async function openSlide(location: SlideLocation): Promise<Slide> {
  return openSlideFrom(await openSlideFiles(location));
}

/** The same for files that are open already; they are closed when the slide is, or cannot be opened. */
export async function openSlideFrom(files: SlideFiles): Promise<Slide> {
  try {
    const header = await readFileHeader(files);
    const mismatches: string[] = [];
    for (const format of formats) {
      const mismatch = format.mismatch(header);
      if (mismatch === null) return await format.open(files, header);
      mismatches.push(`${format.name}: ${mismatch}`);
    }
    throw new SlideError('FORMAT_NOT_RECOGNISED', `No format knows the file (${mismatches.join('; ')})`);
  } catch (error) {
    await files.close();
    throw error;
  }
}

/**
 * Which files of a folder are one slide together: the resolutions of a DICOM series, say.
 *
 * For whoever looks through folders: a slide of several files is one entry of the catalogue, known by its leading
 * file; what is named as a member is none by itself. A file that no group names is a slide of its own, or none.
 * `SlideLocation.members` takes the members as they are here. A few kilobytes of every file are read.
 *
 * @param folder absolute path
 * @param names of regular files in it
 */
export async function groupSlideFiles(
  folder: string,
  names: readonly string[],
): Promise<readonly SlideGroup[]> {
  const groups: SlideGroup[] = [];
  const taken = new Set<string>();
  for (const format of formats) {
    if (!format.group) continue;
    const left = names.filter((name) => !taken.has(name)).sort();
    const found = await format.group({ names: left, open: (name) => openFileSource(join(folder, name)) });
    for (const { leading, members } of found) for (const name of [leading, ...members]) taken.add(name);
    groups.push(...found);
  }
  return groups;
}
