import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { layOutNdpi, ndpiBytes, ndpiDirectories } from '../testing/build-ndpi.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { buildTiff, long, short } from '../testing/build-tiff.ts';
import { pixelsOf } from '../testing/compare-pixels.ts';
import { encodeJpeg2000 } from '../testing/encode-frames.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { openDicom } from '../testing/open-dicom.ts';
import { tag } from '../tiff/tags.ts';
import { findNativeLevels, type NativeLevel, readNativeLevelTile } from './native-levels.ts';

const slides = process.env.TEST_SLIDES ?? '';
const skippedWithoutSlides = slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '';

const codingOf = ({ level, codec, process, colour }: NativeLevel) => `${level} ${codec} ${process} ${colour}`;

describe('native levels of a slide (levels whose tiles are sent without decoding)', () => {
  it('of an SVS slide with RGB JPEG tiles are described as "jpeg baseline rgb" (codec, coding process, colour model)', async () => {
    const rgb = await openBytes(await buildSvs());
    expect((await findNativeLevels(rgb)).map(codingOf)).toEqual([
      '0 jpeg baseline rgb',
      '1 jpeg baseline rgb',
    ]);
    const ycc = await openBytes(await buildSvs({ colour: 'ycbcr' }));
    expect((await findNativeLevels(ycc))[0]?.colour).toMatch(/^ycc/);
  });

  it.each([
    [
      'the first 64 tiles, a whole row of the level,',
      (column: number, row: number) => row > 0 || column >= 64,
    ],
    ['all tiles but one', (column: number, row: number) => column === 3 && row === 2],
  ])('include a level of which the scanner omitted %s because they are empty', async (_, isStored) => {
    const slide = await openBytes(
      await buildSvs({
        ...{ width: 64 * 16, height: 4 * 16, tileSize: 16, downsamples: [1] },
        isEmpty: (_level, column, row) => !isStored(column, row),
      }),
    );
    expect((await findNativeLevels(slide)).map(codingOf)).toEqual(['0 jpeg baseline rgb']);
  });

  it('return a JPEG for an empty tile at full resolution, and null for an empty tile of a level of lower resolution', async () => {
    const slide = await openBytes(await buildSvs({ isEmpty: (_, column, row) => column + row === 0 }));
    const [full] = await findNativeLevels(slide);
    const empty = full && (await readNativeLevelTile(slide, full, 0));
    expect([...(empty?.bytes.subarray(0, 2) ?? [])]).toEqual([0xff, 0xd8]);
    const small = { ...(full as NativeLevel), level: 1, columns: 1, rows: 1 };
    expect(await readNativeLevelTile(slide, small, 0)).toBeNull();
  });

  it('in JPEG 2000 return an empty tile with the coding JPEG, and a tile of the file with the coding of the level', async () => {
    const slide = await openBytes(await buildSvs({ isEmpty: (_, column, row) => column + row === 0 }));
    const [full] = await findNativeLevels(slide);
    const jpeg2000 = {
      ...(full as NativeLevel),
      codec: 'jpeg2000',
      process: 'reversible',
      colour: 'rct',
    } as const;
    const [empty, stored] = await Promise.all(
      [0, 1].map((index) => readNativeLevelTile(slide, jpeg2000, index)),
    );
    expect(empty?.level).toEqual({ ...jpeg2000, codec: 'jpeg', process: 'baseline', colour: 'ycc' });
    expect(stored?.level).toEqual(jpeg2000);
  });

  it.each([
    [
      'leave out JPEG 2000 of inverted grey (MONOCHROME1), which clients would show inverted',
      'MONOCHROME1',
      [],
    ],
    ['include JPEG 2000 of grey (MONOCHROME2)', 'MONOCHROME2', ['grey']],
  ] as const)('%s', async (_, photometric, colours) => {
    const slide = await openDicom({ codec: 'jpeg2000', photometric });
    const found = (await findNativeLevels(slide)).map(({ colour }) => colour);
    expect([...new Set(found)]).toEqual(colours);
  });

  it('leave out JPEG 2000 levels that libvips wrote, because OpenJPEG encodes YCbCr in them but declares RGB', async () => {
    const side = 128;
    const values = Uint8Array.from({ length: side * side * 3 }, (_, i) => [150, 100, 180][i % 3] as number);
    const tile = await encodeJpeg2000({ width: side, height: side, samplesPerPixel: 3, values });
    const tags = {
      [tag.ImageWidth]: long(side),
      [tag.ImageLength]: long(side),
      [tag.BitsPerSample]: short(8, 8, 8),
      [tag.Compression]: short(33004), // JPEG 2000 as libvips numbers it
      [tag.PhotometricInterpretation]: short(2), // RGB
      [tag.SamplesPerPixel]: short(3),
      [tag.TileWidth]: long(side),
      [tag.TileLength]: long(side),
    };
    const { bytes } = buildTiff({ directories: [{ tags, tiles: [tile] }] });
    expect(await findNativeLevels(await openBytes(bytes))).toEqual([]);
  });

  it('include every level of NDPI with restart intervals, and pad the shorter tiles of the last row to the full height', async () => {
    const slide = await openBytes(ndpiBytes(layOutNdpi(await ndpiDirectories({}))));
    const levels = await findNativeLevels(slide);
    expect(levels.map(({ height, tileHeight, rows }) => [height, tileHeight, rows])).toEqual([
      [272, 256, 2],
      [136, 136, 1],
      [68, 72, 1],
    ]);
    for (const level of levels) await expectPaddedTiles(slide, level);
  });

  it('leave out an NDPI level without restart intervals whose tile cannot be padded', async () => {
    const slide = await openBytes(ndpiBytes(layOutNdpi(await ndpiDirectories({}))));
    const withCutTile: Slide = {
      ...slide,
      async readTile(address) {
        const tile = await slide.readTile(address);
        return tile && { ...tile, bytes: await withoutIntervals(tile.bytes) };
      },
    };
    // Only the tiles of level 1 have the full height in the file.
    expect((await findNativeLevels(withCutTile)).map(({ level }) => level)).toEqual([1]);
  });

  it('throw TILE_OUT_OF_RANGE for an invalid tile index, such as one beyond the last tile', async () => {
    const slide = await openBytes(await buildSvs());
    const [full] = await findNativeLevels(slide);
    for (const index of [-1, 16, 0.5, Number.NaN]) {
      await expect(readNativeLevelTile(slide, full as NativeLevel, index)).rejects.toMatchObject({
        code: 'TILE_OUT_OF_RANGE',
      });
    }
  });

  it.skipIf(slides === '')(
    `of a real NDPI slide are all four, and their frames show the pixels of the tiles at the top of a full size${skippedWithoutSlides}`,
    async () => {
      const slide = await openSlide({ path: join(slides, 'hamamatsu/test3-DAPI-2-(387).ndpi'), members: [] });
      try {
        const levels = await findNativeLevels(slide);
        expect(levels.map(({ height, tileHeight, rows }) => [height, tileHeight, rows])).toEqual([
          [4864, 256, 19],
          [2432, 256, 10],
          [1216, 256, 5],
          [608, 256, 3],
        ]);
        for (const level of levels) await expectPaddedTiles(slide, level);
      } finally {
        await slide.close();
      }
    },
  );

  it.skipIf(slides === '').each([
    ['aperio/CMU-1-Small-Region.svs', '0 jpeg baseline rgb'],
    ['aperio/1065626.svs', '0 jpeg2000 irreversible ycc-422, 1 jpeg2000 irreversible ycc-422'],
    ['dicom/camelyon-jpeg/multi_frame_jpeg_camelyon_challenge_image.dcm', '0 jpeg baseline ycc-422'],
    [
      'dicom/camelyon-jpeg2000/multi_frame_jpeg2000_camelyon_challenge_image.dcm',
      '0 jpeg2000 reversible rgb',
    ],
    ['generic-tiff/boxes.tiff', 'none'],
    ['dicom/highdicom/sm_image.dcm', 'none'],
  ])(
    `of %s are "%s" (level, codec, process, colour), and their tiles have the compressed data of the file${skippedWithoutSlides}`,
    async (path, codings) => {
      const filePath = join(slides, path);
      const file = await readFile(filePath);
      const slide = await openSlide({ path: filePath, members: [] });
      try {
        const levels = await findNativeLevels(slide);
        expect(levels.map(codingOf).join(', ') || 'none').toBe(codings);
        for (const level of levels) {
          const count = level.columns * level.rows;
          for (const index of [0, Math.floor(count / 2), count - 1]) {
            const bytes = Buffer.from((await readNativeLevelTile(slide, level, index))?.bytes ?? []);
            expect(file.includes(level.codec === 'jpeg' ? scanOf(bytes) : bytes)).toBe(true);
          }
        }
      } finally {
        await slide.close();
      }
    },
  );
});

