/**
 * Checks of companion files (all files of a slide but the main file). OpenSlide opens them by names stored in the slide,
 * and a hostile slide may name other files. Both check functions return the names of all files that the library needs.
 */
import { SlideError } from '../model/slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { type Ini, readIni } from './read-ini.ts';

/** Maximum number of files of one slide. */
const MAX_FILES = 10_000;
/** Maximum bytes of a description, the text file that lists the files of a slide; OpenSlide has the same limit. */
const DESCRIPTION_BYTES = 2 ** 20;

/**
 * Checks the folder of a MIRAX slide. The pixels of `name.mrxs` are in files that `name/Slidedat.ini` lists.
 *
 * Source: OpenSlide's notes on the MIRAX format.
 *
 * @throws SlideError FILE_TRUNCATED when a file is missing, FILE_CORRUPT when one is outside the folder, LIMIT_EXCEEDED
 */
export async function checkMiraxFiles(files: SlideFiles): Promise<readonly string[]> {
  const folder = files.name.replace(/\.mrxs$/i, '');
  const description = `${folder}/Slidedat.ini`;
  const ini = await readDescription(files, description);
  const count = Number(ini.get('DATAFILE')?.get('FILE_COUNT') ?? Number.NaN);
  if (!Number.isInteger(count) || count < 1) throw corruptError('it does not state the number of its files');
  if (count > MAX_FILES) throw tooManyFilesError(count);
  const dataFiles = Array.from({ length: count }, (_, i) => ini.get('DATAFILE')?.get(`FILE_${i}`));
  const indexFile = ini.get('HIERARCHICAL')?.get('INDEXFILE');
  return [description, ...(await checkFiles(files, [indexFile, ...dataFiles], `${folder}/`))];
}

/** A VMS or VMU slide must have at least one of these keys. */
const requiredKeys = /^(ImageFile|MapFile)$/;
/** Matches the keys whose values are file names, e.g. `MapFile` or `ImageFile(1,0)`. */
const fileKeys = /^(ImageFile|MapFile|OptimisationFile|MacroImage)(\(\d+(,\d+)*\))?$/;

/**
 * Checks the files that a VMS or VMU slide lists. All of them must be in the folder of the slide.
 *
 * Source: OpenSlide's notes on the Hamamatsu format.
 *
 * @throws SlideError as checkMiraxFiles
 */
export async function checkHamamatsuFiles(files: SlideFiles): Promise<readonly string[]> {
  return checkFiles(files, hamamatsuNames(await readDescription(files, files.name)), '');
}

/** Returns the listed file names, in the order of the description. A key with an empty value names no file. */
export function hamamatsuNames(ini: Ini): readonly string[] {
  const keys = ini.get('Virtual Microscope Specimen') ?? ini.get('Uncompressed Virtual Microscope Specimen');
  const fileEntries = [...(keys ?? [])].filter(([key]) => fileKeys.test(key));
  if (!fileEntries.some(([key]) => requiredKeys.test(key))) throw corruptError('it lists no image');
  return fileEntries.flatMap(([, name]) => (name === '' ? [] : [name]));
}

async function readDescription(files: SlideFiles, name: string): Promise<Ini> {
  const source = name === files.name ? files.main : await openMember(files, name);
  if (source.size > DESCRIPTION_BYTES) {
    throw new SlideError('LIMIT_EXCEEDED', `The description of the slide has ${source.size} bytes`);
  }
  return readIni(new TextDecoder().decode(await source.read(0, source.size)));
}

/**
 * Checks that the files exist.
 *
 * @param names file names as the slide lists them; undefined for a key that is missing
 * @param folder the folder of the files, with a trailing slash; '' for the folder of the main file
 * @returns the paths of the files: `folder` and name
 */
async function checkFiles(
  files: SlideFiles,
  names: readonly (string | undefined)[],
  folder: string,
): Promise<readonly string[]> {
  if (names.length > MAX_FILES) throw tooManyFilesError(names.length);
  const checked: string[] = [];
  for (const name of new Set(names)) {
    if (!name) throw corruptError('it does not name one of its files');
    if (!isPlainName(name)) throw corruptError('it lists a file outside its folder');
    const source = await openMember(files, folder + name);
    // Each file is closed immediately, because a slide may have thousands.
    await source.close();
    checked.push(folder + name);
  }
  return checked;
}

async function openMember(files: SlideFiles, name: string) {
  try {
    return await files.open(name);
  } catch (cause) {
    if (!(cause instanceof SlideError) || cause.code !== 'FILE_MISSING') throw cause;
    throw new SlideError('FILE_TRUNCATED', 'The slide is not complete: a companion file is missing', {
      cause,
    });
  }
}

/** Returns whether a name is a file name without a path on every operating system. */
function isPlainName(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

function corruptError(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The description of the slide is damaged: ${reason}`);
}

function tooManyFilesError(count: number): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The slide has ${count} files`);
}
