/**
 * Unpacks PackBits into `target`; stops when the target is full or the stream ends. A code below 128 precedes
 * `code + 1` literal bytes; a code above 128 repeats the next byte `257 - code` times; 128 does nothing.
 *
 * Source: TIFF 6.0, section 9; DICOM PS3.5, annex G.3.
 *
 * @returns the number of bytes written; less than the length of the target when the stream is truncated
 */
export function unpackPackBits(packed: Uint8Array, target: Uint8Array): number {
  let readPosition = 0;
  let writePosition = 0;
  while (writePosition < target.length) {
    const code = packed[readPosition++];
    if (code === undefined) break;
    if (code < 128) {
      const length = Math.min(code + 1, target.length - writePosition);
      const literal = packed.subarray(readPosition, readPosition + length);
      target.set(literal, writePosition);
      writePosition += literal.length;
      readPosition += code + 1;
    } else if (code > 128) {
      const repeated = packed[readPosition++];
      if (repeated === undefined) break;
      const end = Math.min(writePosition + 257 - code, target.length);
      target.fill(repeated, writePosition, end);
      writePosition = end;
    }
  }
  return writePosition;
}
