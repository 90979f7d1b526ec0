import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { ascii, buildTiff, type DirectoryPlan, rational, short } from '../testing/build-tiff.ts';
import { difference } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';
import { trestle } from './trestle.ts';

/** Pixels of full resolution without overlaps, and side of a tile. */
const [WIDTH, HEIGHT, TILE] = [500, 380, 128];
const tissue = paintTissue(WIDTH, HEIGHT);

/** Returns the image as it is stored: each tile repeats the last `overlap` pixels of the tile on its left and above it. */
function withOverlaps(picture: Raster, overlap: number): Raster {
  const storedSide = (side: number) => side + Math.ceil((side - TILE) / (TILE - overlap)) * overlap;
  const width = storedSide(picture.width);
  const height = storedSide(picture.height);
  const sourcePosition = (position: number) =>
    Math.floor(position / TILE) * (TILE - overlap) + (position % TILE);
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const source = (sourcePosition(y) * picture.width + sourcePosition(x)) * 3;
      rgb.set(picture.rgb.subarray(source, source + 3), (y * width + x) * 3);
    }
  }
  return { width, height, rgb };
}

const DESCRIPTION =
  'Background Color=E6E0DC;White Balance=FFFFFF;Objective Power=20;JPEG Quality=75;OverlapsXY= 32 32 16 16;Patient=DOE^JANE';

/** Builds a Trestle slide. */
function build(
  directories: DirectoryPlan[],
  description = DESCRIPTION,
  software = 'MedScan v1.0',
): Uint8Array {
  const [first, ...others] = directories;
  const described = withTags(first, {
    [tag.ImageDescription]: ascii(description),
    [tag.Software]: ascii(software),
    [tag.XResolution]: rational(35, 100),
    [tag.YResolution]: rational(36, 100),
    [tag.ResolutionUnit]: short(3),
    ...first?.tags,
  });
  return buildTiff({ directories: [described, ...others] }).bytes;
}

/** Builds a Trestle slide and opens it. */
const open = (...options: Parameters<typeof build>): Promise<Slide> => openBytes(build(...options));

/** Directories of three levels, whose tiles overlap by 32, 16 and 0 pixels. */
const levels = [
  losslessPicture(withOverlaps(tissue, 32), TILE),
  losslessPicture(withOverlaps(shrinkRaster(tissue, 2), 16), TILE),
  losslessPicture(shrinkRaster(tissue, 4), TILE),
];

