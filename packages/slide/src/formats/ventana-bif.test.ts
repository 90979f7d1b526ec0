import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { ascii, buildTiff, byte, type DirectoryPlan, short } from '../testing/build-tiff.ts';
import { difference } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';

/** Side of a camera frame, which is one tile of the file, in pixels. */
const TILE = 128;

/** A scanned rectangle of camera frames. */
interface AreaPlan {
  /** Overlap in pixels of each column with the one before it, starting with the second column; likewise of each row. */
  readonly overlapsX: readonly number[];
  readonly overlapsY: readonly number[];
  /** Position of the first frame in the stored image, in frames from the top left corner. */
  readonly firstColumn?: number;
  readonly firstRow?: number;
  /** Position of the left edge in pixels. */
  readonly x?: number;
  /** Distance in pixels from a baseline below all areas up to the bottom edge. */
  readonly bottomAboveBaseline?: number;
  readonly isScanned?: boolean;
}

/** An area of 4 × 3 frames. */
const AREA: AreaPlan = { overlapsX: [16, 0, 24], overlapsY: [8, 32] };

/** Returns the position of each column or row of frames in pixels from the first one. */
function startsOf(overlaps: readonly number[]): number[] {
  const starts = [0];
  for (const overlap of overlaps) starts.push((starts.at(-1) ?? 0) + TILE - overlap);
  return starts;
}

/** Size in pixels of an area in which every overlap is shown once. */
const sizeOf = ({ overlapsX, overlapsY }: AreaPlan) => ({
  width: (startsOf(overlapsX).at(-1) ?? 0) + TILE,
  height: (startsOf(overlapsY).at(-1) ?? 0) + TILE,
});

/** Returns the image as frames side by side, so that overlaps are stored twice. */
function asFrames(picture: Raster, { overlapsX, overlapsY }: AreaPlan): Raster {
  const [lefts, tops] = [startsOf(overlapsX), startsOf(overlapsY)];
  const [width, height] = [lefts.length * TILE, tops.length * TILE];
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const sourceX = (lefts[Math.floor(x / TILE)] ?? 0) + (x % TILE);
      const sourceY = (tops[Math.floor(y / TILE)] ?? 0) + (y % TILE);
      const source = (sourceY * picture.width + sourceX) * 3;
      rgb.set(picture.rgb.subarray(source, source + 3), (y * width + x) * 3);
    }
  }
  return { width, height, rgb };
}

/** Returns the number of a frame. Frames are numbered from 1, from the bottom row up, alternately to the right and to the left. */
function numberOf(column: number, row: number, columns: number, rows: number): number {
  const rowFromBottom = rows - 1 - row;
  const indexInRow = rowFromBottom % 2 === 0 ? column : columns - 1 - column;
  return rowFromBottom * columns + indexInRow + 1;
}

/** Returns the XML of the overlap between two frames. */
const joint = (direction: string, frame1: number, frame2: number, overlapX: number, overlapY: number) =>
  `<TileJointInfo FlagJoined="1" Confidence="100" Direction="${direction}" Tile1="${frame1}" Tile2="${frame2}" OverlapX="${overlapX}" OverlapY="${overlapY}"/>`;

/** Returns the XML of all overlaps of an area; older scanners (`legacy`) write only the directions RIGHT and UP. */
function jointsOf({ overlapsX, overlapsY }: AreaPlan, directions: 'legacy' | 'all'): string {
  const [columns, rows] = [overlapsX.length + 1, overlapsY.length + 1];
  const joints: string[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const frame = numberOf(column, row, columns, rows);
      if (column > 0) {
        const leftFrame = numberOf(column - 1, row, columns, rows);
        const overlap = overlapsX[column - 1] ?? 0;
        // The stage moves left in every other row.
        const isMovingLeft = directions === 'all' && frame < leftFrame;
        joints.push(
          isMovingLeft
            ? joint('LEFT', frame, leftFrame, overlap, 0)
            : joint('RIGHT', leftFrame, frame, overlap, 0),
        );
      }
      if (row > 0) {
        const upperFrame = numberOf(column, row - 1, columns, rows);
        const overlap = overlapsY[row - 1] ?? 0;
        joints.push(
          directions === 'all' && column === 1
            ? joint('DOWN', upperFrame, frame, 0, overlap)
            : joint('UP', frame, upperFrame, 0, overlap),
        );
      }
    }
  }
  return joints.join('');
}

