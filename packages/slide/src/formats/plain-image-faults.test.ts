/**
 * Tests damaged JPEG, PNG and JPEG 2000 files: each row of the table is a defect, a function that builds a file with it, and the
 * expected outcome, which is `displayed` or an error code.
 */
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { readJpegHeader } from '../jpeg/header.ts';
import { SlideError } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { buildPng, type PngChunk, pngChunks, writePng } from '../testing/build-png.ts';
import { countedFiles } from '../testing/counted-files.ts';
import { encodeJpeg2000 } from '../testing/encode-frames.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { paintTissue } from '../testing/paint-tissue.ts';

vi.setConfig({ testTimeout: 60_000 });

type Fault = readonly [name: string, build: () => Uint8Array, outcome: string];

/** The outcome of a file that can be opened and decoded; other outcomes are error codes. */
const DISPLAYED = 'displayed';
const picture = paintTissue(80, 60);
let jpeg: Buffer;
let jpeg2000: Buffer;
beforeAll(async () => {
  jpeg = await sharp(picture.rgb, { raw: { width: 80, height: 60, channels: 3 } })
    .jpeg()
    .toBuffer();
  jpeg2000 = Buffer.from(await encodeJpeg2000({ ...picture, samplesPerPixel: 3, values: picture.rgb }));
});

/** Returns a function that copies a file and changes the copy. */
const patched = (get: () => Buffer, patch: (bytes: Buffer) => void) => () => {
  const bytes = Buffer.from(get());
  patch(bytes);
  return bytes;
};
/** Changes bytes of the JPEG, counted from its frame marker. */
const changedFrameHeader = (offset: number, ...numbers: number[]) =>
  patched(
    () => jpeg,
    (bytes) => bytes.set(numbers, readJpegHeader(bytes).frameAt + offset),
  );
/** Changes the body of the first segment with a marker. */
const changedSegment = (marker: number, ...body: number[]) =>
  patched(
    () => jpeg,
    (bytes) => bytes.set(body, bytes.indexOf(Uint8Array.of(0xff, marker)) + 4),
  );
/** Changes the entropy-coded data of the JPEG. */
const changedScan = (change: (data: Buffer) => unknown) =>
  patched(
    () => jpeg,
    (bytes) => change(bytes.subarray(readJpegHeader(bytes).dataAt)),
  );
/** Changes bytes of the JPEG 2000 code stream. */
const changedStream = (offset: number, ...numbers: number[]) =>
  patched(
    () => jpeg2000,
    (bytes) => bytes.set(numbers, offset),
  );
/** Changes bytes of the PNG header chunk. */
const changedPngHeader =
  (offset: number, ...numbers: number[]) =>
  () => {
    const chunks = pngChunks();
    chunks[0]?.data.set(numbers, offset);
    return writePng(chunks);
  };
/** Changes the chunks of the PNG. */
const changedChunks = (change: (chunks: PngChunk[]) => readonly PngChunk[]) => () =>
  writePng(change(pngChunks()));
/** Changes bytes of the PNG. */
const changedPng = (patch: (bytes: Buffer) => unknown) => patched(() => buildPng(), patch);
/** Changes the image data of the PNG, its IDAT chunk. */
const changedImageData = (change: (data: Uint8Array) => Uint8Array) =>
  changedChunks((all) =>
    all.map((chunk) => (chunk.type === 'IDAT' ? { type: 'IDAT', data: change(chunk.data) } : chunk)),
  );

