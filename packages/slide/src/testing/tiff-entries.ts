/** Changes entries of little-endian classic TIFF files, to build files that `buildTiff` does not write. */

/** Returns the positions of the entries with a tag in all directories of the main chain. */
export function entriesOf(bytes: Buffer, number: number): number[] {
  const found: number[] = [];
  for (let at = bytes.readUInt32LE(4); at !== 0; ) {
    const count = bytes.readUInt16LE(at);
    for (let i = 0; i < count; i++) {
      const entry = at + 2 + 12 * i;
      if (bytes.readUInt16LE(entry) === number) found.push(entry);
    }
    at = bytes.readUInt32LE(at + 2 + 12 * count);
  }
  return found;
}

/** Gives the entries of a tag another number. */
export function renameTag(bytes: Buffer, from: number, to: number): void {
  for (const entry of entriesOf(bytes, from)) bytes.writeUInt16LE(to, entry);
}