describe('a Trestle slide', () => {
  it('has the original pixels in every level and shows the overlap of neighbouring tiles once', async () => {
    const slide = await open(levels);
    expect(slide).toMatchObject({ format: 'trestle', vendor: 'Trestle', objectivePower: 20 });
    expect(slide.levels).toMatchObject([
      { width: 500, height: 380, needsRendering: true },
      { width: 250, height: 190, needsRendering: true },
      { width: 125, height: 95 },
    ]);
    for (const [level, downsample] of [1, 2, 4].entries()) {
      expect(difference(await drawLevel(slide, level), shrinkRaster(tissue, downsample)).max).toBe(0);
    }
  });

  it('takes XResolution and YResolution as micrometres per pixel, and has the background colour that the file states', async () => {
    const { mpp, background } = await open(levels);
    expect(mpp).toEqual({ x: expect.closeTo(0.35, 9), y: expect.closeTo(0.36, 9) });
    expect(background).toEqual({ r: 0xe6, g: 0xe0, b: 0xdc });
  });

  it('returns JPEG tiles without decoding them if a level has no overlaps', async () => {
    const slide = await open([await encodePicture(tissue, TILE, 'ycbcr')], 'Objective Power=20');
    expect(slide.levels[0].needsRendering).toBeUndefined();
    expect((await slide.readTile({ level: 0, column: 0, row: 0 }))?.codec).toBe('jpeg');
    expect(slide.background).toEqual({ r: 255, g: 255, b: 255 });
  });

  it('shows its background colour where a tile is empty', async () => {
    const [full] = levels as [DirectoryPlan];
    const sparse = { ...full, tiles: (full.tiles ?? []).map((tile, i) => (i === 0 ? null : tile)) };
    const drawn = await drawLevel(await open([sparse, ...levels.slice(1)]), 0);
    expect([...cropRaster(drawn, 10, 10, 1, 1).rgb]).toEqual([0xe6, 0xe0, 0xdc]);
    // The second tile begins at 128 − 32.
    expect(difference(cropRaster(drawn, 96, 0, 100, 100), cropRaster(tissue, 96, 0, 100, 100)).max).toBe(0);
  });

  it.each([['0'], ['-3'], ['many'], ['1e9'], ['']])(
    'has the objective power null if the file states the objective power %j',
    async (power) => {
      expect(
        (await open(levels, `Objective Power=${power};OverlapsXY= 32 32 16 16`)).objectivePower,
      ).toBeNull();
    },
  );

  it.each([['E6E0'], ['GGGGGG'], ['E6E0DC00'], ['']])(
    'has a white background if the file states the invalid colour %j',
    async (colour) => {
      const slide = await open(levels, `Background Color=${colour};OverlapsXY= 32 32 16 16`);
      expect(slide.background).toEqual({ r: 255, g: 255, b: 255 });
    },
  );

  it('consists of its .tif file as main file and the .Full and .tif-<digits>b files of the same name as members', async () => {
    const names = ['a.Full', 'a.tif', 'a.tif-0b', 'a.tif-1b', 'a.tif-b', 'b.Full', 'c.tif'];
    const failToOpen = () => Promise.reject(new Error('No file needs to be read'));
    expect(await trestle.group?.({ names, folders: [], open: failToOpen })).toEqual([
      { main: 'a.tif', members: ['a.Full', 'a.tif-0b', 'a.tif-1b'] },
    ]);
  });

  it('has no associated images, and reading one throws ASSOCIATED_IMAGE_MISSING', async () => {
    const slide = await open(levels);
    expect(slide.associatedImages.size).toBe(0);
    await expect(slide.readAssociatedImage('macro')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });
});

describe('openSlideFrom (opens a slide from its files)', () => {
  /** Returns a description that states these overlaps. */
  const overlaps = (text: string) => `OverlapsXY=${text}`;
  const [full, half] = levels as [DirectoryPlan, DirectoryPlan];

  it.each<[string, DirectoryPlan[], string, string]>([
    ['when its overlaps are not numbers', levels, overlaps(' x y'), 'FILE_CORRUPT'],
    ['when its overlaps are negative', levels, overlaps(' -32 -32'), 'FILE_CORRUPT'],
    ['when its overlaps are fractions', levels, overlaps(' 3.5 3.5'), 'FILE_CORRUPT'],
    [
      'when its list of overlaps (x and y for each level) has an odd number of values',
      levels,
      overlaps(' 32 32 16'),
      'FILE_CORRUPT',
    ],
    [
      'when its overlaps exceed the integer range',
      levels,
      overlaps(' 99999999999999999999 1'),
      'FILE_CORRUPT',
    ],
    ['when neighbouring columns of tiles overlap by half', levels, overlaps(' 64 0'), 'FILE_CORRUPT'],
    ['when neighbouring rows of tiles overlap by half', levels, overlaps(' 0 64'), 'FILE_CORRUPT'],
    ['when neighbouring tiles overlap completely', levels, overlaps(' 128 128'), 'FILE_CORRUPT'],
    [
      'when tiles of the second level overlap by more than their size',
      levels,
      overlaps(' 32 32 2000 2000'),
      'FILE_CORRUPT',
    ],
    [
      'when its overlapping tiles have a side of 8 pixels (minimum 16)',
      [losslessPicture(tissue, 8)],
      overlaps(' 2 2'),
      'LIMIT_EXCEEDED',
    ],
    ['when a level is as large as the one before it', [full, full], DESCRIPTION, 'FILE_CORRUPT'],
    ['when a level is larger than the one before it', [half, full], DESCRIPTION, 'FILE_CORRUPT'],
    [
      'when a level is stored in strips instead of tiles',
      [full, losslessPicture(shrinkRaster(tissue, 2), null)],
      DESCRIPTION,
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when its first TIFF directory states a width of 0',
      [withTags(full, { [tag.ImageWidth]: short(0) })],
      DESCRIPTION,
      'FILE_CORRUPT',
    ],
    [
      'when its tiles have a width of 0',
      [withTags(full, { [tag.TileWidth]: short(0) })],
      DESCRIPTION,
      'FILE_CORRUPT',
    ],
    [
      'when its table of tile offsets has only one entry',
      [withTags(full, { [tag.TileOffsets]: short(8) })],
      DESCRIPTION,
      'FILE_CORRUPT',
    ],
    [
      'when its compression is unknown',
      [withTags(full, { [tag.Compression]: short(999) })],
      DESCRIPTION,
      'FORMAT_NOT_SUPPORTED',
    ],
  ])('throws $3 for a Trestle slide %s', async (_, directories, description, code) => {
    await expect(open(directories, description)).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('opens a Trestle slide with a damaged tile, and only reading that tile throws FILE_CORRUPT', async () => {
    const damaged = {
      ...full,
      tiles: (full.tiles ?? []).map((tile, i) => (i === 0 ? Uint8Array.of(1, 2) : tile)),
    };
    const slide = await open([damaged, ...levels.slice(1)]);
    await expect(slide.readTile({ level: 0, column: 0, row: 0 })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    await expect(slide.readTile({ level: 0, column: 0, row: 0 })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    expect(await slide.readTile({ level: 1, column: 0, row: 0 })).not.toBeNull();
  });

  it.each([
    ['a Software tag other than MedScan', DESCRIPTION, 'libtiff'],
    ['no ImageDescription', '', 'MedScan'],
  ])('opens a Trestle slide with %s as generic TIFF', async (_, description, software) => {
    expect((await open(levels, description, software)).format).toBe('tiff');
  });
});