const faults: readonly Fault[] = [
  ['a complete JPEG', () => jpeg, DISPLAYED],
  ['a JPEG cut off after its first two bytes', () => jpeg.subarray(0, 2), 'FORMAT_NOT_RECOGNISED'],
  ['a JPEG cut off after its first three bytes', () => jpeg.subarray(0, 3), 'FILE_CORRUPT'],
  ['a JPEG truncated in its tables', () => jpeg.subarray(0, 200), 'FILE_CORRUPT'],
  ['a JPEG truncated in its scan', () => jpeg.subarray(0, -200), 'FILE_CORRUPT'],
  ['a JPEG without its last two bytes', () => jpeg.subarray(0, -2), 'FILE_CORRUPT'],
  ['a JPEG followed by other bytes', () => Buffer.concat([jpeg, Buffer.alloc(1000, 1)]), DISPLAYED],
  ['a JPEG with only zeros in its scan', changedScan((data) => data.fill(0)), 'FILE_CORRUPT'],
  ['a JPEG with only markers in its scan', changedScan((data) => data.fill(0xff)), 'FILE_CORRUPT'],
  [
    'a JPEG with an end-of-image marker (EOI) in the middle',
    changedScan((data) => data.set([0xff, 0xd9], 100)),
    'FILE_CORRUPT',
  ],
  [
    'a JPEG with a restart marker but no restart interval',
    changedScan((data) => data.set([0xff, 0xd0], 100)),
    'FILE_CORRUPT',
  ],
  ['a JPEG of width 0', changedFrameHeader(7, 0, 0), 'FILE_CORRUPT'],
  ['a JPEG with less data than its height needs', changedFrameHeader(5, 0, 200), 'FILE_CORRUPT'],
  ['a JPEG with more data than its height needs', changedFrameHeader(5, 0, 20), DISPLAYED],
  ['a JPEG of no components', changedFrameHeader(9, 0), 'FILE_CORRUPT'],
  ['a JPEG of 255 components', changedFrameHeader(9, 255), 'FILE_CORRUPT'],
  ['a JPEG with the sampling factors 0 × 0 for one component', changedFrameHeader(11, 0), 'FILE_CORRUPT'],
  ['a JPEG with the sampling factors 5 × 5 for one component', changedFrameHeader(11, 0x55), 'FILE_CORRUPT'],
  ['a JPEG with duplicate component numbers', changedFrameHeader(13, 1), 'FILE_CORRUPT'],
  ['a JPEG falsely declared as progressive', changedFrameHeader(1, 0xc2), 'FILE_CORRUPT'],
  ['a JPEG with too many Huffman codes', changedSegment(0xc4, 0, 255, 255), 'FILE_CORRUPT'],
  ['a JPEG with the Huffman table number 9', changedSegment(0xc4, 9), 'FILE_CORRUPT'],
  ['a JPEG with the quantisation table number 9', changedSegment(0xdb, 9), 'FILE_CORRUPT'],
  ['a JPEG whose scan has five components', changedSegment(0xda, 5), 'FILE_CORRUPT'],
  [
    'a JPEG that consists only of comments',
    () => Buffer.concat([jpeg.subarray(0, 2), Buffer.from('\xff\xfe\0\x04AB'.repeat(5000), 'latin1')]),
    'FILE_CORRUPT',
  ],
  [
    'a JPEG with 17 MiB of comments (limit 16 MiB)',
    () =>
      Buffer.concat([
        jpeg.subarray(0, 2),
        ...Array.from({ length: 280 }, () =>
          Buffer.concat([Uint8Array.of(0xff, 0xfe, 0xff, 0xff), Buffer.alloc(65_533)]),
        ),
        jpeg.subarray(2),
      ]),
    'LIMIT_EXCEEDED',
  ],

  ['a complete PNG', () => buildPng(), DISPLAYED],
  ['a PNG that ends after its signature', () => buildPng().subarray(0, 8), 'FILE_TRUNCATED'],
  ['a PNG truncated in its header', () => buildPng().subarray(0, 20), 'FILE_TRUNCATED'],
  ['a PNG truncated in its image data', () => buildPng().subarray(0, 80), 'FILE_TRUNCATED'],
  ['a PNG without an IEND chunk', changedChunks((all) => all.slice(0, 2)), DISPLAYED],
  ['a PNG without image data', changedChunks((all) => [all[0], all[2]] as PngChunk[]), 'FILE_CORRUPT'],
  ['a PNG without a header', changedChunks((all) => all.slice(1)), 'FILE_CORRUPT'],
  [
    'a PNG with two headers',
    changedChunks(([first, ...rest]) => [first, first, ...rest] as PngChunk[]),
    'FILE_CORRUPT',
  ],
  [
    'a PNG whose header is not the first chunk',
    changedChunks(
      ([first, ...rest]) => [{ type: 'tEXt', data: new Uint8Array(4) }, first, ...rest] as PngChunk[],
    ),
    'FILE_CORRUPT',
  ],
  [
    'a PNG with a header of 5 bytes',
    changedChunks(([, ...rest]) => [{ type: 'IHDR', data: new Uint8Array(5) }, ...rest]),
    'FILE_CORRUPT',
  ],
  ['a PNG of width 0', changedPngHeader(0, 0, 0, 0, 0), 'FILE_CORRUPT'],
  ['a PNG of height 2^32 − 1 (PNG allows 2^31 − 1)', changedPngHeader(4, 255, 255, 255, 255), 'FILE_CORRUPT'],
  ['a PNG with less data than its height needs', changedPngHeader(4, 0, 0, 1, 0), 'FILE_CORRUPT'],
  ['a PNG with less data than its width needs', changedPngHeader(0, 0, 0, 16, 0), 'FILE_CORRUPT'],
  ['a PNG of 3 bits per sample', changedPngHeader(8, 3), 'FILE_CORRUPT'],
  ['an RGB PNG of 4 bits per sample', changedPngHeader(8, 4), 'FILE_CORRUPT'],
  ['a PNG of the undefined colour type 5', changedPngHeader(9, 5), 'FILE_CORRUPT'],
  ['a PNG with an unknown compression method', changedPngHeader(10, 1), 'FILE_CORRUPT'],
  ['a PNG with an unknown filter method', changedPngHeader(11, 1), 'FILE_CORRUPT'],
  ['a PNG with an unknown interlace method', changedPngHeader(12, 2), 'FILE_CORRUPT'],
  ['a PNG falsely declared as interlaced', changedPngHeader(12, 1), 'FILE_CORRUPT'],
  ['a PNG declared as palette image without a palette', changedPngHeader(9, 3), 'FILE_CORRUPT'],
  ['a PNG whose header has the wrong checksum', changedPng((bytes) => bytes.fill(0, 29, 33)), 'FILE_CORRUPT'],
  [
    'a PNG whose image data have the wrong checksum',
    changedPng((bytes) => bytes.fill(0, bytes.length - 16, bytes.length - 12)),
    'FILE_CORRUPT',
  ],
  [
    'a PNG with a chunk that ends past the end of the file',
    changedPng((bytes) => bytes.writeUInt32BE(2 ** 31 - 1, 33)),
    'FILE_TRUNCATED',
  ],
  ['a PNG with an invalid chunk name', changedPng((bytes) => bytes.set([0, 1, 2, 3], 37)), 'FILE_CORRUPT'],
  [
    'a PNG with 2,000 chunks before its image data (limit 1,000)',
    changedChunks(
      ([first, ...rest]) =>
        [
          first,
          ...Array.from({ length: 2000 }, () => ({ type: 'tEXt', data: new Uint8Array(2) })),
          ...rest,
        ] as PngChunk[],
    ),
    'LIMIT_EXCEEDED',
  ],
  [
    'a PNG whose image data are not a zlib stream',
    changedImageData((data) => data.map(() => 7)),
    'FILE_CORRUPT',
  ],
  [
    'a PNG whose zlib stream is truncated',
    changedImageData((data) => data.subarray(0, data.length / 2)),
    'FILE_CORRUPT',
  ],
  [
    'a PNG with an invalid row filter',
    changedImageData(() => deflateSync(Buffer.alloc(30 * 121, 9))),
    'FILE_CORRUPT',
  ],
  [
    'a PNG that decompresses to 64 MiB instead of 3 KB',
    changedImageData(() => deflateSync(Buffer.alloc(64 * 2 ** 20))),
    DISPLAYED,
  ],
  [
    'a PNG whose text chunk decompresses to 64 MiB',
    changedChunks(
      ([first, ...rest]) =>
        [
          first,
          {
            type: 'zTXt',
            data: Buffer.concat([Buffer.from('a\0\0', 'latin1'), deflateSync(Buffer.alloc(64 * 2 ** 20))]),
          },
          ...rest,
        ] as PngChunk[],
    ),
    DISPLAYED,
  ],

  ['a complete JPEG 2000 code stream', () => jpeg2000, DISPLAYED],
  ['a JPEG 2000 code stream of 12 bytes', () => jpeg2000.subarray(0, 12), 'FILE_CORRUPT'],
  ['a JPEG 2000 code stream truncated in its header', () => jpeg2000.subarray(0, 60), 'FILE_CORRUPT'],
  ['a JPEG 2000 code stream truncated in its image data', () => jpeg2000.subarray(0, -500), 'FILE_CORRUPT'],
  ['a JPEG 2000 code stream of width 0', changedStream(8, 0, 0, 0, 0), 'FILE_CORRUPT'],
  [
    'a JPEG 2000 code stream of 2^32 − 1 pixels in width and height',
    changedStream(8, 255, 255, 255, 255, 255, 255, 255, 255),
    'LIMIT_EXCEEDED',
  ],
  [
    'a JPEG 2000 code stream in 4,800 tiles of 1 × 1 pixel (limit 1,024)',
    changedStream(24, 0, 0, 0, 1, 0, 0, 0, 1),
    'LIMIT_EXCEEDED',
  ],
  ['a JPEG 2000 code stream of 16,384 components', changedStream(40, 64, 0), 'FORMAT_NOT_SUPPORTED'],
  ['a JPEG 2000 code stream of two components', changedStream(40, 0, 2), 'FORMAT_NOT_SUPPORTED'],
  [
    'a JPEG 2000 file whose boxes contain no code stream',
    () => Buffer.concat([Buffer.from('\0\0\0\x0cjP  \r\n\x87\n', 'latin1'), Buffer.alloc(64)]),
    'FILE_CORRUPT',
  ],
];