/** Expects that each frame of a level has the full size of a tile, and the pixels of the tile of the file in its top left part. */
async function expectPaddedTiles(slide: Slide, level: NativeLevel): Promise<void> {
  const { tileWidth, tileHeight, columns, rows } = level;
  for (let index = 0; index < columns * rows; index++) {
    const address = { level: level.level, column: index % columns, row: Math.floor(index / columns) };
    const tile = await slide.readTile(address);
    const frame = await readNativeLevelTile(slide, level, index);
    const [stored, sent] = await Promise.all(
      [tile, frame].map((image) => pixelsOf(image?.bytes ?? new Uint8Array())),
    );
    expect(sent).toMatchObject({ width: tileWidth, height: tileHeight });
    const visible = cropRaster(sent as Raster, 0, 0, stored?.width ?? 0, stored?.height ?? 0);
    expect(Buffer.compare(visible.rgb, stored?.rgb ?? new Uint8Array()), JSON.stringify(address)).toBe(0);
  }
}

/** Encodes a JPEG again, without restart intervals. */
const withoutIntervals = (jpeg: Uint8Array): Promise<Buffer> =>
  sharp(jpeg).jpeg({ chromaSubsampling: '4:4:4' }).toBuffer();

/** Returns the entropy-coded part of a JPEG: without the markers and tables before it, which differ from those in the file. */
function scanOf(jpeg: Buffer): Buffer {
  const startOfScan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  return jpeg.subarray(startOfScan + 2 + jpeg.readUInt16BE(startOfScan + 2), -2);
}
