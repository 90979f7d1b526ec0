import { describe, expect, it } from 'vitest';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import { renderThumbnail } from '../render/render-thumbnail.ts';
import { renderTile } from '../render/render-tile.ts';
import {
  buildCzi,
  type CziCompression,
  type CziPixels,
  cziCompressions,
  cziPixelTypes,
  encodeCziPixels,
  type SubblockPlan,
} from '../testing/build-czi.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintPlain, paintTissue } from '../testing/paint-tissue.ts';

/** How a test image is stored as subblocks. */
interface Mosaic {
  readonly pixels?: CziPixels;
  readonly compression?: CziCompression;
  /** Side of a subblock in pixels; the last subblock of a row or column may be smaller. */
  readonly side?: number;
  /** Pixels by which neighbours overlap. */
  readonly overlap?: number;
  readonly dimensions?: Readonly<Record<string, number>>;
  /** Position of the image's top left corner in pixels of full resolution. */
  readonly origin?: readonly [x: number, y: number];
  readonly downsample?: number;
}

/** Splits an image into overlapping subblocks. With a downsample, each stored pixel is the mean of the pixels that it covers. */
async function subblocksOf(picture: Raster, mosaic: Mosaic = {}): Promise<SubblockPlan[]> {
  const { pixels = 'bgr24', compression = 'none', side = 200, overlap = 20, downsample = 1 } = mosaic;
  const [originX, originY] = mosaic.origin ?? [0, 0];
  const stored = shrinkRaster(picture, downsample);
  const step = side - overlap;
  const plans: SubblockPlan[] = [];
  for (let y = 0; y < stored.height; y += step) {
    for (let x = 0; x < stored.width; x += step) {
      const [width, height] = [Math.min(side, stored.width - x), Math.min(side, stored.height - y)];
      plans.push({
        x: originX + x * downsample,
        y: originY + y * downsample,
        width: width * downsample,
        height: height * downsample,
        ...(downsample > 1 && { storedWidth: width, storedHeight: height }),
        dimensions: { C: 0, S: 0, M: plans.length, ...mosaic.dimensions },
        pixelType: cziPixelTypes[pixels],
        compression: cziCompressions[compression],
        data: await encodeCziPixels(cropRaster(stored, x, y, width, height), pixels, compression),
      });
    }
  }
  return plans;
}

/** Builds a CZI file and opens it. */
const open = (subblocks: readonly SubblockPlan[], xml?: string) =>
  openBytes(buildCzi({ subblocks, ...(xml !== undefined && { xml }) }).bytes);

/** Reads a level tile by tile; where there is no tile, the result has the background colour. */
async function readLevel(slide: Slide, index: number): Promise<Raster> {
  const level = slide.levels[index] as Slide['levels'][0];
  const { width, height, tileWidth, tileHeight } = level;
  const { r, g, b } = slide.background;
  const whole = paintPlain(width, height, [r, g, b]);
  for (let row = 0; row < level.rows; row++) {
    for (let column = 0; column < level.columns; column++) {
      const tile = await slide.readTile({ level: index, column, row });
      if (!tile) continue;
      for (let y = 0; y < tile.height; y++) {
        const rowStart = ((row * tileHeight + y) * width + column * tileWidth) * 3;
        whole.rgb.set(tile.bytes.subarray(y * tile.width * 3, (y + 1) * tile.width * 3), rowStart);
      }
    }
  }
  return whole;
}

/** Returns a grey image of the green samples, which is what grey subblocks contain. */
function greyOf({ width, height, rgb }: Raster): Raster {
  return { width, height, rgb: rgb.map((_, i) => rgb[i - (i % 3) + 1] as number) };
}

/** Returns the XML of a CZI file with these metadata elements. */
const metadataXml = (elements: string) => `<ImageDocument><Metadata>${elements}</Metadata></ImageDocument>`;

