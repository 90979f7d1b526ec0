/**
 * Metadata files of laboratories beside the slides: `catalogue.csv` and `dataset.json`, with datasets, organs and cases.
 *
 * For each field the nearest folder decides; within a folder, a value for one slide comes before a value for all.
 */
import path from 'node:path';
import { MultiLine, toSingleLine } from '@lamina/contract';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';

export interface SlideMetadata {
  readonly dataset_name: string | null;
  readonly organ_type: string | null;
  /** The case that the files name; left out without one. */
  readonly inCase?: StatedCase;
  /** A metadata file that may name the slide is unusable, so dataset, organ and case may be wrong. */
  readonly metadataIncomplete: boolean;
}

/** The case of a slide, and what the files say of the slide in it; null: nothing. */
export interface StatedCase {
  readonly name: string;
  readonly description: string | null;
  readonly stain: string | null;
  readonly block: string | null;
  readonly note: string | null;
}

/** Longest texts of the fields about cases: those of the screen for cases. */
const caseFields = { case: 200, case_description: 4000, stain: 100, block: 100, note: 1000 } as const;
type CaseField = keyof typeof caseFields;
type MetadataField = 'dataset_name' | 'organ_type' | CaseField;

/** Values of a metadata file for a slide; a field without a value is left out. */
type Values = { readonly [Field in MetadataField]?: string };

/** Content of the metadata files of one folder. */
export interface FolderMetadata {
  /** Path below the root, with forward slashes; '' is the root. */
  readonly folder: string;
  /** Values for single slides, by their path below this folder. */
  readonly bySlide: ReadonlyMap<string, Values>;
  /** Values for every slide below this folder. */
  readonly ofAll: Values;
  /** A file of this folder is unusable or missing. */
  readonly isIncomplete: boolean;
  /** Slides with a whole row in a file whose end may be missing, as in `bySlide`; null: no end is missing. */
  readonly beforeCut: ReadonlySet<string> | null;
}

export interface MetadataProblem {
  /** Below the root, with forward slashes. */
  readonly path: string;
  /** One sentence for administrators. */
  readonly error: string;
}

const csvName = 'catalogue.csv';
const jsonName = 'dataset.json';
const maxBytes = 16 * 1024 * 1024;

export function isMetadataName(name: string): boolean {
  return name === csvName || name === jsonName;
}

/** A metadata file of a folder. */
export interface MetadataFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** The file changed so recently that it may not be complete. */
  readonly isChanging?: boolean;
  /** Reads the file; null when it is unreadable. */
  readonly read: () => Promise<Uint8Array | null>;
}

/**
 * Reads the metadata files of a folder.
 *
 * @param missing names of files that earlier scans found in this folder
 * @throws errors of the storage; then the metadata of the folder is unknown
 */
export async function readFolderMetadata(
  folder: string,
  files: readonly MetadataFile[],
  missing: readonly string[] = [],
): Promise<{ readonly metadata: FolderMetadata; readonly problems: readonly MetadataProblem[] }> {
  const bySlide = new Map<string, Values>();
  let beforeCut: ReadonlySet<string> | null = null;
  const problems: MetadataProblem[] = [];
  let ofAll: Values = {};
  let isIncomplete = false;
  const add = (name: string, reason: string) =>
    problems.push({ path: folder === '' ? name : `${folder}/${name}`, error: `${name}: ${reason}` });
  for (const name of [jsonName, csvName]) {
    const file = files.find((each) => each.name === name);
    try {
      if (file === undefined) {
        if (missing.includes(name)) throw new MetadataError('the file is missing.');
        continue;
      }
      const text = await textOf(file);
      const content = name === csvName ? parseCsv(text) : parseJson(text);
      ofAll = { ...ofAll, ...content.ofAll };
      for (const [slide, fields] of content.bySlide) bySlide.set(slide, { ...bySlide.get(slide), ...fields });
      if (!content.isCutOff) continue;
      beforeCut = new Set(content.bySlide.keys());
      add(name, 'the last line has no line break at its end: the file may have been cut off.');
    } catch (error) {
      isIncomplete = true;
      add(name, reasonOf(error));
    }
  }
  return { metadata: { folder, bySlide, ofAll, isIncomplete, beforeCut }, problems };
}

/** Returns dataset, organ and case of a slide. @param chain metadata of its folders, nearest first */
export function slideMetadataOf(slidePath: string, chain: readonly FolderMetadata[]): SlideMetadata {
  const values: Values[] = [];
  let metadataIncomplete = false;
  for (const { folder, bySlide, ofAll, isIncomplete, beforeCut } of chain) {
    const below = asWritten(folder === '' ? slidePath : slidePath.slice(folder.length + 1));
    const name = path.posix.basename(below);
    values.push(bySlide.get(below) ?? bySlide.get(name) ?? {}, ofAll);
    const mayBeCutOff = beforeCut !== null && !beforeCut.has(below) && !beforeCut.has(name);
    metadataIncomplete ||= isIncomplete || mayBeCutOff;
  }
  const first = (field: MetadataField) => values.find((fields) => fields[field] !== undefined)?.[field];
  const caseName = first('case');
  const firstFolder = slidePath.includes('/') ? (slidePath.split('/', 1)[0] ?? null) : null;
  return {
    dataset_name: first('dataset_name') ?? firstFolder,
    organ_type: first('organ_type') ?? null,
    ...(caseName !== undefined && {
      inCase: {
        name: caseName,
        description: first('case_description') ?? null,
        stain: first('stain') ?? null,
        block: first('block') ?? null,
        note: first('note') ?? null,
      },
    }),
    metadataIncomplete,
  };
}

