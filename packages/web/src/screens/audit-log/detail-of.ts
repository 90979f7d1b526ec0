import {
  ApiTokenScope,
  type AuditEntry,
  AuditResult,
  apiTokenScopes,
  auditActionLabel,
  auditResults,
  errors,
  isErrorCode,
} from '@lamina/contract';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { formatBytes } from '../../formatting/format-bytes.ts';
import { formatMeasuredValue, formatNumber } from '../../formatting/numbers.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { roleLabel, statusLabel } from '../../language/texts.ts';
import { detailCodes, detailLabels, detailValues, fieldLabels, detailTexts as texts } from './texts.ts';

/** Details that the table omits. The target column shows `file_name`; the others say where pruning ended, which only programs need. */
const omittedDetails = new Set(['file_name', 'before_seq', 'before_hash', 'before']);

/**
 * Returns the details of an audit entry as sentences for the table of the audit log. Details with a special format come
 * first. The other details follow as "label: value", or as "name: value" when they have no label.
 */
// oxlint-disable-next-line lamina/max-own-lines -- a flat list with one step for each kind of detail
export function detailOf({ action, detail }: Pick<AuditEntry, 'action' | 'detail'>): readonly string[] {
  if (action === 'settings-changed') {
    const { changed } = detail; // names separated by spaces; missing in the entry of the first start
    return [
      typeof changed === 'string'
        ? `${texts.changed}: ${changed.split(' ').join(', ')}`
        : texts.firstSettings,
    ];
  }
  const handledDetails = new Set(omittedDetails);
  const sentences: string[] = [];
  /** Returns the values of details, and excludes these details from the "label: value" sentences at the end. */
  const consume = (...names: readonly string[]) => {
    for (const name of names) handledDetails.add(name);
    return names.map((name) => detail[name]);
  };

  const [code] = consume('code'); // error code of a rejected or failed action
  if (typeof code === 'string')
    sentences.push(isErrorCode(code) ? errors[code][chosenLanguageOr('tr')] : code); // `errors` has a sentence in each language
  const [statusBefore, status] = consume('status_before', 'status');
  sentences.push(...changeOf(texts.status, statusBefore, status, statusLabel));
  const [roleBefore, role] = consume('role_before', 'role');
  sentences.push(...changeOf(texts.role, roleBefore, role, roleLabel));
  const [fields] = consume('fields');
  if (typeof fields === 'string') {
    // The list omits the fields whose old and new values are known, because each of these has its own sentence below.
    const names = fields.split(' ').filter((name) => !(`${valuePrefixOf(name)}_after` in detail));
    if (names.length > 0) {
      sentences.push(`${texts.fields}: ${names.map((name) => fieldLabels[name] ?? name).join(', ')}`);
    }
  }
  for (const [name, label] of [
    ['file_name', texts.fileName],
    ['organ', texts.organ],
  ] as const) {
    if (!(`${name}_after` in detail)) continue;
    const [before, after] = consume(`${name}_before`, `${name}_after`).map((value) => value ?? texts.none);
    sentences.push(`${label}: ${before} → ${after}`);
  }
  for (const [name, label] of [
    ['mpp', texts.pixelSize],
    ['objective_power', texts.objective],
  ] as const) {
    if (!(`${name}_after` in detail)) continue;
    // 'tr': the language of this screen until the user chooses one
    const [before, after] = consume(`${name}_before`, `${name}_after`).map((value) =>
      typeof value === 'number' ? formatMeasuredValue(value, 'tr') : texts.none,
    );
    sentences.push(`${label}: ${before} → ${after}`);
  }
  if (detail.access === 'open') consume('listed'); // says whether members see that a restricted dataset exists
  if (action === 'image-opened' || action === 'image-viewed') {
    const [requestKind] = consume('by'); // the kind of request that opened the slide: descriptor, thumbnail or tile
    if (requestKind === 'thumbnail') sentences.push(texts.onlyThumbnail);
    if (requestKind === 'tile') sentences.push(texts.tilesWithoutDescriptor);
  }
  if ('dataset_after' in detail) {
    const [before, after] = consume('dataset_before', 'dataset_after').map((name) => name ?? texts.noDataset);
    sentences.push(`${texts.dataset}: ${before} → ${after}`);
  }
  // The metadata files of a slide name another dataset than the catalogue does, but the slide stays in the dataset of the catalogue.
  if ('dataset_in_files' in detail) {
    const [dataset, inFiles] = consume('dataset', 'dataset_in_files').map((name) => name ?? texts.noDataset);
    sentences.push(`${texts.dataset}: ${dataset}`, `${texts.datasetInFiles}: ${inFiles}`);
  }
  const [call] = consume('call'); // method and path of an API call with an API token
  if (typeof call === 'string') sentences.push(`${texts.call}: ${call}`);
  // One entry can stand for many rejected requests. It then contains their number, their first and last time, and their kinds.
  const [count] = consume('count');
  if (typeof count === 'number') sentences.push(texts.count(formatNumber(count)));
  const [first, last] = consume('first_at', 'last_at');
  if (typeof first === 'string' && typeof last === 'string') {
    sentences.push(texts.firstAndLast(formatDateAndTime(first), formatDateAndTime(last)));
  }
  const [kinds] = consume('kinds');
  if (typeof kinds === 'string') sentences.push(`${texts.kinds}: ${kinds}`);
  if (action === 'original-downloaded') {
    const [firstByte, lastByte] = consume('from', 'to');
    if (typeof firstByte === 'number' && typeof lastByte === 'number') {
      sentences.push(texts.byteRange(formatNumber(firstByte), formatNumber(lastByte)));
    }
  }
  if (action === 'audit-exported') {
    const [since, before] = consume('from', 'to'); // times of the filter
    if (typeof since === 'string') sentences.push(`${texts.since}: ${formatDateAndTime(since)}`);
    if (typeof before === 'string') sentences.push(`${texts.before}: ${formatDateAndTime(before)}`);
  }
  if (action === 'audit-pruned') {
    const [entries] = consume('entries');
    if (typeof entries === 'number') sentences.push(texts.pruned(formatNumber(entries)));
  }
  if (action === 'catalogue-imported') {
    // The sentence omits `unchanged`, which is consumed only to exclude it from the "label: value" sentences.
    const counts = consume('rows', 'changed', 'unknown', 'unchanged').map((value) =>
      typeof value === 'number' ? formatNumber(value) : '0',
    );
    const [rows = '0', changed = '0', unknown = '0'] = counts;
    sentences.push(texts.imported(rows, changed, unknown));
  }
  const [path] = consume('upload_path');
  if (typeof path === 'string') {
    const [dataset, files, size] = consume('dataset', 'files', 'size_bytes');
    sentences.push(`${String(dataset)} › ${path}`);
    sentences.push(texts.uploaded(formatNumber(Number(files)), formatBytes(Number(size))));
  }
  if ('expires_at' in detail) {
    const [end] = consume('expires_at');
    const date = typeof end === 'string' ? formatDateAndTime(end) : texts.noEnd;
    sentences.push(`${texts.endDate}: ${date}`);
  }
  for (const [name, value] of Object.entries(detail)) {
    if (handledDetails.has(name) || value === null) continue;
    sentences.push(`${detailLabels[name] ?? name}: ${valueText(name, value)}`);
  }
  return sentences;
}

