/**
 * Parses a catalogue file, a CSV that an administrator imports. Its columns are `id` (copied from an exported catalogue),
 * `file_name`, `dataset_name` and `organ_type`. In a row with an id, `file_name` is the new name of the slide. In a row without
 * an id, `file_name` identifies the slide, as in the metadata file `catalogue.csv` (metadata-files.ts). The delimiter is a comma,
 * semicolon or tab; the encoding is UTF-8 or windows-1254, which Turkish spreadsheet programs write.
 */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  AppError,
  type Bilingual,
  type ErrorReason,
  isControlFree,
  maxCatalogueFileLines,
} from '@lamina/contract';
import { CsvError, parse } from 'csv-parse';
import { unescapeFormulas } from '../platform/csv.ts';

/** A valid row; empty cells are null. */
export interface CatalogueRow {
  /** Number of the row's last line in the file, from 1. A cell with line breaks extends over several lines. */
  readonly line: number;
  readonly id: string | null;
  /** The new name of the slide if the row has an id; otherwise the name or path that identifies the slide. */
  readonly file_name: string | null;
  readonly dataset_name: string | null;
  readonly organ_type: string | null;
}

/** An invalid row, or one that matches no slide. */
export interface RowProblem {
  readonly line: number;
  /** Name or id in the row; empty when the row is unreadable. */
  readonly subject: string;
  readonly reason: Bilingual;
}

export interface CatalogueFile {
  readonly encoding: 'utf-8' | 'windows-1254';
  /** The valid rows. */
  readonly rows: readonly CatalogueRow[];
  readonly problems: readonly RowProblem[];
}

export const catalogueColumns = ['id', 'file_name', 'dataset_name', 'organ_type'] as const;
type Column = (typeof catalogueColumns)[number];

/** Maximum lengths in characters. */
const maxLength: Readonly<Record<Column, number>> = {
  id: 100,
  file_name: 1024, // a path; see maxFileNameLength for a row with an id
  dataset_name: 200,
  organ_type: 200,
};

/** Maximum length of `file_name`, in characters, in a row with an id: there it is the new name of the slide, not a path. */
const maxFileNameLength = 255;

/** Number of bytes that are parsed before the event loop can handle other requests. */
const chunkBytes = 64 * 1024;
const delimiters = [',', ';', '\t'] as const;

/** Returns the value of a cell. The export puts an apostrophe before values that a spreadsheet would evaluate; this function removes it. */
export const valueOfCell = (cell: string): string => unescapeFormulas(cell).trim();

/** Parses a catalogue file. @throws AppError invalid_request with a reason when the bytes are not a catalogue file */
export async function readCatalogueFile(bytes: Uint8Array): Promise<CatalogueFile> {
  const { encoding, text } = decodeText(bytes);
  const heading = /^[^\r\n]*/.exec(text)?.[0] ?? '';
  const { delimiter, columns } = detectColumns(heading);
  const rows: CatalogueRow[] = [];
  const problems: RowProblem[] = [];

  const parser = Readable.from(yieldChunks(Buffer.from(text))).pipe(
    parse({
      delimiter,
      info: true, // adds the line number to each record
      from: 2, // the first line is the heading
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true, // a row may have more or fewer cells than the heading
    }),
  );
  try {
    for await (const { record, info } of parser as AsyncIterable<ParsedRecord>) {
      if (rows.length + problems.length >= maxCatalogueFileLines)
        throw invalidFile('catalogue_file_too_many_rows');
      const line = info.lines;
      const cells = record.map(valueOfCell);
      if (cells.every((cell) => cell === '')) continue;
      const row: CatalogueRow = { line, ...valuesOf(columns, cells) };
      const reason = cells.length > columns.length ? problemTexts.tooManyCells : problemOf(row);
      if (reason === null) rows.push(row);
      else problems.push({ line, subject: row.file_name ?? row.id ?? '', reason });
    }
  } catch (error) {
    // After a misplaced quotation mark, the parser cannot recognise the ends of lines.
    if (!(error instanceof CsvError)) throw error;
    problems.push({ line: lineOf(error), subject: '', reason: problemTexts.unreadable });
  }
  return { encoding, rows, problems };
}

