import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { describeDeepZoom, readNativeDziTile } from '../deep-zoom/deep-zoom.ts';
import type { Slide } from '../model/slide.ts';
import { groupSlideFiles, openSlide, openSlideFrom } from '../open-slide.ts';
import { renderTile } from '../render/render-tile.ts';
import {
  buildEts,
  buildVsi,
  buildVsiOf,
  cutEtsTiles,
  type EtsCoding,
  type EtsPlan,
  type EtsTile,
  etsCompressions,
  etsPlaces,
  type VsiField,
  type VsiStackPlan,
} from '../testing/build-vsi.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { encodeJpeg2000 } from '../testing/encode-frames.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { vsiTag } from '../vsi/stacks.ts';

const slides = process.env.TEST_SLIDES ?? '';
const skipped = slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '';

const picture = paintTissue(600, 420);
/** The image of the slide; .vsi files call an image a stack. */
const stack: VsiStackPlan = {
  number: 10001,
  width: 600,
  height: 420,
  type: 0,
  mpp: 0.1717,
  objectivePower: 40,
};
/** Returns the path of the file with the pixels of a stack. */
const etsPath = (number: number) => `_slide_/stack${number}/frame_t.ets`;

/** Opens a slide. @param ets files with pixels, by path */
const open = (vsi: Uint8Array, ets: Readonly<Record<string, Uint8Array>>): Promise<Slide> =>
  openSlideFrom(memoryFiles({ 'slide.vsi': vsi, ...ets }));

/** Opens a slide of one image. @param metadata properties that the .vsi file states, instead of those of `stack` */
const openSingle = (plan: EtsPlan, metadata: Partial<VsiStackPlan> = {}) =>
  open(buildVsi([{ ...stack, ...metadata }]), { [etsPath(10001)]: buildEts(plan) });

/** Returns the plan of an .ets file with `picture`. @param otherCoordinates coordinates besides column, row and resolution */
async function planOf(
  coding: EtsCoding,
  resolutions = 1,
  otherCoordinates?: readonly number[],
): Promise<EtsPlan> {
  return {
    tileWidth: 256,
    tileHeight: 256,
    tiles: await cutEtsTiles(picture, 256, resolutions, coding, otherCoordinates),
    compression: etsCompressions[coding],
  };
}

/** Reads and decodes a tile. */
async function rasterOf(slide: Slide, level: number, column: number, row: number): Promise<Raster> {
  const tile = await slide.readTile({ level, column, row });
  if (!tile) throw new Error('there is no such tile');
  return decodeImage(tile);
}