describe('a Zeiss slide (CZI file)', () => {
  it('of 16-bit grey without display settings shows the darkest 0.1 % of its pixels as black and the brightest 0.1 % as white', async () => {
    const picture = paintTissue(700, 530);
    const slide = await open(await subblocksOf(picture, { pixels: 'gray16', compression: 'none' }));
    const { rgb } = await readLevel(slide, 0);
    const sortedSamples = greyOf(picture).rgb.toSorted();
    const quantile = (share: number) =>
      sortedSamples[Math.floor((sortedSamples.length - 1) * share)] as number;
    const black = quantile(0.001);
    const white = quantile(0.999);
    const expected = greyOf(picture).rgb.map((value) =>
      Math.min(255, Math.max(0, Math.round(((value - black) * 255) / (white - black)))),
    );
    let maxDifference = 0;
    for (const [i, value] of rgb.entries()) {
      maxDifference = Math.max(maxDifference, Math.abs(value - (expected[i] as number)));
    }
    expect(maxDifference).toBeLessThanOrEqual(4);
  });

  it.each<[string, CziPixels, CziCompression, number]>([
    ['bgr24 pixels, uncompressed,', 'bgr24', 'none', 0],
    ['bgr24 pixels in zstd0 (Zstandard)', 'bgr24', 'zstd0', 0],
    ['bgr24 pixels in zstd1 (Zstandard with a header)', 'bgr24', 'zstd1', 0],
    ['bgr24 pixels in JPEG', 'bgr24', 'jpeg', 3],
    ['bgra32 pixels, uncompressed,', 'bgra32', 'none', 0],
    ['bgra32 pixels in zstd1 (Zstandard with a header)', 'bgra32', 'zstd1', 0],
    ['bgr48 pixels, uncompressed,', 'bgr48', 'none', 1],
    ['bgr48 pixels in zstd1 with separate low and high bytes', 'bgr48', 'zstd1-split', 1],
    ['gray8 pixels, uncompressed,', 'gray8', 'none', 0],
    ['gray8 pixels in zstd0 (Zstandard)', 'gray8', 'zstd0', 0],
    ['gray8 pixels in JPEG', 'gray8', 'jpeg', 3],
    ['gray16 pixels, uncompressed,', 'gray16', 'none', 1],
    ['gray16 pixels in zstd1 (Zstandard with a header)', 'gray16', 'zstd1', 1],
    ['gray16 pixels in zstd1 with separate low and high bytes', 'gray16', 'zstd1-split', 1],
  ])(
    'with %s returns the original pixels, with a mean difference of at most $3 of 255',
    async (_, pixels, compression, maxMean) => {
      const picture = paintTissue(700, 530);
      // The 16-bit samples that encodeCziPixels writes are those of a camera of 14 bits.
      const xml = metadataXml(
        '<Information><Image><ComponentBitCount>14</ComponentBitCount></Image></Information>',
      );
      const has16BitSamples = pixels.endsWith('16') || pixels === 'bgr48';
      const slide = await open(
        await subblocksOf(picture, { pixels, compression }),
        has16BitSamples ? xml : undefined,
      );
      expect(slide).toMatchObject({ format: 'czi', vendor: 'Zeiss' });
      expect(slide.levels).toEqual([
        {
          width: 700,
          height: 530,
          tileWidth: 512,
          tileHeight: 512,
          columns: 2,
          rows: 2,
          downsample: 1,
          needsRendering: true,
        },
      ]);
      const expectedPixels = pixels.startsWith('gray') ? greyOf(picture) : picture;
      expect(difference(await readLevel(slide, 0), expectedPixels).mean).toBeLessThanOrEqual(maxMean);
    },
  );

  it('has the half and quarter resolution of the file as levels, with the reduced original pixels', async () => {
    const picture = paintTissue(1200, 900);
    const plans = [
      ...(await subblocksOf(picture)),
      ...(await subblocksOf(picture, { downsample: 2 })),
      ...(await subblocksOf(picture, { downsample: 4, overlap: 0 })),
    ];
    const slide = await open(plans);
    expect(slide.levels.map(({ width, height, downsample }) => [width, height, downsample])).toEqual([
      [1200, 900, 1],
      [600, 450, 2],
      [300, 225, 4],
    ]);
    expect(difference(await readLevel(slide, 1), shrinkRaster(picture, 2)).max).toBe(0);
    expect(difference(await readLevel(slide, 2), shrinkRaster(picture, 4)).max).toBe(0);
  });

  it('has a resolution of one third as a level with the downsample 3', async () => {
    const picture = paintTissue(900, 600);
    const slide = await open([
      ...(await subblocksOf(picture)),
      ...(await subblocksOf(picture, { downsample: 3 })),
    ]);
    expect(slide.levels.map(({ downsample }) => downsample)).toEqual([1, 3]);
    expect(difference(await readLevel(slide, 1), shrinkRaster(picture, 3)).max).toBe(0);
  });

  it('has one level for all subblocks reduced by a factor of 4, even if some of them are only one pixel wide', async () => {
    const picture = paintTissue(1204, 900);
    const plans = [
      ...(await subblocksOf(picture)),
      ...(await subblocksOf(picture, { downsample: 4, side: 100, overlap: 0 })),
    ];
    // A quarter of 1204 columns are 301: the last subblocks, of 100 columns each, are one pixel wide.
    const slide = await open(plans);
    expect(slide.levels.map(({ width, downsample }) => [width, downsample])).toEqual([
      [1204, 1],
      [301, 4],
    ]);
    expect(difference(await readLevel(slide, 1), shrinkRaster(picture, 4)).max).toBe(0);
  });

  it('has the pixel (0, 0) at its top left subblock, whose coordinates in the file are -118583, 88865', async () => {
    const picture = paintTissue(400, 300);
    const slide = await open(await subblocksOf(picture, { origin: [-118_583, 88_865] }));
    expect(difference(await readLevel(slide, 0), picture).max).toBe(0);
  });

  it('shows the subblock with the highest mosaic index where subblocks overlap', async () => {
    const [red, blue] = [paintPlain(100, 100, [255, 0, 0]), paintPlain(100, 100, [0, 0, 255])];
    const slide = await open([
      ...(await subblocksOf(red, { dimensions: { M: 7 } })),
      ...(await subblocksOf(blue, { origin: [50, 0], dimensions: { M: 3 } })),
    ]);
    const { rgb } = await readLevel(slide, 0);
    expect([...rgb.subarray(99 * 3, 101 * 3)]).toEqual([255, 0, 0, 0, 0, 255]);
  });

  it('in colour returns null for a tile without subblocks, and is white beside a subblock of the same tile', async () => {
    const slide = await open([
      ...(await subblocksOf(paintPlain(10, 10, [1, 2, 3]))),
      ...(await subblocksOf(paintPlain(10, 10, [1, 2, 3]), { origin: [2000, 1000] })),
    ]);
    expect(slide.background).toEqual({ r: 255, g: 255, b: 255 });
    expect(await slide.readTile({ level: 0, column: 2, row: 1 })).toBeNull();
    const { rgb } = await readLevel(slide, 0);
    expect([...rgb.subarray(9 * 3, 11 * 3)]).toEqual([1, 2, 3, 255, 255, 255]);
  });

  it('returns the original pixels of the bottom right tile of a 36 MB uncompressed subblock', async () => {
    const [width, height] = [6000, 2000];
    const picture = paintTissue(600, 400);
    const data = new Uint8Array(width * height * 3).fill(200);
    for (let y = 0; y < 400; y++) {
      for (let x = 0; x < 600; x++) {
        const [r, g, b] = picture.rgb.subarray((y * 600 + x) * 3, (y * 600 + x) * 3 + 3);
        data.set([b ?? 0, g ?? 0, r ?? 0], ((y + 1500) * width + x + 5300) * 3);
      }
    }
    const slide = await open([
      { x: 0, y: 0, width, height, pixelType: cziPixelTypes.bgr24, compression: cziCompressions.none, data },
    ]);
    const tile = await slide.readTile({ level: 0, column: 11, row: 3 });
    expect(tile).toMatchObject({ codec: 'rgb', width: 368, height: 464 });
    // Tile 11, 3 begins at pixel 5632, 1536 of the slide, which is pixel 332, 36 of the image at 5300, 1500.
    const expectedPixels = cropRaster(picture, 332, 36, 268, 364);
    const tilePixels = { width: 368, height: 464, rgb: tile?.bytes ?? new Uint8Array() };
    expect(difference(cropRaster(tilePixels, 0, 0, 268, 364), expectedPixels).max).toBe(0);
    expect([...tilePixels.rgb.subarray(-3)]).toEqual([200, 200, 200]);
  });

  it('has rendered tiles and a thumbnail whose samples differ from box-filtered full-resolution samples by less than 3 of 255 on average', async () => {
    const picture = paintTissue(1200, 900);
    const slide = await open([
      ...(await subblocksOf(picture)),
      ...(await subblocksOf(picture, { downsample: 4 })),
    ]);
    // Deep Zoom level 10 is half resolution, 600 × 450 pixels; tile 1, 0 shows its columns from 512 on.
    const tile = await pixelsOf(await renderTile(slide, { dziLevel: 10, column: 1, row: 0 }));
    expect(difference(tile, cropRaster(shrinkRaster(picture, 2), 512, 0, 88, 450)).mean).toBeLessThan(3);
    const thumbnail = await pixelsOf(await renderThumbnail(slide, 300));
    expect(difference(thumbnail, shrinkRaster(picture, 4)).mean).toBeLessThan(3);
  });

  it.each([
    ['a level that does not exist', { level: 1, column: 0, row: 0 }],
    ['a column that does not exist', { level: 0, column: 2, row: 0 }],
    ['a row before the first', { level: 0, column: 0, row: -1 }],
    ['a fractional column', { level: 0, column: 0.5, row: 0 }],
  ])('throws TILE_OUT_OF_RANGE for a tile address with %s', async (_, address) => {
    const slide = await open(await subblocksOf(paintTissue(700, 530)));
    await expect(slide.readTile(address)).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
  });
});

