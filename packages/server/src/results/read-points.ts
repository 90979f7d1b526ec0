/**
 * Reads points, such as cell centres, from a text table with column names in its first row. Commas, semicolons or tabs separate the
 * columns. Unless commas separate them, numbers may have decimal commas, as Excel writes them in Turkish.
 */
import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { prependPart } from './prepend-part.ts';
import { ImportRejectedError } from './problems.ts';
import type { ResultObject } from './read-objects.ts';

const maxRecordBytes = 64 * 1024; // maximum size of a row of the table
const maxColumns = 512;
/** Largest absolute value of a coordinate, in the unit of the table. */
const maxCoordinate = 1e8;
/** Maximum length of names, classes and ids in characters; longer ones are cut off. */
const maxTextLength = 200;

/** Possible names of the column with x, in lower case. In this and the lists below, the first name that occurs in the table is used. */
const xNames = ['x', 'cx', 'x_px', 'centroid_x', 'x_centroid', 'centroid x px', 'centroid x', 'center_x'];
const yNames = ['y', 'cy', 'y_px', 'centroid_y', 'y_centroid', 'centroid y px', 'centroid y', 'center_y'];
/** Names of the columns for x and y in micrometres, as in QuPath's table of detections. */
const micrometreNames = [
  ['centroid x µm', 'x_um', 'centroid x um'],
  ['centroid y µm', 'y_um', 'centroid y um'],
] as const;
const classNames = ['class', 'classification', 'cell_type', 'label', 'type'];
const idNames = ['object id', 'id', 'cell_id'];

/** Indices of the columns; -1 for a column that the table does not have. */
interface Columns {
  readonly x: number;
  readonly y: number;
  /** Pixels per unit of the coordinates. */
  readonly scale: { readonly x: number; readonly y: number };
  readonly className: number;
  readonly id: number;
  /** Names of all columns, which become the names of the measurements. */
  readonly names: readonly string[];
}

/**
 * Emits one point for each row of the table, and skips empty rows. A table with a row that has more or fewer cells than the header
 * counts as damaged; this also rejects decimal commas in a table whose columns are separated by commas.
 *
 * @param mpp pixel size of the slide, for coordinates in micrometres; null when unknown
 * @throws ImportRejectedError unknown_format, not_registered, bad_geometry, damaged
 */
export async function readPoints(
  file: AsyncGenerator<Buffer>,
  mpp: { readonly x: number; readonly y: number } | null,
  emit: (object: ResultObject) => void,
): Promise<void> {
  const start = await readHeader(file);
  const delimiter = delimiterOf(start.toString('utf8', 0, maxRecordBytes));
  const whole = prependPart({ done: false, value: start }, file);
  const rows = Readable.from(whole, { objectMode: false }).pipe(
    parse({
      delimiter,
      bom: true,
      trim: true,
      relax_column_count: true, // `readRow` checks the count, after the header
      skip_empty_lines: true,
      max_record_size: maxRecordBytes,
    }),
  );
  let readRow: ((row: readonly string[]) => ResultObject) | null = null; // null before the header
  try {
    for await (const row of rows as AsyncIterable<readonly string[]>) {
      if (readRow === null) readRow = pointReader(row, mpp, { hasDecimalCommas: delimiter !== ',' });
      else emit(readRow(row));
    }
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('CSV_')) throw error;
    throw new ImportRejectedError(
      readRow === null ? 'unknown_format' : 'damaged',
      'The table cannot be parsed',
    );
  }
  if (readRow === null) throw new ImportRejectedError('unknown_format', 'The file is empty');
}

/** Reads parts of a table until they contain the whole header or `maxRecordBytes`. @returns the bytes of these parts */
async function readHeader(file: AsyncGenerator<Buffer>): Promise<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < maxRecordBytes && !start.includes('\n')) {
    const part = await file.next();
    if (part.done) break;
    start = Buffer.concat([start, part.value]);
  }
  return start;
}

