/** Writes a CSV table (RFC 4180): one row per annotation, and one column for each measurement that any annotation has. */
import { measureGeometry, type PixelSize } from '../geometry/measure.ts';
import { roundCoordinate } from '../geometry/translate.ts';
import { encodeMeasurement } from '../model/measurement-json.ts';
import type { Features } from './export-types.ts';

const columns = [
  'ID',
  'Object type',
  'Class',
  'Name',
  'Geometry',
  'Centroid X px',
  'Centroid Y px',
  'Area px^2',
  'Area µm^2',
  'Length px', // length of a line or perimeter of an area
  'Perimeter µm', // length of a line or perimeter of an area, in micrometres
] as const;

/** Yields the lines of the table. The file begins with a byte order mark, so that spreadsheet programs recognise UTF-8. */
export function* writeCsv(features: Features, pixelSize: PixelSize | null): Generator<string> {
  const measurementNames = new Set<string>();
  for (const { properties } of features) {
    for (const name of Object.keys(properties.measurements ?? {})) measurementNames.add(name);
  }
  yield `\ufeff${toLine([...columns, ...measurementNames])}`;
  for (const { id, geometry, properties } of features) {
    const { areaPx, areaUm2, lengthPx, lengthUm, centroid } = measureGeometry(geometry, pixelSize);
    const measurements = new Map(Object.entries(properties.measurements ?? {}));
    yield toLine([
      id,
      properties.objectType,
      properties.classification?.names.join(': ') ?? '',
      properties.name ?? '',
      geometry.type === 'Polygon' && geometry.isEllipse ? 'Ellipse' : geometry.type,
      roundCoordinate(centroid[0]),
      roundCoordinate(centroid[1]),
      areaPx,
      areaUm2,
      lengthPx,
      lengthUm,
      ...[...measurementNames].map((name) => measurements.get(name) ?? null),
    ]);
  }
}

function toLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

/** Quotes a string with a separator (`;` in some locales), quote or line end, or with leading or trailing space. */
function toCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(encodeMeasurement(value));
  const text = guardFormulas(value);
  return /[",\r\n\t;]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Prevents CSV injection: puts an apostrophe before each `=`, `+`, `-`, `@` (also in their small and full-width forms) and `|` that
 * would start a formula. These are the characters at the start of the text, and those after separators and line ends inside it,
 * because a program with other settings may begin a new cell there. White space and quotes before the character are skipped.
 */
function guardFormulas(text: string): string {
  // The lookbehind is last, so that it runs only where a formula starts: otherwise many line ends would take quadratic time.
  return text.replace(
    /(?=[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20|])(?<=(?:^|[,;\t\r\n])[\s"']*)/g,
    "'",
  );
}
