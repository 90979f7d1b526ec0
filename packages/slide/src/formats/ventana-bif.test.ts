import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { ascii, buildTiff, byte, type DirectoryPlan, short } from '../testing/build-tiff.ts';
import { distance, drawLevel } from '../testing/draw-level.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { exactPicture, withTags } from '../testing/exact-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';

const TILE = 128;

/** One scanned rectangle: frames of 128 pixels, and the overlap of each column and row with the one before. */
interface RegionPlan {
  readonly overlapsX: readonly number[];
  readonly overlapsY: readonly number[];
  /** In frames, from the top left corner of the stored image. */
  readonly firstColumn?: number;
  readonly firstRow?: number;
  /** Pixels: position of its left edge, and of its bottom edge from below. */
  readonly x?: number;
  readonly aboveBottom?: number;
  readonly isScanned?: boolean;
}

const REGION: RegionPlan = { overlapsX: [16, 0, 24], overlapsY: [8, 32] };

function startsOf(overlaps: readonly number[]): number[] {
  const starts = [0];
  for (const overlap of overlaps) starts.push((starts.at(-1) ?? 0) + TILE - overlap);
  return starts;
}

/** Size in pixels of a region without overlaps. */
const sizeOf = ({ overlapsX, overlapsY }: RegionPlan) => ({
  width: (startsOf(overlapsX).at(-1) ?? 0) + TILE,
  height: (startsOf(overlapsY).at(-1) ?? 0) + TILE,
});

/** Stores frames side by side as the camera took them: overlaps are stored twice. */
function asFrames(picture: Raster, { overlapsX, overlapsY }: RegionPlan): Raster {
  const [lefts, tops] = [startsOf(overlapsX), startsOf(overlapsY)];
  const [width, height] = [lefts.length * TILE, tops.length * TILE];
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const fromX = (lefts[Math.floor(x / TILE)] ?? 0) + (x % TILE);
      const fromY = (tops[Math.floor(y / TILE)] ?? 0) + (y % TILE);
      const at = (fromY * picture.width + fromX) * 3;
      rgb.set(picture.rgb.subarray(at, at + 3), (y * width + x) * 3);
    }
  }
  return { width, height, rgb };
}

/** Returns the frame number, from 1, from the bottom row up, every other row from right to left. */
function numberOf(column: number, row: number, columns: number, rows: number): number {
  const fromBottom = rows - 1 - row;
  return fromBottom * columns + (fromBottom % 2 === 0 ? column : columns - 1 - column) + 1;
}

const joint = (direction: string, one: number, other: number, x: number, y: number, more = '') =>
  `<TileJointInfo FlagJoined="1" Confidence="100" Direction="${direction}" Tile1="${one}" Tile2="${other}" OverlapX="${x}" OverlapY="${y}"${more}/>`;

function jointsOf({ overlapsX, overlapsY }: RegionPlan, directions: 'legacy' | 'all'): string {
  const [columns, rows] = [overlapsX.length + 1, overlapsY.length + 1];
  const joints: string[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const own = numberOf(column, row, columns, rows);
      if (column > 0) {
        const left = numberOf(column - 1, row, columns, rows);
        const overlap = overlapsX[column - 1] ?? 0;
        // The stage moves left in every other row.
        const isLeft = directions === 'all' && own < left;
        joints.push(isLeft ? joint('LEFT', own, left, overlap, 0) : joint('RIGHT', left, own, overlap, 0));
      }
      if (row > 0) {
        const above = numberOf(column, row - 1, columns, rows);
        const overlap = overlapsY[row - 1] ?? 0;
        joints.push(
          directions === 'all' && column === 1
            ? joint('DOWN', above, own, 0, overlap)
            : joint('UP', own, above, 0, overlap),
        );
      }
    }
  }
  return joints.join('');
}

const SCANNER =
  '<iScan Magnification="20" ScanRes="0.465" UnitNumber="BI1" UserName="DOE^JANE" Z-layers="1" ScanWhitePoint="235"><AOI0 Left="1"/></iScan>';

