import { type AuditEntry, errors, isErrorCode } from '@lamina/contract';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { formatBytes } from '../../formatting/format-bytes.ts';
import { formatFigure, formatNumber } from '../../formatting/numbers.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { roleLabel, statusLabel } from '../../language/texts.ts';
import { detailLabels, detailValues, fieldLabels, detailTexts as texts } from './texts.ts';

/** Details that another column shows, or that only programs need. */
const omittedDetails = new Set(['file_name', 'before_seq', 'before_hash', 'before']);

/** Returns the details of an audit entry, each as a short text. A detail without a label is shown with its name. */
// oxlint-disable-next-line lamina/max-own-lines -- a flat list with one step for each kind of detail
export function detailOf({ action, detail }: Pick<AuditEntry, 'action' | 'detail'>): readonly string[] {
  if (action === 'settings-changed') {
    const { changed } = detail;
    return [
      typeof changed === 'string'
        ? `${texts.changed}: ${changed.split(' ').join(', ')}`
        : texts.firstSettings,
    ];
  }
  const handledDetails = new Set(omittedDetails);
  const sentences: string[] = [];
  /** Returns the values of details, and excludes these details from the generic sentences at the end. */
  const take = (...names: readonly string[]) => {
    for (const name of names) handledDetails.add(name);
    return names.map((name) => detail[name]);
  };

  const [code] = take('code');
  if (typeof code === 'string')
    sentences.push(isErrorCode(code) ? errors[code][chosenLanguageOr('tr')] : code);
  const [statusBefore, status] = take('status_before', 'status');
  sentences.push(...changeOf(texts.status, statusBefore, status, statusLabel));
  const [roleBefore, role] = take('role_before', 'role');
  sentences.push(...changeOf(texts.role, roleBefore, role, roleLabel));
  const [fields] = take('fields');
  if (typeof fields === 'string') {
    // Fields whose old and new values are known have their own sentence below.
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
    const [before, after] = take(`${name}_before`, `${name}_after`).map((value) => value ?? texts.none);
    sentences.push(`${label}: ${before} → ${after}`);
  }
  for (const [name, label] of [
    ['mpp', texts.pixelSize],
    ['objective_power', texts.objective],
  ] as const) {
    if (!(`${name}_after` in detail)) continue;
    const [before, after] = take(`${name}_before`, `${name}_after`).map((value) =>
      typeof value === 'number' ? formatFigure(value) : texts.none,
    );
    sentences.push(`${label}: ${before} → ${after}`);
  }
  if (action === 'image-opened' || action === 'image-viewed') {
    const [requestKind] = take('by'); // the kind of request that opened the slide: descriptor, thumbnail or tile
    if (requestKind === 'thumbnail') sentences.push(texts.thumbnailAlone);
    if (requestKind === 'tile') sentences.push(texts.tileFirst);
  }
  if ('dataset_after' in detail) {
    const [before, after] = take('dataset_before', 'dataset_after').map((name) => name ?? texts.noDataset);
    sentences.push(`${texts.dataset}: ${before} → ${after}`);
  }
  if ('dataset_in_files' in detail) {
    const [dataset, inFiles] = take('dataset', 'dataset_in_files').map((name) => name ?? texts.noDataset);
    sentences.push(`${texts.dataset}: ${dataset}`, `${texts.datasetInFiles}: ${inFiles}`);
  }
  const [call] = take('call');
  if (typeof call === 'string') sentences.push(`${texts.call}: ${call}`);
  const [count] = take('count');
  if (typeof count === 'number') sentences.push(texts.count(formatNumber(count)));
  const [first, last] = take('first_at', 'last_at');
  if (typeof first === 'string' && typeof last === 'string') {
    sentences.push(texts.between(formatDateAndTime(first), formatDateAndTime(last)));
  }
  const [kinds] = take('kinds');
  if (typeof kinds === 'string') sentences.push(`${texts.kinds}: ${kinds}`);
  if (action === 'audit-pruned') {
    const [entries] = take('entries');
    if (typeof entries === 'number') sentences.push(texts.pruned(formatNumber(entries)));
  }
  if (action === 'catalogue-imported') {
    // `unchanged` has no place in the sentence; it is taken so that it does not get a sentence of its own.
    const counts = take('rows', 'changed', 'unknown', 'unchanged').map((value) =>
      typeof value === 'number' ? formatNumber(value) : '0',
    );
    const [rows = '0', changed = '0', unknown = '0'] = counts;
    sentences.push(texts.imported(rows, changed, unknown));
  }
  const [path] = take('upload_path');
  if (typeof path === 'string') {
    const [dataset, files, size] = take('dataset', 'files', 'size_bytes');
    sentences.push(`${String(dataset)} › ${path}`);
    sentences.push(texts.uploaded(formatNumber(Number(files)), formatBytes(Number(size))));
  }
  if ('expires_at' in detail) {
    const [end] = take('expires_at');
    const date = typeof end === 'string' ? formatDateAndTime(end) : texts.noEnd;
    sentences.push(`${texts.endDate}: ${date}`);
  }
  for (const [name, value] of Object.entries(detail)) {
    if (handledDetails.has(name) || value === null) continue;
    sentences.push(`${detailLabels[name] ?? name}: ${valueText(value)}`);
  }
  return sentences;
}

const isoTime = /^\d{4}-\d{2}-\d{2}T/;

function valueText(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  if (typeof value === 'number') return formatNumber(value);
  return isoTime.test(value) ? formatDateAndTime(value) : (detailValues[value] ?? value);
}

/**
 * Returns the prefix of the details that contain the old and the new value of a field. For the field 'organ_type' these details are
 * 'organ_before' and 'organ_after', so the prefix is 'organ'. Only 'file_name' is its own prefix.
 */
function valuePrefixOf(field: string): string {
  return field === 'file_name' ? field : field.replace(/_(name|type)$/, '');
}

/**
 * Returns one sentence about a change, with both values or with the only known one. Returns none when both values are the same or
 * neither is known.
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
