/**
 * What a laboratory says of its slides in files beside them: `catalogue.csv` and `dataset.json`.
 *
 * The file in the nearest folder wins, field by field; of two in the same folder, what is said of one slide
 * goes before what is said of all.
 */
import path from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';

export interface SlideMetadata {
  readonly dataset_name: string | null;
  readonly organ_type: string | null;
}

/** A field that is not said stays out. */
type Said = { readonly [Field in keyof SlideMetadata]?: string };

/** What the files of one folder say. */
export interface FolderMetadata {
  /** Below the root, with forward slashes; '' is the root. */
  readonly folder: string;
  /** Of single slides, by their path below this folder. */
  readonly bySlide: ReadonlyMap<string, Said>;
  /** Of every slide below this folder. */
  readonly ofAll: Said;
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

/** A metadata file of a folder, and how it is read; null: it cannot be. */
export interface MetadataFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly read: () => Promise<Uint8Array | null>;
}

/** @throws what reading throws: then nothing is known of what the folder says */
export async function readFolderMetadata(
  folder: string,
  files: readonly MetadataFile[],
): Promise<{ readonly metadata: FolderMetadata; readonly problems: readonly MetadataProblem[] }> {
  const bySlide = new Map<string, Said>();
  const problems: MetadataProblem[] = [];
  let ofAll: Said = {};
  for (const name of [jsonName, csvName]) {
    const file = files.find((each) => each.name === name);
    if (file === undefined) continue;
    try {
      const text = await textOf(file);
      const said = name === csvName ? parseCsv(text) : parseJson(text);
      ofAll = { ...ofAll, ...said.ofAll };
      for (const [slide, fields] of said.bySlide) bySlide.set(slide, { ...bySlide.get(slide), ...fields });
    } catch (error) {
      problems.push({
        path: folder === '' ? name : `${folder}/${name}`,
        error: `${name}: ${reasonOf(error)}`,
      });
    }
  }
  return { metadata: { folder, bySlide, ofAll }, problems };
}

/** @param chain nearest folder first */
export function slideMetadataOf(slidePath: string, chain: readonly FolderMetadata[]): SlideMetadata {
  const said = chain.flatMap(({ folder, bySlide, ofAll }) => {
    const below = folder === '' ? slidePath : slidePath.slice(folder.length + 1);
    return [bySlide.get(below) ?? bySlide.get(path.posix.basename(below)) ?? {}, ofAll];
  });
  const first = (field: keyof SlideMetadata) => said.find((fields) => fields[field] !== undefined)?.[field];
  const firstFolder = slidePath.includes('/') ? (slidePath.split('/', 1)[0] ?? null) : null;
  return { dataset_name: first('dataset_name') ?? firstFolder, organ_type: first('organ_type') ?? null };
}

/** A sentence for administrators about a file that cannot be used. */
class MetadataError extends Error {}

/** @throws what is not the fault of the file */
function reasonOf(error: unknown): string {
  if (error instanceof MetadataError) return error.message;
  if (error instanceof CsvError) {
    return typeof error.lines === 'number'
      ? `line ${error.lines} cannot be read.`
      : 'the file could not be read.';
  }
  throw error;
}

async function textOf({ size, read }: MetadataFile): Promise<string> {
  if (size > maxBytes) throw new MetadataError('the file is larger than 16 MiB.');
  const bytes = await read();
  if (bytes === null) throw new MetadataError('the file could not be read.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // takes a byte order mark away
  } catch {
    throw new MetadataError('the file is not UTF-8 text.');
  }
}

const value = (text: string | undefined) => {
  const trimmed = text?.trim().slice(0, 200);
  return trimmed === undefined || trimmed === '' ? undefined : trimmed;
};

function saidOf(fields: { dataset_name?: string | undefined; organ_type?: string | undefined }): Said {
  const dataset = value(fields.dataset_name);
  const organ = value(fields.organ_type);
  return {
    ...(dataset !== undefined && { dataset_name: dataset }),
    ...(organ !== undefined && { organ_type: organ }),
  };
}

/** A first line with the names of the columns; comma or semicolon, whichever that line has. */
function parseCsv(text: string): Pick<FolderMetadata, 'bySlide' | 'ofAll'> {
  const [heading = ''] = text.split(/\r?\n/, 1);
  const delimiter = heading.includes(';') && !heading.includes(',') ? ';' : ',';
  const rows = parse(text, {
    delimiter,
    columns: (names: string[]) => names.map((name) => name.trim().toLowerCase()),
    skip_empty_lines: true,
    relax_column_count_less: true,
    trim: true,
  }) as { file_name?: string; dataset_name?: string; organ_type?: string }[];
  if (
    !heading
      .toLowerCase()
      .split(delimiter)
      .some((name) => name.trim().replaceAll('"', '') === 'file_name')
  ) {
    throw new MetadataError('the first line names no column file_name.');
  }
  const bySlide = new Map<string, Said>();
  for (const row of rows) {
    const slide = row.file_name?.replaceAll('\\', '/');
    if (slide) bySlide.set(slide, saidOf(row));
  }
  return { bySlide, ofAll: {} };
}

const SaidInJson = z.object({ dataset_name: z.string().optional(), organ_type: z.string().optional() });
const DatasetFile = SaidInJson.extend({ slides: z.record(z.string(), SaidInJson).optional() });

/** `{"organ_type": …}` for all slides below, `{"slides": {"a.svs": {"organ_type": …}}}` for single ones. */
function parseJson(text: string): Pick<FolderMetadata, 'bySlide' | 'ofAll'> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new MetadataError('the file is not valid JSON.');
  }
  const read = DatasetFile.safeParse(json);
  if (!read.success) {
    const place = read.error.issues[0]?.path.join('.') || 'the whole';
    throw new MetadataError(`${place} is not what is expected there.`);
  }
  const { slides = {}, ...ofAll } = read.data;
  const bySlide = new Map(Object.entries(slides).map(([slide, fields]) => [slide, saidOf(fields)]));
  return { bySlide, ofAll: saidOf(ofAll) };
}
