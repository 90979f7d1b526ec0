import { describe, expect, it } from 'vitest';
import { cropRaster } from '../decode/raster.ts';
import { ascii, buildTiff, type DirectoryPlan, long, rational, short } from '../testing/build-tiff.ts';
import { buildTiledTiff, type TiledTiffPlan, tiledTiffDirectories } from '../testing/build-tiled-tiff.ts';
import { difference, MAX_JPEG_DIFFERENCE, pixelsOf } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodeSamples, type SamplesPlan } from '../testing/encode-samples.ts';
import { withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';

describe('a generic TIFF slide', () => {
  it.each<[string, TiledTiffPlan]>([
    ['the main chain of directories', { pyramid: 'chain' }],
    ['SubIFDs', { pyramid: 'subdirectories' }],
    ['the main chain of a BigTIFF', { pyramid: 'chain', isBig: true }],
    ['SubIFDs of a big-endian BigTIFF', { pyramid: 'subdirectories', isBig: true, isLittleEndian: false }],
    ['RGB JPEG', { colour: 'rgb' }],
  ])(
    'with a pyramid in %s has all its levels and the original pixels, except for JPEG artefacts',
    async (_, plan) => {
      const slide = await openBytes(await buildTiledTiff(plan));
      expect(slide).toMatchObject({ format: 'tiff', vendor: null, objectivePower: null });
      expect(slide.levels.map(({ width, height }) => [width, height])).toEqual([
        [480, 400],
        [240, 200],
        [120, 100],
      ]);
      const tile = await slide.readTile({ level: 0, column: 1, row: 2 });
      const expectedPixels = cropRaster(paintTissue(480, 400), 128, 256, 128, 128);
      expect(difference(await pixelsOf(tile?.bytes ?? new Uint8Array()), expectedPixels).mean).toBeLessThan(
        MAX_JPEG_DIFFERENCE,
      );
    },
  );

  /** Returns the tags of a resolution. @param unit value of ResolutionUnit; without it, the tag is missing */
  const resolution = (x: number, y: number, unit?: number) => ({
    [tag.XResolution]: rational(x, 1),
    [tag.YResolution]: rational(y, 1),
    ...(unit !== undefined && { [tag.ResolutionUnit]: short(unit) }),
  });
  const [NO_UNIT, INCH, CENTIMETRE] = [1, 2, 3];
  const dividedByZero = { [tag.XResolution]: rational(20_000, 0) };
  const onlyX = { [tag.XResolution]: rational(20_000, 1), [tag.ResolutionUnit]: short(CENTIMETRE) };

  it.each<[string, DirectoryPlan['tags'], { x: number; y: number } | null]>([
    ['20,000 × 40,000 pixels per centimetre', resolution(20_000, 40_000, CENTIMETRE), { x: 0.5, y: 0.25 }],
    ['50,800 pixels per inch', resolution(50_800, 50_800, INCH), { x: 0.5, y: 0.5 }],
    [
      '50,800 pixels and no unit, for which TIFF defines the inch,',
      resolution(50_800, 50_800),
      { x: 0.5, y: 0.5 },
    ],
    ['72 dots per inch (too few for a microscope)', resolution(72, 72, INCH), null],
    ['20,000 pixels per ResolutionUnit 1 (no absolute unit)', resolution(20_000, 20_000, NO_UNIT), null],
    ['a horizontal resolution of 20,000/0', { ...resolution(0, 20_000, CENTIMETRE), ...dividedByZero }, null],
    ['a resolution of zero', resolution(0, 0, CENTIMETRE), null],
    ['a horizontal but no vertical resolution', onlyX, null],
    ['no resolution', {}, null],
  ])('that states %s has the pixel size $2', async (_, tags, mpp) => {
    const [full] = await tiledTiffDirectories({ downsamples: [1] });
    const slide = await openBytes(buildTiff({ directories: [withTags(full, tags)] }).bytes);
    expect(slide.mpp).toEqual(mpp);
  });

  it.each([
    [3, { x: 0.5, y: 0.25 }],
    [6, { x: 0.25, y: 0.5 }],
  ])(
    'whose Orientation is %i has the pixel size of the upright image, %j, if stored pixels are 0.5 × 0.25 micrometres',
    async (orientation, mpp) => {
      const [full] = await tiledTiffDirectories({ downsamples: [1] });
      const tags = { ...resolution(20_000, 40_000, CENTIMETRE), [tag.Orientation]: short(orientation) };
      const slide = await openBytes(buildTiff({ directories: [withTags(full, tags)] }).bytes);
      expect(slide.mpp).toEqual(mpp);
    },
  );

  it('has no level for a TIFF directory of half the width and height that is not marked as a reduced image, nor for a reduced mask', async () => {
    const [full, smaller, smallest] = await tiledTiffDirectories({});
    const { bytes } = buildTiff({
      directories: [
        full as DirectoryPlan,
        withTags(smaller, { [tag.NewSubfileType]: long(0) }),
        withTags(smallest, { [tag.NewSubfileType]: long(5) }), // a reduced mask
      ],
    });
    expect((await openBytes(bytes)).levels).toHaveLength(1);
  });

  it('has the unreduced image as level 0 even if a reduced copy and a mask precede it', async () => {
    const [full, smaller, smallest] = await tiledTiffDirectories({});
    const mask = encodeSamples({
      width: 480,
      height: 400,
      samples: [],
      samplesPerPixel: 1,
      bits: 1,
      photometric: 4,
      tags: { [tag.NewSubfileType]: long(4) },
    });
    const { bytes } = buildTiff({ directories: [smallest, mask, full, smaller] as DirectoryPlan[] });
    expect((await openBytes(bytes)).levels.map(({ width }) => width)).toEqual([480, 240, 120]);
  });

  it('with several pages of different images shows only the first page', async () => {
    const page = (brightness: number) =>
      encodeSamples({
        width: 50,
        height: 40,
        samples: new Array(2000).fill(brightness),
        samplesPerPixel: 1,
        photometric: 1,
        tags: { [tag.NewSubfileType]: long(2) },
      });
    const slide = await openBytes(buildTiff({ directories: [page(10), page(20), page(30)] }).bytes);
    expect(slide.levels).toHaveLength(1);
    expect([...(await drawLevel(slide, 0)).rgb.subarray(0, 3)]).toEqual([10, 10, 10]);
  });

  it('with a JPEG level between two lossless levels (LZW strips, PackBits tiles) returns the original pixels of the lossless levels', async () => {
    const level = (side: number, plan: Partial<SamplesPlan>) =>
      encodeSamples({
        width: side,
        height: side,
        samples: paintTissue(side, side).rgb,
        samplesPerPixel: 3,
        photometric: 2,
        ...plan,
        tags: { [tag.NewSubfileType]: long(side === 200 ? 0 : 1) },
      });
    const [half] = await tiledTiffDirectories({ width: 100, height: 100, downsamples: [1], tileSize: 32 });
    const directories = [
      level(200, { rowsPerStrip: 16, packing: 'lzw' }),
      withTags(half, { [tag.NewSubfileType]: long(1) }),
      level(50, { tile: { width: 32, height: 32 }, packing: 'packbits' }),
    ];
    const slide = await openBytes(buildTiff({ directories }).bytes);
    expect(slide.levels.map(({ width, needsRendering }) => [width, needsRendering])).toEqual([
      [200, true],
      [100, undefined],
      [50, true],
    ]);
    expect(await drawLevel(slide, 0)).toEqual(paintTissue(200, 200));
    expect(await drawLevel(slide, 2)).toEqual(paintTissue(50, 50));
  });

  it('has no text of the tags Make and ImageDescription, which may contain a name, in its metadata', async () => {
    const MAKE = 271; // the tag with the manufacturer of the scanner
    const [full] = await tiledTiffDirectories({ downsamples: [1] });
    const slide = await openBytes(
      buildTiff({
        directories: [
          withTags(full, { [tag.ImageDescription]: ascii('Ayşe Yılmaz'), [MAKE]: ascii('Ayşe Yılmaz') }),
        ],
      }).bytes,
    );
    expect(JSON.stringify(slide)).not.toContain('Ay');
    expect(slide.associatedImages.size).toBe(0);
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });

  it('keeps its width of 480 pixels (no rotation) if its Orientation is 0, which TIFF does not define', async () => {
    const [full] = await tiledTiffDirectories({ downsamples: [1] });
    const slide = await openBytes(
      buildTiff({ directories: [withTags(full, { [tag.Orientation]: short(0) })] }).bytes,
    );
    expect(slide.levels[0].width).toBe(480);
  });

  it('is rejected with FILE_CORRUPT if level 1 is damaged, although level 0 is intact', async () => {
    const [full, smaller] = await tiledTiffDirectories({});
    const { bytes } = buildTiff({
      directories: [full as DirectoryPlan, withTags(smaller, { [tag.TileWidth]: short(0) })],
    });
    await expect(openBytes(bytes)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });
});
