/** Formats audit events as CSV for spreadsheets, with headings and labels in the language of the administrator. */
import {
  type AuditEntry,
  AuditResult,
  auditActionLabel,
  auditResults,
  type Bilingual,
  type Language,
} from '@lamina/contract';
import { type CsvValue, formatCsvLine } from '../platform/csv.ts';

type Column = readonly [heading: Bilingual, value: (entry: AuditEntry, language: Language) => CsvValue];

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
  return formatCsvLine(columns.map(([heading]) => heading[language]));
}

export function csvLine(entry: AuditEntry, language: Language): string {
  return formatCsvLine(columns.map(([, value]) => value(entry, language)));
}

/** Returns the label of a result; for a result that this version does not know, the stored code. */
function resultLabel(result: string, language: Language): string {
  const parsed = AuditResult.safeParse(result);
  return parsed.success ? auditResults[parsed.data][language] : result;
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