/** Returns one form of the path of a slide: file systems and editors write Unicode NFC or NFD, slashes or backslashes. */
export function asWritten(slide: string): string {
  return slide
    .normalize('NFC')
    .replaceAll('\\', '/')
    .replace(/^(\.?\/)+/, '');
}

/** An unusable file; the message is a sentence for administrators. */
class MetadataError extends Error {}

/** @throws the error when the reason is not in the file */
function reasonOf(error: unknown): string {
  if (error instanceof MetadataError) return error.message;
  if (error instanceof CsvError) {
    return typeof error.lines === 'number'
      ? `line ${error.lines} cannot be read.`
      : 'the file could not be read.';
  }
  throw error;
}

async function textOf({ size, isChanging, read }: MetadataFile): Promise<string> {
  if (isChanging) throw new MetadataError('the file is still being written.');
  if (size > maxBytes) throw new MetadataError('the file is larger than 16 MiB.');
  const bytes = await read();
  if (bytes === null) throw new MetadataError('the file could not be read.');
  if (bytes.length < size) throw new MetadataError('the file is still being written.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // removes a byte order mark
  } catch {
    throw new MetadataError('the file is not UTF-8 text.');
  }
}

/** Longest name of a folder; longer values are rejected, because shortened they could name another dataset. */
const maxNameLength = 255;

/** @throws MetadataError for a value that is not a text of one line */
function lineIn(field: MetadataField, text: string | undefined, maxLength = maxNameLength): Values {
  const typed = text?.trim() ?? '';
  if (/\p{Cc}/u.test(typed)) throw new MetadataError(`a ${field} contains a control character.`);
  // Cleaned of what no other name may contain: invisible characters, lone surrogates, bidirectional controls.
  const value = toSingleLine(typed);
  if (value === '') return {};
  if (value.length > maxLength) {
    throw new MetadataError(`a ${field} is longer than ${maxLength} characters.`);
  }
  return { [field]: value };
}

/** @throws MetadataError for a value that is not a text of one or several lines */
function linesIn(field: 'case_description' | 'note', text: string | undefined): Values {
  const read = MultiLine.safeParse(text ?? '');
  if (!read.success) throw new MetadataError(`a ${field} contains an invisible or control character.`);
  if (read.data.length > caseFields[field]) {
    throw new MetadataError(`a ${field} is longer than ${caseFields[field]} characters.`);
  }
  return read.data === '' ? {} : { [field]: read.data };
}

type Fields = { readonly [Field in MetadataField]?: string | undefined };

function valuesOf(fields: Fields): Values {
  return {
    ...lineIn('dataset_name', fields.dataset_name),
    ...lineIn('organ_type', fields.organ_type),
    ...lineIn('case', fields.case, caseFields.case),
    ...lineIn('stain', fields.stain, caseFields.stain),
    ...lineIn('block', fields.block, caseFields.block),
    ...linesIn('note', fields.note),
    ...linesIn('case_description', fields.case_description),
  };
}

/** `isCutOff`: the file may continue behind its last whole line. */
type Statements = Pick<FolderMetadata, 'bySlide' | 'ofAll'> & { readonly isCutOff: boolean };

/** Parses a table whose first line names the columns; the delimiter is a comma, or a semicolon when that line has no comma. */
function parseCsv(text: string): Statements {
  const [heading = ''] = text.split(/\r?\n/, 1);
  const delimiter = heading.includes(';') && !heading.includes(',') ? ';' : ',';
  const rows = parse(text, {
    delimiter,
    columns: (names: string[]) => names.map((name) => name.trim().toLowerCase()),
    skip_empty_lines: true,
    relax_column_count_less: true,
    trim: true,
  }) as (Fields & { readonly file_name?: string })[];
  if (
    !heading
      .toLowerCase()
      .split(delimiter)
      .some((name) => name.trim().replaceAll('"', '') === 'file_name')
  ) {
    throw new MetadataError('the first line names no column file_name.');
  }
  const bySlide = new Map<string, Values>();
  const isCutOff = !/[\r\n]$/.test(text);
  for (const row of isCutOff ? rows.slice(0, -1) : rows) {
    const slide = asWritten(row.file_name ?? '');
    if (slide) bySlide.set(slide, valuesOf(row));
  }
  return { bySlide, ofAll: {}, isCutOff };
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

/** Parses `{"organ_type": …}` for all slides below, `{"slides": {"a.svs": {"organ_type": …}}}` for single ones. */
function parseJson(text: string): Statements {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new MetadataError('the file is not valid JSON.');
  }
  const read = DatasetFile.safeParse(json);
  if (!read.success) {
    const place = read.error.issues[0]?.path.join('.') || 'the whole';
    throw new MetadataError(`${place} has an unexpected type.`);
  }
  const { slides = {}, ...ofAll } = read.data;
  const bySlide = new Map(
    Object.entries(slides).map(([slide, fields]) => [asWritten(slide), valuesOf(fields)]),
  );
  return { bySlide, ofAll: valuesOf(ofAll), isCutOff: false };
}