/** XML of the scanner. */
const SCANNER =
  '<iScan Magnification="20" ScanRes="0.465" UnitNumber="BI1" UserName="DOE^JANE" Z-layers="1" ScanWhitePoint="235"><AOI0 Left="1"/></iScan>';

/** Returns the XML of the areas. @param joints returns the XML of the overlaps of an area */
function encodeInfo(
  areas: readonly AreaPlan[],
  joints = (area: AreaPlan) => jointsOf(area, 'legacy'),
): string {
  const infos = areas.map((area) => {
    const { overlapsX, overlapsY, isScanned = true, x = 0, bottomAboveBaseline = 0 } = area;
    return (
      `<ImageInfo AOIScanned="${isScanned ? 1 : 0}" Width="${TILE}" Height="${TILE}" NumRows="${overlapsY.length + 1}"` +
      ` NumCols="${overlapsX.length + 1}" Pos-X="${x}" Pos-Y="${bottomAboveBaseline}.0">${joints(area)}</ImageInfo>`
    );
  });
  const origins = areas.map(
    ({ firstColumn = 0, firstRow = 0 }, i) =>
      `<AOI${i} OriginX="${firstColumn * TILE}" OriginY="${firstRow * TILE}"/>`,
  );
  return (
    '<?xml version="1.0"?>\n<EncodeInfo Ver="2"><SlideInfo BaseName="DOE^JANE"/>' +
    `<SlideStitchInfo>${infos.join('')}</SlideStitchInfo><AoiOrigin>${origins.join('')}</AoiOrigin></EncodeInfo>`
  );
}

/** Returns an XMP tag. */
const xmp = (text: string) => ({ [tag.XMP]: byte(...Buffer.from(text)) });

/** Builds the directories of levels as the scanner stores them: frames side by side, reduced by each downsample. */
const levelsOf = (frames: Raster, downsamples: readonly number[]) =>
  downsamples.map((downsample, i) =>
    withTags(losslessPicture(shrinkRaster(frames, downsample), TILE), {
      [tag.ImageDescription]: ascii(`level=${i} mag=${20 / downsample} quality=90`),
    }),
  );

const macro = withTags(losslessPicture(paintTissue(60, 150), null), {
  [tag.ImageDescription]: ascii('Label_Image'),
  ...xmp(SCANNER),
});
const thumbnail = withTags(losslessPicture(paintTissue(40, 30), null), {
  [tag.ImageDescription]: ascii('Thumbnail'),
});
const probability = withTags(losslessPicture(paintTissue(40, 30), null), {
  [tag.ImageDescription]: ascii('Probability_Image'),
});

/** Builds the directories of a slide with one area. */
function slideOf(area: AreaPlan, picture: Raster, xml = encodeInfo([area]), downsamples = [1, 2, 4]) {
  const [full, ...reduced] = levelsOf(asFrames(picture, area), downsamples);
  return [macro, thumbnail, withTags(full, xml === '' ? {} : xmp(xml)), ...reduced];
}

/** Builds a BIF file and opens it. */
const open = (directories: readonly DirectoryPlan[]): Promise<Slide> =>
  openBytes(buildTiff({ directories, isBig: true }).bytes);

const { width, height } = sizeOf(AREA);
const tissue = paintTissue(width, height);

