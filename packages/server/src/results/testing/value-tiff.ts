/** Builds TIFF files for tests: one band of numbers, little-endian, without compression. Tag numbers are those of TIFF 6.0. */
interface ValueTiff {
  readonly width: number;
  readonly height: number;
  readonly values: Uint8Array | Uint16Array | Float32Array | Float64Array;
  /** Side of the tiles, a multiple of 16; undefined builds a file with a single strip. */
  readonly tile?: number;
}

export function valueTiff({ width, height, values, tile }: ValueTiff): Uint8Array {
  const bytesPerSample = values.BYTES_PER_ELEMENT;
  const blocks = tile === undefined ? [bytesOf(values)] : tilesOf({ width, height, values, tile });
  const isFloat = values instanceof Float32Array || values instanceof Float64Array;
  const tableAt = 8;
  const tableBytes = blocks.length * 8;
  const sizes = blocks.map((block) => block.length);
  const firstBlock = tableAt + tableBytes;
  const offsets = sizes.map((_, n) => firstBlock + sizes.slice(0, n).reduce((sum, size) => sum + size, 0));
  const directoryAt = firstBlock + sizes.reduce((sum, size) => sum + size, 0);
  const isOne = blocks.length === 1;
  const entries: [tag: number, type: number, count: number, value: number][] = [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 1, bytesPerSample * 8],
    [259, 3, 1, 1],
    [262, 3, 1, 1],
    ...(tile === undefined ? [[273, 4, 1, offsets[0] as number] as [number, number, number, number]] : []),
    [277, 3, 1, 1],
    ...(tile === undefined
      ? ([
          [278, 4, 1, height],
          [279, 4, 1, sizes[0] as number],
        ] as [number, number, number, number][])
      : ([
          [322, 4, 1, tile],
          [323, 4, 1, tile],
          [324, 4, blocks.length, isOne ? (offsets[0] as number) : tableAt],
          [325, 4, blocks.length, isOne ? (sizes[0] as number) : tableAt + 4 * blocks.length],
        ] as [number, number, number, number][])),
    [339, 3, 1, isFloat ? 3 : 1],
  ];
  const file = Buffer.alloc(directoryAt + 2 + entries.length * 12 + 4);
  file.write('II*\0', 'latin1');
  file.writeUInt32LE(directoryAt, 4);
  offsets.forEach((offset, n) => {
    file.writeUInt32LE(offset, tableAt + 4 * n);
    file.writeUInt32LE(sizes[n] as number, tableAt + 4 * (blocks.length + n));
    file.set(blocks[n] as Uint8Array, offset);
  });
  file.writeUInt16LE(entries.length, directoryAt);
  entries.forEach(([tag, type, count, value], n) => {
    const at = directoryAt + 2 + 12 * n;
    file.writeUInt16LE(tag, at);
    file.writeUInt16LE(type, at + 2);
    file.writeUInt32LE(count, at + 4);
    if (type === 3) file.writeUInt16LE(value, at + 8);
    else file.writeUInt32LE(value, at + 8);
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
      const block = values.slice(0, 0).constructor as new (length: number) => ValueTiff['values'];
      const pixels = new block(tile * tile);
      for (let y = 0; y < Math.min(tile, height - top); y++) {
        const from = (top + y) * width + left;
        pixels.set(values.subarray(from, from + Math.min(tile, width - left)), y * tile);
      }
      tiles.push(bytesOf(pixels));
    }
  }
  return tiles;
}
