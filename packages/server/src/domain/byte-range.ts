/** The Range header (RFC 9110, section 14). */

export interface ByteRange {
  readonly start: number;
  /** The last byte, included. */
  readonly end: number;
}

/**
 * Returns the range to send; `whole` without a header, and for a header that is not valid, as the RFC asks.
 *
 * @returns `unsatisfiable` for a range outside the file, and for several ranges, which are not supported
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, list] = /^bytes=(.*)$/i.exec(header?.trim() ?? '') ?? [];
  if (list === undefined) return 'whole';
  if (list.includes(',')) return 'unsatisfiable';
  const [, first, last] = /^\s*(\d*)\s*-\s*(\d*)\s*$/.exec(list) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
