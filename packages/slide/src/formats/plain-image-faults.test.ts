/** Every way a JPEG, PNG or JPEG 2000 file can be broken, and what is said of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { readJpegHeader } from '../jpeg/header.ts';
import { openSlideFrom } from '../open-slide.ts';
import { SlideError } from '../slide.ts';
import { openSlideFiles, type SlideFiles } from '../source/slide-files.ts';
import { buildPng, type PngChunk, pngChunks, writePng } from '../testing/build-png.ts';
import { countedFiles } from '../testing/counted-files.ts';
import { encodeJpeg2000 } from '../testing/encode-frames.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { paintTissue } from '../testing/paint-tissue.ts';

vi.setConfig({ testTimeout: 60_000 });

type Fault = readonly [name: string, build: () => Uint8Array, outcome: string];

const SHOWN = 'shown';
const picture = paintTissue(80, 60);
let jpeg: Buffer;
let jpeg2000: Buffer;
beforeAll(async () => {
  jpeg = await sharp(picture.rgb, { raw: { width: 80, height: 60, channels: 3 } })
    .jpeg()
    .toBuffer();
  jpeg2000 = Buffer.from(await encodeJpeg2000({ ...picture, samplesPerPixel: 3, values: picture.rgb }));
});

const patched = (get: () => Buffer, patch: (bytes: Buffer) => void) => () => {
  const bytes = Buffer.from(get());
  patch(bytes);
  return bytes;
};
/** The JPEG with other bytes, counted from its frame's marker. */
const frame = (at: number, ...numbers: number[]) =>
  patched(
    () => jpeg,
    (bytes) => bytes.set(numbers, readJpegHeader(bytes).frameAt + at),
  );
/** With the body of its first segment of a kind changed. */
const segment = (marker: number, ...body: number[]) =>
  patched(
    () => jpeg,
    (bytes) => bytes.set(body, bytes.indexOf(Uint8Array.of(0xff, marker)) + 4),
  );
const scan = (change: (data: Buffer) => unknown) =>
  patched(
    () => jpeg,
    (bytes) => change(bytes.subarray(readJpegHeader(bytes).dataAt)),
  );
/** The JPEG 2000 code stream with other bytes at a place. */
const stream = (at: number, ...numbers: number[]) =>
  patched(
    () => jpeg2000,
    (bytes) => bytes.set(numbers, at),
  );
/** The PNG with other bytes in its header chunk. */
const header =
  (at: number, ...numbers: number[]) =>
  () => {
    const chunks = pngChunks();
    chunks[0]?.data.set(numbers, at);
    return writePng(chunks);
  };
const chunks = (change: (chunks: PngChunk[]) => readonly PngChunk[]) => () => writePng(change(pngChunks()));
const raw = (patch: (bytes: Buffer) => unknown) => patched(() => buildPng(), patch);
const idat = (change: (data: Uint8Array) => Uint8Array) =>
  chunks((all) =>
    all.map((chunk) => (chunk.type === 'IDAT' ? { type: 'IDAT', data: change(chunk.data) } : chunk)),
  );

