/** Parses the Range header of a request for part of a file (RFC 9110, section 14). */

export interface ByteRange {
  readonly start: number;
  /** Offset of the last byte, inclusive. */
  readonly end: number;
}

/**
 * Returns the bytes to send.
 *
 * @param size size of the file in bytes
 * @returns `whole` (send the whole file) without a header, and for an invalid header, which a server ignores (RFC 9110);
 *   `unsatisfiable` for a range outside the file, and for several ranges, which this server does not support
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, ranges] = /^bytes=(.*)$/i.exec(header?.trim() ?? '') ?? [];
  if (ranges === undefined) return 'whole';
  if (ranges.includes(',')) return 'unsatisfiable';
  // Split and trimmed instead of one expression with several `\s*`, which would take cubic time for many tabs.
  const [first, last, ...rest] = ranges.split('-').map((text) => text.trim());
  if (first === undefined || last === undefined || rest.length > 0) return 'whole';
  if (!/^\d*$/.test(first) || !/^\d*$/.test(last) || (first === '' && last === '')) return 'whole';
  if (first === '') {
    // `bytes=-3` asks for the last three bytes.
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
