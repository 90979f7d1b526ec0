/**
 * Reads the metadata files that laboratories store in their slide folders: `catalogue.csv` and `dataset.json`. They state the
 * datasets, organs and cases of slides. Scans apply them to the catalogue.
 *
 * For each field, the metadata files of the folder nearest to the slide take precedence. Within a folder, a value for a single
 * slide takes precedence over a value for all slides.
 */
import path from 'node:path';
import { MultiLine, toSingleLine } from '@lamina/contract';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';

export interface SlideMetadata {
  readonly dataset_name: string | null; // null if no file states it and the slide is in no folder
  readonly organ_type: string | null; // null if no file states it
  /** The case that the files name; absent when they name none. */
  readonly inCase?: StatedCase;
  /** True when a metadata file that may mention the slide is unusable, cut off or missing: dataset, organ and case may be wrong. */
  readonly isMetadataIncomplete: boolean;
}

/** The case of a slide, with the slide's stain (dye) and block (piece of tissue). A field is null if the files do not state it. */
export interface StatedCase {
  readonly name: string;
  readonly description: string | null;
  readonly stain: string | null;
  readonly block: string | null;
  readonly note: string | null;
}

/** Maximum lengths of the fields about cases, in characters. The forms of the web app have the same limits. */
const maxCaseFieldLengths = {
  case: 200,
  case_description: 4000,
  stain: 100,
  block: 100,
  note: 1000,
} as const;
type CaseField = keyof typeof maxCaseFieldLengths;
type MetadataField = 'dataset_name' | 'organ_type' | CaseField;

/** Values of a metadata file for a slide; a field without a value is left out. */
type MetadataValues = { readonly [Field in MetadataField]?: string };

/** Content of the metadata files of one folder. */
export interface FolderMetadata {
  /** Path below the root, with forward slashes; '' is the root. */
  readonly folder: string;
  /** Values for single slides, by their path below this folder, or by their file name alone. */
  readonly bySlide: ReadonlyMap<string, MetadataValues>;
  /** Values for every slide below this folder. */
  readonly forAllSlides: MetadataValues;
  /** True when a metadata file of this folder is unusable, or missing although earlier scans found it. */
  readonly isIncomplete: boolean;
  /** If `catalogue.csv` may have been cut off, the slides in its complete lines, which are reliable; otherwise null. */
  readonly slidesBeforeCut: ReadonlySet<string> | null;
}

/** Why a metadata file cannot be used, or only in part. */
export interface MetadataProblem {
  /** Path below the root, with forward slashes. */
  readonly path: string;
  /** One sentence for administrators. */
  readonly error: string;
}

const csvName = 'catalogue.csv';
const jsonName = 'dataset.json';
const maxFileBytes = 16 * 1024 * 1024; // 16 MiB, as an error message below states

/** Returns whether a file is a metadata file, by its name without folders. */
export function isMetadataName(name: string): boolean {
  return name === csvName || name === jsonName;
}

export interface MetadataFile {
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** True when the file changed so recently that it may be incomplete. */
  readonly isChanging?: boolean;
  /** Reads the file; null when it is unreadable. */
  readonly read: () => Promise<Uint8Array | null>;
}

/**
 * Reads the metadata files of a folder.
 *
 * @param missing names of metadata files that earlier scans found in this folder and that are no longer in it
 * @throws storage errors; the metadata of the folder is then unknown
 */
export async function readFolderMetadata(
  folder: string,
  files: readonly MetadataFile[],
  missing: readonly string[] = [],
): Promise<{ readonly metadata: FolderMetadata; readonly problems: readonly MetadataProblem[] }> {
  const bySlide = new Map<string, MetadataValues>();
  let slidesBeforeCut: ReadonlySet<string> | null = null;
  const problems: MetadataProblem[] = [];
  let forAllSlides: MetadataValues = {};
  let isIncomplete = false;
  const addProblem = (name: string, reason: string) =>
    problems.push({ path: folder === '' ? name : `${folder}/${name}`, error: `${name}: ${reason}` });
  // For one slide, values of catalogue.csv replace values of dataset.json, because the CSV file is read last.
  for (const name of [jsonName, csvName]) {
    const file = files.find((candidate) => candidate.name === name);
    try {
      if (file === undefined) {
        if (missing.includes(name)) throw new MetadataError('the file is missing.');
        continue;
      }
      const text = await readText(file);
      const content = name === csvName ? parseCsv(text) : parseJson(text);
      forAllSlides = { ...forAllSlides, ...content.forAllSlides };
      for (const [slide, fields] of content.bySlide) bySlide.set(slide, { ...bySlide.get(slide), ...fields });
      if (!content.isCutOff) continue;
      slidesBeforeCut = new Set(content.bySlide.keys());
      addProblem(name, 'the last line has no line break at its end: the file may have been cut off.');
    } catch (error) {
      isIncomplete = true;
      addProblem(name, problemReasonOf(error));
    }
  }
  return { metadata: { folder, bySlide, forAllSlides, isIncomplete, slidesBeforeCut }, problems };
}

