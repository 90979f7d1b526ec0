/**
 * A `catalogue.csv` that an administrator sends: the columns of the ones beside slides (see metadata-files.ts), and
 * `id`, by which the download names a slide. Comma, semicolon or tab; UTF-8, or what Turkish spreadsheets write.
 */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { AppError, CatalogueText, type InBothLanguages, maxCatalogueFileRows } from '@lamina/contract';
import { CsvError, parse } from 'csv-parse';
import { withoutGuard } from '../spreadsheet.ts';

/** One line that can be understood; what it leaves empty is null. */
export interface FileLine {
  /** Where it ends in the file, from 1. */
  readonly line: number;
  readonly id: string | null;
  /** With an id what the slide is to be called; without one, which slide is meant. */
  readonly file_name: string | null;
  readonly dataset_name: string | null;
  readonly organ_type: string | null;
}

/** A line that cannot be used, or that speaks of no slide. */
export interface LineProblem {
  readonly line: number;
  /** What the line names; empty when that cannot be read. */
  readonly subject: string;
  readonly reason: InBothLanguages;
}

export interface CatalogueFile {
  readonly encoding: 'utf-8' | 'windows-1254';
  readonly lines: readonly FileLine[];
  readonly problems: readonly LineProblem[];
}

export const catalogueColumns = ['id', 'file_name', 'dataset_name', 'organ_type'] as const;
type Column = (typeof catalogueColumns)[number];

const maxLength: Readonly<Record<Column, number>> = {
  id: 100,
  file_name: 1024, // a path
  dataset_name: 200,
  organ_type: 200,
};

/** Read at once; between two of them other requests have their turn. */
const bytesAtOnce = 64 * 1024;
const delimiters = [',', ';', '\t'] as const;

/** @throws AppError invalid_request, with a sentence, for what is no such file */
export async function readCatalogueFile(bytes: Uint8Array): Promise<CatalogueFile> {
  const { encoding, text } = textOf(bytes);
  const heading = /^[^\r\n]*/.exec(text)?.[0] ?? '';
  const { delimiter, columns } = columnsOf(heading);
  const lines: FileLine[] = [];
  const problems: LineProblem[] = [];

  const parser = Readable.from(pieces(Buffer.from(text))).pipe(
    parse({
      delimiter,
      info: true,
      from: 2,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
    }),
  );
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      if (lines.length + problems.length >= maxCatalogueFileRows) throw refusal(sentences.tooManyRows);
      const line = info.lines;
      const cells = record.map((cell) => withoutGuard(cell).trim());
      if (cells.every((cell) => cell === '')) continue;
      const read = Object.fromEntries(columns.map((column, place) => [column, cells[place] || null]));
      const said = { ...nothingSaid, line, ...read } as FileLine;
      const reason = cells.length > columns.length ? sentences.tooManyCells : faultOf(said);
      if (reason === null) lines.push(said);
      else problems.push({ line, subject: said.file_name ?? said.id ?? '', reason });
    }
  } catch (error) {
    // Behind a quotation mark that is out of place nobody knows where a line ends.
    if (!(error instanceof CsvError)) throw error;
    problems.push({ line: lineOf(error), subject: '', reason: sentences.unreadable });
  }
  return { encoding, lines, problems };
}

const nothingSaid = { id: null, file_name: null, dataset_name: null, organ_type: null };

interface Parsed {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += bytesAtOnce) {
    yield bytes.subarray(from, from + bytesAtOnce);
    await setImmediate();
  }
}

function lineOf(error: CsvError): number {
  return typeof error.lines === 'number' ? error.lines : 1;
}

function faultOf(said: FileLine): InBothLanguages | null {
  if (said.id === null && said.file_name === null) return sentences.namesNothing;
  for (const column of catalogueColumns) {
    const value = said[column];
    if (value === null) continue;
    const longest = column === 'file_name' && said.id !== null ? 255 : maxLength[column];
    if (value.length > longest) return sentences.tooLong(column, longest);
    if (!CatalogueText.safeParse(value).success) return sentences.controlCharacter(column);
  }
  return null;
}

/** The separator under which the first line names most of our columns; unknown columns stay out under their own name. */
function columnsOf(heading: string): { delimiter: string; columns: readonly string[] } {
  const readings = delimiters.map((delimiter) => {
    const columns = heading.split(delimiter).map((name) => name.trim().replaceAll('"', '').toLowerCase());
    const known = columns.filter((name) => (catalogueColumns as readonly string[]).includes(name));
    return { delimiter, columns, known };
  });
  const best = readings.reduce((a, b) => (b.known.length > a.known.length ? b : a));
  const { known } = best;
  if (!known.includes('id') && !known.includes('file_name')) throw refusal(sentences.noKey);
  if (new Set(known).size < known.length) throw refusal(sentences.columnTwice);
  return best;
}

/** @throws AppError invalid_request for what is no text */
function textOf(bytes: Uint8Array): { encoding: CatalogueFile['encoding']; text: string } {
  if (bytes.length === 0) throw refusal(sentences.empty);
  if (bytes.includes(0)) throw refusal(sentences.notText); // a workbook, or UTF-16
  try {
    return { encoding: 'utf-8', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    const text = new TextDecoder('windows-1254').decode(bytes);
    // What this code page has no letter for is decoded as a control character.
    if (/[^\P{Cc}\t\r\n]/u.test(text)) throw refusal(sentences.notText);
    return { encoding: 'windows-1254', text };
  }
}

function refusal(message: InBothLanguages): AppError {
  return new AppError('invalid_request', { message, field: 'file' });
}

const sentences = {
  empty: { tr: 'Dosya boş.', en: 'The file is empty.' },
  notText: {
    tr: 'Bu bir CSV dosyası değil. Elektronik tablonuzda “CSV UTF-8” olarak kaydedip yeniden deneyin.',
    en: 'This is not a CSV file. Save it as “CSV UTF-8” in your spreadsheet program and try again.',
  },
  noKey: {
    tr: 'İlk satırda “id” ya da “file_name” adlı bir sütun yok.',
    en: 'The first line names neither a column “id” nor one called “file_name”.',
  },
  columnTwice: {
    tr: 'İlk satırda aynı sütun iki kez geçiyor.',
    en: 'The first line names a column twice.',
  },
  tooManyRows: {
    tr: `Dosyada ${maxCatalogueFileRows.toLocaleString('tr')} satırdan fazlası var. Lütfen bölüp ayrı ayrı yükleyin.`,
    en: `The file has more than ${maxCatalogueFileRows.toLocaleString('en')} lines. Please split it and send the parts.`,
  },
  unreadable: {
    tr: 'Tırnak işareti yerinde değil; dosyanın gerisi okunamıyor.',
    en: 'A quotation mark is out of place; the rest of the file cannot be read.',
  },
  tooManyCells: {
    tr: 'Satırda, ilk satırda adı geçenden çok sütun var.',
    en: 'The line has more columns than the first line names.',
  },
  namesNothing: {
    tr: 'Satır hangi slaytla ilgili olduğunu söylemiyor.',
    en: 'The line does not say which slide it is about.',
  },
  tooLong: (column: Column, longest: number) => ({
    tr: `“${column}” en fazla ${longest} karakter olabilir.`,
    en: `“${column}” may have at most ${longest} characters.`,
  }),
  controlCharacter: (column: Column) => ({
    tr: `“${column}” satır sonu ya da denetim karakteri içeremez.`,
    en: `“${column}” may have no line break and no control character.`,
  }),
};
