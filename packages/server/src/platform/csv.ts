/**
 * Writes CSV for spreadsheet programs. Sources: RFC 4180 (fields, quotes, line ends); OWASP, "CSV Injection" (a spreadsheet must
 * not evaluate a text that begins like a formula).
 */

/** Byte order mark: spreadsheets read a file that begins with it as UTF-8, which Turkish letters need. */
export const csvByteOrderMark = '\uFEFF';

export type CsvValue = string | number | null | undefined;

export function formatCsvLine(values: readonly CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`;
}

function field(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const escaped = escapeFormulas(value);
  return /[",\t\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}

/** Characters that start a formula; spreadsheets also accept the small and the full-width forms. */
const formulaStart = '[=+\\-@\\ufe62\\ufe63\\ufe66\\ufe6b\\uff0b\\uff0d\\uff1d\\uff20]';
/**
 * Positions at which a spreadsheet may start a cell. A spreadsheet in Turkish separates cells by semicolons and ignores the quotes of
 * a comma-separated file, so a semicolon, tab or line end in a text also starts a cell. Spaces and quotes before a formula are skipped.
 */
const cellStart = '((?:^|[;\\t\\r\\n])["\\s]*)';
const unguarded = new RegExp(`${cellStart}(?=${formulaStart})`, 'g');
const guard = new RegExp(`${cellStart}'(?=${formulaStart})`, 'g');

/** Puts an apostrophe before everything that a spreadsheet would evaluate as a formula. */
function escapeFormulas(text: string): string {
  return text.replace(/^(?=[\t\r\n])/, "'").replace(unguarded, "$1'");
}

/** Reverses `escapeFormulas`. */
export function stripFormulaGuard(text: string): string {
  return text.replace(guard, '$1').replace(/^'(?=[\t\r\n])/, '');
}