const faults: readonly Fault[] = [
  ['a JPEG, whole', () => jpeg, SHOWN],
  ['a JPEG of its first two bytes', () => jpeg.subarray(0, 2), 'FORMAT_NOT_RECOGNISED'],
  ['a JPEG of its first three bytes', () => jpeg.subarray(0, 3), 'FILE_CORRUPT'],
  ['a JPEG cut in its tables', () => jpeg.subarray(0, 200), 'FILE_CORRUPT'],
  ['a JPEG cut in its scan', () => jpeg.subarray(0, -200), 'FILE_CORRUPT'],
  ['a JPEG without its last two bytes', () => jpeg.subarray(0, -2), 'FILE_CORRUPT'],
  ['a JPEG with something behind it', () => Buffer.concat([jpeg, Buffer.alloc(1000, 1)]), SHOWN],
  ['a JPEG of zeros after its head', scan((data) => data.fill(0)), 'FILE_CORRUPT'],
  ['a JPEG of markers after its head', scan((data) => data.fill(0xff)), 'FILE_CORRUPT'],
  ['a JPEG with EOI in the middle', scan((data) => data.set([0xff, 0xd9], 100)), 'FILE_CORRUPT'],
  [
    'a JPEG with a restart marker that it has not announced',
    scan((data) => data.set([0xff, 0xd0], 100)),
    'FILE_CORRUPT',
  ],
  ['a JPEG without a width', frame(7, 0, 0), 'FILE_CORRUPT'],
  ['a JPEG that is higher than its data', frame(5, 0, 200), 'FILE_CORRUPT'],
  ['a JPEG that is less high than its data', frame(5, 0, 20), SHOWN],
  ['a JPEG of no components', frame(9, 0), 'FILE_CORRUPT'],
  ['a JPEG of 255 components', frame(9, 255), 'FILE_CORRUPT'],
  ['a JPEG with a component sampled 0 × 0', frame(11, 0), 'FILE_CORRUPT'],
  ['a JPEG with a component sampled 5 × 5', frame(11, 0x55), 'FILE_CORRUPT'],
  ['a JPEG with components of the same number', frame(13, 1), 'FILE_CORRUPT'],
  ['a JPEG whose frame is called progressive', frame(1, 0xc2), 'FILE_CORRUPT'],
  ['a JPEG with too many Huffman codes', segment(0xc4, 0, 255, 255), 'FILE_CORRUPT'],
  ['a JPEG with a Huffman table of number 9', segment(0xc4, 9), 'FILE_CORRUPT'],
  ['a JPEG with a quantisation table of number 9', segment(0xdb, 9), 'FILE_CORRUPT'],
  ['a JPEG whose scan has five components', segment(0xda, 5), 'FILE_CORRUPT'],
  [
    'a JPEG of comments alone',
    () => Buffer.concat([jpeg.subarray(0, 2), Buffer.from('\xff\xfe\0\x04AB'.repeat(5000), 'latin1')]),
    'FILE_CORRUPT',
  ],
  [
    'a JPEG with 17 MiB of comments',
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

  ['a PNG, whole', () => buildPng(), SHOWN],
  ['a PNG of its signature', () => buildPng().subarray(0, 8), 'FILE_TRUNCATED'],
  ['a PNG cut in its header', () => buildPng().subarray(0, 20), 'FILE_TRUNCATED'],
  ['a PNG cut in its picture', () => buildPng().subarray(0, 80), 'FILE_TRUNCATED'],
  ['a PNG without an end', chunks((all) => all.slice(0, 2)), SHOWN],
  ['a PNG without a picture', chunks((all) => [all[0], all[2]] as PngChunk[]), 'FILE_CORRUPT'],
  ['a PNG without a header', chunks((all) => all.slice(1)), 'FILE_CORRUPT'],
  [
    'a PNG with two headers',
    chunks(([first, ...rest]) => [first, first, ...rest] as PngChunk[]),
    'FILE_CORRUPT',
  ],
  [
    'a PNG whose header is not the first chunk',
    chunks(([first, ...rest]) => [{ type: 'tEXt', data: new Uint8Array(4) }, first, ...rest] as PngChunk[]),
    'FILE_CORRUPT',
  ],
  [
    'a PNG with a header of 5 bytes',
    chunks(([, ...rest]) => [{ type: 'IHDR', data: new Uint8Array(5) }, ...rest]),
    'FILE_CORRUPT',
  ],
  ['a PNG of width 0', header(0, 0, 0, 0, 0), 'FILE_CORRUPT'],
  ['a PNG of a height above 2^31', header(4, 255, 255, 255, 255), 'FILE_CORRUPT'],
  ['a PNG that is higher than its data', header(4, 0, 0, 1, 0), 'FILE_CORRUPT'],
  ['a PNG that is wider than its data', header(0, 0, 0, 16, 0), 'FILE_CORRUPT'],
  ['a PNG of 3 bits a sample', header(8, 3), 'FILE_CORRUPT'],
  ['a PNG of RGB with 4 bits a sample', header(8, 4), 'FILE_CORRUPT'],
  ['a PNG of colour type 5', header(9, 5), 'FILE_CORRUPT'],
  ['a PNG packed in another way', header(10, 1), 'FILE_CORRUPT'],
  ['a PNG filtered in another way', header(11, 1), 'FILE_CORRUPT'],
  ['a PNG interlaced in another way', header(12, 2), 'FILE_CORRUPT'],
  ['a PNG that is not interlaced but says so', header(12, 1), 'FILE_CORRUPT'],
  ['a PNG with a palette that is missing', header(9, 3), 'FILE_CORRUPT'],
  ['a PNG whose header has the wrong checksum', raw((bytes) => bytes.fill(0, 29, 33)), 'FILE_CORRUPT'],
  [
    'a PNG whose picture has the wrong checksum',
    raw((bytes) => bytes.fill(0, bytes.length - 16, bytes.length - 12)),
    'FILE_CORRUPT',
  ],
  [
    'a PNG with a chunk that goes on past the end',
    raw((bytes) => bytes.writeUInt32BE(2 ** 31 - 1, 33)),
    'FILE_TRUNCATED',
  ],
  ['a PNG with a chunk that is no name', raw((bytes) => bytes.set([0, 1, 2, 3], 37)), 'FILE_CORRUPT'],
  [
    'a PNG with 2,000 chunks before its picture',
    chunks(
      ([first, ...rest]) =>
        [
          first,
          ...Array.from({ length: 2000 }, () => ({ type: 'tEXt', data: new Uint8Array(2) })),
          ...rest,
        ] as PngChunk[],
    ),
    'LIMIT_EXCEEDED',
  ],
  ['a PNG whose picture is no zlib stream', idat((data) => data.map(() => 7)), 'FILE_CORRUPT'],
  ['a PNG whose zlib stream is cut', idat((data) => data.subarray(0, data.length / 2)), 'FILE_CORRUPT'],
  [
    'a PNG whose rows have a filter that is none',
    idat(() => deflateSync(Buffer.alloc(30 * 121, 9))),
    'FILE_CORRUPT',
  ],
  [
    'a PNG with 64 MiB of zeros where 3 KB belong',
    idat(() => deflateSync(Buffer.alloc(64 * 2 ** 20))),
    SHOWN,
  ],
  [
    'a PNG with 64 MiB of zeros as its text',
    chunks(
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
    SHOWN,
  ],

  ['a JPEG 2000 code stream, whole', () => jpeg2000, SHOWN],
  ['a JPEG 2000 code stream of 12 bytes', () => jpeg2000.subarray(0, 12), 'FILE_CORRUPT'],
  ['a JPEG 2000 code stream cut in its header', () => jpeg2000.subarray(0, 60), 'FILE_CORRUPT'],
  ['a JPEG 2000 code stream cut in its picture', () => jpeg2000.subarray(0, -500), 'FILE_CORRUPT'],
  ['a JPEG 2000 code stream of width 0', stream(8, 0, 0, 0, 0), 'FILE_CORRUPT'],
  [
    'a JPEG 2000 code stream of 2^32 pixels a side',
    stream(8, 255, 255, 255, 255, 255, 255, 255, 255),
    'LIMIT_EXCEEDED',
  ],
  ['a JPEG 2000 code stream in tiles of 1 × 1', stream(24, 0, 0, 0, 1, 0, 0, 0, 1), 'LIMIT_EXCEEDED'],
  ['a JPEG 2000 code stream of 16,384 components', stream(40, 64, 0), 'FORMAT_NOT_SUPPORTED'],
  ['a JPEG 2000 code stream of two components', stream(40, 0, 2), 'FORMAT_NOT_SUPPORTED'],
  [
    'boxes without a code stream',
    () => Buffer.concat([Buffer.from('\0\0\0\x0cjP  \r\n\x87\n', 'latin1'), Buffer.alloc(64)]),
    'FILE_CORRUPT',
  ],
];

/** Files of other readers' tests, beside the folder that TEST_SLIDES names: broken ones, and some that only look so. */
const collected: readonly (readonly [file: string, outcome: string])[] = [
  ['hamamatsu/ndpi_test.ndpi', 'FORMAT_NOT_RECOGNISED'],
  ['jp2/crash-d2c93af851d3ab9a19e34503626368b2ecde9c03.j2k', 'FORMAT_NOT_SUPPORTED'],
  ['jpeg/truncated.jpg', 'FILE_CORRUPT'],
  ['jpeg/truncated_app14.jpg', 'FILE_CORRUPT'],
  ['jpeg/truncated_jpeg.jpg', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/00456de89b80d51dd4dd73dd92b844e1ecef8d15-3', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/0ae161b8de2a9e53c887fed70c1970774aa45383-1', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/11b89b84df72ba4ef373c55249e57b434570efda-1', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/1b166e54bdcda756035b840d00fd3fdf144a7615-2', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/273bafdd96d775d59adde8b9ead2c3ce6ae820a1-6', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/305e8c61f4f06c182c540040d4ac9fb0a5fa654e-3', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/37fdc6624200fc4b98a999d4bb916c7190c41b59-4', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/40e4bbc45ed2509c2e1d5c7bdeb67236a93a35a2-3', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/4bf9097b25424888aa462ecd4a81956ff7802d35-5', SHOWN],
  ['jpeg/go-fuzz/542265869f5048c117120fd61bd868b2085893e3-1', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/6019cef39490228875b13f0c2dc37b8492531832-1', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/686122f08f4b5b7433f4bc4c374b18dfa0eb911d-3', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/714c6f0ab76032660d01bf2e715256a7cc001f52', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/7f181a5ea04201b6ff9392c008b1a3b690a5d22d-6', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/8495324566cba144d3b54ad374ddfbeb62dc9478-4', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/8c656088558cd85d9d8189139234218b7fdd1030-5', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/93568c95353060d7e6e0b467414b500fa15c9be3-2', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/9b67445100f6397d19a16ce99dce4d2c987ad102-5', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/a6dbdaa547d0d223a7b3101e0f12465b6961b04c-6', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/b103d95d60e174a0808c16b650e8dda6ab26ee50-8', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/b86afb5699dd8a525363e753e7ec2d28f68c380c-3', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/c1c019771f57a0e58cca1dbee4b2ef39ba6ab576-5', SHOWN],
  ['jpeg/go-fuzz/c9650bc7a199e91e2c38881cc019a2677bb42c12-4', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/cf7131158242d1db7eea9a5f8a1914d2f5793092-5', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/d85efb1c1e0913a8c592c69028732a049670563b-2', 'FORMAT_NOT_SUPPORTED'],
  ['jpeg/go-fuzz/e5794e41b07b43dc4fa91e5c42e39add73c267c7-1', SHOWN],
  ['jpeg/go-fuzz/f17baa0efdb0086b89ef92439debe0c03dc3ec90-2', 'FILE_CORRUPT'],
  ['jpeg/go-fuzz/fbaf5bf83341f83588fe73b424667ac91c172f5e-1', 'FORMAT_NOT_RECOGNISED'],
  ['jpeg/go-fuzz/video-001.q50.410.progressive.jpeg', SHOWN],
  ['jpeg/go-fuzz/video-001.q50.444.progressive.jpeg', SHOWN],
  ['jpeg/twelvemonkeys/110115680-6d6dce80-7d84-11eb-99df-4cb21df3b09f.jpeg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/513f29d0-02a8-11e7-9756-6035edb96e79.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/51432b02-02a8-11e7-9203-b42b1c43c0c3.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/5145e95a-02a8-11e7-8372-4787a7307ab8.jpg', 'FORMAT_NOT_RECOGNISED'],
  ['jpeg/twelvemonkeys/514b20dc-02a8-11e7-92c6-d4fed7b4ebb1.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/514c48ea-02a8-11e7-8789-bb75321f404f.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/515e763c-02a8-11e7-85fb-573b41201f05.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/516c2778-02a8-11e7-9d50-e916ce831200.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/broken-adobe-marker-bad-length.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/broken-adobe-segment-length-beyond-eof.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/broken-bogus-data-prepended-real-jfif-start-at-4801.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/broken-bogus-segment-length.jpg', 'FILE_CORRUPT'],
  ['jpeg/twelvemonkeys/broken-invalid-adobe-ycc-gray.jpg', SHOWN],
  ['jpeg/twelvemonkeys/broken-sos-before-sof.jpg', 'FILE_CORRUPT'],
  ['png/broken_data_stream.png', 'FILE_CORRUPT'],
  ['png/truncated_end_chunk.png', SHOWN],
  ['png/truncated_image.png', 'FILE_TRUNCATED'],
  ['png/go-fuzz/0027e9c17f97bc035782fee6b4c725abb5e25f5f-2', 'FILE_TRUNCATED'],
  ['png/go-fuzz/148a5c4b58b248b60634e127932e30251e950ad8-4', 'FILE_TRUNCATED'],
  ['png/go-fuzz/300a4ee19316b6f3322de1830573b3a90751040d-5', SHOWN],
  ['png/go-fuzz/447a6d045ebdb25fab3c95a3da9c2fe7fd9a9716', SHOWN],
  ['png/go-fuzz/55d5565d5ceb8e771b8aded0fcabd1285f6ae0b4-2', 'FILE_TRUNCATED'],
  ['png/go-fuzz/614b09838d5867d9e6ff4202b14df45b420d1028-3', 'FILE_TRUNCATED'],
  ['png/go-fuzz/7c872942689925ab0ca90309c6957dc5808bed18-10', 'FILE_TRUNCATED'],
  ['png/go-fuzz/96f6b7c6545f3057817a1723e2350007bc72479e-1', 'FILE_TRUNCATED'],
  ['png/go-fuzz/acafeafb7daff683e5f87949919070341a090fd2-2', 'FILE_TRUNCATED'],
  ['png/go-fuzz/basn0g04-31.png', SHOWN],
  ['png/go-fuzz/be02dacf65d812ca7fad144d6c3e0769866ee73b-2', 'FILE_TRUNCATED'],
  ['png/go-fuzz/d0f435a173742d4ee735810b9c1d0d4a202c6859-2', 'FILE_TRUNCATED'],
  ['png/go-fuzz/e61abc368fef3694f6f301879e2d025f36b39013-6', 'FILE_TRUNCATED'],
  ['png/go-fuzz/f7386654a561d3d56549489fa587e6257350ab9e-2', 'FILE_TRUNCATED'],
  ['png/go-fuzz/logo.png', SHOWN],
];
const folder = join(process.env.TEST_SLIDES ?? '', '..', 'bad-slides');
const isThere = process.env.TEST_SLIDES !== undefined && existsSync(folder);

async function tryOut(source: SlideFiles) {
  const { files, count } = countedFiles(source);
  const outcome = await show(() => openSlideFrom(files)).catch((error: unknown) => {
    if (error instanceof SlideError) return error.code;
    throw error;
  });
  return { outcome, count };
}

async function show(open: () => ReturnType<typeof openSlideFrom>): Promise<string> {
  const slide = await open();
  try {
    const tile = await slide.readTile({ level: 0, column: 0, row: 0 });
    if (tile) await decodeImage(tile);
    return SHOWN;
  } finally {
    await slide.close();
  }
}

describe('a picture', () => {
  it.each(faults)('that is %s', async (_, build, expected) => {
    const bytes = build();
    const { outcome, count } = await tryOut(memoryFiles({ picture: bytes }));
    expect(outcome).toBe(expected);
    expect(count.bytes).toBeLessThan(3 * bytes.length + 100_000);
    expect(count.reads).toBeLessThan(1100);
    expect(count.open).toBe(0);
  });

  it.each<[string, () => Buffer]>([
    ['JPEG', () => jpeg],
    ['PNG', () => buildPng()],
    ['JPEG 2000', () => jpeg2000],
  ])('that is cut gives a slide error wherever it ends: %s', async (_, whole) => {
    const bytes = whole();
    for (let end = 0; end < bytes.length - 12; end += 7) {
      const { outcome, count } = await tryOut(memoryFiles({ picture: bytes.subarray(0, end) }));
      expect(outcome, `${end} bytes`).not.toBe(SHOWN);
      expect(count.open).toBe(0);
    }
  });

  it.each<[string, () => Buffer]>([
    ['JPEG', () => jpeg],
    ['PNG', () => buildPng()],
    ['JPEG 2000', () => jpeg2000],
  ])('with flipped bytes is shown, or gives a slide error: %s', async (_, whole) => {
    const original = whole();
    let seed = 4711;
    // Numbers that look random and are the same in every run.
    const next = (limit: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return Math.floor((seed / 2 ** 31) * limit);
    };
    for (let i = 0; i < 300; i++) {
      const bytes = Buffer.from(original);
      for (let flips = 1 + next(8); flips > 0; flips--) {
        const at = next(bytes.length);
        bytes[at] = (bytes[at] as number) ^ (1 << next(8));
      }
      const { count } = await tryOut(memoryFiles({ picture: bytes }));
      expect(count.bytes).toBeLessThan(3 * bytes.length + 100_000);
      expect(count.open).toBe(0);
    }
  });
});

describe.skipIf(!isThere)(
  'a file that other readers broke on (skipped without bad-slides beside TEST_SLIDES)',
  () => {
    it.each(collected)('%s: %s', async (file, expected) => {
      const files = await openSlideFiles({ path: join(folder, file) });
      const { outcome, count } = await tryOut(files);
      expect(outcome).toBe(expected);
      expect(count.bytes).toBeLessThan(3 * files.leading.size + 100_000);
      expect(count.open).toBe(0);
    });
  },
);
