/** Content negotiation of DICOMweb (PS3.18 section 8.7). */
import { AppError } from '@lamina/contract';

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const maxHeaderLength = 2048;

/** Parsed headers of recent requests: a viewer sends the same one with each frame. */
const recentRanges = new Map<string, readonly MediaRange[]>();
const maxRecent = 100;

/** Parses the Accept header; a missing one accepts everything. @throws AppError not_acceptable for one that is too long */
function rangesOf(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === '') return [{ type: '*/*', parameters: new Map() }];
  if (header.length > maxHeaderLength) throw new AppError('not_acceptable');
  const known = recentRanges.get(header);
  if (known !== undefined) return known;
  if (recentRanges.size >= maxRecent) recentRanges.clear();
  const ranges = parseRanges(header);
  recentRanges.set(header, ranges);
  return ranges;
}

function parseRanges(header: string): readonly MediaRange[] {
  return splitOutsideQuotes(header, ',').flatMap((item) => {
    const [type = '', ...rest] = splitOutsideQuotes(item, ';').map((part) => part.trim());
    const parameters = new Map(
      rest.map((parameter) => {
        const [name = '', value = ''] = parameter.split(/=(.*)/s);
        return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/s, '$1')] as const;
      }),
    );
    return /^0(\.0*)?$/.test(parameters.get('q') ?? '') ? [] : [{ type: type.toLowerCase(), parameters }];
  });
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let [start, isQuoted] = [0, false];
  for (let at = 0; at <= text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    if (at === text.length || (text[at] === separator && !isQuoted)) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return parts;
}

/** @throws AppError not_acceptable unless the client accepts DICOM JSON */
export function requireJson(accept: string | undefined): void {
  const isAccepted = rangesOf(accept).some(({ type }) =>
    ['*/*', 'application/*', 'application/json', 'application/dicom+json'].includes(type),
  );
  if (!isAccepted) throw new AppError('not_acceptable');
}

/** @throws AppError not_acceptable unless the client accepts JPEG */
export function requireJpeg(accept: string | undefined): void {
  const isAccepted = rangesOf(accept).some(({ type }) => ['*/*', 'image/*', 'image/jpeg'].includes(type));
  if (!isAccepted) throw new AppError('not_acceptable');
}

interface BulkForm {
  readonly isMultipart: boolean;
  /** Media type of the parts, or of the single part. */
  readonly type: string;
}

/**
 * Chooses the form of bulk data. A media range without a transfer syntax accepts that of the file, because the server has no
 * other one.
 *
 * @param offered media types of the bytes, `application/octet-stream` among them
 * @param mayBeSingle whether there is only one part
 * @throws AppError not_acceptable
 */
export function bulkFormOf(
  accept: string | undefined,
  offered: {
    readonly types: readonly string[];
    readonly transferSyntax: string | null;
    readonly mayBeSingle: boolean;
  },
): BulkForm {
  const { types, transferSyntax, mayBeSingle } = offered;
  const [preferred = 'application/octet-stream'] = types;
  for (const { type, parameters } of rangesOf(accept)) {
    const syntax = parameters.get('transfer-syntax');
    if (syntax !== undefined && syntax !== '*' && syntax !== transferSyntax) continue;
    if (type === '*/*') return { isMultipart: true, type: preferred };
    if (type === 'multipart/related' || type === 'multipart/*') {
      const part = parameters.get('type')?.toLowerCase() ?? preferred;
      if (types.includes(part)) return { isMultipart: true, type: part };
      if (part === '*/*') return { isMultipart: true, type: preferred };
    }
    if (mayBeSingle && types.includes(type)) return { isMultipart: false, type };
  }
  throw new AppError('not_acceptable');
}
