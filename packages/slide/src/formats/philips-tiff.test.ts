import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { describeDeepZoom, readNativeDziTile } from '../deep-zoom/deep-zoom.ts';
import type { Slide } from '../model/slide.ts';
import { ascii, buildTiff, type DirectoryPlan, short } from '../testing/build-tiff.ts';
import { difference, MAX_JPEG_DIFFERENCE, pixelsOf } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintPlain, paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';

/** Size of full resolution, which is a multiple of the tile side, as Philips writes it. */
const [WIDTH, HEIGHT, TILE] = [640, 384, 128];
const tissue = paintTissue(WIDTH, HEIGHT);

/** Returns an `<Attribute>` element. */
const attribute = (name: string, value: string) =>
  `<Attribute Name="${name}" Group="0x301D" Element="0x1004" PMSVR="IString">${value}</Attribute>`;
/** Returns an `<Attribute>` element with an array of objects, each given by its elements. */
const arrayAttribute = (name: string, type: string, objects: readonly string[]) =>
  attribute(
    name,
    `<Array>${objects.map((object) => `<DataObject ObjectType="${type}">${object}</DataObject>`).join('')}</Array>`,
  );

/** Returns the pixel spacing of a level: 0.25 µm between rows and 0.2 µm between columns at full resolution. */
const spacing = (downsample: number) =>
  attribute(
    'DICOM_PIXEL_SPACING',
    `"${(0.00025 * downsample).toFixed(6)}" "${(0.0002 * downsample).toFixed(6)}"`,
  );

/** Returns the elements of a level. */
const levelXml = (downsample: number, number: number) =>
  spacing(downsample) + attribute('PIIM_PIXEL_DATA_REPRESENTATION_NUMBER', String(number));

/** Returns the elements of the slide, an image of the type WSI. */
const wsi = (downsamples: readonly number[], derivation = 'DOE^JANE') =>
  attribute('PIM_DP_IMAGE_TYPE', 'WSI') +
  attribute('DICOM_DERIVATION_DESCRIPTION', derivation) +
  spacing(1) +
  arrayAttribute(
    'PIIM_PIXEL_DATA_REPRESENTATION_SEQUENCE',
    'PixelDataRepresentation',
    downsamples.map(levelXml),
  );

/** Returns the elements of an associated image. @param jpeg Base64 text */
const associatedImage = (type: string, jpeg: string) =>
  attribute('PIM_DP_IMAGE_TYPE', type) + attribute('PIM_DP_IMAGE_DATA', jpeg);

/**
 * Returns the ImageDescription. Its barcode is DOE^JANE in Base64, a patient's name that must not appear anywhere.
 *
 * @param images elements of each image
 */
const xml = (images: readonly string[]) =>
  '<?xml version="1.0" encoding="UTF-8" ?>\n<DataObject ObjectType="DPUfsImport">' +
  attribute('PIM_DP_UFS_BARCODE', 'RE9FXkpBTkU=') +
  attribute('DICOM_MANUFACTURER', 'PHILIPS') +
  `${arrayAttribute('PIM_DP_SCANNED_IMAGES', 'DPScannedImage', images)}</DataObject>`;

/** Pads an image with white to whole tiles; every smaller level is padded separately. */
function padded(picture: Raster): Raster {
  const width = Math.ceil(picture.width / TILE) * TILE;
  const height = Math.ceil(picture.height / TILE) * TILE;
  const rgb = new Uint8Array(width * height * 3).fill(255);
  for (let y = 0; y < picture.height; y++) {
    rgb.set(picture.rgb.subarray(y * picture.width * 3, (y + 1) * picture.width * 3), y * width * 3);
  }
  return { width, height, rgb };
}

/** Returns the directory of a level. */
const levelOf = (downsample: number) => losslessPicture(padded(shrinkRaster(tissue, downsample)), TILE);

