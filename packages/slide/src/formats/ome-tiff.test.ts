import { describe, expect, it } from 'vitest';
import { shrinkRaster } from '../decode/raster.ts';
import {
  greyAt,
  greyDirectory,
  greyPicture,
  HEIGHT,
  imageXml,
  OTHER_UUID,
  omeXml,
  openOmeTiff,
  paintPicture,
  pixelsXml,
  pyramidSizes,
  RGB_XML,
  reducedDirectories,
  reducedImageTag,
  sizesOf,
  tissue,
  UUID,
  WIDTH,
} from '../testing/build-ome.ts';
import { type DirectoryPlan, long, rational, short, type TiffPlan } from '../testing/build-tiff.ts';
import { difference, MAX_JPEG_DIFFERENCE, pixelsOf } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { losslessDirectory, losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';

/** A label at half its size. */
const reducedLabel = withTags(losslessPicture(shrinkRaster(tissue, 6), 64), reducedImageTag);

describe('an OME-TIFF in colour', () => {
  it.each<[string, DirectoryPlan[], Partial<TiffPlan>]>([
    ['SubIFDs', [{ ...losslessPicture(tissue, 64), subDirectories: reducedDirectories }], {}],
    ['directories that the XML does not mention', [losslessPicture(tissue, 64), ...reducedDirectories], {}],
    [
      'SubIFDs that are chained, as Bio-Formats and QuPath write them',
      [
        { ...losslessPicture(tissue, 64), subDirectories: reducedDirectories },
        { ...losslessPicture(shrinkRaster(tissue, 3), 64), subDirectories: [reducedLabel] }, // a label, which the XML does not mention
      ],
      { isChained: true },
    ],
    [
      'SubIFDs of a big-endian BigTIFF',
      [{ ...losslessPicture(tissue, 64), subDirectories: reducedDirectories }],
      { isLittleEndian: false, isBig: true },
    ],
  ])(
    'returns the original pixels in all levels if the levels 1 and 2 are in %s',
    async (_, directories, plan) => {
      const slide = await openOmeTiff(RGB_XML, directories, plan);
      expect(slide).toMatchObject({
        format: 'ome-tiff',
        vendor: null,
        background: { r: 255, g: 255, b: 255 },
      });
      expect(sizesOf(slide)).toEqual(pyramidSizes);
      for (const [level, downsample] of [1, 2, 4].entries()) {
        expect(difference(await drawLevel(slide, level), shrinkRaster(tissue, downsample)).max).toBe(0);
      }
    },
  );

  it('opens with one level if the tag SubIFDs has no value, as QuPath writes it for small images', async () => {
    const directory = withTags(losslessPicture(tissue, 64), { [tag.SubIFDs]: long() });
    expect(sizesOf(await openOmeTiff(RGB_XML, [directory]))).toEqual([[WIDTH, HEIGHT]]);
  });

  it('returns JPEG tiles without decoding them', async () => {
    const slide = await openOmeTiff(RGB_XML, [await encodePicture(tissue, 128, 'ycbcr')]);
    expect(slide.levels[0].needsRendering).toBeUndefined();
    const tile = await slide.readTile({ level: 0, column: 1, row: 0 });
    expect(tile?.codec).toBe('jpeg');
    const expectedPixels = paintPicture(128, 128, (x, y) => [
      ...tissue.rgb.subarray((y * WIDTH + x + 128) * 3).subarray(0, 3),
    ]);
    expect(difference(await pixelsOf(tile?.bytes ?? new Uint8Array()), expectedPixels).mean).toBeLessThan(
      MAX_JPEG_DIFFERENCE,
    );
  });

  it('has no level for a TIFF directory of half the width and height that is not marked as a reduced image', async () => {
    const page = losslessPicture(shrinkRaster(tissue, 2), 64);
    expect(sizesOf(await openOmeTiff(RGB_XML, [losslessPicture(tissue, 64), page]))).toEqual([[300, 200]]);
  });

  it('has no level for a TIFF directory that the XML assigns to another image', async () => {
    const xml = omeXml(
      imageXml(pixelsXml('SizeC="3"', '<TiffData IFD="0"/>')) +
        imageXml(
          '<Pixels DimensionOrder="XYCZT" SizeX="150" SizeY="100" SizeC="3" SizeZ="1" SizeT="1"><TiffData IFD="1"/></Pixels>',
        ),
    );
    const slide = await openOmeTiff(xml, [losslessPicture(tissue, 64), ...reducedDirectories]);
    expect(sizesOf(slide)).toEqual([
      [300, 200],
      [75, 50],
    ]);
  });
});

describe('the channels of an OME-TIFF', () => {
  const channels = (count: number, channelElements: string) =>
    omeXml(imageXml(pixelsXml(`SizeC="${count}"`, `${channelElements}<TiffData/>`)));

  it('are overlaid in the colours that the XML states', async () => {
    // A colour is red, green, blue and alpha in a signed number: -16776961 is 0xff0000ff (red), 8454143 is 0x0080ffff.
    const xml = channels(2, '<Channel Color="-16776961"/><Channel Color="8454143"/>');
    const slide = await openOmeTiff(xml, [greyDirectory(0), greyDirectory(1)]);
    expect(slide.background).toEqual({ r: 0, g: 0, b: 0 });
    expect(slide.levels[0].needsRendering).toBe(true);
    const composed = paintPicture(WIDTH, HEIGHT, (x, y) => {
      const [brightness0, brightness1] = [greyAt(0, x, y), greyAt(1, x, y)];
      return [brightness0, (brightness1 * 128) / 255, brightness1];
    });
    expect(difference(await drawLevel(slide, 0), composed).max).toBeLessThanOrEqual(1);
  });

  it('are overlaid at all levels, whether their pyramids are in SubIFDs or in the main chain of TIFF directories', async () => {
    const half = (index: number) =>
      losslessDirectory({
        width: 150,
        height: 100,
        tileSize: 64,
        samplesPerPixel: 1,
        bits: 8,
        sampleAt: (x, y) => greyAt(index, 2 * x, 2 * y),
      });
    const xml = channels(2, '<Channel Color="-16776961"/><Channel Color="16711935"/>');
    // 16711935 is 0x00ff00ff (green).
    const inSubIFDs = [0, 1].map((index) => ({ ...greyDirectory(index), subDirectories: [half(index)] }));
    const reduced = [0, 1].map((index) => withTags(half(index), reducedImageTag));
    const inMainChain = [greyDirectory(0), greyDirectory(1), ...reduced];
    const xmlOfTwoPlanes = xml.replace('<TiffData/>', '<TiffData IFD="0" PlaneCount="2"/>');
    for (const slide of [await openOmeTiff(xml, inSubIFDs), await openOmeTiff(xmlOfTwoPlanes, inMainChain)]) {
      expect(sizesOf(slide)).toEqual(pyramidSizes.slice(0, 2));
      const composed = paintPicture(150, 100, (x, y) => [
        greyAt(0, 2 * x, 2 * y),
        greyAt(1, 2 * x, 2 * y),
        0,
      ]);
      expect(difference(await drawLevel(slide, 1), composed).max).toBe(0);
    }
  });

  it.each([
    ['the XML states none', ''],
    ['all are white, the default of the OME data model', '<Channel Color="-1"/>'.repeat(3)],
    ['all are black', '<Channel Color="255"/>'.repeat(3)],
  ])('are overlaid in the default colours red, green and blue if %s', async (_, channelElements) => {
    const slide = await openOmeTiff(channels(3, channelElements), [
      greyDirectory(0),
      greyDirectory(1),
      greyDirectory(2),
    ]);
    const composed = paintPicture(WIDTH, HEIGHT, (x, y) => [0, 1, 2].map((index) => greyAt(index, x, y)));
    expect(difference(await drawLevel(slide, 0), composed).max).toBe(0);
  });

  it('are overlaid in the last colour of their palettes if the XML states no colours', async () => {
    /** Returns a palette that rises from black to a colour, whose samples are 0 or 257 times 255. */
    const palette = (...factors: [red: number, green: number, blue: number]) => ({
      [tag.PhotometricInterpretation]: short(3),
      [tag.ColorMap]: short(
        ...factors.flatMap((factor) => Array.from({ length: 256 }, (_, i) => i * factor)),
      ),
    });
    const slide = await openOmeTiff(channels(2, ''), [
      withTags(greyDirectory(0), palette(0, 0, 257)),
      withTags(greyDirectory(1), palette(257, 0, 0)),
    ]);
    const composed = paintPicture(WIDTH, HEIGHT, (x, y) => [greyAt(1, x, y), 0, greyAt(0, x, y)]);
    expect(difference(await drawLevel(slide, 0), composed).max).toBe(0);
  });

  it('stored as JPEG are overlaid in the default colours red and green if the XML states no colours', async () => {
    const pages = await Promise.all([0, 1].map((index) => encodePicture(greyPicture(index), 64, 'grey')));
    const slide = await openOmeTiff(channels(2, ''), pages);
    const composed = paintPicture(WIDTH, HEIGHT, (x, y) => [greyAt(0, x, y), greyAt(1, x, y), 0]);
    expect(difference(await drawLevel(slide, 0), composed).mean).toBeLessThan(4);
  });

  it('are displayed in grey if there is a single white channel of 8 bits', async () => {
    const slide = await openOmeTiff(channels(1, '<Channel Color="-1"/>'), [greyDirectory(0)]);
    expect(slide.background).toEqual({ r: 255, g: 255, b: 255 });
    expect(difference(await drawLevel(slide, 0), greyPicture(0)).max).toBe(0);
  });

  it('are displayed in the colour that the XML states if there is a single channel', async () => {
    const slide = await openOmeTiff(channels(1, '<Channel Color="16711935"/>'), [greyDirectory(0)]);
    const composed = paintPicture(WIDTH, HEIGHT, (x, y) => [0, greyAt(0, x, y), 0]);
    expect(difference(await drawLevel(slide, 0), composed).max).toBe(0);
  });

  it.each([
    ['little-endian', true],
    ['big-endian', false],
  ] as const)(
    'of 16 bits in a %s file are stretched from their actual range of samples, without outliers, to the range 0 to 255',
    async (_, isLittleEndian) => {
      const page = losslessDirectory({
        width: WIDTH,
        height: HEIGHT,
        tileSize: 64,
        samplesPerPixel: 1,
        bits: 16,
        isLittleEndian,
        sampleAt: (x, y) => (x + y === 0 ? 65_535 : 300 + x * 12),
      });
      const xml = channels(1, '').replace('uint8', 'uint16');
      const slide = await openOmeTiff(xml, [page], { isLittleEndian });
      const { rgb } = await drawLevel(slide, 0);
      const greys = [0, 150, 299].map((x) => rgb[(100 * WIDTH + x) * 3]);
      const withinFive = -1; // precision of closeTo
      expect(greys).toEqual([0, 128, 255].map((grey) => expect.closeTo(grey, withinFive)));
    },
  );

  it('of 16 bits with almost equal samples are displayed dark; their contrast is not stretched to the full brightness', async () => {
    const page = losslessDirectory({
      width: WIDTH,
      height: HEIGHT,
      tileSize: 64,
      samplesPerPixel: 1,
      bits: 16,
      sampleAt: (x, y) => 100 + ((x + y) % 3),
    });
    const slide = await openOmeTiff(channels(1, ''), [page]);
    const { rgb } = await drawLevel(slide, 0);
    expect(rgb.every((sample) => sample < 10)).toBe(true);
  });
});

describe('an OME-TIFF with focal planes and time points', () => {
  // With 2 channels, 3 focal planes (Z) and 2 time points, the number is the index of the directory with channel 1 at focus 0
  // and time 0.
  it.each([
    ['XYZCT', 3],
    ['XYZTC', 6],
    ['XYCZT', 1],
    ['XYCTZ', 1],
    ['XYTZC', 6],
    ['XYTCZ', 2],
  ])(
    'shows the first focal plane and time point of both channels with the DimensionOrder %s',
    async (order, channel1) => {
      const xml = omeXml(
        imageXml(
          `<Pixels DimensionOrder="${order}" SizeX="${WIDTH}" SizeY="${HEIGHT}" SizeC="2" SizeZ="3" SizeT="2"><TiffData/></Pixels>`,
        ),
      );
      const slide = await openOmeTiff(
        xml,
        Array.from({ length: 12 }, (_, index) => greyDirectory(index, null)),
      );
      expect(slide.shownPlane).toEqual({ plane: 1, planes: 3, times: 2 });
      const composed = paintPicture(WIDTH, HEIGHT, (x, y) => [greyAt(0, x, y), greyAt(channel1, x, y), 0]);
      expect(difference(await drawLevel(slide, 0), composed).max).toBe(0);
    },
  );

  it('shows the first focal plane if TiffData elements assign the TIFF directories in another order than DimensionOrder', async () => {
    const xml = omeXml(
      imageXml(
        `<Pixels DimensionOrder="XYZCT" SizeX="${WIDTH}" SizeY="${HEIGHT}" SizeC="2" SizeZ="2" SizeT="1">` +
          '<TiffData FirstC="1" FirstZ="0" IFD="0"/><TiffData FirstZ="1" IFD="1"/><TiffData FirstC="1" FirstZ="1" IFD="2"/>' +
          '<TiffData IFD="3"/></Pixels>',
      ),
    );
    const slide = await openOmeTiff(xml, [
      greyDirectory(0),
      greyDirectory(1),
      greyDirectory(2),
      greyDirectory(3),
    ]);
    const composed = paintPicture(WIDTH, HEIGHT, (x, y) => [greyAt(3, x, y), greyAt(0, x, y), 0]);
    expect(difference(await drawLevel(slide, 0), composed).max).toBe(0);
  });
});

describe('the images of an OME-TIFF', () => {
  /** Returns the start of a Pixels element of a colour image. */
  const pixelsStart = (width: number, height: number) =>
    `<Pixels DimensionOrder="XYCZT" SizeX="${width}" SizeY="${height}" SizeC="3" SizeZ="1" SizeT="1">`;
  const label = losslessPicture(paintTissue(400, 300), null);
  const fourImages = omeXml(
    imageXml(`${pixelsStart(400, 300)}<TiffData IFD="0"/></Pixels>`, 'Name="label image"') +
      imageXml(`${pixelsStart(150, 100)}<TiffData IFD="1"/></Pixels>`, 'Name="slide 7"') +
      imageXml(`${pixelsStart(WIDTH, HEIGHT)}<TiffData IFD="2"/></Pixels>`) +
      imageXml(`${pixelsStart(400, 300)}<TiffData IFD="3"/></Pixels>`, 'Name="Macro"'),
  );

  it('named "label image" and "Macro" are label and macro, and the largest of the others is the slide', async () => {
    const half = losslessPicture(shrinkRaster(tissue, 2), 64);
    const slide = await openOmeTiff(fourImages, [label, half, losslessPicture(tissue, 64), label]);
    expect(sizesOf(slide)).toEqual([[300, 200]]);
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro']);
    expect(difference(await drawLevel(slide, 0), tissue).max).toBe(0);
    expect(await slide.readAssociatedImage('label')).toMatchObject({ width: 400, height: 300 });
    await expect(slide.readAssociatedImage('thumbnail')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });

  it('are read from consecutive TIFF directories if the XML has no TiffData', async () => {
    const xml = fourImages.replaceAll(/<TiffData[^>]*>/g, '');
    const half = losslessPicture(shrinkRaster(tissue, 2), 64);
    const slide = await openOmeTiff(xml, [label, half, losslessPicture(tissue, 64), label]);
    expect(difference(await drawLevel(slide, 0), tissue).max).toBe(0);
  });

  it('are rejected with NOT_A_SLIDE if all are associated images', async () => {
    const xml = omeXml(imageXml(pixelsXml('SizeC="3"', '<TiffData/>'), 'Name="Label Image"'));
    await expect(openOmeTiff(xml, [losslessPicture(tissue, 64)])).rejects.toMatchObject({
      code: 'NOT_A_SLIDE',
    });
  });

  it('are displayed as a slide if their name only begins like that of an associated image, e.g. "macrophages"', async () => {
    const xml = omeXml(imageXml(pixelsXml('SizeC="3"', '<TiffData/>'), 'Name="macrophages, label-free.tif"'));
    expect(sizesOf(await openOmeTiff(xml, [losslessPicture(tissue, 64)]))).toEqual([[300, 200]]);
  });
});

describe('an OME-TIFF that states file names and UUIDs', () => {
  const uuid = (value: string) => `<UUID FileName="other name.ome.tif">${value}</UUID>`;
  const withTiffData = (tiffData: string, attributes?: string) =>
    omeXml(imageXml(pixelsXml('SizeC="2"', tiffData)), attributes);

  it('is opened if the file was renamed since the XML was written, whether or not the XML states a UUID of the file', async () => {
    const xml = withTiffData(`<TiffData IFD="0" PlaneCount="2">${uuid(UUID)}</TiffData>`);
    expect(sizesOf(await openOmeTiff(xml, [greyDirectory(0), greyDirectory(1)]))).toEqual([[300, 200]]);
    const withoutUuid = withTiffData(`<TiffData IFD="0" PlaneCount="2">${uuid(UUID)}</TiffData>`, '');
    expect(sizesOf(await openOmeTiff(withoutUuid, [greyDirectory(0), greyDirectory(1)]))).toEqual([
      [300, 200],
    ]);
  });

  it.each([
    [
      'a channel, according to the UUID of its TiffData element',
      withTiffData(
        `<TiffData IFD="0">${uuid(UUID)}</TiffData><TiffData FirstC="1" IFD="0">${uuid(OTHER_UUID)}</TiffData>`,
      ),
    ],
    [
      'a channel, according to the FileName of its TiffData element',
      withTiffData(
        '<TiffData IFD="0"><UUID FileName="slide"/></TiffData><TiffData FirstC="1" IFD="0"><UUID FileName="b"/></TiffData>',
        '',
      ),
    ],
    ['the pixel data', withTiffData(`<TiffData PlaneCount="2">${uuid(OTHER_UUID)}</TiffData>`)],
    ['its metadata', omeXml('<BinaryOnly MetadataFile="a.companion.ome" UUID="urn:uuid:1"/>')],
  ])('is rejected with FORMAT_NOT_SUPPORTED if another file contains %s', async (_, xml) => {
    await expect(openOmeTiff(xml, [greyDirectory(0), greyDirectory(1)])).rejects.toMatchObject({
      code: 'FORMAT_NOT_SUPPORTED',
      message: expect.stringContaining('OME-TIFF'),
    });
  });

  it('is opened if another file contains only focal planes that are not displayed', async () => {
    const xml = omeXml(
      imageXml(
        `<Pixels DimensionOrder="XYCZT" SizeX="${WIDTH}" SizeY="${HEIGHT}" SizeC="1" SizeZ="2" SizeT="1">` +
          `<TiffData IFD="0">${uuid(UUID)}</TiffData><TiffData FirstZ="1" IFD="0">${uuid(OTHER_UUID)}</TiffData></Pixels>`,
      ),
    );
    expect(
      difference(await drawLevel(await openOmeTiff(xml, [greyDirectory(0)]), 0), greyPicture(0)).max,
    ).toBe(0);
  });
});

describe('an OME-TIFF (pixel size in µm and objective power)', () => {
  const withPixels = (attributes: string) =>
    openOmeTiff(omeXml(imageXml(pixelsXml(`SizeC="3" ${attributes}`, '<TiffData/>'))), [
      losslessPicture(tissue, 64),
    ]);

  it.each<[string, { x: number; y: number } | null]>([
    ['PhysicalSizeX="0.25" PhysicalSizeY="0.5"', { x: 0.25, y: 0.5 }],
    [
      'PhysicalSizeX="0.25" PhysicalSizeXUnit="µm" PhysicalSizeY="0.25" PhysicalSizeYUnit="\u03bcm"',
      { x: 0.25, y: 0.25 },
    ],
    [
      'PhysicalSizeX="250" PhysicalSizeXUnit="nm" PhysicalSizeY="0.00025" PhysicalSizeYUnit="mm"',
      { x: 0.25, y: 0.25 },
    ],
    [
      'PhysicalSizeX="0.000025" PhysicalSizeXUnit="cm" PhysicalSizeY="2500" PhysicalSizeYUnit="Å"',
      { x: 0.25, y: 0.25 },
    ],
    ['PhysicalSizeX="1" PhysicalSizeXUnit="pixel" PhysicalSizeY="1" PhysicalSizeYUnit="pixel"', null],
    ['PhysicalSizeX="0" PhysicalSizeY="0"', null],
    ['PhysicalSizeX="-1" PhysicalSizeY="1"', null],
    ['PhysicalSizeX="1e308" PhysicalSizeY="1"', null],
    ['PhysicalSizeX="NaN" PhysicalSizeY="NaN"', null],
    ['PhysicalSizeX="0.25"', null],
    ['', null],
  ])('with the element <Pixels %s> has the pixel size %j', async (attributes, mpp) => {
    const { mpp: actual } = await withPixels(attributes);
    expect(actual).toEqual(mpp && { x: expect.closeTo(mpp.x, 9), y: expect.closeTo(mpp.y, 9) });
  });

  it.each([
    [1, { x: 0.5, y: 0.25 }],
    [6, { x: 0.25, y: 0.5 }],
  ])(
    'without PhysicalSizeX has the pixel size $1 if its TIFF resolution tags state 0.5 × 0.25 µm and its Orientation is $0',
    async (orientation, mpp) => {
      const directory = withTags(losslessPicture(tissue, 64), {
        [tag.XResolution]: rational(20_000, 1),
        [tag.YResolution]: rational(40_000, 1),
        [tag.ResolutionUnit]: short(3), // centimetre
        [tag.Orientation]: short(orientation),
      });
      expect((await openOmeTiff(RGB_XML, [directory])).mpp).toEqual(mpp);
    },
  );

  const objective = (id: string, power: string) => `<Objective ID="${id}" NominalMagnification="${power}"/>`;

  const twoObjectives = objective('Objective:0', '10') + objective('Objective:1', '20');

  it.each<[string, objectives: string, settings: string, power: number | null]>([
    ['an objective of 40 to which no image refers', objective('Objective:0', '40.0'), '', 40],
    [
      'objectives of 10 and 20, and an image that refers to 20',
      twoObjectives,
      '<ObjectiveSettings ID="Objective:1"/>',
      20,
    ],
    ['objectives of 10 and 20, and no reference to one', twoObjectives, '', null],
    ['an objective of -5', objective('Objective:0', '-5'), '', null],
    ['a reference to an objective that is not in the XML', '', '<ObjectiveSettings ID="Objective:1"/>', null],
  ])('with %s has the objective power $3', async (_, objectives, settings, power) => {
    const instrument = `<Instrument>${objectives}</Instrument>`;
    const xml = omeXml(instrument + imageXml(settings + pixelsXml('SizeC="3"', '<TiffData/>')));
    expect((await openOmeTiff(xml, [losslessPicture(tissue, 64)])).objectivePower).toBe(power);
  });
});
