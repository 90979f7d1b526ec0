/**
 * Unpacks PackBits into `target`; stops when it is full or the stream ends.
 *
 * Source: TIFF 6.0, section 9; DICOM PS3.5, annex G.3.
 *
 * @returns the number of bytes written: fewer than the target has when the stream or its last run is
 *   truncated
 */
export function unpackBits(packed: Uint8Array, target: Uint8Array): number {
  let from = 0;
  let to = 0;
  while (to < target.length) {
    const code = packed[from++];
    if (code === undefined) break;
    if (code < 128) {
      const literal = packed.subarray(from, Math.min(from + code + 1, from + target.length - to));
      target.set(literal, to);
      to += literal.length;
      from += code + 1;
    } else if (code > 128) {
      const repeated = packed[from++];
      if (repeated === undefined) break;
      const end = Math.min(to + 257 - code, target.length);
      target.fill(repeated, to, end);
      to = end;
    }
  }
  return to;
}
