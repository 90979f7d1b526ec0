/**
 * Checks the companion files that OpenSlide opens by names stored in the slide, which may be hostile. Both check
 * functions return the names of all files that the library needs.
 */
import { SlideError } from '../model/slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { type Ini, readIni } from './read-ini.ts';

/** Maximum number of files of one slide. */
const MAX_FILES = 10_000;
/** Bytes of a description; OpenSlide has the same limit. */
const DESCRIPTION_BYTES = 2 ** 20;

/**
 * Checks the folder of a MIRAX slide: `name.mrxs` has its pixels in `name/`, listed by `Slidedat.ini` there.
 *
 * Source: OpenSlide's notes on the MIRAX format.
 *
 * @throws SlideError FILE_TRUNCATED when a file is missing, FILE_CORRUPT when it lists a file outside the folder,
 *   LIMIT_EXCEEDED
 */
export async function checkMiraxFiles(files: SlideFiles): Promise<readonly string[]> {
  const folder = files.name.replace(/\.mrxs$/i, '');
  const description = `${folder}/Slidedat.ini`;
  const ini = await readDescription(files, description);
  const count = Number(ini.get('DATAFILE')?.get('FILE_COUNT') ?? Number.NaN);
  if (!Number.isInteger(count) || count < 1) throw corrupt('it does not state the number of its files');
  if (count > MAX_FILES) throw tooMany(count);
  const names = Array.from({ length: count }, (_, i) => ini.get('DATAFILE')?.get(`FILE_${i}`));
  const named = [ini.get('HIERARCHICAL')?.get('INDEXFILE'), ...names];
  return [description, ...(await checkFiles(files, named, `${folder}/`))];
}

/** Keys of a VMS or VMU slide with file names: at least one of the required keys must be present. */
const requiredKeys = /^(ImageFile|MapFile)$/;
const fileKeys = /^(ImageFile|MapFile|OptimisationFile|MacroImage)(\(\d+(,\d+)*\))?$/;

/**
 * Checks the files that a VMS or VMU slide lists, all in its own folder.
 *
 * Source: OpenSlide's notes on the Hamamatsu format.
 *
 * @throws SlideError as checkMiraxFiles
 */
export async function checkHamamatsuFiles(files: SlideFiles): Promise<readonly string[]> {
  return checkFiles(files, hamamatsuNames(await readDescription(files, files.name)), '');
}

/** Returns the listed file names, in the order of the description. */
export function hamamatsuNames(ini: Ini): readonly string[] {
  const keys = ini.get('Virtual Microscope Specimen') ?? ini.get('Uncompressed Virtual Microscope Specimen');
  const named = [...(keys ?? [])].filter(([key]) => fileKeys.test(key));
  if (!named.some(([key]) => requiredKeys.test(key))) throw corrupt('it lists no image');
  return named.flatMap(([, name]) => (name === '' ? [] : [name]));
}

async function readDescription(files: SlideFiles, name: string): Promise<Ini> {
  const source = name === files.name ? files.leading : await openMember(files, name);
  if (source.size > DESCRIPTION_BYTES) {
    throw new SlideError('LIMIT_EXCEEDED', `The description of the slide has ${source.size} bytes`);
  }
  return readIni(new TextDecoder().decode(await source.read(0, source.size)));
}

async function checkFiles(
  files: SlideFiles,
  names: readonly (string | undefined)[],
  folder: string,
): Promise<readonly string[]> {
  if (names.length > MAX_FILES) throw tooMany(names.length);
  const checked: string[] = [];
  for (const name of new Set(names)) {
    if (name === undefined || !isPlainName(name)) throw corrupt('it lists a file outside its folder');
    const source = await openMember(files, folder + name);
    // Closes each file at once, because there may be thousands.
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

/** Whether a name is a plain file name on every system. */
function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The description of the slide is damaged: ${reason}`);
}

function tooMany(count: number): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The slide has ${count} files`);
}
