/**
 * Parses search queries of DICOMweb (QIDO-RS, PS3.18 section 8.3.4) and matches data sets against them. A query has attributes
 * with values to match, and the parameters `includefield`, `fuzzymatching`, `emptyvaluematching`, `multiplevaluematching`, `limit` and
 * `offset`.
 *
 * The server ignores attributes by which it cannot match (section 8.3.4.1.1) and parameters that it does not know (section 8.3), and
 * says so in the Warning header of the response.
 */
import { AppError } from '@lamina/contract';
import { type JsonDataSet, keywordOf, tagOf } from './attributes.ts';

export interface SearchQuery {
  /** Values to match, by tag. A value that matches everything is left out. */
  readonly matches: ReadonlyMap<string, string>;
  readonly limit: number;
  readonly offset: number;
  /** Sentences about what the server ignores in the query, for the Warning header of the response. */
  readonly warnings: readonly string[];
}

const ignoredAttributesWarning = 'Attributes that the server does not match by were ignored';
const ignoredParametersWarning = 'Query parameters that the server does not know were ignored';
/** Sentences of PS3.18 about parameters that a server does not support (section 8.3.4). */
const unsupportedWarnings = {
  fuzzymatching: 'The fuzzymatching parameter is not supported. Only literal matching has been performed.',
  emptyvaluematching:
    'The emptyvaluematching parameter is not supported. Empty Value Matching has not been performed.',
  multiplevaluematching:
    'The multiplevaluematching parameter is not supported. Multiple Value Matching has not been performed.',
} as const;
const isUnsupported = (key: string): key is keyof typeof unsupportedWarnings =>
  Object.hasOwn(unsupportedWarnings, key);
/**
 * Sentence of PS3.18 (section 8.3.4) about a response that does not contain all results. The sentence omits the number of further
 * results, because the server would have to open all slides to count them.
 */
export const moreResultsWarning = 'There are additional results that can be requested';

/** Maximum number of results in a response, and largest `offset` that a search supports. */
export const searchLimits = { limit: 100, offset: 100_000 } as const;
const maxValueLength = 256;
const maxKeys = 50;
const maxIncludedFields = 500;
/** Maximum number of parts of a key. A key of an attribute inside sequences has one tag or keyword per sequence, separated by dots. */
const maxKeyParts = 4;

const tagPattern = /^[\dA-F]{8}$/i;
const keywordPattern = /^[A-Z][A-Za-z\d]{1,63}$/;

/** Returns whether a key of the query has the form of an attribute. With dots, it names an attribute inside a sequence. */
function isAttribute(key: string): boolean {
  const parts = key.split('.');
  return (
    parts.length <= maxKeyParts && parts.every((part) => tagPattern.test(part) || keywordPattern.test(part))
  );
}

/** Returns the tag, in upper case, of an attribute of the query; undefined for one that is unknown or inside a sequence. */
function tagOfKey(key: string): string | undefined {
  if (!tagPattern.test(key)) return tagOf(key);
  const tag = key.toUpperCase();
  return keywordOf(tag) === undefined ? undefined : tag;
}

/**
 * Parses the query parameters of a search.
 *
 * @param searchableTags tags of the attributes by which the search can match
 * @throws AppError invalid_request
 */
export function parseSearch(
  query: Readonly<Record<string, unknown>>,
  searchableTags: ReadonlySet<string>,
): SearchQuery {
  const entries = Object.entries(query);
  if (entries.length > maxKeys) throw new AppError('invalid_request');
  const matches = new Map<string, string>();
  const warnings = new Set<string>();
  let limit: number = searchLimits.limit;
  let offset = 0;
  for (const [key, value] of entries) {
    if (key === 'includefield') {
      checkIncludedFields(value);
      continue;
    }
    if (typeof value !== 'string' || value.length > maxValueLength)
      throw new AppError('invalid_request', { field: key });
    if (key === 'limit') limit = Math.min(searchLimits.limit, parseNumber(key, value));
    else if (key === 'offset') offset = parseNumber(key, value);
    else if (isUnsupported(key)) {
      if (parseBoolean(key, value)) warnings.add(unsupportedWarnings[key]);
    } else if (!isAttribute(key)) warnings.add(ignoredParametersWarning);
    else {
      const tag = tagOfKey(key);
      if (tag === undefined || !searchableTags.has(tag)) warnings.add(ignoredAttributesWarning);
      else if (value !== '' && value !== '*') matches.set(tag, value); // both match everything
    }
  }
  return { matches, limit, offset, warnings: [...warnings] };
}

