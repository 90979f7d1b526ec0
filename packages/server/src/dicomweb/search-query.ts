/**
 * Queries of QIDO-RS (PS3.18 section 8.3.4): matching, `includefield`, `fuzzymatching`, `limit` and `offset`.
 *
 * A key that is no attribute is rejected with 400. An attribute that the server does not match by is ignored, which the
 * response says in a Warning header (section 8.3.4.1.1).
 */
import { AppError } from '@lamina/contract';
import { type JsonDataSet, keywordOf, tagOf } from './attributes.ts';

export interface SearchQuery {
  /** Values to match by tag; empty ones match everything. */
  readonly matches: ReadonlyMap<string, string>;
  readonly limit: number;
  readonly offset: number;
  /** Attributes that the server does not know. */
  readonly ignored: readonly string[];
}

/** Largest page, and the last position that a page may start at. */
export const searchLimits = { limit: 100, offset: 100_000 } as const;
const maxValueLength = 256;
const maxKeys = 50;

const tagPattern = /^[\dA-F]{8}$/i;
const keywordPattern = /^[A-Z][A-Za-z\d]{1,63}$/;

/** Normalises a key: a tag in capitals, or undefined for an attribute that the server does not know. */
function knownTag(key: string): string | undefined {
  // Attributes inside of sequences are well-formed, and none is matched by.
  const parts = key.split('.');
  if (parts.length > 4 || !parts.every((part) => tagPattern.test(part) || keywordPattern.test(part))) {
    throw new AppError('invalid_request', { field: key.slice(0, 64) });
  }
  if (parts.length > 1) return undefined;
  if (tagPattern.test(key)) return keywordOf(key.toUpperCase()) && key.toUpperCase();
  return tagOf(key);
}

/** @throws AppError invalid_request */
export function parseSearch(query: Readonly<Record<string, unknown>>): SearchQuery {
  const entries = Object.entries(query);
  if (entries.length > maxKeys) throw new AppError('invalid_request');
  const matches = new Map<string, string>();
  const ignored: string[] = [];
  let limit: number = searchLimits.limit;
  let offset = 0;
  for (const [key, raw] of entries) {
    if (key === 'includefield') {
      checkFields(raw);
      continue;
    }
    if (typeof raw !== 'string' || raw.length > maxValueLength)
      throw new AppError('invalid_request', { field: key });
    if (key === 'limit') limit = Math.min(searchLimits.limit, numberOf(key, raw));
    else if (key === 'offset') offset = numberOf(key, raw);
    else if (key === 'fuzzymatching' || key === 'emptyvaluematching') checkBoolean(key, raw);
    else {
      const tag = knownTag(key);
      if (tag === undefined) ignored.push(key);
      else if (raw !== '' && raw !== '*') matches.set(tag, raw);
    }
  }
  return { matches, limit, offset, ignored };
}

/** Every attribute that the server knows is in the response anyway. */
function checkFields(raw: unknown): void {
  const values = (Array.isArray(raw) ? raw : [raw]) as unknown[];
  const fields = values.flatMap((value) => (typeof value === 'string' ? value.split(',') : ['-']));
  if (fields.length > 500) throw new AppError('invalid_request', { field: 'includefield' });
  for (const field of fields) if (field !== 'all') knownTag(field);
}

function numberOf(field: string, raw: string): number {
  if (!/^\d{1,9}$/.test(raw)) throw new AppError('invalid_request', { field });
  return Number(raw);
}

function checkBoolean(field: string, raw: string): void {
  if (raw !== 'true' && raw !== 'false') throw new AppError('invalid_request', { field });
}

/**
 * Whether the data set has the values of the query: lists of UIDs, wildcards, ranges of dates and numbers
 * (PS3.4 section C.2.2.2). An attribute that the data set does not have matches nothing.
 */
export function matchesQuery(dataSet: JsonDataSet, matches: SearchQuery['matches']): boolean {
  for (const [tag, wanted] of matches) {
    const element = dataSet[tag];
    const values = (element?.Value ?? []).map(textOf);
    const isMatch = matcherOf(element?.vr ?? '', wanted);
    if (!values.some(isMatch)) return false;
  }
  return true;
}

/** The text of a value: of a name, else of a text or number. Sequences are not matched by. */
function textOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return (value as { readonly Alphabetic?: string }).Alphabetic ?? '';
}

function matcherOf(vr: string, wanted: string): (value: string) => boolean {
  if (vr === 'UI') {
    const list = new Set(wanted.split(/[,\\]/));
    return (value) => list.has(value);
  }
  if (vr === 'DA' || vr === 'TM' || vr === 'DT') {
    const [from = '', to = from] = wanted.split('-');
    return (value) => value >= from && (to === '' || value <= to);
  }
  const simple = simplified(wanted);
  return (value) => isLike(simplified(value), simple);
}

const simplified = (text: string) => text.normalize('NFC').toLocaleLowerCase('en');

/** Matches `*` and `?` in linear time for each star, without a regular expression of the client. */
function isLike(text: string, pattern: string): boolean {
  let [at, p, star, mark] = [0, 0, -1, 0];
  while (at < text.length) {
    if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[at]) && pattern[p] !== '*') {
      at++;
      p++;
    } else if (pattern[p] === '*') {
      star = p++;
      mark = at;
    } else if (star >= 0) {
      p = star + 1;
      at = ++mark;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
