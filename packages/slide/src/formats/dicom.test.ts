import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tag } from '../dicom/tags.ts';
import { readJpegHeader } from '../jpeg/header.ts';
import { groupSlideFiles, openSlide } from '../open-slide.ts';
import {
  buildDicom,
  type DicomPlan,
  fl,
  pictureOf,
  sequence,
  sl,
  text,
  ul,
  us,
} from '../testing/build-dicom.ts';
import { difference } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { differenceFromPlan, openDicom, openFiles } from '../testing/open-dicom.ts';

describe('a DICOM slide', () => {
  it('of three files, one per level, has the same levels and pixels if the files are listed in reverse order', async () => {
    const plans = [{}, { downsample: 2 }, { downsample: 4, tileWidth: 24, tileHeight: 16 }];
    for (const order of [plans, plans.toReversed()]) {
      const slide = await openDicom(...order);
      expect(slide.levels).toEqual([
        {
          width: 96,
          height: 64,
          tileWidth: 32,
          tileHeight: 32,
          columns: 3,
          rows: 2,
          downsample: 1,
          needsRendering: true,
        },
        {
          width: 48,
          height: 32,
          tileWidth: 32,
          tileHeight: 32,
          columns: 2,
          rows: 1,
          downsample: 2,
          needsRendering: true,
        },
        {
          width: 24,
          height: 16,
          tileWidth: 24,
          tileHeight: 16,
          columns: 1,
          rows: 1,
          downsample: 4,
          needsRendering: true,
        },
      ]);
      for (const [i, plan] of plans.entries()) {
        expect(difference(await drawLevel(slide, i), pictureOf(plan))).toEqual({ mean: 0, max: 0 });
      }
    }
  });

  it('reports vendor, pixel size, objective power and a white background', async () => {
    expect(await openDicom()).toMatchObject({
      format: 'dicom',
      vendor: 'Leica Biosystems',
      mpp: { x: 0.5, y: 0.5 },
      objectivePower: 40,
      background: { r: 255, g: 255, b: 255 },
    });
  });

  it('reports mpp.y from the first value of PixelSpacing (row spacing) and mpp.x from the second (column spacing)', async () => {
    const spacing = text(tag.PixelSpacing, 'DS', '0.0005', '0.00025');
    const slide = await openDicom({
      more: [
        sequence(tag.SharedFunctionalGroupsSequence, [[sequence(tag.PixelMeasuresSequence, [[spacing]])]]),
      ],
    });
    expect(slide.mpp).toEqual({ x: 0.25, y: 0.5 });
  });

  it('calculates the pixel size from the imaged volume if the file has no PixelSpacing', async () => {
    const slide = await openDicom({
      more: [
        sequence(tag.SharedFunctionalGroupsSequence, []),
        // Millimetres of an image of 96 × 64 pixels.
        fl(tag.ImagedVolumeWidth, 96 / 4096),
        fl(tag.ImagedVolumeHeight, 64 / 2048),
      ],
    });
    expect(slide.mpp).toEqual({ x: 1000 / 4096, y: 1000 / 2048 });
  });

  it.each([
    ['0', '0'],
    ['-0.0005', '0.0005'],
    ['1e308', '1e308'],
    ['wide', 'high'],
  ])('reports the pixel size null for the PixelSpacing values "%s" and "%s"', async (...values) => {
    const spacing = text(tag.PixelSpacing, 'DS', ...values);
    const functionalGroups = [[sequence(tag.PixelMeasuresSequence, [[spacing]])]];
    const slide = await openDicom({
      more: [
        sequence(tag.SharedFunctionalGroupsSequence, functionalGroups),
        fl(tag.ImagedVolumeWidth, 0),
        fl(tag.ImagedVolumeHeight, Number.NaN),
      ],
    });
    expect(slide.mpp).toBeNull();
  });

  it('reports origin and orientation of the image on the glass', async () => {
    const orientation = text(tag.ImageOrientationSlide, 'DS', '0', '1', '0', '1', '0', '0');
    const slide = await openDicom({ more: [orientation] });
    expect(slide.placeOnGlass).toEqual({ origin: { x: 20, y: 40 }, orientation: [0, 1, 0, 1, 0, 0] });
  });

  it.each([
    ['no values', []],
    ['only five of six direction cosines', ['0', '1', '0', '1', '0']],
    ['a direction whose length is not 1', ['0', '2', '0', '1', '0', '0']],
    ['two equal directions', ['0', '1', '0', '0', '1', '0']],
    ['a value that is not a number', ['up', '1', '0', '1', '0', '0']],
  ])('reports no position on the glass if ImageOrientationSlide has %s', async (_, cosines) => {
    const slide = await openDicom({ more: [text(tag.ImageOrientationSlide, 'DS', ...cosines)] });
    expect(slide.placeOnGlass).toBeUndefined();
  });

  it('has the vendor null when Manufacturer is not in the list of known vendors', async () => {
    const slide = await openDicom({ more: [text(tag.Manufacturer, 'LO', 'Dr. Jane Doe, Room 12')] });
    expect(slide.vendor).toBeNull();
  });

  it('has no patient name or ID, date or serial number in its metadata', async () => {
    const slide = await openDicom({ more: [text(0x0008_0020, 'DA', '20261121')] });
    const { readTile, readAssociatedImage, readIccProfile, close, ...metadata } = slide;
    const json = JSON.stringify({ ...metadata, associatedImages: [...metadata.associatedImages] });
    for (const secret of ['Doe', 'P-1', 'SERIAL', '20261121', 'SLIDE-1']) expect(json).not.toContain(secret);
  });

  it('has as background the CIELab colour that the file states for absent tiles, converted to RGB', async () => {
    const grey = await openDicom({
      more: [us(tag.RecommendedAbsentPixelCIELabValue, 35_000, 32_896, 32_896)],
    });
    expect(grey.background).toEqual({ r: 128, g: 128, b: 128 });
    // PixelMed writes white with 0 for both a and b.
    const white = await openDicom({
      more: [us(tag.RecommendedAbsentPixelCIELabValue, 65_535, 0, 0)],
    });
    expect(white.background).toEqual({ r: 255, g: 255, b: 255 });
  });

  it('returns the colour profile of its first optical path, and null without an optical path', async () => {
    const slide = await openDicom({ opticalPaths: 2 });
    expect(Buffer.from((await slide.readIccProfile()) ?? []).toString()).toBe('profile 1 ');
    const withoutProfile = await openDicom({ more: [sequence(tag.OpticalPathSequence, [])] });
    expect(await withoutProfile.readIccProfile()).toBeNull();
  });

  describe('with associated images', () => {
    const oneTile = { width: 32, height: 32 };

    it('has label, overview (as macro) and thumbnail as associated images, not as levels', async () => {
      const slide = await openDicom(
        {},
        { ...oneTile, kind: 'LABEL' },
        { ...oneTile, kind: 'OVERVIEW' },
        { ...oneTile, kind: 'THUMBNAIL' },
      );
      expect(slide.levels).toHaveLength(1);
      expect([...slide.associatedImages].sort()).toEqual(['label', 'macro', 'thumbnail']);
      expect(await slide.readAssociatedImage('label')).toMatchObject({ width: 32, height: 32 });
    });

    it('has an image of the type LOCALIZER as macro', async () => {
      expect((await openDicom({}, { ...oneTile, kind: 'LOCALIZER' })).associatedImages).toEqual(
        new Set(['macro']),
      );
    });

    it('throws ASSOCIATED_IMAGE_MISSING for a label that it does not have', async () => {
      await expect((await openDicom()).readAssociatedImage('label')).rejects.toMatchObject({
        code: 'ASSOCIATED_IMAGE_MISSING',
      });
    });

    it('has no level for a reduced image that shows the label; is rejected with FORMAT_NOT_SUPPORTED if full resolution shows the label', async () => {
      const showingLabel = { more: [text(tag.SpecimenLabelInImage, 'CS', 'YES')] };
      expect((await openDicom({}, { downsample: 2, ...showingLabel })).levels).toHaveLength(1);
      await expect(openDicom(showingLabel)).rejects.toMatchObject({ code: 'FORMAT_NOT_SUPPORTED' });
    });
  });

  describe('with images of several sizes', () => {
    it('has the downsamples 1, 2, 4, … 256 if each level has half the sides of the level before, rounded down', async () => {
      const odd = { width: 277, height: 370, tileWidth: 512, tileHeight: 512, codec: 'rle' } as const;
      const sizes = [
        [277, 370],
        [138, 185],
        [69, 92],
        [34, 46],
        [17, 23],
        [8, 11],
        [4, 5],
        [2, 2],
        [1, 1],
      ] as const;
      const slide = await openDicom(
        ...sizes.map(([width, height], i) => ({
          ...odd,
          more: [
            ul(tag.TotalPixelMatrixColumns, width),
            ul(tag.TotalPixelMatrixRows, height),
            us(tag.InstanceNumber, i),
          ],
        })),
      );
      expect(slide.levels.map(({ width, height }) => [width, height])).toEqual(sizes);
      expect(slide.levels.map(({ downsample }) => downsample)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
    });

    it('has no level for an image whose aspect ratio differs from that of full resolution', async () => {
      expect((await openDicom({}, { width: 48, height: 40 })).levels).toHaveLength(1);
    });

    it('has no level for an image that shows another area of the glass than full resolution', async () => {
      const elsewhere = sequence(tag.TotalPixelMatrixOriginSequence, [
        [
          text(tag.XOffsetInSlideCoordinateSystem, 'DS', '20.5'),
          text(tag.YOffsetInSlideCoordinateSystem, 'DS', '40'),
        ],
      ]);
      expect((await openDicom({}, { downsample: 2, more: [elsewhere] })).levels).toHaveLength(1);
    });

    it('has one level per size if the files contain two images of each size', async () => {
      expect((await openDicom({}, {}, { downsample: 2 }, { downsample: 2 })).levels).toHaveLength(2);
    });

    it('has no level for an image of another series, pyramid or patient than full resolution', async () => {
      const small = { downsample: 2 };
      expect((await openDicom({}, { ...small, series: '2' })).levels).toHaveLength(1);
      expect((await openDicom({}, { ...small, patient: 'P-2' })).levels).toHaveLength(1);
      const pyramids = [
        { pyramid: '1' },
        { pyramid: '2' },
        { ...small, pyramid: '1' },
        { ...small, downsample: 4, pyramid: '2' },
      ];
      expect((await openDicom(...pyramids)).levels.map(({ width }) => width)).toEqual([96, 48]);
    });

    it('has one level for a file and an identical copy of it', async () => {
      const file = await buildDicom();
      expect((await openFiles({ a: file, b: file })).levels).toHaveLength(1);
    });

    it('has no level for truncated DICOM files and files of other formats in its folder', async () => {
      const file = await buildDicom();
      const slide = await openFiles({
        a: file,
        b: new Uint8Array(3),
        c: new Uint8Array(500),
        d: file.subarray(0, 400),
      });
      expect(slide.levels).toHaveLength(1);
    });
  });

  describe('with pixels', () => {
    it.each<[string, DicomPlan]>([
      ['uncompressed with explicit VR', { codec: 'explicit' }],
      ['uncompressed with implicit VR', { codec: 'implicit' }],
      ['uncompressed in planes', { isPlanar: true }],
      ['uncompressed with one item per frame', { codec: 'encapsulated' }],
      ['RLE', { codec: 'rle' }],
      ['JPEG 2000 with YBR_RCT', { codec: 'jpeg2000', photometric: 'YBR_RCT' }],
      ['JPEG 2000 with RGB', { codec: 'jpeg2000' }],
      ['JPEG-LS', { codec: 'jpegls' }],
    ])('of RGB (%s) returns exactly the original pixels', async (_, plan) => {
      expect(await differenceFromPlan(plan)).toEqual({ mean: 0, max: 0 });
    });

    it.each<[string, DicomPlan, number]>([
      ['uncompressed', { photometric: 'YBR_FULL' }, 1],
      ['uncompressed in planes', { photometric: 'YBR_FULL', isPlanar: true }, 1],
      ['RLE', { photometric: 'YBR_FULL', codec: 'rle' }, 1],
      ['JPEG-LS', { photometric: 'YBR_FULL', codec: 'jpegls' }, 1],
      ['JPEG', { photometric: 'YBR_FULL', codec: 'jpeg' }, 4],
      ['JPEG with halved chroma resolution', { photometric: 'YBR_FULL_422', codec: 'jpeg' }, 4],
    ])(
      'of YCbCr (%s) returns RGB that differs from the original by less than $2 of 255 on average',
      async (_, plan, maxMean) => {
        expect((await differenceFromPlan(plan)).mean).toBeLessThan(maxMean);
      },
    );

    it('of YCbCr in JPEG 2000 returns tiles with the colour model "ycc", which the code stream does not state', async () => {
      const slide = await openDicom({ photometric: 'YBR_FULL', codec: 'jpeg2000' });
      expect(await slide.readTile({ level: 0, column: 0, row: 0 })).toMatchObject({
        codec: 'jpeg2000',
        colour: 'ycc',
      });
    });

    it.each<[string, DicomPlan]>([
      ['8 bits', {}],
      ['16 bits', { bits: 16 }],
      ['8 bits, RLE', { codec: 'rle' }],
      ['16 bits, RLE', { bits: 16, codec: 'rle' }],
      ['16 bits, JPEG-LS', { bits: 16, codec: 'jpegls' }],
      ['16 bits, JPEG 2000', { bits: 16, codec: 'jpeg2000' }],
    ])('of grey (%s) shows 0 as black in MONOCHROME2 and as white in MONOCHROME1', async (_, plan) => {
      for (const photometric of ['MONOCHROME2', 'MONOCHROME1']) {
        const grey = await drawLevel(await openDicom({ photometric, ...plan }), 0);
        const isInverted = photometric === 'MONOCHROME1';
        const green = pictureOf(plan).rgb.filter((_value, i) => i % 3 === 1);
        const expected = [...green].flatMap(
          (value) => Array(3).fill(isInverted ? 255 - value : value) as number[],
        );
        expect([...grey.rgb]).toEqual(expected);
      }
    });

    it('of grey returns tiles with the stored sample values that the display window shows as black (400) and white (600)', async () => {
      const functionalGroups = sequence(tag.SharedFunctionalGroupsSequence, [
        [
          sequence(tag.FrameVOILUTSequence, [
            [text(tag.WindowCenter, 'DS', '150.5'), text(tag.WindowWidth, 'DS', '101')],
          ]),
          sequence(tag.PixelValueTransformationSequence, [
            [text(tag.RescaleIntercept, 'DS', '-100'), text(tag.RescaleSlope, 'DS', '0.5')],
          ]),
        ],
      ]);
      const slide = await openDicom({ photometric: 'MONOCHROME2', bits: 16, more: [functionalGroups] });
      // The window is 100 to 200 in rescaled values, which are the stored values (100 + 100) / 0.5 and (200 + 100) / 0.5.
      expect(await slide.readTile({ level: 0, column: 0, row: 0 })).toMatchObject({
        colour: { black: 400, white: 600 },
      });
    });
  });

  describe('with JPEG frames', () => {
    /** Returns the bytes of a tile as a client receives them. */
    const tileBytes = async (plan: DicomPlan) => {
      const tile = await (await openDicom({ codec: 'jpeg', ...plan })).readTile({
        level: 0,
        column: 1,
        row: 0,
      });
      return Buffer.from(tile?.bytes ?? []);
    };
    /** Returns an Adobe segment. @param transform 0 declares RGB, 1 declares YCbCr */
    const adobeSegment = (transform: number) =>
      Buffer.from([0xff, 0xee, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, transform]);

    it('adds an Adobe marker that declares RGB if the samples are RGB', async () => {
      expect((await tileBytes({})).subarray(2, 18)).toEqual(adobeSegment(0));
    });

    it('adds an Adobe marker that declares YCbCr if the samples are YCbCr', async () => {
      expect((await tileBytes({ photometric: 'YBR_FULL_422' })).subarray(2, 18)).toEqual(adobeSegment(1));
    });

    it('adds no colour marker if the samples are grey', async () => {
      const jpeg = await tileBytes({ photometric: 'MONOCHROME2' });
      expect(readJpegHeader(jpeg)).toMatchObject({ width: 32, height: 32, declaresColour: false });
    });

    it('returns the stored JPEG unchanged, except for the Adobe marker that is added', async () => {
      const plan = { codec: 'jpeg', photometric: 'YBR_FULL_422' } as const;
      const jpeg = await tileBytes(plan);
      const headerBytes = 2 + 16; // SOI and the added Adobe segment
      expect(Buffer.from(await buildDicom(plan)).includes(jpeg.subarray(headerBytes))).toBe(true);
    });
  });

  describe('with compressed frames', () => {
    const codecs = ['jpeg', 'jpeg2000', 'jpegls', 'rle'] as const;
    const photometric = 'YBR_FULL_422';
    const planOf = (codec: (typeof codecs)[number]) => ({ codec, ...(codec === 'jpeg' && { photometric }) });
    const maxMeanDifference = (codec: string) => (codec === 'jpeg' ? 4 : 0);

    it.each(['empty', 'basic', 'extended'] as const)(
      'returns the pixels of every frame (JPEG, JPEG 2000, JPEG-LS, RLE) if the offset table is %s',
      async (offsetTable) => {
        for (const codec of codecs) {
          const { mean } = await differenceFromPlan({ ...planOf(codec), offsetTable });
          expect(mean).toBeLessThanOrEqual(maxMeanDifference(codec));
        }
      },
    );

    it.each(['empty', 'basic'] as const)(
      'returns the pixels of frames that are stored in three fragments if the offset table is %s',
      async (offsetTable) => {
        for (const codec of ['jpeg', 'jpeg2000', 'jpegls'] as const) {
          const plan = { ...planOf(codec), offsetTable, fragmentsPerFrame: 3 };
          expect((await differenceFromPlan(plan)).mean).toBeLessThanOrEqual(maxMeanDifference(codec));
        }
      },
    );

    it('returns the pixels of the only frame of an image, whether it is stored in one or in five fragments', async () => {
      for (const fragmentsPerFrame of [1, 5]) {
        const plan = { ...planOf('jpegls'), tileWidth: 96, tileHeight: 64, fragmentsPerFrame };
        expect(await differenceFromPlan({ ...plan, offsetTable: 'empty' })).toEqual({ mean: 0, max: 0 });
        expect(await differenceFromPlan(plan)).toEqual({ mean: 0, max: 0 });
      }
    });

    it('returns the pixels of every frame if sequences state no length and end with delimiters', async () => {
      for (const codec of ['explicit', 'implicit', 'rle'] as const) {
        const plan = { codec, hasUndefinedLengths: true, organization: 'TILED_SPARSE' } as const;
        expect(await differenceFromPlan(plan)).toEqual({ mean: 0, max: 0 });
      }
    });
  });

  describe('with several tiles', () => {
    it.each([
      ['is TILED_SPARSE', 'TILED_SPARSE'],
      ['is missing', null],
    ] as const)(
      'returns each tile at the stated position of its frame if DimensionOrganizationType %s',
      async (_, organization) => {
        for (const codec of ['explicit', 'implicit'] as const) {
          expect(await differenceFromPlan({ organization, codec })).toEqual({ mean: 0, max: 0 });
        }
      },
    );

    it('returns the last frame of the file as the tile at column 0, row 0 if the frames state their positions in reverse order', async () => {
      // Position of each frame, for 3 × 2 tiles of 32 pixels.
      const groups = [5, 4, 3, 2, 1, 0].map((tile) => [
        sequence(tag.PlanePositionSlideSequence, [
          [
            sl(tag.ColumnPositionInTotalImagePixelMatrix, (tile % 3) * 32 + 1),
            sl(tag.RowPositionInTotalImagePixelMatrix, Math.floor(tile / 3) * 32 + 1),
          ],
        ]),
      ]);
      const slide = await openDicom({
        organization: 'TILED_SPARSE',
        more: [sequence(tag.PerFrameFunctionalGroupsSequence, groups)],
      });
      const first = await slide.readTile({ level: 0, column: 0, row: 0 });
      const inOrder = await (await openDicom()).readTile({ level: 0, column: 2, row: 1 });
      expect(first?.bytes).toEqual(inOrder?.bytes);
    });

    it('returns null for a tile whose frame the file does not store', async () => {
      const slide = await openDicom({ organization: 'TILED_SPARSE', holes: [1, 3] });
      const hasTile = async (column: number, row: number) =>
        (await slide.readTile({ level: 0, column, row })) !== null;
      expect(
        await Promise.all([hasTile(0, 0), hasTile(1, 0), hasTile(2, 0), hasTile(0, 1), hasTile(1, 1)]),
      ).toEqual([true, false, true, false, true]);
    });

    it.each(['TILED_FULL', 'TILED_SPARSE'] as const)(
      'shows the focal plane closest to the glass and the first optical path if DimensionOrganizationType is %s',
      async (organization) => {
        const plan = { organization, focalPlanes: 3, opticalPaths: 2 };
        expect((await openDicom(plan)).shownPlane).toEqual({ plane: 1, planes: 3, times: 1 });
        expect(await differenceFromPlan(plan)).toEqual({ mean: 0, max: 0 });
      },
    );

    it.each([
      [-1, 0],
      [3, 0],
      [0, 2],
      [0.5, 0],
      [Number.NaN, 0],
    ])('throws TILE_OUT_OF_RANGE for column %d, row %d of a grid of 3 × 2 tiles', async (column, row) => {
      const slide = await openDicom();
      await expect(slide.readTile({ level: 0, column, row })).rejects.toMatchObject({
        code: 'TILE_OUT_OF_RANGE',
      });
      await expect(slide.readTile({ level: 1, column: 0, row: 0 })).rejects.toMatchObject({
        code: 'TILE_OUT_OF_RANGE',
      });
    });
  });

  describe('with a concatenation (an image that is split into several files)', () => {
    /**
     * Returns the plans of the three files of an image: with the frames 0 and 1, with frame 2, and with the frames 3 to 5.
     *
     * @param total number of parts that each file states
     */
    const parts = (organization: 'TILED_FULL' | 'TILED_SPARSE', total?: number) =>
      [
        { number: 1, from: 0, to: 2 },
        { number: 2, from: 2, to: 3 },
        { number: 3, from: 3, to: 6 },
      ].map((part) => ({ organization, part: { ...part, ...(total && { total }) } }));

    it.each(['TILED_FULL', 'TILED_SPARSE'] as const)(
      'returns the tiles of all parts, whatever the order of the files, if DimensionOrganizationType is %s',
      async (organization) => {
        for (const plans of [parts(organization), parts(organization, 3).toReversed()]) {
          const slide = await openDicom(...plans, { downsample: 2 });
          expect(slide.levels).toHaveLength(2);
          expect(difference(await drawLevel(slide, 0), pictureOf({}))).toEqual({ mean: 0, max: 0 });
        }
      },
    );

    it.each([1, 2, 3])('throws FILE_MISSING if part %i of 3 is missing', async (missingPart) => {
      const plans = parts('TILED_FULL', 3).filter((_, i) => i + 1 !== missingPart);
      await expect(openDicom(...plans)).rejects.toMatchObject({ code: 'FILE_MISSING' });
    });

    it('throws FILE_CORRUPT if a part occurs twice or states another image size', async () => {
      const [first, second, third] = parts('TILED_FULL') as [DicomPlan, DicomPlan, DicomPlan];
      await expect(openDicom(first, second, second, third)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
      const wider = { ...second, more: [ul(tag.TotalPixelMatrixColumns, 128)] };
      await expect(openDicom(first, wider, third)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    });
  });
});

describe('groupSlideFiles (finds the files that belong to one slide) with DICOM files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dicom-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function write(files: Readonly<Record<string, DicomPlan>>): Promise<void> {
    for (const [i, [name, plan]] of Object.entries(files).entries()) {
      await writeFile(join(folder, name), await buildDicom({ instance: String(i + 1), ...plan }));
    }
  }
  const groupFolder = async () => groupSlideFiles({ path: folder }, await readdir(folder));

  it('returns one group per series that has several files, with the largest image as main file', async () => {
    await write({
      'b-label': { kind: 'LABEL', width: 32, height: 32 },
      'c-small': { downsample: 4 },
      'd-large': {},
      'e-other': { series: '2' },
      'f-other-small': { series: '2', downsample: 2 },
      'g-alone': { series: '3' },
    });
    await writeFile(join(folder, 'a-note.txt'), 'no slide');
    expect(await groupFolder()).toEqual([
      { main: 'd-large', members: ['b-label', 'c-small'] },
      { main: 'e-other', members: ['f-other-small'] },
    ]);
  });

  it('returns one group per pyramid of a series, with the overview in the first group', async () => {
    await write({
      a: { pyramid: '1', downsample: 2 },
      b: { pyramid: '1' },
      c: { pyramid: '2' },
      d: { pyramid: '2', downsample: 2 },
      e: { kind: 'OVERVIEW', width: 32, height: 32 },
    });
    expect(await groupFolder()).toEqual([
      { main: 'b', members: ['a', 'e'] },
      { main: 'c', members: ['d'] },
    ]);
  });

  it('returns the first part of a concatenation as main file', async () => {
    await write({
      a: { part: { number: 2, from: 3, to: 6 } },
      b: { part: { number: 1, from: 0, to: 3 } },
      c: { downsample: 2 },
    });
    expect(await groupFolder()).toEqual([{ main: 'b', members: ['a', 'c'] }]);
  });
});

describe('openSlide (opens a slide by path) with a DICOM file', () => {
  it('reads only the files that the caller lists as members of the slide, or the whole folder without such a list', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dicom-'));
    const plans: readonly DicomPlan[] = [{}, { downsample: 2 }, { downsample: 4 }];
    for (const [i, plan] of plans.entries()) {
      await writeFile(join(folder, `level-${i}`), await buildDicom({ instance: String(i + 1), ...plan }));
    }
    const path = join(folder, 'level-0');
    const withMembers = await openSlide({ path, members: ['level-1'] });
    const withoutMembers = await openSlide({ path });
    expect([withMembers.levels.length, withoutMembers.levels.length]).toEqual([2, 3]);
    expect(withMembers.fingerprint).not.toBe(withoutMembers.fingerprint);
    await Promise.all([withMembers.close(), withoutMembers.close()]);
    await rm(folder, { recursive: true });
  });
});
