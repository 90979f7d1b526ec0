/**
 * Builds the slide of the tile warm-up (tile-warm-up.ts): a TIFF file (TIFF 6.0 and TIFF Technical Note 2) of 400 JPEG tiles of 256 × 256 pixels.
 * All tiles share the bytes of one JPEG; a comment segment makes it as large as a usual tile.
 */

const tileSide = 256;
const columns = 20;
const rows = 20;
/** Size of a usual JPEG tile of 240 × 240 pixels, in bytes. */
const tileBytes = 11_000;

/** A JPEG of 16 × 16 pixels without a JFIF segment. */
// cspell:disable
const jpeg = Buffer.from(
  '/9j/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkF' +
    'BQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAQABADAREAAhEBAxEB/8QAFQABAQAA' +
    'AAAAAAAAAAAAAAAAAAn/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAAT/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oA' +
    'DAMBAAIRAxEAPwCjahWAAA//2Q==',
  'base64',
);
// cspell:enable

function createTile(): Buffer {
  const comment = Buffer.alloc(tileBytes - jpeg.length);
  comment.writeUInt16BE(0xfffe, 0); // COM
  comment.writeUInt16BE(comment.length - 2, 2);
  const frameAndScan = Buffer.from(jpeg.subarray(2));
  // The frame header states the size of a whole tile although the JPEG has fewer pixels. The server never decodes these tiles.
  const frameHeader = frameAndScan.indexOf(Buffer.from([0xff, 0xc0]));
  frameAndScan.writeUInt16BE(tileSide, frameHeader + 5);
  frameAndScan.writeUInt16BE(tileSide, frameHeader + 7);
  return Buffer.concat([jpeg.subarray(0, 2), comment, frameAndScan]);
}

/** Returns a little-endian TIFF file with one image file directory. */
function createFile(): Buffer {
  const tile = createTile();
  const count = columns * rows;
  const headerBytes = 8;
  const tileOffsetsOffset = headerBytes + tile.length;
  const tileLengthsOffset = tileOffsetsOffset + 4 * count;
  const bitsPerSampleOffset = tileLengthsOffset + 4 * count;
  const directoryOffset = bitsPerSampleOffset + 8;
  const [short, long] = [3, 4];
  const entries: readonly (readonly [tag: number, type: number, count: number, value: number])[] = [
    [256, long, 1, columns * tileSide], // ImageWidth
    [257, long, 1, rows * tileSide], // ImageLength
    [258, short, 3, bitsPerSampleOffset], // BitsPerSample
    [259, short, 1, 7], // Compression: JPEG
    [262, short, 1, 6], // PhotometricInterpretation: YCbCr
    [277, short, 1, 3], // SamplesPerPixel
    [322, long, 1, tileSide], // TileWidth
    [323, long, 1, tileSide], // TileLength
    [324, long, count, tileOffsetsOffset], // TileOffsets
    [325, long, count, tileLengthsOffset], // TileByteCounts
  ];
  const file = Buffer.alloc(directoryOffset + 2 + 12 * entries.length + 4);
  file.write('II*\0', 0, 'latin1');
  file.writeUInt32LE(directoryOffset, 4);
  tile.copy(file, headerBytes);
  for (let i = 0; i < count; i++) {
    file.writeUInt32LE(headerBytes, tileOffsetsOffset + 4 * i);
    file.writeUInt32LE(tile.length, tileLengthsOffset + 4 * i);
  }
  for (let i = 0; i < 3; i++) file.writeUInt16LE(8, bitsPerSampleOffset + 2 * i);
  file.writeUInt16LE(entries.length, directoryOffset);
  for (const [i, [tag, type, values, value]] of entries.entries()) {
    const entryOffset = directoryOffset + 2 + 12 * i; // 12 bytes per entry
    file.writeUInt16LE(tag, entryOffset);
    file.writeUInt16LE(type, entryOffset + 2);
    file.writeUInt32LE(values, entryOffset + 4);
    file.writeUInt32LE(value, entryOffset + 8);
  }
  return file;
}

export const warmUpSlide = {
  file: createFile(),
  /** Deep Zoom level of the full resolution. */
  level: Math.ceil(Math.log2(Math.max(columns, rows) * tileSide)),
  columns,
  rows,
} as const;
