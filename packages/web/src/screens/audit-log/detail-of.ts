import { type AuditEntry, errors, isErrorCode } from '@lamina/contract';
import { formatBytes } from '../../format-bytes.ts';
import { languageNow } from '../../language.ts';
import { formatNumber } from '../../numbers.ts';
import { roleLabel, statusLabel } from '../../texts.ts';
import { fieldLabels, detailTexts as texts } from './texts.ts';

/** For programs, or said elsewhere in the row. */
const untold = new Set(['file_name', 'before_seq', 'before_hash', 'before']);

/** What else an entry says, one short sentence each. What nobody has words for is shown as it stands. */
export function detailOf({ action, detail }: Pick<AuditEntry, 'action' | 'detail'>): readonly string[] {
  if (action === 'settings-changed') {
    const { changed } = detail;
    return [
      typeof changed === 'string'
        ? `${texts.changed}: ${changed.split(' ').join(', ')}`
        : texts.firstSettings,
    ];
  }
  const told = new Set(untold);
  const sentences: string[] = [];
  const take = (...names: readonly string[]) => {
    for (const name of names) told.add(name);
    return names.map((name) => detail[name]);
  };

  const [code] = take('code');
  if (typeof code === 'string') sentences.push(isErrorCode(code) ? errors[code][languageNow('tr')] : code);
  const [statusBefore, status] = take('status_before', 'status');
  sentences.push(...changeOf(texts.status, statusBefore, status, statusLabel));
  const [roleBefore, role] = take('role_before', 'role');
  sentences.push(...changeOf(texts.role, roleBefore, role, roleLabel));
  const [fields] = take('fields');
  if (typeof fields === 'string') {
    const names = fields.split(' ').map((name) => fieldLabels[name] ?? name);
    sentences.push(`${texts.fields}: ${names.join(', ')}`);
  }
  const [call] = take('call');
  if (typeof call === 'string') sentences.push(`${texts.call}: ${call}`);
  const [count] = take('count');
  if (typeof count === 'number') sentences.push(texts.count(formatNumber(count)));
  if (action === 'audit-pruned') {
    const [entries] = take('entries');
    if (typeof entries === 'number') sentences.push(texts.pruned(formatNumber(entries)));
  }
  if (action === 'catalogue-imported') {
    const figures = take('rows', 'changed', 'unknown', 'unchanged').map((value) =>
      typeof value === 'number' ? formatNumber(value) : '0',
    );
    const [rows = '0', changed = '0', unknown = '0'] = figures;
    sentences.push(texts.imported(rows, changed, unknown));
  }
  const [path] = take('upload_path');
  if (typeof path === 'string') {
    const [dataset, files, size] = take('dataset', 'files', 'size_bytes');
    sentences.push(`${String(dataset)} › ${path}`);
    sentences.push(texts.uploaded(formatNumber(Number(files)), formatBytes(Number(size))));
  }
  for (const [name, value] of Object.entries(detail)) {
    if (!told.has(name) && value !== null) sentences.push(`${name}: ${value}`);
  }
  return sentences;
}

/** Said when it changed, and where only one of the two is known. */
function changeOf(
  what: string,
  before: unknown,
  after: unknown,
  label: (value: string) => string,
): readonly string[] {
  if (typeof before === 'string' && typeof after === 'string') {
    return before === after ? [] : [`${what}: ${label(before)} → ${label(after)}`];
  }
  const known = typeof after === 'string' ? after : before;
  return typeof known === 'string' ? [`${what}: ${label(known)}`] : [];
}