/**
 * Returns dataset, organ and case of a slide. If no metadata file states a dataset, the dataset is the first folder of the path.
 *
 * @param chain metadata of the folders that contain the slide, nearest first
 */
export function slideMetadataOf(slidePath: string, chain: readonly FolderMetadata[]): SlideMetadata {
  const valuesByPrecedence: MetadataValues[] = [];
  let isMetadataIncomplete = false;
  for (const { folder, bySlide, forAllSlides, isIncomplete, slidesBeforeCut } of chain) {
    const relativePath = normalizedSlidePath(folder === '' ? slidePath : slidePath.slice(folder.length + 1));
    const name = path.posix.basename(relativePath);
    valuesByPrecedence.push(bySlide.get(relativePath) ?? bySlide.get(name) ?? {}, forAllSlides);
    const mayBeInMissingLine =
      slidesBeforeCut !== null && !slidesBeforeCut.has(relativePath) && !slidesBeforeCut.has(name);
    isMetadataIncomplete ||= isIncomplete || mayBeInMissingLine;
  }
  const nearestValue = (field: MetadataField) =>
    valuesByPrecedence.find((values) => values[field] !== undefined)?.[field];
  const caseName = nearestValue('case');
  const firstFolder = slidePath.includes('/') ? (slidePath.split('/', 1)[0] ?? null) : null;
  return {
    dataset_name: nearestValue('dataset_name') ?? firstFolder,
    organ_type: nearestValue('organ_type') ?? null,
    ...(caseName !== undefined && {
      inCase: {
        name: caseName,
        description: nearestValue('case_description') ?? null,
        stain: nearestValue('stain') ?? null,
        block: nearestValue('block') ?? null,
        note: nearestValue('note') ?? null,
      },
    }),
    isMetadataIncomplete,
  };
}

/** Maximum length of a path on Linux, in bytes, so that no longer text is the path of a slide. */
const maxPathLength = 4096;

/**
 * Normalises the path of a slide, so that paths from file systems and editors can be compared. Such paths may contain
 * Unicode in NFC or NFD form, slashes or backslashes, and a leading `./`. Returns '' for a text that is too long for a path.
 */
export function normalizedSlidePath(slide: string): string {
  if (slide.length > maxPathLength) return ''; // the time of `normalize` may grow with the square of the length
  return slide
    .normalize('NFC')
    .replaceAll('\\', '/')
    .replace(/^(\.?\/)+/, '');
}

/** Thrown for an unusable metadata file. The message continues a sentence for administrators that starts with the file name. */
class MetadataError extends Error {}

/** Returns why a file is unusable. @throws the error itself when the content of the file is not its cause */
function problemReasonOf(error: unknown): string {
  if (error instanceof MetadataError) return error.message;
  if (error instanceof CsvError) {
    return typeof error.lines === 'number'
      ? `line ${error.lines} cannot be read.`
      : 'the file could not be read.';
  }
  throw error;
}

/** Reads and decodes a file. @throws MetadataError when the file is incomplete, too large, unreadable or not UTF-8 */
async function readText({ size, isChanging, read }: MetadataFile): Promise<string> {
  if (isChanging) throw new MetadataError('the file is still being written.');
  if (size > maxFileBytes) throw new MetadataError('the file is larger than 16 MiB.');
  const bytes = await read();
  if (bytes === null) throw new MetadataError('the file could not be read.');
  if (bytes.length < size) throw new MetadataError('the file is still being written.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // removes a byte order mark
  } catch {
    throw new MetadataError('the file is not UTF-8 text.');
  }
}

/** Maximum length of a name in characters. A longer name is rejected, because another dataset may have the shortened name. */
const maxNameLength = 255;

/** Returns the value of a single-line field. @throws MetadataError for control characters or an overlong value */
function singleLineValue(
  field: MetadataField,
  text: string | undefined,
  maxLength = maxNameLength,
): MetadataValues {
  const trimmed = text?.trim() ?? '';
  if (/\p{Cc}/u.test(trimmed)) throw new MetadataError(`a ${field} contains a control character.`);
  const value = toSingleLine(trimmed); // removes invisible characters, lone surrogates and bidirectional controls
  if (value === '') return {};
  if (value.length > maxLength) {
    throw new MetadataError(`a ${field} is longer than ${maxLength} characters.`);
  }
  return { [field]: value };
}

