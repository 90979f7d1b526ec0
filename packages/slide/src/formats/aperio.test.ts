import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { cropRaster, shrinkRaster } from '../decode/raster.ts';
import { buildSvs, type SvsPlan, svsDirectories } from '../testing/build-svs.ts';
import { ascii, buildTiff, type DirectoryPlan, long, short } from '../testing/build-tiff.ts';
import { difference, MAX_JPEG_DIFFERENCE, pixelsOf } from '../testing/compare-pixels.ts';
import { encodeSamples } from '../testing/encode-samples.ts';
import { withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';

/** Builds an .svs file and opens it. */
const open = async (plan?: SvsPlan) => openBytes(await buildSvs(plan));

/** Opens a slide whose directories are changed before they are written. */
async function openChanged(change: (directories: DirectoryPlan[]) => DirectoryPlan[], plan: SvsPlan = {}) {
  return openBytes(buildTiff({ directories: change(await svsDirectories(plan)) }).bytes);
}

describe('an Aperio slide', () => {
  it('lists its levels from the largest to the smallest, each with the size of its tile grid', async () => {
    const { format, vendor, levels } = await open({ width: 481, height: 403 });
    expect({ format, vendor }).toEqual({ format: 'aperio', vendor: 'Aperio' });
    expect(levels).toMatchObject([
      { width: 481, height: 403, tileWidth: 128, tileHeight: 128, columns: 4, rows: 4, downsample: 1 },
      { width: 120, height: 100, tileWidth: 128, tileHeight: 128, columns: 1, rows: 1 },
    ]);
    expect(levels[1]?.downsample).toBeCloseTo(4, 0);
  });

  it.each<[string, SvsPlan]>([
    ['RGB', { colour: 'rgb' }],
    ['YCbCr', { colour: 'ycbcr' }],
    ['grey', { colour: 'grey' }],
    ['big-endian byte order', { isLittleEndian: false }],
    ['BigTIFF', { isBig: true }],
    ['big-endian BigTIFF', { isLittleEndian: false, isBig: true }],
  ])('in %s returns JPEG tiles with the original pixels, except for JPEG artefacts', async (_, plan) => {
    const picture = plan.colour === 'grey' ? greyTissue(480, 400) : paintTissue(480, 400);
    const slide = await open({ picture, ...plan });
    const tile = await slide.readTile({ level: 0, column: 2, row: 1 });
    expect(tile).toMatchObject({ codec: 'jpeg', width: 128, height: 128 });
    const expectedPixels = cropRaster(picture, 256, 128, 128, 128);
    expect(difference(await pixelsOf(tile?.bytes ?? new Uint8Array()), expectedPixels).mean).toBeLessThan(
      MAX_JPEG_DIFFERENCE,
    );
  });

  it('returns for a tile of level 1 the original pixels reduced by 4, except for JPEG artefacts', async () => {
    const slide = await open();
    const tile = await slide.readTile({ level: 1, column: 0, row: 0 });
    const expectedPixels = shrinkRaster(paintTissue(480, 400), 4);
    const pixels = cropRaster(await pixelsOf(tile?.bytes ?? new Uint8Array()), 0, 0, 120, 100);
    expect(difference(pixels, expectedPixels).mean).toBeLessThan(MAX_JPEG_DIFFERENCE);
  });

  it('returns null for a tile that the scanner left empty', async () => {
    const slide = await open({ isEmpty: (level, column, row) => level === 0 && column === 1 && row === 2 });
    expect(await slide.readTile({ level: 0, column: 1, row: 2 })).toBeNull();
    expect(await slide.readTile({ level: 0, column: 2, row: 2 })).not.toBeNull();
    expect(slide.background).toEqual({ r: 255, g: 255, b: 255 });
  });

  it.each([
    ['a level that does not exist', { level: 2, column: 0, row: 0 }],
    ['a column that does not exist', { level: 0, column: 4, row: 0 }],
    ['a row that does not exist', { level: 0, column: 0, row: 4 }],
    ['a column before the first', { level: 0, column: -1, row: 1 }],
    ['a fractional column', { level: 0, column: 0.5, row: 0 }],
  ])('throws TILE_OUT_OF_RANGE for a tile address with %s', async (_, address) => {
    const slide = await open();
    await expect(slide.readTile(address)).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
  });
});

describe('the ImageDescription (text metadata) of an Aperio slide', () => {
  it.each<[label: string, Record<string, string>, mpp: number | null, objectivePower: number | null]>([
    ['AppMag 20 and MPP 0.4990', { AppMag: '20', MPP: '0.4990' }, 0.499, 20],
    ['MPP 0,2500 and AppMag 40,0 (decimal commas)', { MPP: '0,2500', AppMag: '40,0' }, 0.25, 40],
    ['AppMag 40 and no MPP', { AppMag: '  40  ', 'ScanScope ID': 'SS1234' }, null, 40],
    [
      'MPP 0.25 and a property whose name ends in MPP (LineAreaXOffset MPP 7)',
      { MPP: '0.25', 'LineAreaXOffset MPP': '7' },
      0.25,
      null,
    ],
    ['MPP 0.25 and AppMag 40X', { MPP: '0.25', AppMag: '40X' }, 0.25, 40],
    ['MPP 0 and AppMag -20', { MPP: '0', AppMag: '-20' }, null, null],
    ['MPP NaN and AppMag 1e308', { MPP: 'NaN', AppMag: '1e308' }, null, null],
    ['an empty MPP and AppMag "twenty"', { MPP: '', AppMag: 'twenty' }, null, null],
    ['neither MPP nor AppMag', {}, null, null],
  ])(
    'with %s gives mpp = $2 (micrometres per pixel) and objectivePower = $3',
    async (_, properties, mpp, objectivePower) => {
      const slide = await open({ properties, hasAssociatedImages: false });
      expect(slide.mpp).toEqual(mpp === null ? null : { x: mpp, y: mpp });
      expect(slide.objectivePower).toBe(objectivePower);
    },
  );

  it('with MPP after the first 64 KiB, the limit for reading, gives mpp = null within the time limit of a test', async () => {
    const slide = await openChanged(([full]) => [
      withTags(full, { [tag.ImageDescription]: ascii(`Aperio${'| '.repeat(200_000)}|MPP = 0.5`) }),
    ]);
    expect(slide.mpp).toBeNull();
  });

  it('with 60,000 spaces in the value of MPP gives mpp = null in linear time (60 times within the time limit of a test)', async () => {
    const [full] = await svsDirectories({ hasAssociatedImages: false });
    const description = ascii(`Aperio|MPP = 1${' '.repeat(60_000)}y`);
    const { bytes } = buildTiff({
      directories: [withTags(full, { [tag.ImageDescription]: description })],
    });
    for (let i = 0; i < 60; i++) expect((await openBytes(bytes)).mpp).toBeNull();
  });
});

describe('the levels of an Aperio slide', () => {
  it('are recognised by their size for TIFF directories in any order', async () => {
    const slide = await openChanged(([full, thumbnail, smaller, label, macro]) => {
      const first = withTags(thumbnail, {
        [tag.ImageDescription]: ascii('Aperio Image Library\r\n480x400 -> 240x200'),
      });
      return [first, label, smaller, macro, full] as DirectoryPlan[];
    });
    expect(slide.levels.map(({ width }) => width)).toEqual([480, 120]);
    expect(slide.mpp).toEqual({ x: 0.499, y: 0.499 });
  });

  it('contain full resolution only once if two TIFF directories have its size', async () => {
    const slide = await openChanged(([full, ...others]) => [full, full, ...others] as DirectoryPlan[]);
    expect(slide.levels.map(({ width }) => width)).toEqual([480, 120]);
  });

  it('do not include a TIFF directory whose aspect ratio differs from that of full resolution', async () => {
    const wide = (await svsDirectories({ width: 200, height: 100, downsamples: [1] }))[0] as DirectoryPlan;
    const slide = await openChanged((directories) => [...directories, wide]);
    expect(slide.levels.map(({ width }) => width)).toEqual([480, 120]);
  });

  it('do not include a label or macro that is tiled and has the aspect ratio of the slide', async () => {
    const slide = await openChanged(([full, _, smaller]) => [
      full as DirectoryPlan,
      withTags(smaller, { [tag.ImageDescription]: ascii('Aperio Image Library\r\nmacro 120x100') }),
      withTags(smaller, { [tag.ImageDescription]: ascii('Aperio Image Library\r\nlabel 120x100') }),
      withTags(smaller, { [tag.ImageDescription]: ascii(''), [tag.NewSubfileType]: long(9) }),
    ]);
    expect(slide.levels).toHaveLength(1);
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro']);
  });
});

describe('a JPEG 2000 tile of an Aperio slide', () => {
  it.each([
    ['with the TIFF compression 33003 has the colour model "ycc" (YCbCr)', 33_003, 'ycc'],
    ['with the TIFF compression 33005 has no colour model, which means RGB', 33_005, undefined],
  ])('%s', async (_, compression, colour) => {
    const slide = await openChanged(([full]) => [withTags(full, { [tag.Compression]: short(compression) })]);
    const tile = await slide.readTile({ level: 0, column: 0, row: 0 });
    expect(tile).toMatchObject({ codec: 'jpeg2000', width: 128, height: 128 });
    expect(tile?.colour).toBe(colour);
    expect(slide.levels[0].needsRendering).toBe(true);
  });
});

describe('the associated images of an Aperio slide', () => {
  it('include a label compressed with LZW, with its original pixels', async () => {
    const { width, height, rgb } = paintTissue(90, 96);
    const label = encodeSamples({
      width,
      height,
      samples: rgb,
      samplesPerPixel: 3,
      photometric: 2,
      packing: 'lzw',
      isDifferenced: true,
      rowsPerStrip: 7,
      tags: { [tag.ImageDescription]: ascii('Aperio Image Library\r\nlabel 90x96') },
    });
    const slide = await openChanged(([full]) => [full as DirectoryPlan, label]);
    expect(await decodeImage(await slide.readAssociatedImage('label'))).toEqual({ width, height, rgb });
  });

  it('are label, macro and thumbnail, each joined from its strips in the file', async () => {
    const slide = await open();
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro', 'thumbnail']);
    const label = await pixelsOf((await slide.readAssociatedImage('label')).bytes);
    expect(label).toMatchObject({ width: 90, height: 96 });
    expect([...label.rgb.subarray(0, 3)]).toEqual([0, 255, 0]);
    expect(await slide.readAssociatedImage('macro')).toMatchObject({ width: 160, height: 64, codec: 'jpeg' });
    const thumbnail = await pixelsOf((await slide.readAssociatedImage('thumbnail')).bytes);
    expect(difference(thumbnail, shrinkRaster(paintTissue(480, 400), 2)).mean).toBeLessThan(
      MAX_JPEG_DIFFERENCE,
    );
  });

  it('are label, macro and thumbnail even if the ImageDescription of label and macro is empty', async () => {
    const indexOfLabel = 3; // after full resolution, thumbnail and smaller level; the macro follows
    const slide = await openChanged((directories) =>
      directories.map((directory, i) =>
        i < indexOfLabel ? directory : withTags(directory, { [tag.ImageDescription]: ascii('') }),
      ),
    );
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro', 'thumbnail']);
  });

  it('are an empty list for a file without label, macro and thumbnail, and reading the label throws ASSOCIATED_IMAGE_MISSING', async () => {
    const slide = await open({ hasAssociatedImages: false });
    expect(slide.associatedImages.size).toBe(0);
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });
});

describe('openSlideFrom (opens a slide)', () => {
  it.each<[string, DirectoryPlan['tags'], string]>([
    ['with an unknown compression', { [tag.Compression]: short(65000) }, 'FORMAT_NOT_SUPPORTED'],
    ['with JPEG of 16 bits a sample', { [tag.BitsPerSample]: short(16, 16, 16) }, 'FORMAT_NOT_SUPPORTED'],
    [
      'with three samples a pixel that are declared as CMYK',
      { [tag.PhotometricInterpretation]: short(5) },
      'FORMAT_NOT_SUPPORTED',
    ],
    ['with JPEG of four samples a pixel', { [tag.SamplesPerPixel]: short(4) }, 'FORMAT_NOT_SUPPORTED'],
    ['with floating-point samples', { [tag.SampleFormat]: short(3, 3, 3) }, 'FORMAT_NOT_SUPPORTED'],
    [
      'with tiles for only one of three colour planes (PlanarConfiguration 2)',
      { [tag.PlanarConfiguration]: short(2) },
      'FILE_CORRUPT',
    ],
    [
      'with the ImageDepth 3, a volume instead of a flat image',
      { [tag.ImageDepth]: long(3) },
      'FORMAT_NOT_SUPPORTED',
    ],
    ['of width 0', { [tag.ImageWidth]: long(0) }, 'FILE_CORRUPT'],
    ['of width 2^31 (limit 2^31 − 1)', { [tag.ImageWidth]: long(2 ** 31) }, 'LIMIT_EXCEEDED'],
    [
      'of 10^6 × 10^6 pixels in tiles of 16 × 16 pixels (limit 2^26 tiles)',
      {
        [tag.ImageWidth]: long(1e6),
        [tag.ImageLength]: long(1e6),
        [tag.TileWidth]: short(16),
        [tag.TileLength]: short(16),
      },
      'LIMIT_EXCEEDED',
    ],
    ['with tiles of width 0', { [tag.TileWidth]: long(0) }, 'FILE_CORRUPT'],
    ['with tiles of height 65,536 (limit 8,192)', { [tag.TileLength]: long(65_536) }, 'LIMIT_EXCEEDED'],
    ['with fewer tiles than its size needs', { [tag.ImageLength]: long(4000) }, 'FILE_CORRUPT'],
    ['with fewer byte counts than tiles', { [tag.TileByteCounts]: long(1, 2, 3) }, 'FILE_CORRUPT'],
  ])('throws $2 for an Aperio slide %s', async (_, tags, code) => {
    const opening = openChanged(([full]) => [withTags(full, tags)]);
    await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('throws FORMAT_NOT_SUPPORTED for an Aperio slide in which no TIFF directory is tiled', async () => {
    const opening = openChanged((directories) => directories.filter(({ strips }) => strips));
    await expect(opening).rejects.toMatchObject({ code: 'FORMAT_NOT_SUPPORTED' });
  });

  it('throws LIMIT_EXCEEDED for an Aperio slide with 40 levels (limit 32)', async () => {
    const opening = openChanged(([full]) =>
      Array.from({ length: 40 }, (_, i) =>
        withTags(full, { [tag.ImageWidth]: long(480 - 6 * i), [tag.ImageLength]: long(400 - 5 * i) }),
      ),
    );
    await expect(opening).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});

describe('readTile (reads a tile of the file) of an Aperio slide', () => {
  /** Returns a tag with the same value for each of the 16 tiles of full resolution. */
  const forAllTiles = (value: number) => long(...new Array<number>(16).fill(value));
  it.each<[string, DirectoryPlan['tags'], string]>([
    ['when its offset is in the file header', { [tag.TileOffsets]: forAllTiles(4) }, 'FILE_CORRUPT'],
    [
      'when its offset is past the end of the file',
      { [tag.TileOffsets]: forAllTiles(2 ** 31) },
      'FILE_TRUNCATED',
    ],
    [
      'when it ends past the end of the file',
      { [tag.TileByteCounts]: forAllTiles(2 ** 25) },
      'FILE_TRUNCATED',
    ],
    ['when it has more than 64 MiB', { [tag.TileByteCounts]: forAllTiles(2 ** 27) }, 'LIMIT_EXCEEDED'],
    ['when it is no JPEG', { [tag.TileOffsets]: forAllTiles(9) }, 'FILE_CORRUPT'],
    [
      'when its JPEG has another size than the TIFF tags state',
      { [tag.TileWidth]: short(160) },
      'FILE_CORRUPT',
    ],
    [
      'when its JPEG has another number of components than the TIFF tags state',
      { [tag.PhotometricInterpretation]: short(1), [tag.SamplesPerPixel]: short(1) },
      'FILE_CORRUPT',
    ],
    [
      'when its JPEG tables are truncated',
      { [tag.JPEGTables]: { type: 7, numbers: [0xff, 0xd8, 0xff, 0xdb, 0] } },
      'FILE_CORRUPT',
    ],
    [
      'when its JPEG tables have no end marker',
      { [tag.JPEGTables]: { type: 7, numbers: [0xff, 0xd8] } },
      'FILE_CORRUPT',
    ],
  ])('throws $2 for a tile %s', async (_, tags, code) => {
    const slide = await openChanged(([full]) => [withTags(full, tags)]);
    const reading = slide.readTile({ level: 0, column: 0, row: 0 });
    await expect(reading).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('returns an intact tile of a slide with one damaged tile, and throws FILE_CORRUPT for the damaged tile', async () => {
    const damagedTile = 4 + 1; // column 1, row 1 of 4 columns
    const slide = await openChanged(([full]) => [
      {
        ...full,
        tags: full?.tags ?? {},
        tiles: (full?.tiles ?? []).map((tile, i) => (i === damagedTile ? Uint8Array.of(1, 2, 3) : tile)),
      },
    ]);
    await expect(slide.readTile({ level: 0, column: 1, row: 1 })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    expect(await slide.readTile({ level: 0, column: 2, row: 1 })).not.toBeNull();
  });
});

describe('an Aperio file that is truncated', () => {
  it('is rejected with FILE_TRUNCATED or FORMAT_NOT_RECOGNISED, whatever its length', async () => {
    const file = await buildSvs({ width: 160, height: 140, downsamples: [1] });
    const outcomes = new Set<string>();
    for (let length = 0; length < file.length; length += 97) {
      const outcome = await openBytes(file.subarray(0, length)).then(
        () => 'opened',
        (error: { name: string; code: string }) => `${error.name} ${error.code}`,
      );
      outcomes.add(outcome);
    }
    expect([...outcomes].sort()).toEqual(['SlideError FILE_TRUNCATED', 'SlideError FORMAT_NOT_RECOGNISED']);
  });
});

/** Returns a grey image of the tissue, from its green samples. */
function greyTissue(width: number, height: number) {
  const { rgb } = paintTissue(width, height);
  return { width, height, rgb: rgb.map((_, i) => rgb[i - (i % 3) + 1] as number) };
}
