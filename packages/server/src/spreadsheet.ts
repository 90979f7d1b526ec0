/**
 * Files for spreadsheets. Sources: RFC 4180 (fields, quotes, line ends); OWASP, "CSV Injection" (a text that begins
 * like a formula is not to become one).
 */

/** Spreadsheets take a file for UTF-8, and so show Turkish letters, when it begins with a byte order mark. */
export const csvStart = '\uFEFF';

export type CsvValue = string | number | null | undefined;

export function csvLineOf(values: readonly CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`;
}

function field(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const harmless = guarded(value);
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

// Where a list is separated by semicolons, as in Turkish, a spreadsheet sees a cell begin behind each of them.
function guarded(text: string): string {
  return text.replace(/(^|;\s*)(?=[=+\-@\t\r\n])/g, "$1'");
}

/** As it was before it was written into a file. */
export function withoutGuard(text: string): string {
  return text.replace(/(^|;\s*)'(?=[=+\-@\t\r\n])/g, '$1');
}