/** Builds a Philips TIFF file; by default, with three levels. */
function build(
  directories: DirectoryPlan[] = [levelOf(1), levelOf(2), levelOf(4)],
  description = xml([wsi([1, 2, 4])]),
  software = 'Philips DP v1.0',
): Uint8Array {
  const [first, ...others] = directories;
  const described = withTags(first, {
    [tag.ImageDescription]: ascii(description),
    [tag.Software]: ascii(software),
  });
  return buildTiff({ directories: [described, ...others], isBig: true }).bytes;
}

/** Builds a Philips TIFF file and opens it. */
const open = (...options: Parameters<typeof build>): Promise<Slide> => openBytes(build(...options));

describe('a Philips slide', () => {
  it('has level sizes calculated from the pixel spacings, not those that the TIFF directories state', async () => {
    const slide = await open();
    expect(slide).toMatchObject({ format: 'philips-tiff', vendor: 'Philips', objectivePower: null });
    expect(slide.levels).toMatchObject([
      { width: 640, height: 384, columns: 5, rows: 3, downsample: 1 },
      { width: 320, height: 192, columns: 3, rows: 2, downsample: 2 },
      { width: 160, height: 96, columns: 2, rows: 1, downsample: 4 },
    ]);
    for (const [level, downsample] of [1, 2, 4].entries()) {
      expect(difference(await drawLevel(slide, level), shrinkRaster(tissue, downsample)).max).toBe(0);
    }
  });

  it('reports mpp.y from the first value of DICOM_PIXEL_SPACING (row spacing) and mpp.x from the second (column spacing)', async () => {
    const { mpp } = await open();
    expect(mpp).toEqual({ x: expect.closeTo(0.2, 9), y: expect.closeTo(0.25, 9) });
  });

  it.each<[string, number | null]>([
    ['tiff-useBigTIFF=1-useRgb=0-levels=40,20002,10000,10000-q80-sourceFilename="DOE^JANE.isyntax"', 40],
    ['tiff-levels=20', 20],
    ['tiff-levels=10003,10002,10000-q80', null],
    ['tiff-q80-sourceFilename="a-levels=40,1.isyntax"', null],
    ['levels=none', null],
  ])(
    'with the DICOM_DERIVATION_DESCRIPTION %s has the objective power %s (first number after "levels=" before the file name, at most 200)',
    async (derivation, power) => {
      const { objectivePower } = await open(undefined, xml([wsi([1, 2, 4], derivation)]));
      expect(objectivePower).toBe(power);
    },
  );

  it('returns JPEG tiles without decoding them, except tiles with padding', async () => {
    const directories = await Promise.all(
      [1, 2].map((downsample) => encodePicture(padded(shrinkRaster(tissue, downsample)), TILE, 'ycbcr')),
    );
    const slide = await open(directories, xml([wsi([1, 2])]));
    const { maxLevel } = describeDeepZoom(slide);
    const tile = await readNativeDziTile(slide, { dziLevel: maxLevel, column: 4, row: 2 });
    const expectedPixels = cropRaster(tissue, 512, 256, 128, 128);
    expect(difference(await pixelsOf(tile ?? new Uint8Array()), expectedPixels).mean).toBeLessThan(
      MAX_JPEG_DIFFERENCE,
    );
    // At half resolution, 384 columns are stored for 320: the last tile is padded.
    expect(await readNativeDziTile(slide, { dziLevel: maxLevel - 1, column: 1, row: 0 })).not.toBeNull();
    expect(await readNativeDziTile(slide, { dziLevel: maxLevel - 1, column: 2, row: 0 })).toBeNull();
  });

  it('returns null for a tile that was not scanned, and states a white background colour', async () => {
    const full = levelOf(1);
    const missingTile = 5 + 1; // column 1, row 1 of 5 columns
    const sparse = { ...full, tiles: (full.tiles ?? []).map((tile, i) => (i === missingTile ? null : tile)) };
    const slide = await open([sparse, levelOf(2)], xml([wsi([1, 2])]));
    expect(await slide.readTile({ level: 0, column: 1, row: 1 })).toBeNull();
    expect(slide.background).toEqual({ r: 255, g: 255, b: 255 });
  });

  it('has its levels in the order of their numbers, whatever their order in the XML', async () => {
    const [first, second, third] = [1, 2, 4].map(levelXml);
    const images = [
      attribute('PIM_DP_IMAGE_TYPE', 'WSI') +
        arrayAttribute('PIIM_PIXEL_DATA_REPRESENTATION_SEQUENCE', 'PixelDataRepresentation', [
          third,
          first,
          second,
        ] as string[]),
    ];
    const slide = await open(undefined, xml(images));
    expect(slide.levels.map(({ downsample }) => downsample)).toEqual([1, 2, 4]);
    expect(slide.mpp).toEqual({ x: expect.closeTo(0.2, 9), y: expect.closeTo(0.25, 9) });
  });
});