describe('an Olympus slide (.vsi)', () => {
  it.each<[EtsCoding, number, string]>([
    ['jpeg', 3, 'JPEG'],
    ['jpeg2000', 0, 'JPEG 2000'],
    ['png', 0, 'PNG'],
    ['samples', 0, 'uncompressed samples'],
  ])(
    'with tiles of $2 has the stated metadata, and the original pixels with a mean difference of at most $1 of 255',
    async (coding, maxMean) => {
      const slide = await openSingle(await planOf(coding));
      expect(slide).toMatchObject({
        format: 'vsi',
        vendor: 'Olympus',
        mpp: { x: 0.1717, y: 0.1717 },
        objectivePower: 40,
        background: { r: 255, g: 255, b: 255 },
      });
      expect(slide.levels).toMatchObject([
        { width: 600, height: 420, tileWidth: 256, tileHeight: 256, columns: 3, rows: 2, downsample: 1 },
      ]);
      expect(await slide.readIccProfile()).toBeNull();
      const fullTile = await rasterOf(slide, 0, 1, 0);
      expect(difference(fullTile, cropRaster(picture, 256, 0, 256, 256)).mean).toBeLessThanOrEqual(maxMean);
      const edgeTile = cropRaster(await rasterOf(slide, 0, 2, 1), 0, 0, 88, 164);
      expect(difference(edgeTile, cropRaster(picture, 512, 256, 88, 164)).mean).toBeLessThanOrEqual(maxMean);
    },
  );

  it('returns JPEG tiles without decoding: the stored bytes after the start-of-image marker are unchanged', async () => {
    const plan = await planOf('jpeg');
    const slide = await openSingle(plan);
    const { maxLevel } = describeDeepZoom(slide);
    const tile = await readNativeDziTile(slide, { dziLevel: maxLevel, column: 1, row: 0 });
    const stored = plan.tiles[1]?.data ?? new Uint8Array(); // column 1, row 0
    expect(Buffer.from(tile ?? []).subarray(2 - stored.length)).toEqual(Buffer.from(stored.subarray(2)));
  });

  it('has a level for each stored resolution, with sides halved and rounded up', async () => {
    const slide = await openSingle(await planOf('png', 3));
    expect(slide.levels.map(({ width, height, downsample }) => [width, height, downsample])).toEqual([
      [600, 420, 1],
      [300, 210, 2],
      [150, 105, 4],
    ]);
    const smallest = cropRaster(await rasterOf(slide, 2, 0, 0), 0, 0, 150, 105);
    expect(difference(smallest, shrinkRaster(picture, 4)).max).toBe(0);
  });

  it('returns red, green, blue for samples that the file stores as blue, green, red', async () => {
    const plan = await planOf('samples');
    const [BLUE_FIRST, BGR] = [1, 4];
    for (const options of [{ componentOrder: BLUE_FIRST }, { colourSpace: BGR }]) {
      const slide = await openSingle({ ...plan, ...options });
      const { rgb } = await rasterOf(slide, 0, 0, 0);
      expect([...rgb.subarray(0, 3)]).toEqual([...picture.rgb.subarray(0, 3)].reverse());
    }
  });

  it('returns null for a missing tile, and states the background colour of the file', async () => {
    const plan = await planOf('jpeg');
    const slide = await openSingle({ ...plan, tiles: plan.tiles.slice(0, 4), background: [240, 241, 242] });
    expect(await slide.readTile({ level: 0, column: 2, row: 1 })).toBeNull();
    expect(slide.background).toEqual({ r: 240, g: 241, b: 242 });
  });

  it('has the size of the area that its tiles cover, 3 × 2 tiles, if the metadata state no size', async () => {
    const slide = await openSingle(await planOf('jpeg'), { width: 0, height: 0 });
    expect(slide.levels[0]).toMatchObject({ width: 768, height: 512 });
  });

  it('has a rendered tile whose samples differ from box-filtered full-resolution samples by less than 4 of 255 on average', async () => {
    const slide = await openSingle(await planOf('jpeg', 2));
    const { maxLevel } = describeDeepZoom(slide);
    const tile = await pixelsOf(await renderTile(slide, { dziLevel: maxLevel - 2, column: 0, row: 0 }));
    expect(difference(tile, shrinkRaster(picture, 4)).mean).toBeLessThan(4);
  });

  it('shows the largest of several scanned areas, and has label and macro as associated images', async () => {
    const small = paintTissue(100, 80);
    const associated = buildEts({
      tileWidth: 64,
      tileHeight: 64,
      tiles: await cutEtsTiles(small, 64, 1, 'png'),
      compression: 8,
    });
    const slide = await open(
      buildVsi([
        { number: 1, width: 100, height: 80, type: 1, name: 'Overview' },
        { number: 2, width: 100, height: 80, type: 0, name: 'Label' },
        { number: 10000, width: 50_000, height: 50_000, type: 2, isExternal: false },
        { number: 10001, width: 100, height: 80, type: 0, name: '40x' },
        { number: 10004, width: 600, height: 420, type: 0, name: '40x', objectivePower: 20 },
        { number: 10007, width: 90_000, height: 90_000, type: 4 },
      ]),
      {
        [etsPath(1)]: associated,
        [etsPath(2)]: associated,
        [etsPath(10001)]: associated,
        [etsPath(10004)]: buildEts(await planOf('png')),
      },
    );
    expect(slide).toMatchObject({ objectivePower: 20 });
    expect(slide.levels[0]).toMatchObject({ width: 600, height: 420 });
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro']);
    const { bytes, ...size } = await slide.readAssociatedImage('macro');
    expect(difference({ ...size, rgb: bytes }, small).max).toBe(0);
    await expect(slide.readAssociatedImage('thumbnail')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });

  it.each<[string, Partial<VsiStackPlan>, { x: number; y: number } | null]>([
    ['in micrometres', {}, { x: 0.1717, y: 0.1717 }],
    ['in an unknown unit', { unit: '10^-3m^1' }, null],
    ['of 0', { mpp: 0 }, null],
    ['of −0.2', { mpp: -0.2 }, null],
    ['of NaN', { mpp: Number.NaN }, null],
    ['of 1e300', { mpp: 1e300 }, null],
  ])('has the pixel size $2 if the file states a pixel size %s', async (_, metadata, mpp) => {
    expect((await openSingle(await planOf('jpeg'), metadata)).mpp).toEqual(mpp);
  });

  it.each([
    ['a level that does not exist', { level: 1, column: 0, row: 0 }],
    ['a column that does not exist', { level: 0, column: 3, row: 0 }],
    ['a row before the first', { level: 0, column: 0, row: -1 }],
    ['a fractional column', { level: 0, column: 0.5, row: 0 }],
  ])('throws TILE_OUT_OF_RANGE for a tile address with %s', async (_, address) => {
    const slide = await openSingle(await planOf('jpeg'));
    await expect(slide.readTile(address)).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
  });
});

describe('an Olympus fluorescence slide (.vsi)', () => {
  /** Returns a tile of one grey value. @param coordinates column, row, other coordinates, resolution */
  const greyTile = async (value: number, coordinates: readonly number[]): Promise<EtsTile> => ({
    coordinates,
    data: await encodeJpeg2000({
      width: 64,
      height: 64,
      samplesPerPixel: 1,
      values: new Uint16Array(64 * 64).fill(value),
    }),
  });
  /** Returns the plan of a file of 16-bit grey tiles in JPEG 2000. */
  const planOfTiles = (tiles: readonly EtsTile[]): EtsPlan => ({
    tileWidth: 64,
    tileHeight: 64,
    tiles,
    compression: 3,
    componentType: 4,
    components: 1,
    hasResolutions: true,
  });
  const metadata = { width: 64, height: 64 };
  const firstPixel = async (slide: Slide) => [...(await rasterOf(slide, 0, 0, 0)).rgb.subarray(0, 3)];

  it('overlays its channels in the colours and with the display ranges that the file states', async () => {
    // Coordinates of a tile: column, row, channel, resolution. Blue has 1000 of 2000, green has 50 of 50.
    const slide = await openSingle(
      planOfTiles([await greyTile(1000, [0, 0, 0, 0]), await greyTile(50, [0, 0, 1, 0])]),
      {
        ...metadata,
        dimensions: [4],
        channels: [
          { bgr: [255, 0, 0], range: [0, 2000] },
          { bgr: [0, 255, 0], range: [0, 50] },
        ],
      },
    );
    expect(slide.levels[0]).toMatchObject({ needsRendering: true });
    expect(slide.background).toEqual({ r: 0, g: 0, b: 0 });
    expect(await firstPixel(slide)).toEqual([0, 255, 128]);
  });

  it('overlays its two channels in the default colours red and green if the file states none', async () => {
    const slide = await openSingle(
      planOfTiles([await greyTile(65_535, [0, 0, 0, 0]), await greyTile(65_535, [0, 0, 1, 0])]),
      {
        ...metadata,
        dimensions: [4],
      },
    );
    expect(await firstPixel(slide)).toEqual([255, 255, 0]);
  });

  it('with a single channel is displayed in grey, whatever colour the channel has', async () => {
    const slide = await openSingle(planOfTiles([await greyTile(1000, [0, 0, 0, 0])]), {
      ...metadata,
      dimensions: [4],
      channels: [{ bgr: [255, 0, 0], range: [0, 2000] }],
    });
    expect(await firstPixel(slide)).toEqual([128, 128, 128]);
  });

  it('shows the middle focal plane and the first time point', async () => {
    const tiles: EtsTile[] = [];
    for (const focus of [0, 1, 2]) {
      // Coordinates of a tile: column, row, time, focus, resolution.
      for (const time of [4, 7]) tiles.push(await greyTile(focus * 100 + time, [0, 0, time, focus, 0]));
    }
    const slide = await openSingle(planOfTiles(tiles), { ...metadata, dimensions: [2, 1], channels: [{}] });
    expect(slide.shownPlane).toEqual({ plane: 2, planes: 3, times: 1 });
    expect(await slide.readTile({ level: 0, column: 0, row: 0 })).toMatchObject({ codec: 'jpeg2000' });
    const tile = await slide.readTile({ level: 0, column: 0, row: 0 });
    const { rgb } = await decodeImage({
      ...(tile as NonNullable<typeof tile>),
      colour: { black: 0, white: 255 },
    });
    expect(rgb[0]).toBe(104); // focus 1, time 4
  });

  it('shows one of two channels where only that channel has a tile, and returns null where neither channel has a tile', async () => {
    const slide = await openSingle(
      planOfTiles([await greyTile(65_535, [0, 0, 0, 0]), await greyTile(65_535, [1, 0, 1, 0])]),
      {
        width: 192,
        height: 64,
        dimensions: [4],
      },
    );
    expect(await firstPixel(slide)).toEqual([255, 0, 0]);
    expect(await slide.readTile({ level: 0, column: 2, row: 0 })).toBeNull();
  });
});

describe('openSlideFrom with a damaged .vsi file', () => {
  /** Returns an intact file with the pixels. */
  const ets = async () => ({ [etsPath(10001)]: buildEts(await planOf('jpeg')) });
  /** Returns the fields of a .vsi file whose collection of images contains these fields. */
  const root = (value: readonly VsiField[]): readonly VsiField[] => [
    { tag: vsiTag.collection, index: 0, value },
  ];
  /** Returns a field that contains volumes nested this deep. */
  const nested = (depth: number): VsiField => ({ tag: 1, value: depth === 0 ? 0 : [nested(depth - 1)] });
  // Offsets of the first volume of the tag tree and of its first field. In a volume, 8 is the offset of its first field and
  // 16 the number of fields; in a field, 4 is the tag, 8 the offset of the next field and 12 the length of the value.
  const VOLUME = 8;
  const FIELD = 32;

  it.each<[string, (file: Buffer) => unknown, string]>([
    [
      'whose first field lies inside the header of the tree',
      (file) => file.writeUInt32LE(0, VOLUME + 8),
      'FILE_CORRUPT',
    ],
    [
      'whose first field lies past the end of the file',
      (file) => file.writeUInt32LE(2 ** 31, VOLUME + 8),
      'FILE_TRUNCATED',
    ],
    ['whose first field lies beyond 4 GiB', (file) => file.writeUInt32LE(1, VOLUME + 12), 'FILE_CORRUPT'],
    ['without fields', (file) => file.writeUInt32LE(0, VOLUME + 16), 'FORMAT_NOT_SUPPORTED'],
    [
      'whose collection of images has an invalid header',
      (file) => file.writeUInt16LE(25, FIELD + 20),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'whose only field has an unknown tag',
      (file) => file.writeUInt32LE(2001, FIELD + 4),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'whose only field has a type other than a list of fields',
      (file) => file.writeUInt32LE(5, FIELD),
      'FORMAT_NOT_SUPPORTED',
    ],
  ])('throws $2 for a metadata tree %s', async (_, damage, code) => {
    const file = buildVsi([stack]);
    damage(file);
    await expect(open(file, await ets())).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('throws FILE_CORRUPT if a metadata field points back to an earlier one as the next field', async () => {
    const file = buildVsiOf([{ tag: 1, value: 0 }, ...root([])]);
    file.writeUInt32LE(24, FIELD + 8);
    await expect(open(file, await ets())).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  it('throws FILE_TRUNCATED if a metadata field lies past the end of the file', async () => {
    const file = buildVsiOf([{ tag: 1, value: 0 }, ...root([])]);
    file.writeUInt32LE(2 ** 31, FIELD + 8);
    await expect(open(file, await ets())).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
  });

  it('throws FILE_TRUNCATED if the value of a metadata field ends past the end of the file', async () => {
    const value = { type: 259, bytes: new Uint8Array(16) };
    const file = buildVsiOf([{ tag: vsiTag.imageBoundary, value }]);
    file.writeUInt32LE(4096, FIELD + 12);
    await expect(open(file, await ets())).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
  });

  it.each<[string, readonly VsiField[], string]>([
    ['with metadata fields nested 33 deep (limit 32)', [nested(33)], 'LIMIT_EXCEEDED'],
    [
      'with 300,000 metadata fields (limit 2^18)',
      Array.from({ length: 300_000 }, () => ({ tag: 1, value: 0 })),
      'LIMIT_EXCEEDED',
    ],
    [
      'with metadata values of 20 MB in total (limit 2^24 bytes)',
      Array.from({ length: 5000 }, () => ({
        tag: vsiTag.stackName,
        value: { type: 13, bytes: new Uint8Array(4096) }, // characters
      })),
      'LIMIT_EXCEEDED',
    ],
    [
      'with 5,000 images (limit 4096)',
      root(
        Array.from({ length: 5000 }, (_, index) => ({
          tag: vsiTag.stack,
          index,
          value: [
            {
              tag: vsiTag.frame,
              value: [{ tag: vsiTag.externalFile, value: [{ tag: vsiTag.hasExternalFile, value: 1 }] }],
            },
          ],
        })),
      ),
      'LIMIT_EXCEEDED',
    ],
    ['without an image', root([]), 'FORMAT_NOT_SUPPORTED'],
  ])('throws $2 for a slide %s', async (_, fields, code) => {
    await expect(open(buildVsiOf(fields), await ets())).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it.each<[string, Partial<VsiStackPlan>, string]>([
    ['whose image is in the .vsi file itself', { isExternal: false }, 'FORMAT_NOT_SUPPORTED'],
    ['that has only an overview', { type: 1 }, 'FORMAT_NOT_SUPPORTED'],
    ['whose .ets file (the pixels) is missing', { number: 7 }, 'FILE_TRUNCATED'],
    [
      'whose stated size is smaller than the area that its tiles cover',
      { width: 100, height: 100 },
      'FILE_CORRUPT',
    ],
    [
      'of 2^31 − 1 pixels in width and height, too large for the limit of 2^22 tiles',
      { width: 2 ** 31 - 1, height: 2 ** 31 - 1 },
      'LIMIT_EXCEEDED',
    ],
  ])('throws $2 for a slide %s', async (_, metadata, code) => {
    await expect(open(buildVsi([{ ...stack, ...metadata }]), await ets())).rejects.toMatchObject({
      name: 'SlideError',
      code,
    });
  });

  it('throws FILE_TRUNCATED or FORMAT_NOT_RECOGNISED for a truncated .vsi file, whatever its length', async () => {
    const file = buildVsi([stack]);
    const files = await ets();
    const outcomes = new Set<string>();
    for (let end = 0; end < file.length; end++) {
      const opening = open(file.subarray(0, end), files).then(
        ({ levels: [{ width }] }) => `${width}`,
        (error: { name: string; code: string }) => `${error.name} ${error.code}`,
      );
      outcomes.add(await opening);
    }
    expect([...outcomes].sort()).toEqual(['SlideError FILE_TRUNCATED', 'SlideError FORMAT_NOT_RECOGNISED']);
  });
});

describe('openSlideFrom with a damaged .ets file', () => {
  const { etsHeader, tiles } = etsPlaces;
  const vsi = buildVsi([stack]);
  /** Returns the offset of the list of tiles. */
  const tileListOffset = (file: Buffer) => Number(file.readBigUInt64LE(32));

  it.each<[string, (file: Buffer) => unknown, string]>([
    ['that does not begin with the signature SIS', (file) => file.write('XYZ'), 'FILE_CORRUPT'],
    [
      'whose second header is past the end of the file',
      (file) => file.writeBigUInt64LE(2n ** 40n, 16),
      'FILE_TRUNCATED',
    ],
    [
      'whose second header has the offset 2^64 − 1',
      (file) => file.writeBigUInt64LE(2n ** 64n - 1n, 16),
      'FILE_CORRUPT',
    ],
    [
      'whose second header does not begin with the signature ETS',
      (file) => file.writeBigUInt64LE(0n, 16),
      'FILE_CORRUPT',
    ],
    [
      'whose list of tiles is past the end of the file',
      (file) => file.writeBigUInt64LE(2n ** 40n, 32),
      'FILE_TRUNCATED',
    ],
    [
      'whose list of tiles has the offset 2^64 − 1',
      (file) => file.writeBigUInt64LE(2n ** 64n - 1n, 32),
      'FILE_CORRUPT',
    ],
    ['without tiles', (file) => file.writeUInt32LE(0, 40), 'FILE_CORRUPT'],
    [
      'that declares more tiles than its list contains',
      (file) => file.writeUInt32LE(7, 40),
      'FILE_TRUNCATED',
    ],
    ['of 2^32 − 1 tiles (limit 2^20)', (file) => file.writeUInt32LE(2 ** 32 - 1, 40), 'LIMIT_EXCEEDED'],
    ['whose tiles have no coordinates', (file) => file.writeUInt32LE(0, 12), 'FILE_CORRUPT'],
    [
      'whose tiles have 2 coordinates instead of at least 3 (column, row, level)',
      (file) => file.writeUInt32LE(2, 12),
      'FILE_CORRUPT',
    ],
    [
      'whose tiles have 2^31 coordinates (limit 16)',
      (file) => file.writeUInt32LE(2 ** 31, 12),
      'LIMIT_EXCEEDED',
    ],
    ['whose tiles have a width of 0', (file) => file.writeUInt32LE(0, etsHeader + 28), 'FILE_CORRUPT'],
    [
      'whose tiles have 10^5 rows of pixels (limit 8192)',
      (file) => file.writeUInt32LE(100_000, etsHeader + 32),
      'LIMIT_EXCEEDED',
    ],
    [
      'whose tiles have a depth of 8 planes',
      (file) => file.writeUInt32LE(8, etsHeader + 36),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['with signed samples', (file) => file.writeUInt32LE(1, etsHeader + 8), 'FORMAT_NOT_SUPPORTED'],
    ['with floating-point samples', (file) => file.writeUInt32LE(9, etsHeader + 8), 'FORMAT_NOT_SUPPORTED'],
    ['of 16 bits per sample in JPEG', (file) => file.writeUInt32LE(4, etsHeader + 8), 'FORMAT_NOT_SUPPORTED'],
    ['of 4 samples per pixel', (file) => file.writeUInt32LE(4, etsHeader + 12), 'FORMAT_NOT_SUPPORTED'],
    ['of 0 samples per pixel', (file) => file.writeUInt32LE(0, etsHeader + 12), 'FORMAT_NOT_SUPPORTED'],
    ['with a palette', (file) => file.writeUInt32LE(2, etsHeader + 16), 'FORMAT_NOT_SUPPORTED'],
    ['with lossless JPEG tiles', (file) => file.writeUInt32LE(5, etsHeader + 20), 'FORMAT_NOT_SUPPORTED'],
    ['with BMP tiles', (file) => file.writeUInt32LE(9, etsHeader + 20), 'FORMAT_NOT_SUPPORTED'],
    ['with an unknown compression', (file) => file.writeUInt32LE(99, etsHeader + 20), 'FORMAT_NOT_SUPPORTED'],
    ['with a tile at column −1', (file) => file.writeInt32LE(-1, tileListOffset(file) + 4), 'FILE_CORRUPT'],
    [
      'with a tile outside the image',
      (file) => file.writeInt32LE(3, tileListOffset(file) + 4),
      'FILE_CORRUPT',
    ],
    [
      'with a tile of the level −1',
      (file) => file.writeInt32LE(-1, tileListOffset(file) + 16),
      'FILE_CORRUPT',
    ],
    [
      'with a tile of the level 2^31 − 1 (limit 32 levels)',
      (file) => file.writeInt32LE(2 ** 31 - 1, tileListOffset(file) + 16),
      'LIMIT_EXCEEDED',
    ],
    [
      'with a tile at the offset 2^64 − 1',
      (file) => file.writeBigUInt64LE(2n ** 64n - 1n, tileListOffset(file) + 20),
      'FILE_CORRUPT',
    ],
    ['whose header is filled with zeros', (file) => file.fill(0, 0, 64), 'FILE_CORRUPT'],
  ])('throws $2 for an .ets file %s', async (_, damage, code) => {
    const file = buildEts(await planOf('jpeg'));
    damage(file);
    await expect(open(vsi, { [etsPath(10001)]: file })).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('throws FILE_CORRUPT for an .ets file without a tile at full resolution', async () => {
    const plan = await planOf('jpeg', 2);
    const file = buildEts({ ...plan, tiles: plan.tiles.filter(({ coordinates }) => coordinates[3] === 1) });
    await expect(open(vsi, { [etsPath(10001)]: file })).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  it('throws FORMAT_NOT_SUPPORTED for an .ets file with 17 channels (limit 16)', async () => {
    const [tile] = (await planOf('png')).tiles;
    const file = buildEts({
      tileWidth: 256,
      tileHeight: 256,
      compression: 8,
      components: 1,
      tiles: Array.from({ length: 17 }, (_, channel) => ({
        data: tile?.data ?? new Uint8Array(),
        coordinates: [0, 0, channel, 0],
      })),
    });
    const vsiWithChannels = buildVsi([{ ...stack, dimensions: [4] }]);
    await expect(open(vsiWithChannels, { [etsPath(10001)]: file })).rejects.toMatchObject({
      code: 'FORMAT_NOT_SUPPORTED',
    });
  });

  it.each<[string, (file: Buffer) => unknown, string]>([
    [
      'past the end of the file',
      (file) => file.writeBigUInt64LE(2n ** 40n, tileListOffset(file) + 20),
      'FILE_TRUNCATED',
    ],
    [
      'longer than the file',
      (file) => file.writeUInt32LE(2 ** 27, tileListOffset(file) + 28),
      'FILE_TRUNCATED',
    ],
    [
      'of 2^32 − 1 bytes (limit 2^28)',
      (file) => file.writeUInt32LE(2 ** 32 - 1, tileListOffset(file) + 28),
      'LIMIT_EXCEEDED',
    ],
    ['that is not JPEG', (file) => file.fill(0, tiles, tiles + 4), 'FILE_CORRUPT'],
    ['of one byte', (file) => file.writeUInt32LE(1, tileListOffset(file) + 28), 'FILE_CORRUPT'],
    [
      'of another size than the header declares',
      (file) => file.writeUInt32LE(250, etsHeader + 28),
      'FILE_CORRUPT',
    ],
    [
      'with more samples per pixel than the header declares',
      (file) => file.writeUInt32LE(1, etsHeader + 12),
      'FILE_CORRUPT',
    ],
  ])('opens the slide, but reading a tile %s throws $2', async (_, damage, code) => {
    const file = buildEts(await planOf('jpeg'));
    damage(file);
    const slide = await open(vsi, { [etsPath(10001)]: file });
    await expect(slide.readTile({ level: 0, column: 0, row: 0 })).rejects.toMatchObject({
      name: 'SlideError',
      code,
    });
  });

  it.each<[EtsCoding, string]>([
    ['jpeg2000', 'FILE_CORRUPT'],
    ['png', 'FILE_CORRUPT'],
  ])(
    'opens the slide and returns a tile that is declared as %s but contains other data; decoding this tile throws %s',
    async (coding, code) => {
      const file = buildEts(await planOf(coding));
      file.fill(0, tiles, tiles + 60);
      const slide = await open(vsi, { [etsPath(10001)]: file });
      const tile = await slide.readTile({ level: 0, column: 0, row: 0 });
      await expect(decodeImage(tile as NonNullable<typeof tile>)).rejects.toMatchObject({ code });
    },
  );

  it('opens the slide, but reading an uncompressed tile with too few samples throws FILE_CORRUPT', async () => {
    const file = buildEts(await planOf('samples'));
    file.writeUInt32LE(1000, tileListOffset(file) + 28);
    const slide = await open(vsi, { [etsPath(10001)]: file });
    await expect(slide.readTile({ level: 0, column: 0, row: 0 })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
  });

  it('throws FILE_TRUNCATED for a truncated .ets file, whatever its length', async () => {
    const [tile] = await cutEtsTiles(paintTissue(16, 16), 16, 1, 'jpeg');
    const file = buildEts({ tileWidth: 16, tileHeight: 16, tiles: [tile as EtsTile], compression: 2 });
    const smallVsi = buildVsi([{ ...stack, width: 16, height: 16 }]);
    for (let end = 0; end < file.length; end++) {
      const opening = open(smallVsi, { [etsPath(10001)]: file.subarray(0, end) });
      await expect(opening, `${end} bytes`).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
    }
  });
});

describe('groupSlideFiles (finds the files that belong to one slide)', () => {
  it('groups a.vsi with the folder _a_ beside it; a .vsi file without such a folder has no members', async () => {
    expect(await groupSlideFiles({ path: '/nowhere' }, ['a.vsi', 'b.VSI'], ['_a_', 'b', 'other'])).toEqual([
      { main: 'a.vsi', members: ['_a_/'] },
      { main: 'b.VSI', members: [] },
    ]);
  });
});

describe.skipIf(slides === '')(`openSlide with a real Olympus slide${skipped}`, () => {
  const path = join(slides, 'olympus-vsi', 'vsi-ets-test-jpg2k.vsi');

  it('reads from vsi-ets-test-jpg2k.vsi 1645 × 1682 pixels of 0.108 µm and the objective power 60', async () => {
    const slide = await openSlide({ path });
    expect(slide).toMatchObject({ format: 'vsi', vendor: 'Olympus', objectivePower: 60 });
    expect(slide.mpp?.x).toBeCloseTo(0.10833, 5);
    expect(slide.levels).toMatchObject([
      { width: 1645, height: 1682, columns: 1, rows: 1, needsRendering: true },
    ]);
    await slide.close();
  });

  it('shows the nuclei of vsi-ets-test-jpg2k.vsi in blue and the cells in green', async () => {
    const slide = await openSlide({ path });
    const { rgb } = await rasterOf(slide, 0, 0, 0);
    const sums = [0, 0, 0];
    for (const [i, sample] of rgb.entries()) sums[i % 3] = (sums[i % 3] as number) + sample;
    const [red = 0, green = 0, blue = 0] = sums.map((sum) => sum / (rgb.length / 3));
    expect(red).toBeLessThan(1);
    expect(green).toBeGreaterThan(5);
    expect(blue).toBeGreaterThan(5);
    await slide.close();
  });

  it('throws FILE_TRUNCATED with a message about the missing .ets file for a .vsi file without its folder', async () => {
    const bytes = await readFile(path);
    await expect(openSlideFrom(memoryFiles({ 'alone.vsi': bytes }))).rejects.toMatchObject({
      code: 'FILE_TRUNCATED',
      message: expect.stringMatching(/\.ets.+missing/),
    });
  });

  it('throws FILE_TRUNCATED for Image_Mouse13_PB_H7.vsi, which was published without its folder', async () => {
    const incompletePath = join(slides, '..', 'bad-slides', 'olympus-vsi', 'Image_Mouse13_PB_H7.vsi');
    await expect(openSlide({ path: incompletePath })).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
  });
});