/** Returns the value of a multi-line field. @throws MetadataError for control characters or an overlong value */
function multiLineValue(field: 'case_description' | 'note', text: string | undefined): MetadataValues {
  const parsed = MultiLine.safeParse(text ?? '');
  if (!parsed.success) throw new MetadataError(`a ${field} contains an invisible or control character.`);
  if (parsed.data.length > maxCaseFieldLengths[field]) {
    throw new MetadataError(`a ${field} is longer than ${maxCaseFieldLengths[field]} characters.`);
  }
  return parsed.data === '' ? {} : { [field]: parsed.data };
}

/** The fields of one CSV line or JSON object of a metadata file before they are checked. */
type UncheckedFields = { readonly [Field in MetadataField]?: string | undefined };

/** Checks the fields of one slide, or of all slides of a folder. @throws MetadataError for an invalid field */
function checkedValues(fields: UncheckedFields): MetadataValues {
  return {
    ...singleLineValue('dataset_name', fields.dataset_name),
    ...singleLineValue('organ_type', fields.organ_type),
    ...singleLineValue('case', fields.case, maxCaseFieldLengths.case),
    ...singleLineValue('stain', fields.stain, maxCaseFieldLengths.stain),
    ...singleLineValue('block', fields.block, maxCaseFieldLengths.block),
    ...multiLineValue('note', fields.note),
    ...multiLineValue('case_description', fields.case_description),
  };
}

/** The values in a file. If `isCutOff` is true, the last line may be incomplete and was left out. */
type ParsedFile = Pick<FolderMetadata, 'bySlide' | 'forAllSlides'> & { readonly isCutOff: boolean };

/** Parses a table whose first line names the columns; the delimiter is a comma, or a semicolon when that line has no comma. */
function parseCsv(text: string): ParsedFile {
  const [heading = ''] = text.split(/\r?\n/, 1);
  const delimiter = heading.includes(';') && !heading.includes(',') ? ';' : ',';
  const rows = parse(text, {
    delimiter,
    columns: (names: string[]) => names.map((name) => name.trim().toLowerCase()),
    skip_empty_lines: true,
    relax_column_count_less: true, // a line may have fewer cells than the heading
    trim: true,
  }) as (UncheckedFields & { readonly file_name?: string })[];
  // Read from the heading, because the keys of the rows are unknown when there are no rows.
  const columnNames = heading
    .toLowerCase()
    .split(delimiter)
    .map((name) => name.trim().replaceAll('"', ''));
  if (!columnNames.includes('file_name')) {
    throw new MetadataError('the first line names no column file_name.');
  }
  const bySlide = new Map<string, MetadataValues>();
  const isCutOff = !/[\r\n]$/.test(text);
  for (const row of isCutOff ? rows.slice(0, -1) : rows) {
    const slide = normalizedSlidePath(row.file_name ?? '');
    if (slide) bySlide.set(slide, checkedValues(row));
  }
  return { bySlide, forAllSlides: {}, isCutOff };
}

const JsonText = z.string().optional();
const JsonValues = z.object({
  dataset_name: JsonText,
  organ_type: JsonText,
  case: JsonText,
  case_description: JsonText,
  stain: JsonText,
  block: JsonText,
  note: JsonText,
});
const DatasetFile = JsonValues.extend({ slides: z.record(z.string(), JsonValues).optional() });

/** Parses `{"organ_type": …}`, for all slides below the folder, and `{"slides": {"a.svs": {"organ_type": …}}}`, for single ones. */
function parseJson(text: string): ParsedFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new MetadataError('the file is not valid JSON.');
  }
  const parsed = DatasetFile.safeParse(json);
  if (!parsed.success) {
    const property = parsed.error.issues[0]?.path.join('.'); // for example slides.a.svs; '' is the root
    throw new MetadataError(
      property ? `${property} has an unexpected type.` : 'the file must contain a JSON object.',
    );
  }
  const { slides = {}, ...forAllSlides } = parsed.data;
  const bySlide = new Map(
    Object.entries(slides).map(([slide, fields]) => [normalizedSlidePath(slide), checkedValues(fields)]),
  );
  return { bySlide, forAllSlides: checkedValues(forAllSlides), isCutOff: false };
}