/** Validates `includefield`, which has no effect: the response always contains all attributes that the server knows. */
function checkIncludedFields(valueOrValues: unknown): void {
  const values = (Array.isArray(valueOrValues) ? valueOrValues : [valueOrValues]) as unknown[];
  const invalidField = '-'; // not an attribute
  const fields = values.flatMap((value) => (typeof value === 'string' ? value.split(',') : [invalidField]));
  if (fields.length > maxIncludedFields) throw new AppError('invalid_request', { field: 'includefield' });
  const unknownField = fields.find((field) => field !== 'all' && !isAttribute(field));
  if (unknownField !== undefined) throw new AppError('invalid_request', { field: unknownField.slice(0, 64) });
}

function parseNumber(field: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new AppError('invalid_request', { field });
  return Number(text);
}

function parseBoolean(field: string, text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new AppError('invalid_request', { field });
  return text === 'true';
}

/**
 * Returns whether the data set matches all values of the query, which may be lists of UIDs, patterns with wildcards, and ranges of dates
 * and times (PS3.4 section C.2.2.2). A data set without an attribute of the query does not match.
 */
export function matchesQuery(dataSet: JsonDataSet, matches: SearchQuery['matches']): boolean {
  for (const [tag, queryValue] of matches) {
    const element = dataSet[tag];
    const values = (element?.Value ?? []).map(textOf);
    const isMatch = matcherOf(element?.vr ?? '', queryValue);
    if (!values.some(isMatch)) return false;
  }
  return true;
}

/** Returns a string, a number or a person name as text; an empty string for an item of a sequence. */
function textOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return (value as { readonly Alphabetic?: string }).Alphabetic ?? '';
}

/** Splits a list of values in the query: UIDs (PS3.4 section C.2.2.2.2), or modalities, which OHIF sends as `CT,SM`. */
export const valuesIn = (queryValue: string) => queryValue.split(/[,\\]/);

/** Returns a function that compares a value with the query. @param vr data type: UI (UID), CS (code), DA, TM or DT (date or time) */
function matcherOf(vr: string, queryValue: string): (value: string) => boolean {
  if (vr === 'UI') {
    const uids = new Set(valuesIn(queryValue));
    return (value) => uids.has(value);
  }
  if (vr === 'DA' || vr === 'TM' || vr === 'DT') {
    // `20260101-` has no end; `20260101` alone is a range of one value.
    const [from = '', to = from] = queryValue.split('-');
    return (value) => value >= from && (to === '' || value <= to);
  }
  const patterns = (vr === 'CS' ? valuesIn(queryValue) : [queryValue]).map(lowerCased);
  return (value) => patterns.some((pattern) => matchesWildcards(lowerCased(value), pattern));
}

const lowerCased = (text: string) => text.normalize('NFC').toLocaleLowerCase('en'); // not in Turkish, where `I` becomes `ı`

/**
 * Returns whether the text matches a pattern in which `*` stands for any text and `?` for one character. Does not use a regular
 * expression, because a client could send a pattern for which it takes exponential time.
 */
function matchesWildcards(text: string, pattern: string): boolean {
  let [textIndex, patternIndex] = [0, 0];
  /** Index of the last star reached in the pattern, and end (exclusive) of the text that this star stands for. */
  let [starIndex, starEnd] = [-1, 0];
  while (textIndex < text.length) {
    const expected = pattern[patternIndex];
    if (expected !== '*' && expected !== undefined && (expected === '?' || expected === text[textIndex])) {
      textIndex++;
      patternIndex++;
    } else if (expected === '*') {
      starIndex = patternIndex++;
      starEnd = textIndex;
    } else if (starIndex >= 0) {
      // Mismatch: let the last star stand for one more character and try again.
      patternIndex = starIndex + 1;
      textIndex = ++starEnd;
    } else return false;
  }
  while (pattern[patternIndex] === '*') patternIndex++;
  return patternIndex === pattern.length;
}