function encodeInfo(
  regions: readonly RegionPlan[],
  joints = (region: RegionPlan) => jointsOf(region, 'legacy'),
): string {
  const infos = regions.map((region) => {
    const { overlapsX, overlapsY, isScanned = true, x = 0, aboveBottom = 0 } = region;
    return (
      `<ImageInfo AOIScanned="${isScanned ? 1 : 0}" Width="${TILE}" Height="${TILE}" NumRows="${overlapsY.length + 1}"` +
      ` NumCols="${overlapsX.length + 1}" Pos-X="${x}" Pos-Y="${aboveBottom}.0">${joints(region)}</ImageInfo>`
    );
  });
  const origins = regions.map(
    ({ firstColumn = 0, firstRow = 0 }, i) =>
      `<AOI${i} OriginX="${firstColumn * TILE}" OriginY="${firstRow * TILE}"/>`,
  );
  return (
    '<?xml version="1.0"?>\n<EncodeInfo Ver="2"><SlideInfo BaseName="DOE^JANE"/>' +
    `<SlideStitchInfo>${infos.join('')}</SlideStitchInfo><AoiOrigin>${origins.join('')}</AoiOrigin></EncodeInfo>`
  );
}

const xmp = (text: string) => ({ [tag.XMP]: byte(...Buffer.from(text)) });

/** Builds levels as the scanner stores them: frames side by side, reduced. */
const levelsOf = (frames: Raster, downsamples: readonly number[]) =>
  downsamples.map((by, i) =>
    withTags(exactPicture(shrinkRaster(frames, by), TILE), {
      [tag.ImageDescription]: ascii(`level=${i} mag=${20 / by} quality=90`),
    }),
  );

const macro = withTags(exactPicture(paintTissue(60, 150), null), {
  [tag.ImageDescription]: ascii('Label_Image'),
  ...xmp(SCANNER),
});
const thumbnail = withTags(exactPicture(paintTissue(40, 30), null), {
  [tag.ImageDescription]: ascii('Thumbnail'),
});
const probability = withTags(exactPicture(paintTissue(40, 30), null), {
  [tag.ImageDescription]: ascii('Probability_Image'),
});

/** Builds the directories of a slide with one region. */
function slideOf(region: RegionPlan, picture: Raster, xml = encodeInfo([region]), downsamples = [1, 2, 4]) {
  const [full, ...reduced] = levelsOf(asFrames(picture, region), downsamples);
  return [macro, thumbnail, withTags(full, xml === '' ? {} : xmp(xml)), ...reduced];
}

const open = (directories: readonly DirectoryPlan[]): Promise<Slide> =>
  openBytes(buildTiff({ directories, isBig: true }).bytes);

const { width, height } = sizeOf(REGION);
const tissue = paintTissue(width, height);

describe('a Ventana slide whose frames overlap', () => {
  it.each<[string, 'legacy' | 'all']>([
    ['iScan', 'legacy'],
    ['DP 200', 'all'],
  ])('shows every pixel once when its frames are joined by the overlaps of an %s', async (_, directions) => {
    const slide = await open(
      slideOf(
        REGION,
        tissue,
        encodeInfo([REGION], (region) => jointsOf(region, directions)),
      ),
    );
    expect(slide).toMatchObject({
      format: 'ventana-bif',
      vendor: 'Ventana',
      mpp: { x: 0.465, y: 0.465 },
      objectivePower: 20,
      background: { r: 235, g: 235, b: 235 },
    });
    expect(slide.levels).toMatchObject([
      { width: 472, height: 344, downsample: 1, needsRendering: true },
      { width: 236, height: 172, downsample: 2 },
      { width: 118, height: 86, downsample: 4 },
    ]);
    for (const [level, by] of [1, 2, 4].entries()) {
      expect(distance(await drawLevel(slide, level), shrinkRaster(tissue, by)).most).toBe(0);
    }
  });

  it('places neighbouring columns by the mean of their overlaps with high confidence', async () => {
    const region: RegionPlan = { overlapsX: [16], overlapsY: [8] };
    const unsure = (text: string) => text.replace('Confidence="100"', 'Confidence="97"');
    const joints = () =>
      // Frames 1 and 2 are the lower row, 4 and 3 the upper one.
      joint('RIGHT', 1, 2, 16, 3) +
      unsure(joint('RIGHT', 4, 3, 900, 0)) +
      joint('UP', 1, 4, 5, 6) +
      joint('UP', 2, 3, 0, 10) +
      joint('UP', 2, 3, 0, 60).replace('FlagJoined="1"', 'FlagJoined="0"');
    const picture = paintTissue(240, 248);
    const slide = await open(slideOf(region, picture, encodeInfo([region], joints), [1]));
    expect(distance(await drawLevel(slide, 0), picture).most).toBe(0);
  });

  it('weights all overlaps by their confidence when none has high confidence', async () => {
    const region: RegionPlan = { overlapsX: [], overlapsY: [20] };
    const joints = () =>
      joint('UP', 1, 2, 0, 8).replace('100', '20') + joint('UP', 1, 2, 0, 24).replace('100', '60');
    const picture = paintTissue(128, 236);
    const slide = await open(slideOf(region, picture, encodeInfo([region], joints), [1]));
    expect(distance(await drawLevel(slide, 0), picture).most).toBe(0);
  });

  it('uses the mean of the other overlaps for neighbouring columns without an overlap', async () => {
    const region: RegionPlan = { overlapsX: [16, 16], overlapsY: [] };
    const joints = () => joint('RIGHT', 1, 2, 16, 0);
    const picture = paintTissue(352, 128);
    const slide = await open(slideOf(region, picture, encodeInfo([region], joints), [1]));
    expect(distance(await drawLevel(slide, 0), picture).most).toBe(0);
  });

  it('opens without a stated position when it has a single region', async () => {
    const nowhere = encodeInfo([REGION]).replaceAll(/ Pos-[XY]="[^"]*"/g, '');
    const slide = await open(slideOf(REGION, tissue, nowhere));
    expect(slide.levels).toEqual((await open(slideOf(REGION, tissue))).levels);
  });

  it('excludes levels whose frames have fewer than 16 pixels', async () => {
    const slide = await open(slideOf(REGION, tissue, undefined, [1, 2, 4, 8, 16]));
    expect(slide.levels.map(({ downsample }) => downsample)).toEqual([1, 2, 4, 8]);
  });

  it('is filled with the white of the scanner where a frame is empty', async () => {
    const [, , full] = slideOf(REGION, tissue, undefined, [1]) as [
      DirectoryPlan,
      DirectoryPlan,
      DirectoryPlan,
    ];
    const sparse = { ...full, tiles: (full.tiles ?? []).map((tile, i) => (i === 0 ? null : tile)) };
    const drawn = await drawLevel(await open([macro, sparse]), 0);
    expect([...cropRaster(drawn, 5, 5, 1, 1).rgb]).toEqual([235, 235, 235]);
  });
});

