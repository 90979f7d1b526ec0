/**
 * Writes a PNG row by row, compressed by the browser's `CompressionStream`, so that the pixels of a large screenshot (up to 100
 * megapixels) are never in memory all at the same time.
 *
 * Source: PNG (Portable Network Graphics) Specification, Third Edition, W3C.
 */

/** The first eight bytes of every PNG file. */
const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
/** Filter type Sub of PNG: stores each sample as its difference from the pixel on the left, which compresses better. */
const subFilter = 1;
const bitsPerSample = 8;
/** Colour type: red, green and blue without alpha. */
const rgbColourType = 2;

/** Polynomial of CRC-32 with its bits in reverse order. */
const crcPolynomial = 0xedb88320;
/** Table for the CRC-32 of chunks, with one entry per byte value (PNG specification, annex D). */
const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? crcPolynomial ^ (value >>> 1) : value >>> 1;
  return value;
});

export interface PngWriter {
  /** Appends rows. @param pixels RGBA of whole rows, 8 bits per sample; alpha is ignored */
  addRows(pixels: Uint8ClampedArray): Promise<void>;
  /** Returns the file. Must be called once, after the last row. */
  finish(): Promise<Blob>;
}

/** Creates a writer for a PNG of this size in pixels. */
export function createPngWriter(width: number, height: number): PngWriter {
  const compression = new CompressionStream('deflate'); // in the zlib format, as PNG requires
  const input = compression.writable.getWriter();
  const dataChunks: Blob[] = [];
  /** Resolves when all rows are compressed. */
  const allCompressed = (async () => {
    const reader = compression.readable.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      dataChunks.push(new Blob([chunk('IDAT', read.value)]));
    }
  })();

  return {
    async addRows(pixels) {
      await input.write(filteredRows(pixels, width));
    },
    async finish() {
      await input.close();
      await allCompressed;
      // Width, height, bits per sample and colour type; the last three bytes (compression, filter, interlacing) are 0.
      const headerData = new DataView(new ArrayBuffer(13));
      headerData.setUint32(0, width);
      headerData.setUint32(4, height);
      headerData.setUint8(8, bitsPerSample);
      headerData.setUint8(9, rgbColourType);
      const headerChunk = chunk('IHDR', new Uint8Array(headerData.buffer));
      return new Blob([signature, headerChunk, ...dataChunks, chunk('IEND', new Uint8Array())], {
        type: 'image/png',
      });
    },
  };
}

/** Returns rows of RGB samples with filter Sub. Each row begins with the byte of its filter type, as PNG requires. */
function filteredRows(pixels: Uint8ClampedArray, width: number): Uint8Array<ArrayBuffer> {
  const rowCount = pixels.length / (4 * width);
  const filtered = new Uint8Array(rowCount * (1 + 3 * width));
  let targetIndex = 0;
  let sourceIndex = 0;
  for (let row = 0; row < rowCount; row += 1) {
    filtered[targetIndex] = subFilter;
    targetIndex += 1;
    let [red, green, blue] = [0, 0, 0]; // the pixel on the left; 0 for the first pixel of a row
    for (let column = 0; column < width; column += 1) {
      const [nextRed = 0, nextGreen = 0, nextBlue = 0] = [
        pixels[sourceIndex],
        pixels[sourceIndex + 1],
        pixels[sourceIndex + 2],
      ];
      // The array stores the differences modulo 256, as PNG requires.
      filtered[targetIndex] = nextRed - red;
      filtered[targetIndex + 1] = nextGreen - green;
      filtered[targetIndex + 2] = nextBlue - blue;
      [red, green, blue] = [nextRed, nextGreen, nextBlue];
      sourceIndex += 4; // RGBA
      targetIndex += 3; // RGB
    }
  }
  return filtered;
}

/** Returns a chunk of a PNG: length of the data, type, data, and CRC of type and data. */
function chunk(type: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(12 + data.length); // length, type and CRC have 4 bytes each
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  for (let index = 0; index < 4; index += 1) bytes[4 + index] = type.charCodeAt(index);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crcOf(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