describe('a Zeiss slide (CZI file) with several dimensions', () => {
  const greyImage = (brightness: number) => paintPlain(64, 64, [brightness, brightness, brightness]);
  const firstBrightness = async (slide: Slide) => (await readLevel(slide, 0)).rgb[0];

  it.each(['Z', 'T', 'B', 'H', 'R', 'I', 'V'])(
    'shows the subblock with the lowest position if subblocks differ only in the dimension %s',
    async (name) => {
      const plans = await Promise.all(
        [5, 3, 4].map(async (position) => {
          const dimensions = { [name]: position };
          return (await subblocksOf(greyImage(position * 10), { dimensions }))[0];
        }),
      );
      expect(await firstBrightness(await open(plans as SubblockPlan[]))).toBe(30);
    },
  );

  it('reports that it shows focal plane 1 of 3 and that there are 2 time points', async () => {
    const plans = await Promise.all(
      [
        { Z: 0, T: 0 },
        { Z: 1, T: 0 },
        { Z: 2, T: 0 },
        { Z: 0, T: 1 },
      ].map(async (dimensions) => (await subblocksOf(greyImage(10), { dimensions }))[0]),
    );
    expect((await open(plans as SubblockPlan[])).shownPlane).toEqual({ plane: 1, planes: 3, times: 2 });
    expect((await open(plans.slice(0, 1) as SubblockPlan[])).shownPlane).toBeUndefined();
  });

  it('shows a subblock without a Z position, which counts as 0, instead of a subblock at the Z position 2', async () => {
    const [atZ2] = await subblocksOf(greyImage(10), { dimensions: { Z: 2 } });
    const [withoutZ] = await subblocksOf(greyImage(20));
    expect(await firstBrightness(await open([withoutZ, atZ2] as SubblockPlan[]))).toBe(20);
    expect(await firstBrightness(await open([atZ2, withoutZ] as SubblockPlan[]))).toBe(20);
  });

  it('shows all scenes (scanned areas), each at its position in the coordinates of the file', async () => {
    const slide = await open([
      ...(await subblocksOf(greyImage(10), { dimensions: { S: 0 } })),
      ...(await subblocksOf(greyImage(20), { dimensions: { S: 1 }, origin: [100, 50] })),
    ]);
    expect(slide.levels[0]).toMatchObject({ width: 164, height: 114 });
    const { rgb } = await readLevel(slide, 0);
    expect([rgb[0], rgb.at(-1)]).toEqual([10, 20]);
  });

  it('has a level only for resolutions that every scene has', async () => {
    const [large, small] = [paintTissue(800, 800), paintTissue(400, 400)];
    const scene = (S: number, x: number) => ({ dimensions: { S }, origin: [x, 0] as const });
    const slide = await open([
      ...(await subblocksOf(large, scene(0, 0))),
      ...(await subblocksOf(large, { ...scene(0, 0), downsample: 2 })),
      ...(await subblocksOf(large, { ...scene(0, 0), downsample: 4 })),
      ...(await subblocksOf(small, scene(1, 1000))),
      ...(await subblocksOf(small, { ...scene(1, 1000), downsample: 2 })),
    ]);
    expect(slide.levels.map(({ downsample }) => downsample)).toEqual([1, 2]);
  });

  it('has no level for a resolution whose subblocks cover only a part of the area of the slide', async () => {
    const slide = await open([
      ...(await subblocksOf(paintTissue(800, 800))),
      ...(await subblocksOf(paintTissue(400, 400), { downsample: 2 })),
    ]);
    expect(slide.levels).toHaveLength(1);
  });
});