/** Returns the values of the known columns; null for an empty cell, and for a column that the file does not have. */
function valuesOf(columns: readonly string[], cells: readonly string[]): Record<Column, string | null> {
  const cellOf = (column: Column) => cells[columns.indexOf(column)] || null;
  return {
    id: cellOf('id'),
    file_name: cellOf('file_name'),
    dataset_name: cellOf('dataset_name'),
    organ_type: cellOf('organ_type'),
  };
}

/** A record as csv-parse returns it with the option `info`; `lines` is the number of the last line of the record, from 1. */
interface ParsedRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

async function* yieldChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    yield bytes.subarray(start, start + chunkBytes);
    await setImmediate();
  }
}

/** Returns the number of the line in which the parser failed; 1 when the error does not contain it. */
function lineOf(error: CsvError): number {
  return typeof error.lines === 'number' ? error.lines : 1;
}

/** Returns why a row is invalid; null for a valid row. */
function problemOf(row: CatalogueRow): Bilingual | null {
  if (row.id === null && row.file_name === null) return problemTexts.withoutSlide;
  for (const column of catalogueColumns) {
    const value = row[column];
    if (value === null) continue;
    const maxCharacters = column === 'file_name' && row.id !== null ? maxFileNameLength : maxLength[column];
    if (value.length > maxCharacters) return problemTexts.tooLong(column, maxCharacters);
    if (!isControlFree(value)) return invalidCharacters(column);
  }
  return null;
}

/** Returns the delimiter that yields the most known columns, and all column names. @throws AppError invalid_request */
function detectColumns(heading: string): { delimiter: string; columns: readonly string[] } {
  const candidates = delimiters.map((delimiter) => {
    const columns = heading.split(delimiter).map((name) => name.trim().replaceAll('"', '').toLowerCase());
    const knownColumns = columns.filter((name) => (catalogueColumns as readonly string[]).includes(name));
    return { delimiter, columns, knownColumns };
  });
  const best = candidates.reduce((bestSoFar, candidate) =>
    candidate.knownColumns.length > bestSoFar.knownColumns.length ? candidate : bestSoFar,
  );
  const { knownColumns } = best;
  if (!knownColumns.includes('id') && !knownColumns.includes('file_name')) {
    throw invalidFile('catalogue_file_without_key');
  }
  if (new Set(knownColumns).size < knownColumns.length) throw invalidFile('catalogue_file_column_repeated');
  return best;
}

/** Decodes the bytes of a file. @throws AppError invalid_request for a file that is not text */
function decodeText(bytes: Uint8Array): { encoding: CatalogueFile['encoding']; text: string } {
  if (bytes.length === 0) throw invalidFile('catalogue_file_empty');
  if (bytes.includes(0)) throw invalidFile('catalogue_file_not_text'); // for example a spreadsheet workbook or UTF-16
  try {
    return { encoding: 'utf-8', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    const text = new TextDecoder('windows-1254').decode(bytes);
    // The decoder turns bytes that are undefined in this code page into control characters. The expression matches each
    // control character other than a tab or a line break.
    if (/[^\P{Cc}\t\r\n]/u.test(text)) throw invalidFile('catalogue_file_not_text');
    return { encoding: 'windows-1254', text };
  }
}

function invalidFile(reason: ErrorReason): AppError {
  // `limit` appears only in the text of the reason catalogue_file_too_many_rows.
  return new AppError('invalid_request', { reason, field: 'file', limit: maxCatalogueFileLines });
}

const problemTexts = {
  unreadable: {
    tr: 'Tırnak işareti yerinde değil; dosyanın gerisi okunamıyor.',
    en: 'A quotation mark is out of place; the rest of the file cannot be read.',
  },
  tooManyCells: {
    tr: 'Satırda, ilk satırda adı geçenden çok sütun var.',
    en: 'The line has more columns than the first line names.',
  },
  withoutSlide: {
    tr: 'Satır hangi slaytla ilgili olduğunu söylemiyor.',
    en: 'The line does not say which slide it is about.',
  },
  tooLong: (column: Column, maxCharacters: number) => ({
    tr: `“${column}” en fazla ${maxCharacters} karakter olabilir.`,
    en: `“${column}” may have at most ${maxCharacters} characters.`,
  }),
};

export const invalidCharacters = (column: Column): Bilingual => ({
  tr: `“${column}” satır sonu, denetim karakteri ya da görünmeyen karakter içeremez.`,
  en: `“${column}” may not contain line breaks, control characters or invisible characters.`,
});
