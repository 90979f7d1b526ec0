/** Parses the Accept header of a request (RFC 9110, section 12.5.1). */

/** An element of the Accept header, such as `multipart/related; type="image/jpeg"`. */
export interface MediaRange {
  /** Lower case, without parameters; may be a wildcard. */
  readonly type: string;
  /** The parameter `q`: how much the client prefers this type; greater than 0, at most 1. */
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

const maxHeaderLength = 2048;

/** Parsed headers of recent requests. A viewer sends the same header with each frame, so parsing it again would waste time. */
const recentRanges = new Map<string, readonly MediaRange[]>();
const maxRecentHeaders = 100;

/**
 * Parses the Accept header. A missing header accepts everything.
 *
 * @returns the media ranges, the preferred ones first, without those that the client does not accept (`q=0`); null for a header of more
 *   than 2048 characters
 */
export function mediaRangesOf(header: string | undefined): readonly MediaRange[] | null {
  if (header === undefined || header.trim() === '')
    return [{ type: '*/*', quality: 1, parameters: new Map() }];
  if (header.length > maxHeaderLength) return null;
  const cachedRanges = recentRanges.get(header);
  if (cachedRanges !== undefined) return cachedRanges;
  if (recentRanges.size >= maxRecentHeaders) recentRanges.clear();
  const ranges = parseRanges(header);
  recentRanges.set(header, ranges);
  return ranges;
}

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