describe('a Zeiss slide (CZI file) with channels', () => {
  /** Returns the subblock of a channel in which all pixels have one brightness. */
  const channel = (C: number, brightness: number, pixels: CziPixels = 'gray8') =>
    subblocksOf(paintPlain(64, 64, [brightness, brightness, brightness]), { pixels, dimensions: { C } });
  /** Returns the XML of the display settings, with the elements of each channel. */
  const displaySettings = (...channels: string[]) =>
    metadataXml(
      `<DisplaySetting><Channels>${channels
        .map((elements, i) => `<Channel Id="Channel:${i}">${elements}</Channel>`)
        .join('')}</Channels></DisplaySetting>`,
    );
  const firstPixel = async (slide: Slide) => [...(await readLevel(slide, 0)).rgb.subarray(0, 3)];

  it('overlays the channels in the colours of their display settings', async () => {
    const plans = [...(await channel(0, 255)), ...(await channel(1, 100))];
    const xml = displaySettings('<Color>#FF0000FF</Color>', '<Color>#FFFF8000</Color>');
    // Channel 0 has 255 in blue, channel 1 has 100 in orange (255, 128, 0).
    expect(await firstPixel(await open(plans, xml))).toEqual([100, 50, 255]);
  });

  it('overlays the channels in default colours if the file states none', async () => {
    const plans = [...(await channel(0, 255)), ...(await channel(1, 100))];
    // The first two default colours are red and green.
    expect(await firstPixel(await open(plans))).toEqual([255, 100, 0]);
  });

  it('shows only the channels that the file does not mark as hidden, or all channels if all are hidden', async () => {
    const plans = [...(await channel(0, 255)), ...(await channel(1, 100))];
    const xml = displaySettings('<IsSelected>false</IsSelected>', '<Color>#00FF00</Color>');
    expect(await firstPixel(await open(plans, xml))).toEqual([100, 100, 100]);
    const allHidden = displaySettings('<IsSelected>false</IsSelected>', '<IsSelected>false</IsSelected>');
    expect(await firstPixel(await open(plans, allHidden))).toEqual([255, 100, 0]);
  });

  it("stretches the samples between Low and High of a channel's display settings to the range 0 to 255", async () => {
    const xml = displaySettings('<Low>0.2</Low><High>0.6</High>');
    // 0.2 of 255 is 51 and 0.6 is 153; (91 − 51) / (153 − 51) × 255 is 100.
    expect((await firstPixel(await open(await channel(0, 91), xml)))[0]).toBe(100);
    expect((await firstPixel(await open(await channel(0, 40), xml)))[0]).toBe(0);
    expect((await firstPixel(await open(await channel(0, 200), xml)))[0]).toBe(255);
  });

  it.each([
    ['in reverse order (0.6 and 0.2)', '<Low>0.6</Low><High>0.2</High>'],
    ['out of range (-1 and 1e308)', '<Low>-1</Low><High>1e308</High>'],
    ['not numbers', '<Low>dark</Low><High>bright</High>'],
  ])(
    'shows the stored samples of a channel if Low and High of its display settings are %s',
    async (_, elements) => {
      expect((await firstPixel(await open(await channel(0, 100), displaySettings(elements))))[0]).toBe(100);
    },
  );

  it('shows only the first colour channel if the file has grey and colour channels', async () => {
    const plans = [
      ...(await channel(0, 10)),
      ...(await channel(1, 20, 'bgr24')),
      ...(await channel(2, 30, 'bgr24')),
    ];
    const slide = await open(plans);
    expect(await firstPixel(slide)).toEqual([20, 20, 20]);
    expect(slide.background).toEqual({ r: 255, g: 255, b: 255 });
  });

  it('has a black background in fluorescence and a white one in transmitted light', async () => {
    const plans = await channel(0, 10);
    expect((await open(plans)).background).toEqual({ r: 0, g: 0, b: 0 });
    const xml = metadataXml(
      '<Information><Image><Dimensions><Channels><Channel Id="Channel:0"><ContrastMethod>Brightfield</ContrastMethod></Channel></Channels></Dimensions></Image></Information>',
    );
    expect((await open(plans, xml)).background).toEqual({ r: 255, g: 255, b: 255 });
  });
});