/** Opens a file and decodes its first tile; returns the outcome, and counts of reads and open files. */
async function openAndDecode(source: SlideFiles) {
  const { files, count } = countedFiles(source);
  const outcome = await decodeFirstTile(() => openSlideFrom(files)).catch((error: unknown) => {
    if (error instanceof SlideError) return error.code;
    throw error;
  });
  return { outcome, count };
}

async function decodeFirstTile(open: () => ReturnType<typeof openSlideFrom>): Promise<string> {
  const slide = await open();
  try {
    const tile = await slide.readTile({ level: 0, column: 0, row: 0 });
    if (tile) await decodeImage(tile);
    return DISPLAYED;
  } finally {
    await slide.close();
  }
}

describe('an image file (opened as a slide, then its first tile decoded)', () => {
  it.each(faults)('has the outcome "$2" if it is %s', async (_, build, expected) => {
    const bytes = build();
    const { outcome, count } = await openAndDecode(memoryFiles({ picture: bytes }));
    expect(outcome).toBe(expected);
    expect(count.bytes).toBeLessThan(3 * bytes.length + 100_000);
    expect(count.reads).toBeLessThan(1100);
    expect(count.open).toBe(0);
  });

  it.each<[string, () => Buffer]>([
    ['JPEG', () => jpeg],
    ['PNG', () => buildPng()],
    ['JPEG 2000', () => jpeg2000],
  ])(
    'in the format %s is rejected with a SlideError if it is truncated, whatever its length',
    async (_, getFile) => {
      const bytes = getFile();
      // The last 12 bytes of a PNG, its IEND chunk, are not needed.
      for (let length = 0; length < bytes.length - 12; length += 7) {
        const { outcome, count } = await openAndDecode(memoryFiles({ picture: bytes.subarray(0, length) }));
        expect(outcome, `${length} bytes`).not.toBe(DISPLAYED);
        expect(count.open).toBe(0);
      }
    },
  );

  it.each<[string, () => Buffer]>([
    ['JPEG', () => jpeg],
    ['PNG', () => buildPng()],
    ['JPEG 2000', () => jpeg2000],
  ])(
    'in the format %s with up to 8 flipped bits is decoded or rejected with a SlideError, and then closed',
    async (_, getFile) => {
      const original = getFile();
      let seed = 4711;
      /** Returns a pseudo-random number below the limit, the same in every run. */
      const nextNumber = (limit: number) => {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
        return Math.floor((seed / 2 ** 31) * limit);
      };
      for (let i = 0; i < 300; i++) {
        const bytes = Buffer.from(original);
        for (let flips = 1 + nextNumber(8); flips > 0; flips--) {
          const position = nextNumber(bytes.length);
          bytes[position] = (bytes[position] as number) ^ (1 << nextNumber(8));
        }
        const { count } = await openAndDecode(memoryFiles({ picture: bytes }));
        expect(count.bytes).toBeLessThan(3 * bytes.length + 100_000);
        expect(count.open).toBe(0);
      }
    },
  );
});