describe('the associated images of a Philips slide', () => {
  it('are the label and the macro that the XML contains', async () => {
    const jpeg = await greenJpegBase64();
    const images = [associatedImage('MACROIMAGE', jpeg), wsi([1, 2, 4]), associatedImage('LABELIMAGE', jpeg)];
    const slide = await open(undefined, xml(images));
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro']);
    const label = await slide.readAssociatedImage('label');
    expect(label).toMatchObject({ codec: 'jpeg', width: 48, height: 32 });
    expect(difference(await pixelsOf(label.bytes), paintPlain(48, 32, [0, 128, 0])).mean).toBeLessThan(
      MAX_JPEG_DIFFERENCE,
    );
  });

  it('are the label and the macro in the TIFF directories, even if the XML also contains a label', async () => {
    const named = (name: string) =>
      withTags(losslessPicture(paintTissue(90, 60), null), {
        [tag.ImageDescription]: ascii(`${name} 90x60`),
      });
    const images = [wsi([1, 2, 4]), associatedImage('LABELIMAGE', await greenJpegBase64())];
    const slide = await open(
      [levelOf(1), levelOf(2), levelOf(4), named('Macro'), named('Label')],
      xml(images),
    );
    expect(slide.levels).toHaveLength(3);
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro']);
    expect(await slide.readAssociatedImage('label')).toMatchObject({ width: 90, height: 60 });
    await expect(slide.readAssociatedImage('thumbnail')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });

  it('throw FILE_CORRUPT when a damaged label is read, but the slide can be opened', async () => {
    const slide = await open(
      undefined,
      xml([wsi([1, 2, 4]), associatedImage('LABELIMAGE', 'bm90IGEgSlBFRw==')]),
    );
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });
});

/** Returns a green JPEG of 48 × 32 pixels as Base64 text. */
async function greenJpegBase64(): Promise<string> {
  const { width, height, rgb } = paintPlain(48, 32, [0, 128, 0]);
  const jpeg = await sharp(rgb, { raw: { width, height, channels: 3 } })
    .jpeg()
    .toBuffer();
  return jpeg.toString('base64');
}

describe('openSlideFrom (opens a slide from its files)', () => {
  const levels = [levelOf(1), levelOf(2), levelOf(4)];
  /** Returns XML in which the third level has this pixel spacing. */
  const withSpacing = (text: string) =>
    xml([
      attribute('PIM_DP_IMAGE_TYPE', 'WSI') +
        arrayAttribute('PIIM_PIXEL_DATA_REPRESENTATION_SEQUENCE', 'PixelDataRepresentation', [
          levelXml(1, 0),
          levelXml(2, 1),
          attribute('DICOM_PIXEL_SPACING', text) + attribute('PIIM_PIXEL_DATA_REPRESENTATION_NUMBER', '2'),
        ]),
    ]);

  it.each<[string, DirectoryPlan[], string, string]>([
    ['when its XML is truncated', levels, xml([wsi([1, 2, 4])]).slice(0, -30), 'FILE_CORRUPT'],
    [
      'when the root element of its XML is Object instead of DataObject',
      levels,
      xml([wsi([1, 2, 4])]).replaceAll('DataObject', 'Object'),
      'FILE_CORRUPT',
    ],
    [
      'when the root element of its XML has the type DPUfsExport instead of DPUfsImport',
      levels,
      `<DataObject ObjectType="DPUfsExport"><!-- DPUfsImport --></DataObject>`,
      'FILE_CORRUPT',
    ],
    [
      'when its XML has a document type definition',
      levels,
      `<!DOCTYPE a [<!ENTITY b "DPUfsImport">]><a>&b;</a>`,
      'FILE_CORRUPT',
    ],
    [
      'when its XML uses an undefined entity',
      levels,
      xml([wsi([1, 2, 4])]).replace('RE9F', '&xxe;'),
      'FILE_CORRUPT',
    ],
    [
      'when the elements of its XML are nested 10,000 deep',
      levels,
      `<DataObject ObjectType="DPUfsImport">${'<Array>'.repeat(10_000)}`,
      'LIMIT_EXCEEDED',
    ],
    [
      'when its XML has 120,000 elements (limit 100,000)',
      levels,
      `<DataObject ObjectType="DPUfsImport">${'<a/>'.repeat(120_000)}</DataObject>`,
      'LIMIT_EXCEEDED',
    ],
    [
      'when its XML describes a label but no slide image (type WSI)',
      levels,
      xml([associatedImage('LABELIMAGE', '')]),
      'FILE_CORRUPT',
    ],
    [
      'when its XML describes two slide images (type WSI)',
      levels,
      xml([wsi([1, 2, 4]), wsi([1, 2, 4])]),
      'FILE_CORRUPT',
    ],
    ['when it has fewer pixel spacings than levels', levels, xml([wsi([1, 2])]), 'FILE_CORRUPT'],
    ['when it has more pixel spacings than levels', levels, xml([wsi([1, 2, 4, 8])]), 'FILE_CORRUPT'],
    [
      'when its pixel spacings do not increase from level to level',
      levels,
      xml([wsi([1, 4, 2])]),
      'FILE_CORRUPT',
    ],
    ['when all its levels have the same pixel spacing', levels, xml([wsi([1, 1, 1])]), 'FILE_CORRUPT'],
    [
      'when a level is smaller than its pixel spacing implies',
      [levelOf(1), levelOf(2), levelOf(8)],
      xml([wsi([1, 2, 4])]),
      'FILE_CORRUPT',
    ],
    ['when a pixel spacing has only one number', levels, withSpacing('"0.001"'), 'FILE_CORRUPT'],
    ['when a pixel spacing is 0', levels, withSpacing('"0" "0"'), 'FILE_CORRUPT'],
    ['when a pixel spacing is negative', levels, withSpacing('"-0.001" "-0.001"'), 'FILE_CORRUPT'],
    ['when a pixel spacing is not a number', levels, withSpacing('"NaN" "1e999"'), 'FILE_CORRUPT'],
    [
      'when a pixel spacing has three numbers',
      levels,
      withSpacing('"0.001" "0.001" "0.001"'),
      'FILE_CORRUPT',
    ],
    [
      'when a level has no pixel spacing',
      levels,
      withSpacing('').replace(/<Attribute Name="DICOM_PIXEL_SPACING"[^>]*><\/Attribute>/, ''),
      'FILE_CORRUPT',
    ],
    [
      'when its only TIFF directory is stored in strips instead of tiles',
      [losslessPicture(tissue, null)],
      xml([wsi([1])]),
      'FILE_CORRUPT',
    ],
    [
      'when a level has a height of 0',
      [levelOf(1), withTags(levelOf(2), { [tag.ImageLength]: short(0) })],
      xml([wsi([1, 2])]),
      'FILE_CORRUPT',
    ],
  ])(
    'throws $3, in a message without the patient name, for a Philips slide %s',
    async (_, directories, description, code) => {
      const opening = open(directories, description);
      await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
      await expect(opening).rejects.toMatchObject({ message: expect.not.stringContaining('DOE') });
    },
  );

  it('opens a file with the XML of Philips but another Software tag as generic TIFF', async () => {
    expect((await open(undefined, undefined, 'libtiff')).format).toBe('tiff');
  });
});