/** Returns the delimiter that the first line of a table contains most often: a comma, a semicolon or a tab. */
function delimiterOf(table: string): string {
  const [header = ''] = table.split('\n', 1);
  const countOf = (delimiter: string) => header.split(delimiter).length;
  return [';', '\t'].reduce((best, each) => (countOf(each) > countOf(best) ? each : best), ',');
}

/**
 * Returns a function that converts a row to a point, for a table with this header. The function throws ImportRejectedError damaged
 * (the row has more or fewer cells than the header) and bad_geometry.
 *
 * @param format `hasDecimalCommas`: the numbers may have decimal commas
 * @throws ImportRejectedError unknown_format, not_registered
 */
export function pointReader(
  header: readonly string[],
  mpp: { readonly x: number; readonly y: number } | null,
  { hasDecimalCommas }: { readonly hasDecimalCommas: boolean },
): (row: readonly string[]) => ResultObject {
  const columns = columnsOf(header, mpp);
  const parseNumber = (text: string) => Number(hasDecimalCommas ? text.replace(',', '.') : text);
  return (row) => {
    if (row.length !== header.length)
      throw new ImportRejectedError('damaged', `A row has ${row.length} cells, the header ${header.length}`);
    return pointOf(row, columns, parseNumber);
  };
}

function columnsOf(
  header: readonly string[],
  mpp: { readonly x: number; readonly y: number } | null,
): Columns {
  if (header.length > maxColumns)
    throw new ImportRejectedError('unknown_format', 'The table has too many columns');
  const lowerCaseNames = header.map((name) => name.toLowerCase());
  const findColumn = (possibleNames: readonly string[]) =>
    possibleNames.map((name) => lowerCaseNames.indexOf(name)).find((column) => column >= 0) ?? -1;
  const otherColumns = { className: findColumn(classNames), id: findColumn(idNames), names: header };
  const [x, y] = [findColumn(xNames), findColumn(yNames)];
  if (x >= 0 && y >= 0) return { x, y, scale: { x: 1, y: 1 }, ...otherColumns };
  const [micrometreX, micrometreY] = [findColumn(micrometreNames[0]), findColumn(micrometreNames[1])];
  if (micrometreX < 0 || micrometreY < 0) {
    throw new ImportRejectedError('unknown_format', 'The table has no columns x and y');
  }
  if (mpp === null) throw new ImportRejectedError('not_registered', 'The slide has no pixel size');
  return { x: micrometreX, y: micrometreY, scale: { x: 1 / mpp.x, y: 1 / mpp.y }, ...otherColumns };
}

/** Converts a row to a point. Each other column whose value is a number is a measurement. */
function pointOf(
  row: readonly string[],
  { x, y, scale, className, id, names }: Columns,
  parseNumber: (text: string) => number,
): ResultObject {
  const measurements: [name: string, value: number][] = [];
  for (const [column, text] of row.entries()) {
    const name = names[column];
    const isMeasurement = column !== x && column !== y && column !== className && column !== id;
    if (!isMeasurement || !name || text === '') continue;
    const value = parseNumber(text);
    if (Number.isFinite(value)) measurements.push([name.slice(0, maxTextLength), value]);
  }
  return {
    rings: [],
    x: coordinateFrom(row[x], parseNumber) * scale.x,
    y: coordinateFrom(row[y], parseNumber) * scale.y,
    className: row[className]?.slice(0, maxTextLength) || null,
    classColor: null,
    id: row[id]?.slice(0, maxTextLength) || null,
    measurements,
  };
}

function coordinateFrom(text: string | undefined, parseNumber: (text: string) => number): number {
  const value = text === undefined || text === '' ? Number.NaN : parseNumber(text);
  // The negated comparison also rejects NaN.
  if (!(Math.abs(value) <= maxCoordinate)) {
    throw new ImportRejectedError('bad_geometry', 'A coordinate is not a number, or too far away');
  }
  return value;
}