describe('a Ventana slide whose frames do not overlap', () => {
  const plain: RegionPlan = { overlapsX: [0, 0], overlapsY: [0] };
  const picture = paintTissue(384, 256);

  it('returns native JPEG tiles', async () => {
    const [full, half] = await Promise.all(
      [1, 2].map((by) => encodePicture(shrinkRaster(picture, by), TILE, 'ycbcr')),
    );
    const described = (directory: DirectoryPlan | undefined, text: string) =>
      withTags(directory, { [tag.ImageDescription]: ascii(text) });
    const slide = await open([
      macro,
      withTags(described(full, 'level=0 mag=20 quality=90'), xmp(encodeInfo([plain]))),
      described(half, 'level=1 mag=10 quality=90'),
    ]);
    expect(slide.levels).toMatchObject([
      { width: 384, height: 256 },
      { width: 192, height: 128 },
    ]);
    expect(slide.levels[0].needsRendering).toBeUndefined();
    expect((await slide.readTile({ level: 0, column: 1, row: 1 }))?.codec).toBe('jpeg');
  });

  it('ends at its last frame, even if the file stores more tiles', async () => {
    const [, , full] = slideOf(
      { overlapsX: [0, 0, 0], overlapsY: [0, 0] },
      paintTissue(512, 384),
      encodeInfo([plain]),
      [1],
    ) as [DirectoryPlan, DirectoryPlan, DirectoryPlan];
    expect((await open([macro, full])).levels).toMatchObject([
      { width: 384, height: 256, columns: 3, rows: 2 },
    ]);
  });

  it('may be a .tif whose metadata list no frames', async () => {
    const metadata = withTags(macro, xmp(`<Metadata><a/>${SCANNER}</Metadata>`));
    const [, ...others] = slideOf(plain, picture, '');
    const slide = await open([metadata, ...others]);
    expect(slide).toMatchObject({ format: 'ventana-bif', objectivePower: 20 });
    for (const [level, by] of [1, 2, 4].entries()) {
      expect(distance(await drawLevel(slide, level), shrinkRaster(picture, by)).most).toBe(0);
    }
  });
});

