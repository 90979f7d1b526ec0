interface ValueTiff {
  readonly width: number;
  readonly height: number;
  readonly values: Uint8Array | Uint16Array | Float32Array | Float64Array;
  /** Side of the tiles, a multiple of 16; undefined builds a file with a single strip. */
  readonly tile?: number;
}

/** Builds a TIFF file for tests: one band of numbers, little-endian, without compression. Tag numbers are those of TIFF 6.0. */
export function buildValueTiff({ width, height, values, tile }: ValueTiff): Uint8Array {
  const bytesPerSample = values.BYTES_PER_ELEMENT;
  const blocks = tile === undefined ? [bytesOf(values)] : tilesOf({ width, height, values, tile });
  const isFloat = values instanceof Float32Array || values instanceof Float64Array;
  // The file contains the header (8 bytes), a table (all offsets, then all sizes), the blocks (tiles or one strip), the directory.
  const tableOffset = 8;
  const tableBytes = blocks.length * 8;
  const sizes = blocks.map((block) => block.length);
  const firstBlockOffset = tableOffset + tableBytes;
  const offsets = sizes.map(
    (_, n) => firstBlockOffset + sizes.slice(0, n).reduce((sum, size) => sum + size, 0),
  );
  const directoryOffset = firstBlockOffset + sizes.reduce((sum, size) => sum + size, 0);
  const hasOneBlock = blocks.length === 1; // then a directory entry contains the offset itself instead of the offset of the table
  const [short, long] = [3, 4] as const; // the types of 16-bit and 32-bit values
  type Entry = [tag: number, type: typeof short | typeof long, count: number, value: number];
  const entries: Entry[] = [
    [256, long, 1, width], // ImageWidth
    [257, long, 1, height], // ImageLength
    [258, short, 1, bytesPerSample * 8], // BitsPerSample
    [259, short, 1, 1], // Compression: none
    [262, short, 1, 1], // PhotometricInterpretation: 0 is black
    ...(tile === undefined ? ([[273, long, 1, offsets[0] as number]] as Entry[]) : []), // StripOffsets
    [277, short, 1, 1], // SamplesPerPixel
    ...((tile === undefined
      ? [
          [278, long, 1, height], // RowsPerStrip
          [279, long, 1, sizes[0] as number], // StripByteCounts
        ]
      : [
          [322, long, 1, tile], // TileWidth
          [323, long, 1, tile], // TileLength
          [324, long, blocks.length, hasOneBlock ? (offsets[0] as number) : tableOffset], // TileOffsets
          [325, long, blocks.length, hasOneBlock ? (sizes[0] as number) : tableOffset + 4 * blocks.length], // TileByteCounts
        ]) as Entry[]),
    [339, short, 1, isFloat ? 3 : 1], // SampleFormat: floating point or unsigned integer
  ];
  const file = Buffer.alloc(directoryOffset + 2 + entries.length * 12 + 4);
  file.write('II*\0', 'latin1'); // byte order (little-endian) and the number 42, which identifies TIFF
  file.writeUInt32LE(directoryOffset, 4);
  offsets.forEach((offset, n) => {
    file.writeUInt32LE(offset, tableOffset + 4 * n);
    file.writeUInt32LE(sizes[n] as number, tableOffset + 4 * (blocks.length + n));
    file.set(blocks[n] as Uint8Array, offset);
  });
  file.writeUInt16LE(entries.length, directoryOffset);
  entries.forEach(([tag, type, count, value], n) => {
    const entryOffset = directoryOffset + 2 + 12 * n; // an entry has 12 bytes
    file.writeUInt16LE(tag, entryOffset);
    file.writeUInt16LE(type, entryOffset + 2);
    file.writeUInt32LE(count, entryOffset + 4);
    if (type === short) file.writeUInt16LE(value, entryOffset + 8);
    else file.writeUInt32LE(value, entryOffset + 8);
  });
  return file;
}

function bytesOf(values: ValueTiff['values']): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function tilesOf({ width, height, values, tile }: Required<ValueTiff>): Uint8Array[] {
  const tiles: Uint8Array[] = [];
  for (let top = 0; top < height; top += tile) {
    for (let left = 0; left < width; left += tile) {
      const ArrayType = values.constructor as new (length: number) => ValueTiff['values'];
      const pixels = new ArrayType(tile * tile);
      for (let y = 0; y < Math.min(tile, height - top); y++) {
        const rowStart = (top + y) * width + left;
        pixels.set(values.subarray(rowStart, rowStart + Math.min(tile, width - left)), y * tile);
      }
      tiles.push(bytesOf(pixels));
    }
  }
  return tiles;
}
