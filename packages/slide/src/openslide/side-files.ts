/**
 * The files beside a leading one that OpenSlide opens by itself, by names that stand in the slide: looked at before it
 * does, since nobody knows who wrote them.
 */
import { SlideError } from '../slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { type Ini, readIni } from './read-ini.ts';

/** Files of one slide. */
const MOST_FILES = 10_000;
/** Bytes of a description; OpenSlide reads no more than that either. */
const DESCRIPTION_BYTES = 2 ** 20;

/**
 * The folder of a MIRAX slide: `name.mrxs` has its pixels in `name/`, listed by `Slidedat.ini` there.
 *
 * Source: OpenSlide's notes on the MIRAX format.
 *
 * @throws SlideError FILE_TRUNCATED when a part of the slide is missing, FILE_CORRUPT when it names a file elsewhere,
 *   LIMIT_EXCEEDED
 */
export async function checkMiraxFiles(files: SlideFiles): Promise<void> {
  const folder = files.name.replace(/\.mrxs$/i, '');
  const ini = await readDescription(files, `${folder}/Slidedat.ini`);
  const count = Number(ini.get('DATAFILE')?.get('FILE_COUNT') ?? Number.NaN);
  if (!Number.isInteger(count) || count < 1) throw corrupt('it does not say how many files it has');
  if (count > MOST_FILES) throw tooMany(count);
  const names = Array.from({ length: count }, (_, i) => ini.get('DATAFILE')?.get(`FILE_${i}`));
  await checkFiles(files, [ini.get('HIERARCHICAL')?.get('INDEXFILE'), ...names], `${folder}/`);
}

/** Of a VMS or VMU slide, by its keys: those it must have, and those it may have. */
const requiredKeys = /^(ImageFile|MapFile)$/;
const fileKeys = /^(ImageFile|MapFile|OptimisationFile|MacroImage)(\(\d+(,\d+)*\))?$/;

/**
 * The files that a VMS or VMU slide names, all of them beside it.
 *
 * Source: OpenSlide's notes on the Hamamatsu format.
 *
 * @throws SlideError as checkMiraxFiles
 */
export async function checkHamamatsuFiles(files: SlideFiles): Promise<void> {
  await checkFiles(files, hamamatsuNames(await readDescription(files, files.name)), '');
}

/** @returns the names that the description gives, in its order */
export function hamamatsuNames(ini: Ini): readonly string[] {
  const keys = ini.get('Virtual Microscope Specimen') ?? ini.get('Uncompressed Virtual Microscope Specimen');
  const named = [...(keys ?? [])].filter(([key]) => fileKeys.test(key));
  if (!named.some(([key]) => requiredKeys.test(key))) throw corrupt('it names no picture');
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
): Promise<void> {
  if (names.length > MOST_FILES) throw tooMany(names.length);
  for (const name of new Set(names)) {
    if (name === undefined || !isPlainName(name)) throw corrupt('it names a file that is none of its own');
    const source = await openMember(files, folder + name);
    // Thousands of them are looked at, and none is read here.
    await source.close();
  }
}

async function openMember(files: SlideFiles, name: string) {
  try {
    return await files.open(name);
  } catch (cause) {
    if (!(cause instanceof SlideError) || cause.code !== 'FILE_MISSING') throw cause;
    throw new SlideError(
      'FILE_TRUNCATED',
      'The slide is not complete: a file that belongs beside it is missing',
      { cause },
    );
  }
}

/** Of a file in the same folder, wherever the slide is read. */
function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

function corrupt(reason: string): SlideError {
  return new SlideError('FILE_CORRUPT', `The description of the slide is damaged: ${reason}`);
}

function tooMany(count: number): SlideError {
  return new SlideError('LIMIT_EXCEEDED', `The slide has ${count} files`);
}
