/**
 * The audit trail for spreadsheets. Sources: RFC 4180 (fields, quotes, line ends); OWASP, "CSV Injection" (a text
 * that begins like a formula is not to become one).
 */
import {
  type AuditEntry,
  AuditResult,
  auditActionLabel,
  auditResults,
  type InBothLanguages,
  type Language,
} from '@lamina/contract';

/** Spreadsheets take a file for UTF-8, and so show Turkish letters, when it begins with a byte order mark. */
export const csvStart = '\uFEFF';

type Value = string | number | null | undefined;

type Column = readonly [heading: InBothLanguages, value: (entry: AuditEntry, language: Language) => Value];

const columns: readonly Column[] = [
  [{ tr: 'Sıra', en: 'No.' }, ({ seq }) => seq],
  [{ tr: 'Zaman (UTC)', en: 'Time (UTC)' }, ({ at }) => at],
  [{ tr: 'İşlem', en: 'Action' }, ({ action }, language) => auditActionLabel(action, language)],
  [{ tr: 'Sonuç', en: 'Result' }, ({ result }, language) => resultLabel(result, language)],
  [{ tr: 'Yapan', en: 'Actor' }, ({ actor }) => actor && (actor.displayName ?? actor.email)],
  [{ tr: 'Yapanın e-postası', en: "Actor's e-mail" }, ({ actor }) => actor?.email],
  [{ tr: 'Yapanın kimliği', en: "Actor's ID" }, ({ actor }) => actor?.uid],
  [{ tr: 'Hedef', en: 'Target' }, ({ target }) => targetName(target)],
  [
    { tr: 'Hedefin kimliği', en: "Target's ID" },
    ({ target }) => target && (target.kind === 'account' ? target.uid : target.id),
  ],
  [
    { tr: 'Ayrıntı', en: 'Detail' },
    ({ detail }) => (Object.keys(detail).length === 0 ? null : JSON.stringify(detail)),
  ],
  [{ tr: 'Adres', en: 'Address' }, ({ address }) => address],
  [{ tr: 'İstek', en: 'Request' }, ({ requestId }) => requestId],
  [{ tr: 'İşlem kodu', en: 'Action code' }, ({ action }) => action],
  [{ tr: 'Zincir özeti', en: 'Chain hash' }, ({ hash }) => hash],
];

export function csvHeader(language: Language): string {
  return line(columns.map(([heading]) => heading[language]));
}

export function csvLine(entry: AuditEntry, language: Language): string {
  return line(columns.map(([, value]) => value(entry, language)));
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

function resultLabel(result: string, language: Language): string {
  const known = AuditResult.safeParse(result);
  return known.success ? auditResults[known.data][language] : result;
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