describe('the metadata of a Zeiss slide (CZI file)', () => {
  /** Returns the XML of a pixel size in metres. */
  const scaling = (x: string, y: string) =>
    `<Scaling><Items><Distance Id="X"><Value>${x}</Value></Distance><Distance Id="Y"><Value>${y}</Value></Distance><Distance Id="Z"><Value>1E-06</Value></Distance></Items></Scaling>`;
  /** Returns the XML of objectives, each with its id and magnification. @param reference element that names one of them */
  const objectives = (reference: string, ...powers: [string, string][]) =>
    `<Information><Image><ObjectiveSettings>${reference}</ObjectiveSettings></Image><Instrument><Objectives>${powers
      .map(
        ([id, power]) =>
          `<Objective Id="${id}" Name="SN 1234"><NominalMagnification>${power}</NominalMagnification></Objective>`,
      )
      .join('')}</Objectives></Instrument></Information>`;
  const objectiveName =
    '<Scaling><AutoScaling><ObjectiveName>Plan-Apochromat 10x/0.45 M27</ObjectiveName></AutoScaling></Scaling>';

  it.each<[string, string, { x: number; y: number } | null]>([
    ['Distance values of 4E-07 and 2.2E-07 (metres)', scaling('4E-07', '2.2E-07'), { x: 0.4, y: 0.22 }],
    [
      'Distance values of 0,00000025 and 2,5E-7 (metres, decimal commas)',
      scaling('0,00000025', '2,5E-7'),
      { x: 0.25, y: 0.25 },
    ],
    ['a Distance value of zero', scaling('0', '4E-07'), null],
    ['a negative Distance value', scaling('-4E-07', '4E-07'), null],
    ['Distance values of one metre', scaling('1', '1'), null],
    ['infinite Distance values', scaling('Infinity', '1e308'), null],
    ['Distance values that are not numbers', scaling('NaN', ''), null],
    ['no Distance elements', '', null],
  ])('with %s give the micrometres per pixel $2', async (_, elements, mpp) => {
    const slide = await open(await subblocksOf(paintPlain(8, 8, [0, 0, 0])), metadataXml(elements));
    expect(slide.mpp).toEqual(mpp);
  });

  it.each<[string, string, number | null]>([
    [
      'objectives of 5 and 20, and an ObjectiveRef to the second,',
      objectives('<ObjectiveRef Id="b"/>', ['a', '5'], ['b', '20']),
      20,
    ],
    ['a single objective, of 40, and no ObjectiveRef', objectives('', ['a', '40']), 40],
    ['objectives of 5 and 20, and no ObjectiveRef,', objectives('', ['a', '5'], ['b', '20']), null],
    [
      'an ObjectiveRef to an objective that does not exist',
      objectives('<ObjectiveRef Id="c"/>', ['a', '5']),
      null,
    ],
    ['a magnification only in the ObjectiveName "Plan-Apochromat 10x/0.45 M27"', objectiveName, 10],
    ['a magnification of 0', objectives('', ['a', '0']), null],
    ['a magnification of 1e300', objectives('', ['a', '1e300']), null],
  ])('with %s give the objective power $2', async (_, elements, power) => {
    const slide = await open(await subblocksOf(paintPlain(8, 8, [0, 0, 0])), metadataXml(elements));
    expect(slide.objectivePower).toBe(power);
  });

  it('are null for pixel size, objective power and colour profile if the file has no XML', async () => {
    const slide = await open(await subblocksOf(paintPlain(8, 8, [0, 0, 0])));
    expect([slide.mpp, slide.objectivePower, await slide.readIccProfile()]).toEqual([null, null, null]);
  });
});

