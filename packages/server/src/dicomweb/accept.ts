/** Content negotiation of DICOMweb: chooses the form of a response from the Accept header (DICOM PS3.18 section 8.7). */
import { AppError } from '@lamina/contract';

/** An element of the Accept header, such as `multipart/related; type="image/jpeg"`. */
interface MediaRange {
  /** Lower case, without parameters; may be a wildcard. */
  readonly type: string;
  /** The parameter `q`: how much the client prefers it, above 0 to 1. */
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

const maxHeaderLength = 2048;

/** Parsed headers of recent requests. A viewer sends the same header with each frame, so parsing it again would waste time. */
const recentRanges = new Map<string, readonly MediaRange[]>();
const maxRecentHeaders = 100;

/** Parses the Accept header. A missing header accepts everything. @throws AppError not_acceptable for more than 2048 characters */
function rangesOf(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === '')
    return [{ type: '*/*', quality: 1, parameters: new Map() }];
  if (header.length > maxHeaderLength) throw new AppError('not_acceptable');
  const cachedRanges = recentRanges.get(header);
  if (cachedRanges !== undefined) return cachedRanges;
  if (recentRanges.size >= maxRecentHeaders) recentRanges.clear();
  const ranges = parseRanges(header);
  recentRanges.set(header, ranges);
  return ranges;
}

/** Returns the media ranges, the preferred ones first, without those that the client does not accept. */
function parseRanges(header: string): readonly MediaRange[] {
  const ranges = splitOutsideQuotes(header, ',').map((rangeText): MediaRange => {
    const [type = '', ...parameterTexts] = splitOutsideQuotes(rangeText, ';').map((text) => text.trim());
    const parameters = new Map(
      parameterTexts.map((parameter) => {
        const [name = '', value = ''] = parameter.split(/=(.*)/s); // splits only at the first "="
        const unquoted = value.trim().replace(/^"(.*)"$/s, '$1');
        return [name.trim().toLowerCase(), unquoted] as const;
      }),
    );
    const qualityText = parameters.get('q') ?? '';
    const quality = /^[01](\.\d{0,3})?$/.test(qualityText) ? Math.min(1, Number(qualityText)) : 1;
    return { type: type.toLowerCase(), quality, parameters };
  });
  return ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality); // 0 means "not acceptable"
}

/** Splits a text at a separator, except inside double quotes. */
function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let [start, isQuoted] = [0, false];
  for (let index = 0; index <= text.length; index++) {
    if (text[index] === '"') isQuoted = !isQuoted;
    if (index === text.length || (text[index] === separator && !isQuoted)) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return parts;
}

/** Checks that the client accepts DICOM JSON. @throws AppError not_acceptable */
export function requireJson(accept: string | undefined): void {
  const isAccepted = rangesOf(accept).some(({ type }) =>
    ['*/*', 'application/*', 'application/json', 'application/dicom+json'].includes(type),
  );
  if (!isAccepted) throw new AppError('not_acceptable');
}

/** Checks that the client accepts JPEG. @throws AppError not_acceptable */
export function requireJpeg(accept: string | undefined): void {
  const isAccepted = rangesOf(accept).some(({ type }) => ['*/*', 'image/*', 'image/jpeg'].includes(type));
  if (!isAccepted) throw new AppError('not_acceptable');
}

/** The form of a response with bulk data (frames or an ICC profile). */
export interface BulkForm {
  /** False: the body contains only the bytes. */
  readonly isMultipart: boolean;
  /** Media type of the parts, or of the single part. */
  readonly type: string;
}

/** Returns a name of the form for ETags, such as `parts-jpeg`: the responses of one URL in different forms have different bytes. */
export const formNameOf = ({ isMultipart, type }: BulkForm) =>
  `${isMultipart ? 'parts' : 'one'}-${type.slice(type.indexOf('/') + 1)}`;

/**
 * Chooses the form of a response with bulk data by the preferred media range of the header that the server can satisfy. A transfer syntax
 * is the encoding of the pixels. A media range without one accepts that of the file.
 *
 * @param offered.types media types by which the bytes can be sent, the preferred one first
 * @param offered.transferSyntax UID of the transfer syntax of a frame; null for other data
 * @param offered.mayBeSingle whether there is only one part, which can be sent without a multipart body
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
  const firstMatchOf = (range: string) => types.find((type) => isInRange(type, range));
  for (const { type, parameters } of rangesOf(accept)) {
    const acceptedSyntax = parameters.get('transfer-syntax');
    const isOtherSyntax =
      acceptedSyntax !== undefined && acceptedSyntax !== '*' && acceptedSyntax !== transferSyntax;
    if (isOtherSyntax) continue;
    if (type === '*/*') return { isMultipart: true, type: preferred };
    if (type === 'multipart/related' || type === 'multipart/*') {
      const partType = firstMatchOf(parameters.get('type')?.toLowerCase() ?? preferred);
      if (partType !== undefined) return { isMultipart: true, type: partType };
    }
    const singleType = mayBeSingle ? firstMatchOf(type) : undefined;
    if (singleType !== undefined) return { isMultipart: false, type: singleType };
  }
  throw new AppError('not_acceptable');
}

/** Returns whether a media type is in a range: the type itself, a wildcard such as `image/*`, or any type. */
function isInRange(type: string, range: string): boolean {
  if (range === '*/*' || range === type) return true;
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1));
}
