/**
 * CSV for spreadsheet programs. Sources: RFC 4180 (fields, quotes, line ends); OWASP, "CSV Injection" (a spreadsheet must not
 * evaluate a text that begins like a formula).
 */

/** The byte order mark. If a file begins with this mark, spreadsheet programs read it as UTF-8, which Turkish letters need. */
export const csvByteOrderMark = '\uFEFF';

export type CsvValue = string | number | null | undefined;

/** Returns a line of comma-separated fields, of which a spreadsheet program evaluates none as a formula. */
export function formatCsvLine(values: readonly CsvValue[]): string {
  return `${values.map(formatField).join(',')}\r\n`;
}

function formatField(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const escaped = escapeFormulas(value);
  return /[",\t\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}

/** Characters that start a formula, with their small and full-width forms, which spreadsheet programs also accept. */
const formulaStart = '[=+\\-@\\ufe62\\ufe63\\ufe66\\ufe6b\\uff0b\\uff0d\\uff1d\\uff20]';
/**
 * Positions at which a spreadsheet program may start a cell. With Turkish settings, it separates cells by semicolons and
 * ignores the quotes of a comma-separated file, so a semicolon, tab or line end in a text also starts a cell. Spaces and
 * quotes before a formula are ignored.
 */
const cellStart = '(?:^|[;\\t\\r\\n])["\\s]*';
// The lookbehind is last, so that it runs only where a formula starts: otherwise many line ends would take quadratic time.
const unescapedFormula = new RegExp(`(?=${formulaStart})(?<=${cellStart})`, 'g');
const escapedFormula = new RegExp(`'(?=${formulaStart})(?<=${cellStart}')`, 'g');

/** Puts an apostrophe before each start of a formula (`=1+1` becomes `'=1+1`), and before a leading tab or line end. */
function escapeFormulas(text: string): string {
  return text.replace(/^(?=[\t\r\n])/, "'").replace(unescapedFormula, "'");
}

/** Reverses `escapeFormulas`: removes the apostrophe before each start of a formula, and before a leading tab or line end. */
export function unescapeFormulas(text: string): string {
  return text.replace(escapedFormula, '').replace(/^'(?=[\t\r\n])/, '');
}