/** Matches the beginning of an ISO timestamp, such as '2026-11-21T14:05:09.000Z'. */
const isoTime = /^\d{4}-\d{2}-\d{2}T/;

/** Returns the text of a detail without a special format. */
function valueText(name: string, value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  if (typeof value === 'number') return formatNumber(value);
  return isoTime.test(value) ? formatDateAndTime(value) : codeText(name, value);
}

/** Returns the text for a code in a detail. A value that is not a code, such as a title, is returned unchanged. */
function codeText(name: string, code: string): string {
  const language = chosenLanguageOr('tr');
  const text = detailCodes[name]?.[code];
  if (text !== undefined) return text;
  switch (name) {
    case 'what': // what was attempted too often: a kind of attempt or an action
    case 'action':
      return auditActionLabel(code, language);
    case 'result': {
      const { data: result } = AuditResult.safeParse(code);
      return result === undefined ? code : auditResults[result][language];
    }
    case 'scopes':
      return code
        .split(' ')
        .map((scope) => {
          const { data: known } = ApiTokenScope.safeParse(scope);
          return known === undefined ? scope : apiTokenScopes[known][language];
        })
        .join(', ');
    default:
      return detailValues[code] ?? code;
  }
}

/**
 * Returns the prefix of the details with the old and the new value of a field. For the field 'organ_type', these details are
 * 'organ_before' and 'organ_after', so the prefix is 'organ'. For 'file_name', they are 'file_name_before' and 'file_name_after'.
 */
function valuePrefixOf(field: string): string {
  return field === 'file_name' ? field : field.replace(/_(name|type)$/, '');
}

/**
 * Returns one sentence about a change: "Status: pending → active", or "Status: active" when only one of the values is known. Returns no
 * sentence when both values are the same or unknown.
 */
function changeOf(
  subject: string,
  before: unknown,
  after: unknown,
  label: (value: string) => string,
): readonly string[] {
  if (typeof before === 'string' && typeof after === 'string') {
    return before === after ? [] : [`${subject}: ${label(before)} → ${label(after)}`];
  }
  const knownValue = typeof after === 'string' ? after : before;
  return typeof knownValue === 'string' ? [`${subject}: ${label(knownValue)}`] : [];
}