describe('a Ventana slide with several regions', () => {
  // Stored side by side; on the glass, the second is to the right of the first and higher.
  const one: RegionPlan = { overlapsX: [16], overlapsY: [] };
  const other: RegionPlan = { overlapsX: [], overlapsY: [16], firstColumn: 3, x: 300, aboveBottom: 40 };
  const unscanned: RegionPlan = { overlapsX: [], overlapsY: [], firstColumn: 2, x: 2000, isScanned: false };
  const [first, second] = [paintTissue(240, 128), paintTissue(128, 240)];

  function stored(): Raster {
    const rgb = new Uint8Array(512 * 256 * 3).fill(7);
    for (const [frames, left] of [
      [asFrames(first, one), 0],
      [asFrames(second, other), 384],
    ] as const) {
      for (let y = 0; y < frames.height; y++) {
        rgb.set(frames.rgb.subarray(y * frames.width * 3, (y + 1) * frames.width * 3), (y * 512 + left) * 3);
      }
    }
    return { width: 512, height: 256, rgb };
  }

  it('displays the scanned regions at their positions on the glass', async () => {
    const [full, half] = levelsOf(stored(), [1, 2]) as [DirectoryPlan, DirectoryPlan];
    const slide = await open([macro, withTags(full, xmp(encodeInfo([one, unscanned, other]))), half]);
    // From the bottom of the first to the top of the second: 40 + 240.
    expect(slide.levels).toMatchObject([
      { width: 428, height: 280 },
      { width: 214, height: 140 },
    ]);
    for (const [level, by] of [1, 2].entries()) {
      const drawn = await drawLevel(slide, level);
      const below = cropRaster(drawn, 0, 152 / by, 240 / by, 128 / by);
      expect(distance(below, shrinkRaster(first, by)).most).toBe(0);
      const above = cropRaster(drawn, 300 / by, 0, 128 / by, 240 / by);
      expect(distance(above, shrinkRaster(second, by)).most).toBe(0);
      expect(cropRaster(drawn, 0, 0, 300 / by, 152 / by).rgb.every((sample) => sample === 235)).toBe(true);
    }
  });
});

describe('the metadata of a Ventana slide', () => {
  it('include the photograph with the label and a thumbnail as associated images', async () => {
    const slide = await open([...slideOf(REGION, tissue), probability]);
    expect([...slide.associatedImages].sort()).toEqual(['macro', 'thumbnail']);
    expect(await slide.readAssociatedImage('macro')).toMatchObject({ width: 60, height: 150 });
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
    expect(slide.levels).toHaveLength(3);
  });

  it.each([['0'], ['-1'], ['NaN'], ['1e9']])(
    'give no pixel size and no magnification for %j',
    async (value) => {
      const scanner = withTags(macro, xmp(`<iScan ScanRes="${value}" Magnification="${value}"/>`));
      expect(await open([scanner, ...slideOf(REGION, tissue).slice(2)])).toMatchObject({
        mpp: null,
        objectivePower: null,
        background: { r: 255, g: 255, b: 255 },
      });
    },
  );
});