describe('a Ventana slide whose frames overlap', () => {
  it.each<[string, 'legacy' | 'all']>([
    ['iScan', 'legacy'],
    ['DP 200', 'all'],
  ])(
    'has the stated metadata, and shows every overlap once, if the scanner %s has measured the overlaps',
    async (_, directions) => {
      const slide = await open(
        slideOf(
          AREA,
          tissue,
          encodeInfo([AREA], (area) => jointsOf(area, directions)),
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
      for (const [level, downsample] of [1, 2, 4].entries()) {
        expect(difference(await drawLevel(slide, level), shrinkRaster(tissue, downsample)).max).toBe(0);
      }
    },
  );

  it('places neighbouring columns and rows of frames by the mean of the overlaps with a confidence of 98 or more', async () => {
    const area: AreaPlan = { overlapsX: [16], overlapsY: [8] };
    const withConfidence97 = (text: string) => text.replace('Confidence="100"', 'Confidence="97"');
    const joints = () =>
      // Frames 1 and 2 are the lower row, frames 4 and 3 the upper one.
      joint('RIGHT', 1, 2, 16, 3) +
      withConfidence97(joint('RIGHT', 4, 3, 900, 0)) +
      joint('UP', 1, 4, 5, 6) +
      joint('UP', 2, 3, 0, 10) +
      joint('UP', 2, 3, 0, 60).replace('FlagJoined="1"', 'FlagJoined="0"');
    const picture = paintTissue(240, 248); // 2 × 128 − 16 and 2 × 128 − 8
    const slide = await open(slideOf(area, picture, encodeInfo([area], joints), [1]));
    expect(difference(await drawLevel(slide, 0), picture).max).toBe(0);
  });

  it('places frames by the confidence-weighted mean of all overlaps if none has a confidence of 98 or more', async () => {
    const area: AreaPlan = { overlapsX: [], overlapsY: [20] };
    const joints = () =>
      joint('UP', 1, 2, 0, 8).replace('100', '20') + joint('UP', 1, 2, 0, 24).replace('100', '60');
    const picture = paintTissue(128, 236); // the weighted mean of the overlaps is (20 × 8 + 60 × 24) / 80 = 20
    const slide = await open(slideOf(area, picture, encodeInfo([area], joints), [1]));
    expect(difference(await drawLevel(slide, 0), picture).max).toBe(0);
  });

  it('uses the mean of the measured overlaps for two columns of frames without a measured overlap', async () => {
    const area: AreaPlan = { overlapsX: [16, 16], overlapsY: [] };
    const joints = () => joint('RIGHT', 1, 2, 16, 0);
    const picture = paintTissue(352, 128); // 3 × 128 − 2 × 16
    const slide = await open(slideOf(area, picture, encodeInfo([area], joints), [1]));
    expect(difference(await drawLevel(slide, 0), picture).max).toBe(0);
  });

  it('with a single scanned area has the same levels whether or not the XML states its position (Pos-X and Pos-Y)', async () => {
    const withoutPosition = encodeInfo([AREA]).replaceAll(/ Pos-[XY]="[^"]*"/g, '');
    const slide = await open(slideOf(AREA, tissue, withoutPosition));
    expect(slide.levels).toEqual((await open(slideOf(AREA, tissue))).levels);
  });

  it('has no level in which the side of a frame is shorter than 16 pixels', async () => {
    const slide = await open(slideOf(AREA, tissue, undefined, [1, 2, 4, 8, 16]));
    expect(slide.levels.map(({ downsample }) => downsample)).toEqual([1, 2, 4, 8]);
  });

  it('shows an empty frame in the white that ScanWhitePoint states', async () => {
    const [, , full] = slideOf(AREA, tissue, undefined, [1]) as [DirectoryPlan, DirectoryPlan, DirectoryPlan];
    const sparse = { ...full, tiles: (full.tiles ?? []).map((tile, i) => (i === 0 ? null : tile)) };
    const drawn = await drawLevel(await open([macro, sparse]), 0);
    expect([...cropRaster(drawn, 5, 5, 1, 1).rgb]).toEqual([235, 235, 235]);
  });
});

describe('a Ventana slide whose frames do not overlap', () => {
  const plain: AreaPlan = { overlapsX: [0, 0], overlapsY: [0] };
  const picture = paintTissue(384, 256);

  it('returns JPEG tiles without decoding them', async () => {
    const [full, half] = await Promise.all(
      [1, 2].map((downsample) => encodePicture(shrinkRaster(picture, downsample), TILE, 'ycbcr')),
    );
    const withDescription = (directory: DirectoryPlan | undefined, text: string) =>
      withTags(directory, { [tag.ImageDescription]: ascii(text) });
    const slide = await open([
      macro,
      withTags(withDescription(full, 'level=0 mag=20 quality=90'), xmp(encodeInfo([plain]))),
      withDescription(half, 'level=1 mag=10 quality=90'),
    ]);
    expect(slide.levels).toMatchObject([
      { width: 384, height: 256 },
      { width: 192, height: 128 },
    ]);
    expect(slide.levels[0].needsRendering).toBeUndefined();
    expect((await slide.readTile({ level: 0, column: 1, row: 1 }))?.codec).toBe('jpeg');
  });

  it('is as large as all its frames together, even if the file stores more tiles than frames', async () => {
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

  it('returns the original pixels if it is a .tif whose metadata list no frames', async () => {
    const metadata = withTags(macro, xmp(`<Metadata><a/>${SCANNER}</Metadata>`));
    const [, ...others] = slideOf(plain, picture, '');
    const slide = await open([metadata, ...others]);
    expect(slide).toMatchObject({ format: 'ventana-bif', objectivePower: 20 });
    for (const [level, downsample] of [1, 2, 4].entries()) {
      expect(difference(await drawLevel(slide, level), shrinkRaster(picture, downsample)).max).toBe(0);
    }
  });
});

describe('a Ventana slide with several scanned areas', () => {
  // The areas are stored side by side; on the glass, the second is to the right of the first and higher.
  const firstRegion: AreaPlan = { overlapsX: [16], overlapsY: [] };
  const secondRegion: AreaPlan = {
    overlapsX: [],
    overlapsY: [16],
    firstColumn: 3,
    x: 300,
    bottomAboveBaseline: 40,
  };
  const unscanned: AreaPlan = { overlapsX: [], overlapsY: [], firstColumn: 2, x: 2000, isScanned: false };
  const firstTissue = paintTissue(240, 128);
  const secondTissue = paintTissue(128, 240);

  /** Returns the stored image, 4 × 2 frames: the first area on the left, the second one in the last column. */
  function storedImage(): Raster {
    const rgb = new Uint8Array(512 * 256 * 3).fill(7);
    for (const [frames, left] of [
      [asFrames(firstTissue, firstRegion), 0],
      [asFrames(secondTissue, secondRegion), 384],
    ] as const) {
      for (let y = 0; y < frames.height; y++) {
        rgb.set(frames.rgb.subarray(y * frames.width * 3, (y + 1) * frames.width * 3), (y * 512 + left) * 3);
      }
    }
    return { width: 512, height: 256, rgb };
  }

  it('shows the scanned areas at their positions on the glass', async () => {
    const [full, half] = levelsOf(storedImage(), [1, 2]) as [DirectoryPlan, DirectoryPlan];
    const info = encodeInfo([firstRegion, unscanned, secondRegion]);
    const slide = await open([macro, withTags(full, xmp(info)), half]);
    // The width is 300 + 128; the height, from the bottom of the first to the top of the second area, is 40 + 240.
    expect(slide.levels).toMatchObject([
      { width: 428, height: 280 },
      { width: 214, height: 140 },
    ]);
    for (const [level, downsample] of [1, 2].entries()) {
      const drawn = await drawLevel(slide, level);
      const crop = (x: number, y: number, cropWidth: number, cropHeight: number) =>
        cropRaster(drawn, x / downsample, y / downsample, cropWidth / downsample, cropHeight / downsample);
      expect(difference(crop(0, 152, 240, 128), shrinkRaster(firstTissue, downsample)).max).toBe(0);
      expect(difference(crop(300, 0, 128, 240), shrinkRaster(secondTissue, downsample)).max).toBe(0);
      expect(crop(0, 0, 300, 152).rgb.every((sample) => sample === 235)).toBe(true);
    }
  });
});

describe('a Ventana slide', () => {
  it('has as associated images only Label_Image (as macro) and Thumbnail, not Probability_Image', async () => {
    const slide = await open([...slideOf(AREA, tissue), probability]);
    expect([...slide.associatedImages].sort()).toEqual(['macro', 'thumbnail']);
    expect(await slide.readAssociatedImage('macro')).toMatchObject({ width: 60, height: 150 });
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
    expect(slide.levels).toHaveLength(3);
  });

  it.each([['0'], ['-1'], ['NaN'], ['1e9']])(
    'has the pixel size null and the objective power null if the file states %j for both',
    async (value) => {
      const scanner = withTags(macro, xmp(`<iScan ScanRes="${value}" Magnification="${value}"/>`));
      expect(await open([scanner, ...slideOf(AREA, tissue).slice(2)])).toMatchObject({
        mpp: null,
        objectivePower: null,
        background: { r: 255, g: 255, b: 255 },
      });
    },
  );
});

describe('openSlideFrom (opens a slide from its files)', () => {
  const info = encodeInfo([AREA]);
  const withInfo = (xml: string) => slideOf(AREA, tissue, xml);
  const withJoint = (text: string) => withInfo(encodeInfo([AREA], () => text));
  const [, , full, half] = slideOf(AREA, tissue) as [
    DirectoryPlan,
    DirectoryPlan,
    DirectoryPlan,
    DirectoryPlan,
  ];
  const withDescription = (directory: DirectoryPlan, text: string) =>
    withTags(directory, { [tag.ImageDescription]: ascii(text) });

  it.each<[string, readonly DirectoryPlan[], string]>([
    [
      'when the XML of its scanner is truncated',
      [withTags(macro, xmp('<iScan Magnification="20"')), full],
      'FILE_CORRUPT',
    ],
    [
      'when the root element of its scanner XML is neither iScan nor Metadata',
      [withTags(macro, xmp('<a><iScan/></a>')), full],
      'FILE_CORRUPT',
    ],
    [
      'when the XML of its scanner has a document type definition',
      [withTags(macro, xmp('<!DOCTYPE a []><iScan/>')), full],
      'FILE_CORRUPT',
    ],
    ['when the XML of its frames is truncated', withInfo(info.slice(0, -9)), 'FILE_CORRUPT'],
    [
      'when the XML of its frames uses an undefined entity',
      withInfo(info.replace('DOE', '&lol;')),
      'FILE_CORRUPT',
    ],
    [
      'when the XML of its frames has elements that are nested 10,000 deep (limit 256)',
      withInfo(`<EncodeInfo>${'<a>'.repeat(10_000)}`),
      'LIMIT_EXCEEDED',
    ],
    [
      'when the XML of its frames is of an older version',
      withInfo(info.replace('Ver="2"', 'Ver="1"')),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['when none of its TIFF directories is a level', [macro, thumbnail], 'FILE_CORRUPT'],
    [
      'when its levels are not numbered from 0',
      [macro, withDescription(full, 'level=1 mag=20')],
      'FILE_CORRUPT',
    ],
    [
      'when two levels have the same number',
      [macro, full, withDescription(half, 'level=0 mag=10')],
      'FILE_CORRUPT',
    ],
    ['when a level has no magnification', [macro, full, withDescription(half, 'level=1')], 'FILE_CORRUPT'],
    [
      'when a level has a magnification of 0',
      [macro, full, withDescription(half, 'level=1 mag=0')],
      'FILE_CORRUPT',
    ],
    [
      'when a level has a higher magnification than the level before it',
      [macro, full, withDescription(half, 'level=1 mag=40')],
      'FILE_CORRUPT',
    ],
    [
      'when its frames and tiles have different sizes',
      withInfo(info.replace('Width="128"', 'Width="120"')),
      'FILE_CORRUPT',
    ],
    ['when a scanned area has no origin', withInfo(info.replace(/<AOI0 Or[^>]*>/, '')), 'FILE_CORRUPT'],
    [
      'when a scanned area begins inside a tile',
      withInfo(info.replace('OriginX="0"', 'OriginX="64"')),
      'FILE_CORRUPT',
    ],
    [
      'when a scanned area reaches beyond the tiles',
      withInfo(info.replace('NumCols="4"', 'NumCols="5"')),
      'FILE_CORRUPT',
    ],
    [
      'when a scanned area has 2^52 columns',
      withInfo(info.replace('NumCols="4"', 'NumCols="4503599627370496"')),
      'LIMIT_EXCEEDED',
    ],
    [
      'when it has 257 scanned areas (limit 256)',
      withInfo(encodeInfo(Array.from({ length: 257 }, () => ({ overlapsX: [], overlapsY: [] })))),
      'LIMIT_EXCEEDED',
    ],
    [
      'when a scanned area has a negative number of rows',
      withInfo(info.replace('NumRows="3"', 'NumRows="-3"')),
      'FILE_CORRUPT',
    ],
    [
      'when a scanned area has no columns',
      withInfo(info.replace('NumCols="4"', 'NumCols="0"')),
      'FILE_CORRUPT',
    ],
    [
      'when the position of a scanned area is not a number',
      withInfo(info.replace('Pos-X="0"', 'Pos-X="here"')),
      'FILE_CORRUPT',
    ],
    ['when no area was scanned', withInfo(info.replace('AOIScanned="1"', 'AOIScanned="0"')), 'FILE_CORRUPT'],
    [
      'when a joint (overlap of two frames) names frame 0, although the first is frame 1',
      withJoint(joint('RIGHT', 0, 1, 16, 0)),
      'FILE_CORRUPT',
    ],
    [
      'when a joint (overlap of two frames) names a frame that does not exist',
      withJoint(joint('RIGHT', 12, 13, 16, 0)),
      'FILE_CORRUPT',
    ],
    [
      'when a joint (overlap of two frames) names frames that are not neighbours',
      withJoint(joint('RIGHT', 1, 3, 16, 0)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when the direction of a joint (overlap of two frames) contradicts its frames',
      withJoint(joint('UP', 1, 2, 16, 0)),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when a joint (overlap of two frames) has an unknown direction',
      withJoint(joint('constructor', 1, 2, 16, 0)),
      'FORMAT_NOT_SUPPORTED',
    ],
    ['when two frames overlap by half', withJoint(joint('RIGHT', 1, 2, 64, 0)), 'FILE_CORRUPT'],
    [
      'when two frames overlap by more than their size',
      withJoint(joint('RIGHT', 1, 2, 4000, 0)),
      'FILE_CORRUPT',
    ],
    [
      'when the gap between two frames is as wide as a frame',
      withJoint(joint('RIGHT', 1, 2, -128, 0)),
      'FILE_CORRUPT',
    ],
    ['when an overlap is not a number', withJoint(joint('RIGHT', 1, 2, Number.NaN, 0)), 'FILE_CORRUPT'],
    [
      'when a level has another tile size than full resolution',
      [macro, full, withDescription(losslessPicture(shrinkRaster(tissue, 2), 64), 'level=1 mag=10')],
      'FILE_CORRUPT',
    ],
    [
      'when a level has fewer tiles than frames',
      [macro, full, withDescription(losslessPicture(paintTissue(128, 128), 128), 'level=1 mag=10')],
      'FILE_CORRUPT',
    ],
    [
      'when a level is stored in strips instead of tiles',
      [macro, full, withDescription(losslessPicture(shrinkRaster(tissue, 2), null), 'level=1 mag=10')],
      'FILE_CORRUPT',
    ],
    [
      'when a level has a width of 0',
      [macro, withTags(full, { [tag.ImageWidth]: short(0) })],
      'FILE_CORRUPT',
    ],
    [
      'when its table of tile offsets has only one entry',
      [macro, withTags(full, { [tag.TileOffsets]: short(8) })],
      'FILE_CORRUPT',
    ],
  ])(
    'throws $2, in a message without the patient name, for a Ventana slide %s',
    async (_, directories, code) => {
      const opening = open(directories);
      await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
      await expect(opening).rejects.toMatchObject({ message: expect.not.stringContaining('DOE') });
    },
  );
});