describe('the associated images of a Zeiss slide (CZI file)', () => {
  it('are label, macro and thumbnail, read from an embedded CZI or JPEG', async () => {
    const label = paintTissue(600, 520);
    const embeddedCzi = buildCzi({ subblocks: await subblocksOf(label), attachments: [] }).bytes;
    const thumbnail = await encodeCziPixels(paintTissue(40, 30), 'bgr24', 'jpeg');
    const slide = await openBytes(
      buildCzi({
        subblocks: await subblocksOf(paintTissue(64, 64)),
        attachments: [
          { name: 'EventList', fileType: 'CZEVL', data: new Uint8Array(8) },
          { name: 'Label', fileType: 'CZI', data: embeddedCzi },
          { name: 'SlidePreview', fileType: 'CZI', data: embeddedCzi },
          { name: 'Thumbnail', fileType: 'JPG', data: thumbnail },
        ],
      }).bytes,
    );
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro', 'thumbnail']);
    const { bytes, ...size } = await slide.readAssociatedImage('label');
    expect(difference({ ...size, rgb: bytes }, label).max).toBe(0);
    expect(await slide.readAssociatedImage('thumbnail')).toMatchObject({
      codec: 'jpeg',
      width: 40,
      height: 30,
    });
  });

  it('are an empty list for a file without attachments, and reading the label throws ASSOCIATED_IMAGE_MISSING', async () => {
    const slide = await open(await subblocksOf(paintTissue(64, 64)));
    expect(slide.associatedImages.size).toBe(0);
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });
});

it('a Zeiss slide (CZI file) returns the original pixels whether its subblock directory is at the start or the end of the file', async () => {
  const picture = paintTissue(300, 300);
  const subblocks = await subblocksOf(picture);
  for (const isDirectoryFirst of [true, false]) {
    const slide = await openSlideFrom(
      memoryFiles({ slide: buildCzi({ subblocks, isDirectoryFirst }).bytes }),
    );
    expect(difference(await readLevel(slide, 0), picture).max).toBe(0);
  }
});