describe('opening a Ventana slide is rejected', () => {
  const info = encodeInfo([REGION]);
  const withInfo = (xml: string) => slideOf(REGION, tissue, xml);
  const withJoint = (text: string) => withInfo(encodeInfo([REGION], () => text));
  const [, , full, half] = slideOf(REGION, tissue) as [
    DirectoryPlan,
    DirectoryPlan,
    DirectoryPlan,
    DirectoryPlan,
  ];
  const described = (directory: DirectoryPlan, text: string) =>
    withTags(directory, { [tag.ImageDescription]: ascii(text) });

  it.each<[string, readonly DirectoryPlan[], string]>([
    [
      'when the XML of its scanner is truncated',
      [withTags(macro, xmp('<iScan Magnification="20"')), full],
      'FILE_CORRUPT',
    ],
    [
      'when the XML of its scanner has another root',
      [withTags(macro, xmp('<a><iScan/></a>')), full],
      'FILE_CORRUPT',
    ],
    [
      'when the XML of its scanner has a document type definition',
      [withTags(macro, xmp('<!DOCTYPE a []><iScan/>')), full],
      'FILE_CORRUPT',
    ],
    ['when the XML of its frames is truncated', withInfo(info.slice(0, -9)), 'FILE_CORRUPT'],
    ['when the XML of its frames uses an entity', withInfo(info.replace('DOE', '&lol;')), 'FILE_CORRUPT'],
    [
      'when the XML of its frames is 10,000 deep',
      withInfo(`<EncodeInfo>${'<a>'.repeat(10_000)}`),
      'LIMIT_EXCEEDED',
    ],
    [
      'when the XML of its frames is of an older version',
      withInfo(info.replace('Ver="2"', 'Ver="1"')),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['when it has no level', [macro, thumbnail], 'FILE_CORRUPT'],
    ['when its levels are not numbered from 0', [macro, described(full, 'level=1 mag=20')], 'FILE_CORRUPT'],
    [
      'when two levels have the same number',
      [macro, full, described(half, 'level=0 mag=10')],
      'FILE_CORRUPT',
    ],
    ['when a level has no magnification', [macro, full, described(half, 'level=1')], 'FILE_CORRUPT'],
    [
      'when a level has a magnification of 0',
      [macro, full, described(half, 'level=1 mag=0')],
      'FILE_CORRUPT',
    ],
    [
      'when a level is magnified more than the one before',
      [macro, full, described(half, 'level=1 mag=40')],
      'FILE_CORRUPT',
    ],
    [
      'when frames and tiles have different sizes',
      withInfo(info.replace('Width="128"', 'Width="120"')),
      'FILE_CORRUPT',
    ],
    ['when a region has no origin', withInfo(info.replace(/<AOI0 Or[^>]*>/, '')), 'FILE_CORRUPT'],
    [
      'when a region begins inside a tile',
      withInfo(info.replace('OriginX="0"', 'OriginX="64"')),
      'FILE_CORRUPT',
    ],
    [
      'when a region reaches beyond the tiles',
      withInfo(info.replace('NumCols="4"', 'NumCols="5"')),
      'FILE_CORRUPT',
    ],
    [
      'when a region has 2^52 columns',
      withInfo(info.replace('NumCols="4"', 'NumCols="4503599627370496"')),
      'LIMIT_EXCEEDED',
    ],
    [
      'when it has 257 regions',
      withInfo(encodeInfo(Array.from({ length: 257 }, () => ({ overlapsX: [], overlapsY: [] })))),
      'LIMIT_EXCEEDED',
    ],
    [
      'when a region has negative rows',
      withInfo(info.replace('NumRows="3"', 'NumRows="-3"')),
      'FILE_CORRUPT',
    ],
    ['when a region has no columns', withInfo(info.replace('NumCols="4"', 'NumCols="0"')), 'FILE_CORRUPT'],
    [
      'when the position of a region is not a number',
      withInfo(info.replace('Pos-X="0"', 'Pos-X="here"')),
      'FILE_CORRUPT',
    ],
    [
      'when no region was scanned',
      withInfo(info.replace('AOIScanned="1"', 'AOIScanned="0"')),
      'FILE_CORRUPT',
    ],
    ['when a joint names frame 0', withJoint(joint('RIGHT', 0, 1, 16, 0)), 'FILE_CORRUPT'],
    [
      'when a joint names a frame that does not exist',
      withJoint(joint('RIGHT', 12, 13, 16, 0)),
      'FILE_CORRUPT',
    ],
    [
      'when a joint has frames that are not neighbours',
      withJoint(joint('RIGHT', 1, 3, 16, 0)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when the direction of a joint contradicts its frames',
      withJoint(joint('UP', 1, 2, 16, 0)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when a joint has an unknown direction',
      withJoint(joint('constructor', 1, 2, 16, 0)),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['when frames overlap by half', withJoint(joint('RIGHT', 1, 2, 64, 0)), 'FILE_CORRUPT'],
    ['when frames overlap by more than their size', withJoint(joint('RIGHT', 1, 2, 4000, 0)), 'FILE_CORRUPT'],
    ['when frames lie a whole frame apart', withJoint(joint('RIGHT', 1, 2, -128, 0)), 'FILE_CORRUPT'],
    ['when an overlap is not a number', withJoint(joint('RIGHT', 1, 2, Number.NaN, 0)), 'FILE_CORRUPT'],
    [
      'when a level has another tile size',
      [macro, full, described(exactPicture(shrinkRaster(tissue, 2), 64), 'level=1 mag=10')],
      'FILE_CORRUPT',
    ],
    [
      'when a level has fewer tiles than frames',
      [macro, full, described(exactPicture(paintTissue(128, 128), 128), 'level=1 mag=10')],
      'FILE_CORRUPT',
    ],
    [
      'when a level is in strips',
      [macro, full, described(exactPicture(shrinkRaster(tissue, 2), null), 'level=1 mag=10')],
      'FILE_CORRUPT',
    ],
    ['when a level has no size', [macro, withTags(full, { [tag.ImageWidth]: short(0) })], 'FILE_CORRUPT'],
    [
      'when its tile tables are truncated',
      [macro, withTags(full, { [tag.TileOffsets]: short(8) })],
      'FILE_CORRUPT',
    ],
  ])('%s', async (_, directories, code) => {
    const opening = open(directories);
    await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
    await expect(opening).rejects.toMatchObject({ message: expect.not.stringContaining('DOE') });
  });
});
