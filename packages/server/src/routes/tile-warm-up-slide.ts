/**
 * The slide that the server requests from itself after its start (tile-warm-up.ts): a TIFF file (TIFF 6.0 and TIFF Technical
 * Note 2) with 400 JPEG tiles of 256 × 256 pixels. All entries of the tile table point to the same JPEG. A comment segment makes this
 * JPEG as large as a usual tile.
 */

const tileSide = 256;
const columns = 20;
const rows = 20;
/** Field types of TIFF: whole numbers of 2 and 4 bytes. */
const tiffType = { short: 3, long: 4 } as const;
/** Size of a usual JPEG tile in bytes. */
const tileBytes = 11_000;

/** A complete JPEG of 16 × 16 pixels, from the marker SOI to EOI, without a JFIF segment. */
// cspell:disable
const jpeg = Buffer.from(
  '/9j/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkF' +
    'BQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAQABADAREAAhEBAxEB/8QAFQABAQAA' +
    'AAAAAAAAAAAAAAAAAAn/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAAT/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oA' +
    'DAMBAAIRAxEAPwCjahWAAA//2Q==',
  'base64',
);
// cspell:enable

/** Returns the JPEG of 16 × 16 pixels with a comment after SOI, its first marker, and the size of a whole tile in the frame header. */
function createTile(): Buffer {
  const soiBytes = 2;
  const comment = Buffer.alloc(tileBytes - jpeg.length);
  comment.writeUInt16BE(0xfffe, 0); // marker COM
  comment.writeUInt16BE(comment.length - 2, 2); // length of the segment without its marker
  const afterSoi = Buffer.from(jpeg.subarray(soiBytes));
  // The server never decodes these tiles, so the stated size may be larger than the number of pixels in the JPEG.
  const frameHeaderOffset = afterSoi.indexOf(Buffer.from([0xff, 0xc0])); // marker SOF0, then length (2 bytes) and precision (1 byte)
  afterSoi.writeUInt16BE(tileSide, frameHeaderOffset + 5); // height
  afterSoi.writeUInt16BE(tileSide, frameHeaderOffset + 7); // width
  return Buffer.concat([jpeg.subarray(0, soiBytes), comment, afterSoi]);
}

/**
 * Returns a little-endian TIFF file: header, JPEG tile, offset of each tile, length of each tile, bits per sample, and one image file
 * directory.
 */
function createFile(): Buffer {
  const tile = createTile();
  const tileCount = columns * rows;
  const headerBytes = 8;
  const tileOffsetsOffset = headerBytes + tile.length;
  const tileLengthsOffset = tileOffsetsOffset + 4 * tileCount;
  const bitsPerSampleOffset = tileLengthsOffset + 4 * tileCount;
  const directoryOffset = bitsPerSampleOffset + 8; // three values of 2 bytes and 2 unused bytes
  const entryBytes = 12;
  const { short, long } = tiffType;
  const entries: readonly (readonly [
    tag: number,
    type: number,
    valueCount: number,
    valueOrOffset: number,
  ])[] = [
    [256, long, 1, columns * tileSide], // ImageWidth
    [257, long, 1, rows * tileSide], // ImageLength
    [258, short, 3, bitsPerSampleOffset], // BitsPerSample
    [259, short, 1, 7], // Compression: JPEG
    [262, short, 1, 6], // PhotometricInterpretation: YCbCr
    [277, short, 1, 3], // SamplesPerPixel
    [322, long, 1, tileSide], // TileWidth
    [323, long, 1, tileSide], // TileLength
    [324, long, tileCount, tileOffsetsOffset], // TileOffsets
    [325, long, tileCount, tileLengthsOffset], // TileByteCounts
  ];
  // The directory begins with the number of entries and ends with the offset of the next directory, which is 0: there is none.
  const file = Buffer.alloc(directoryOffset + 2 + entryBytes * entries.length + 4);
  file.write('II*\0', 0, 'latin1'); // byte order (little-endian) and the number 42, which identifies TIFF
  file.writeUInt32LE(directoryOffset, 4);
  tile.copy(file, headerBytes);
  for (let i = 0; i < tileCount; i++) {
    file.writeUInt32LE(headerBytes, tileOffsetsOffset + 4 * i);
    file.writeUInt32LE(tile.length, tileLengthsOffset + 4 * i);
  }
  for (let i = 0; i < 3; i++) file.writeUInt16LE(8, bitsPerSampleOffset + 2 * i); // 8 bits for each colour
  file.writeUInt16LE(entries.length, directoryOffset);
  for (const [i, [tag, type, valueCount, valueOrOffset]] of entries.entries()) {
    const entryOffset = directoryOffset + 2 + entryBytes * i;
    file.writeUInt16LE(tag, entryOffset);
    file.writeUInt16LE(type, entryOffset + 2);
    file.writeUInt32LE(valueCount, entryOffset + 4);
    file.writeUInt32LE(valueOrOffset, entryOffset + 8);
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
