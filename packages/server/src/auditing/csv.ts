/**
 * The audit trail for spreadsheets. Sources: RFC 4180 (fields, quotes, line ends); OWASP, "CSV Injection" (a text
 * that begins like a formula is not to become one).
 */
import { type AuditEntry, AuditResult, auditActionLabel, auditResults } from '@lamina/contract';

/** Spreadsheets take a file for UTF-8, and so show Turkish letters, when it begins with a byte order mark. */
export const csvStart = '\uFEFF';

type Value = string | number | null | undefined;

const columns: readonly (readonly [heading: string, value: (entry: AuditEntry) => Value])[] = [
  ['Sıra', ({ seq }) => seq],
  ['Zaman (UTC)', ({ at }) => at],
  ['İşlem', ({ action }) => auditActionLabel(action)],
  ['Sonuç', ({ result }) => resultLabel(result)],
  ['Yapan', ({ actor }) => actor && (actor.displayName ?? actor.email)],
  ['Yapanın e-postası', ({ actor }) => actor?.email],
  ['Yapanın kimliği', ({ actor }) => actor?.uid],
  ['Hedef', ({ target }) => targetName(target)],
  ['Hedefin kimliği', ({ target }) => target && (target.kind === 'account' ? target.uid : target.id)],
  ['Ayrıntı', ({ detail }) => (Object.keys(detail).length === 0 ? null : JSON.stringify(detail))],
  ['Adres', ({ address }) => address],
  ['İstek', ({ requestId }) => requestId],
  ['İşlem kodu', ({ action }) => action],
  ['Zincir özeti', ({ hash }) => hash],
];

export const csvHeader = line(columns.map(([heading]) => heading));

export function csvLine(entry: AuditEntry): string {
  return line(columns.map(([, value]) => value(entry)));
}

function line(values: readonly Value[]): string {
  return `${values.map(field).join(',')}\r\n`;
}

function field(value: Value): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  // Where a list is separated by semicolons, as in Turkish, a spreadsheet sees a cell begin behind each of them.
  const harmless = value.replace(/(^|;\s*)(?=[=+\-@\t\r\n])/g, "$1'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function resultLabel(result: string): string {
  const known = AuditResult.safeParse(result);
  return known.success ? auditResults[known.data] : result;
}

function targetName(target: AuditEntry['target']): string | null {
  switch (target?.kind) {
    case 'account':
      return target.displayName ?? target.email;
    case 'image':
      return target.fileName;
    default:
      return null;
  }
}
