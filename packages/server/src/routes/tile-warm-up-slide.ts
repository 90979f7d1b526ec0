/**
 * The slide of the tile warm-up: a TIFF file (TIFF 6.0 and TIFF Technical Note 2) of 400 native tiles of 256 × 256 pixels.
 * All of them share the bytes of one JPEG, which a comment extends to the size of a usual tile.
 */

const tileSide = 256;
const columns = 20;
const rows = 20;
/** Length of a usual native tile of 240 × 240 pixels. */
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
  const rest = Buffer.from(jpeg.subarray(2));
  // The frame header states the size of a whole tile, its scan holds less: nothing decodes a native tile on the server.
  const frame = rest.indexOf(Buffer.from([0xff, 0xc0]));
  rest.writeUInt16BE(tileSide, frame + 5);
  rest.writeUInt16BE(tileSide, frame + 7);
  return Buffer.concat([jpeg.subarray(0, 2), comment, rest]);
}

/** Little-endian, with one directory. */
function createFile(): Buffer {
  const tile = createTile();
  const count = columns * rows;
  const headerBytes = 8;
  const offsetsAt = headerBytes + tile.length;
  const lengthsAt = offsetsAt + 4 * count;
  const bitsAt = lengthsAt + 4 * count;
  const directoryAt = bitsAt + 8;
  const [short, long] = [3, 4];
  const entries: readonly (readonly [tag: number, type: number, count: number, value: number])[] = [
    [256, long, 1, columns * tileSide], // ImageWidth
    [257, long, 1, rows * tileSide], // ImageLength
    [258, short, 3, bitsAt], // BitsPerSample
    [259, short, 1, 7], // Compression: JPEG
    [262, short, 1, 6], // PhotometricInterpretation: YCbCr
    [277, short, 1, 3], // SamplesPerPixel
    [322, long, 1, tileSide], // TileWidth
    [323, long, 1, tileSide], // TileLength
    [324, long, count, offsetsAt], // TileOffsets
    [325, long, count, lengthsAt], // TileByteCounts
  ];
  const file = Buffer.alloc(directoryAt + 2 + 12 * entries.length + 4);
  file.write('II*\0', 0, 'latin1');
  file.writeUInt32LE(directoryAt, 4);
  tile.copy(file, headerBytes);
  for (let i = 0; i < count; i++) {
    file.writeUInt32LE(headerBytes, offsetsAt + 4 * i);
    file.writeUInt32LE(tile.length, lengthsAt + 4 * i);
  }
  for (let i = 0; i < 3; i++) file.writeUInt16LE(8, bitsAt + 2 * i);
  file.writeUInt16LE(entries.length, directoryAt);
  for (const [i, [tag, type, values, value]] of entries.entries()) {
    const at = directoryAt + 2 + 12 * i;
    file.writeUInt16LE(tag, at);
    file.writeUInt16LE(type, at + 2);
    file.writeUInt32LE(values, at + 4);
    file.writeUInt32LE(value, at + 8);
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
