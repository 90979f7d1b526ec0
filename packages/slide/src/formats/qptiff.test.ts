import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Raster, shrinkRaster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { ascii, buildTiff, type DirectoryPlan, rational, short } from '../testing/build-tiff.ts';
import { difference } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { losslessDirectory, losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { loadPeerSharp } from '../testing/peer-sharp.ts';
import { tag } from '../tiff/tags.ts';

const [WIDTH, HEIGHT] = [240, 160];
const tissue = paintTissue(WIDTH, HEIGHT);

/** Returns XML as the scanner writes it: declared as UTF-16, encoded as UTF-8. */
const description = (content: string) =>
  '<?xml version="1.0" encoding="utf-16"?>\r\n<PerkinElmer-QPI-ImageDescription>\r\n' +
  '  <SlideID>DOE^JANE</SlideID><Barcode>DOE^JANE</Barcode><ComputerName>DOE^JANE</ComputerName>\r\n' +
  `${content}\r\n</PerkinElmer-QPI-ImageDescription>`;

/** Adds the XML of a page to a directory. @param type its ImageType @param elements further XML elements */
const page = (directory: DirectoryPlan, type: string, elements = ''): DirectoryPlan =>
  withTags(directory, {
    [tag.ImageDescription]: ascii(description(`<ImageType>${type}</ImageType>${elements}`)),
  });

/** Builds a QPTIFF and opens it. */
const open = (directories: DirectoryPlan[]): Promise<Slide> => openBytes(buildTiff({ directories }).bytes);

/** Returns a sample of the test pattern of a channel, which contains all values from 0 to 255. */
const patternAt = (index: number, x: number, y: number) => (x * (index + 1) + y) % 256;

/** Returns a directory with the test pattern of a channel. */
const greyDirectory = (
  index: number,
  downsample = 1,
  options: Partial<Parameters<typeof losslessDirectory>[0]> = {},
): DirectoryPlan =>
  losslessDirectory({
    width: WIDTH / downsample,
    height: HEIGHT / downsample,
    tileSize: 64,
    samplesPerPixel: 1,
    bits: 8,
    packing: 'lzw',
    sampleAt: (x, y) => patternAt(index, x * downsample, y * downsample),
    ...options,
  });

/** Returns the page of a channel at one size. */
const channel = (index: number, name: string, colour: string, downsample = 1) =>
  page(
    greyDirectory(index, downsample),
    downsample === 1 ? 'FullResolution' : 'ReducedResolution',
    `<Name>${name}</Name><Color>${colour}</Color>`,
  );

/** Paints an image pixel by pixel. */
function paint(width: number, height: number, pixelAt: (x: number, y: number) => number[]): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rgb.set(pixelAt(x, y), (y * width + x) * 3);
  }
  return { width, height, rgb };
}

const thumbnail = page(losslessPicture(paintTissue(60, 40), null, 'lzw'), 'Thumbnail');
const overview = page(losslessPicture(paintTissue(50, 90), null, 'lzw'), 'Overview');
const label = page(losslessPicture(paintTissue(40, 30), null, 'lzw'), 'Label');

/** Directories of a slide in transmitted light. */
const brightfield = [
  page(losslessPicture(tissue, 64), 'FullResolution', '<Objective>20x</Objective>'),
  thumbnail,
  page(losslessPicture(shrinkRaster(tissue, 2), 64), 'ReducedResolution'),
  page(losslessPicture(shrinkRaster(tissue, 4), 64), 'ReducedResolution'),
  overview,
  label,
];

/** Directories of a slide with two fluorescence channels. */
const fluorescence = [
  channel(0, 'DAPI', '0,0,255'),
  channel(1, 'FITC', '0,255,0'),
  thumbnail,
  channel(0, 'DAPI', '0,0,255', 2),
  channel(1, 'FITC', '0,255,0', 2),
  overview,
  label,
];

describe('a QPTIFF in transmitted light', () => {
  it('has the stated metadata, and the original pixels in all levels', async () => {
    const slide = await open(brightfield);
    expect(slide).toMatchObject({
      format: 'qptiff',
      vendor: 'PerkinElmer',
      objectivePower: 20,
      background: { r: 255, g: 255, b: 255 },
    });
    expect(slide.levels.map(({ width, height }) => [width, height])).toEqual([
      [240, 160],
      [120, 80],
      [60, 40],
    ]);
    for (const [level, downsample] of [1, 2, 4].entries()) {
      expect(difference(await drawLevel(slide, level), shrinkRaster(tissue, downsample)).max).toBe(0);
    }
  });

  it('returns JPEG tiles without decoding them', async () => {
    const slide = await open([page(await encodePicture(tissue, 128, 'ycbcr'), 'FullResolution')]);
    expect((await slide.readTile({ level: 0, column: 0, row: 0 }))?.codec).toBe('jpeg');
  });
});

describe('a QPTIFF in fluorescence', () => {
  it('overlays its channels in the colours that the file states', async () => {
    const slide = await open(fluorescence);
    expect(slide.background).toEqual({ r: 0, g: 0, b: 0 });
    expect(slide.levels).toMatchObject([
      { width: 240, height: 160, needsRendering: true },
      { width: 120, height: 80, needsRendering: true },
    ]);
    for (const [level, downsample] of [1, 2].entries()) {
      const expected = paint(WIDTH / downsample, HEIGHT / downsample, (x, y) => [
        0,
        patternAt(1, x * downsample, y * downsample),
        patternAt(0, x * downsample, y * downsample),
      ]);
      expect(difference(await drawLevel(slide, level), expected).max).toBeLessThanOrEqual(1);
    }
  });

  it('maps the darkest and the brightest 8-bit sample of a channel (10 and 95) to 0 and 255', async () => {
    // Samples from 10 to 95: (95 − 10) × 3 is 255.
    const darkChannel = greyDirectory(0, 1, { sampleAt: (x, y) => 10 + ((x + y) % 86) });
    const slide = await open([page(darkChannel, 'FullResolution', '<Color>255,255,255</Color>')]);
    const expected = paint(WIDTH, HEIGHT, (x, y) => Array.from({ length: 3 }, () => ((x + y) % 86) * 3));
    expect(difference(await drawLevel(slide, 0), expected).max).toBe(0);
  });

  it('maps the darkest and the brightest 16-bit sample of a channel (200 and 4024) to 0 and 255', async () => {
    // Samples from 200 to 200 + 239 × 16.
    const channel16 = greyDirectory(0, 1, { bits: 16, sampleAt: (x) => 200 + x * 16 });
    const slide = await open([page(channel16, 'FullResolution', '<Color>255,0,0</Color>')]);
    const expected = paint(WIDTH, HEIGHT, (x) => [(x * 255) / 239, 0, 0]);
    expect(difference(await drawLevel(slide, 0), expected).max).toBeLessThanOrEqual(2);
  });

  it.each(['300,0,0', '-1,0,0', 'red', '1,2', ''])(
    'shows the first channel in its default colour, red, if the file states the invalid colour %j',
    async (colour) => {
      const slide = await open([channel(0, 'DAPI', colour), channel(1, 'FITC', '0,0,255')]);
      const expected = paint(WIDTH, HEIGHT, (x, y) => [patternAt(0, x, y), 0, patternAt(1, x, y)]);
      expect(difference(await drawLevel(slide, 0), expected).max).toBeLessThanOrEqual(1);
    },
  );
});

describe('the associated images of a QPTIFF', () => {
  it('are label, overview (as macro) and thumbnail', async () => {
    const slide = await open(fluorescence);
    expect([...slide.associatedImages].sort()).toEqual(['label', 'macro', 'thumbnail']);
    expect(await slide.readAssociatedImage('label')).toMatchObject({ width: 40, height: 30 });
    expect(await slide.readAssociatedImage('macro')).toMatchObject({ width: 50, height: 90 });
  });

  it('throw ASSOCIATED_IMAGE_MISSING for a label that the file does not have; a page of an unknown ImageType is no level', async () => {
    const pageOfUnknownType = page(losslessPicture(paintTissue(480, 320), 64), 'constructor'); // a property of every object
    const slide = await open([...brightfield, pageOfUnknownType]);
    expect(slide.levels[0]).toMatchObject({ width: 240 });
    await expect(
      (await open([brightfield[0] as DirectoryPlan])).readAssociatedImage('label'),
    ).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });
});

describe('a QPTIFF (pixel size in µm and objective power)', () => {
  const profile = (size: string) =>
    `<ScanProfile><root><ScanResolution><PixelSizeMicrons>${size}</PixelSizeMicrons></ScanResolution></root></ScanProfile>`;

  it.each<[string, DirectoryPlan['tags'], string, { x: number; y: number } | null]>([
    [
      'resolution tags of 20,000 and 40,000 pixels per centimetre and a scan profile of 0.7 µm',
      {
        [tag.XResolution]: rational(20_000, 1),
        [tag.YResolution]: rational(40_000, 1),
        [tag.ResolutionUnit]: short(3),
      },
      profile('0.7'),
      { x: 0.5, y: 0.25 },
    ],
    ['a scan profile of 0.7 µm and no resolution tags', {}, profile('0.7'), { x: 0.7, y: 0.7 }],
    ['a scan profile of 0 µm and no resolution tags', {}, profile('0'), null],
    ['neither resolution tags nor a scan profile', {}, '', null],
  ])('with %s has the pixel size $3', async (_, tags, xml, mpp) => {
    const slide = await open([page(withTags(losslessPicture(tissue, 64), tags), 'FullResolution', xml)]);
    expect(slide.mpp).toEqual(mpp);
  });

  it.each<[string, number | null]>([
    ['10x', 10],
    ['40X / 0.75', 40],
    ['2.5x', 2.5],
    ['WideFOV', null],
    ['0x', null],
    ['9999x', null],
    ['', null],
  ])('with the Objective %j has the objective power %s', async (objective, power) => {
    const slide = await open([
      page(losslessPicture(tissue, 64), 'FullResolution', `<Objective>${objective}</Objective>`),
    ]);
    expect(slide.objectivePower).toBe(power);
  });
});

describe('openSlideFrom (opens a slide from its files)', () => {
  const [first, second] = fluorescence as [DirectoryPlan, DirectoryPlan];
  const greyWithXml = (xml: string) => withTags(greyDirectory(0), { [tag.ImageDescription]: ascii(xml) });

  it.each<[string, DirectoryPlan[], string]>([
    [
      'when none of its pages is of full resolution',
      [page(greyDirectory(0), 'Overview'), page(greyDirectory(0), 'ReducedResolution')],
      'FILE_CORRUPT',
    ],
    [
      'when its XML is truncated',
      [greyWithXml(description('<ImageType>FullRes').slice(0, -10))],
      'FILE_CORRUPT',
    ],
    [
      'when its XML has a document type definition',
      [
        greyWithXml(
          `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>${description('&b;').replace(/^.*\r\n/, '')}`,
        ),
      ],
      'FILE_CORRUPT',
    ],
    ['when its XML uses an undefined entity', [page(greyDirectory(0), '&lol;')], 'FILE_CORRUPT'],
    [
      'when the elements of its XML are nested 10,000 deep',
      [page(greyDirectory(0), '<a>'.repeat(10_000))],
      'LIMIT_EXCEEDED',
    ],
    [
      'when an element of its XML has 1,000 attributes (limit 256)',
      [greyWithXml(description(`<a ${Array.from({ length: 1000 }, (_, i) => `b${i}=""`).join(' ')}/>`))],
      'LIMIT_EXCEEDED',
    ],
    [
      'when its reduced resolution has fewer channels than full resolution',
      [first, second, channel(0, 'DAPI', '', 2)],
      'FILE_CORRUPT',
    ],
    [
      'when its reduced resolution has more channels than full resolution',
      [first, channel(0, 'DAPI', '', 2), channel(0, 'DAPI', '', 2)],
      'FILE_CORRUPT',
    ],
    [
      'when its reduced resolution has the channels in another order',
      [first, second, channel(1, 'FITC', '', 2), channel(0, 'DAPI', '', 2)],
      'FILE_CORRUPT',
    ],
    [
      'when its channels have different sizes',
      [first, page(greyDirectory(1, 2), 'FullResolution')],
      'FILE_CORRUPT',
    ],
    [
      'when its channels have different tile sizes',
      [first, page(greyDirectory(1, 1, { tileSize: 32 }), 'FullResolution')],
      'FILE_CORRUPT',
    ],
    ['when it has 65 channels (limit 64)', Array.from({ length: 65 }, () => first), 'FORMAT_NOT_SUPPORTED'],
    [
      'when two pages of full resolution are in colour',
      [brightfield[0], brightfield[0]] as DirectoryPlan[],
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when one of two channels is in colour',
      [first, brightfield[0]] as DirectoryPlan[],
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when a channel has one bit per pixel',
      [page(withTags(greyDirectory(0), { [tag.BitsPerSample]: short(1) }), 'FullResolution')],
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when a page has a width of 0',
      [first, page(withTags(greyDirectory(1), { [tag.ImageWidth]: short(0) }), 'FullResolution')],
      'FILE_CORRUPT',
    ],
    [
      'when its table of tile offsets has only one entry',
      [page(withTags(greyDirectory(0), { [tag.TileOffsets]: short(9) }), 'FullResolution')],
      'FILE_CORRUPT',
    ],
  ])('throws $2, in a message without the patient name, for a QPTIFF %s', async (_, directories, code) => {
    const opening = open(directories);
    await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
    await expect(opening).rejects.toMatchObject({ message: expect.not.stringContaining('DOE') });
  });

  it('throws LIMIT_EXCEEDED for a QPTIFF when the XML of its pages together has more than 16 MiB', async () => {
    const { bytes, directories } = buildTiff({ directories: fluorescence });
    // Sets the length of ImageDescription in each directory to 4 MiB; an entry of a classic TIFF has 12 bytes.
    for (const { at } of directories) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at);
      for (let entry = 2; entry < 2 + view.getUint16(0, true) * 12; entry += 12) {
        if (view.getUint16(entry, true) === tag.ImageDescription) view.setUint32(entry + 4, 2 ** 22, true);
      }
    }
    const paddedFile = Buffer.concat([bytes, Buffer.alloc(2 ** 22)]);
    await expect(openBytes(paddedFile)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('opens a QPTIFF with a damaged tile, and only reading that tile throws FILE_CORRUPT', async () => {
    const damagedTile = 4 + 1; // column 1, row 1 of 4 columns
    const damaged = {
      ...first,
      tiles: (first.tiles ?? []).map((tile, i) => (i === damagedTile ? Uint8Array.of(1, 2, 3) : tile)),
    };
    const slide = await open([damaged, second, ...fluorescence.slice(3, 5)]);
    await expect(slide.readTile({ level: 0, column: 1, row: 1 })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    expect(await slide.readTile({ level: 0, column: 0, row: 0 })).toMatchObject({ codec: 'rgb', width: 64 });
  });
});

const slides = process.env.TEST_SLIDES ?? '';
const skippedWithoutSlides = slides === '' ? ' (skipped: TEST_SLIDES names no folder of real slides)' : '';

describe.skipIf(slides === '')(
  `openSlide with the real slide small_vectra.qptiff${skippedWithoutSlides}`,
  () => {
    const path = join(slides, 'vectra-qptiff', 'small_vectra.qptiff');

    it('reads 1920 × 1440 pixels of 0.4965 µm, the objective power 10, label, macro and thumbnail', async () => {
      const slide = await openSlide({ path });
      expect(slide).toMatchObject({
        format: 'qptiff',
        objectivePower: 10,
        mpp: { x: expect.closeTo(0.49653, 4) },
      });
      expect(slide.levels).toMatchObject([{ width: 1920, height: 1440 }]);
      expect([...slide.associatedImages].sort()).toEqual(['label', 'macro', 'thumbnail']);
      await slide.close();
    });

    it('overlays three channels in blue, green and yellow, with the samples that libvips reads', async () => {
      const slide = await openSlide({ path });
      const { rgb } = await drawLevel(slide, 0);
      const sharp = await loadPeerSharp();
      const pages = await Promise.all(
        [0, 1, 2].map((number) => sharp(path, { page: number }).toColourspace('b-w').raw().toBuffer()),
      );
      const ranges = pages.map((samples) => {
        const sorted = samples.toSorted();
        const permille = Math.floor(samples.length / 1000);
        return { black: sorted[permille] as number, white: sorted[samples.length - 1 - permille] as number };
      });
      const [dapi, fitc, cy3] = pages.map((samples, i) => {
        const { black, white } = ranges[i] ?? { black: 0, white: 255 };
        return samples.map((sample) =>
          Math.max(0, Math.min(255, Math.round(((sample - black) * 255) / (white - black)))),
        );
      }) as [Buffer, Buffer, Buffer];
      let maxDifference = 0;
      for (let i = 0; i < dapi.length; i++) {
        const expected = [cy3[i], Math.min(255, (fitc[i] as number) + (cy3[i] as number)), dapi[i]];
        for (const [sample, level] of expected.entries()) {
          const actual = rgb[i * 3 + sample] as number;
          maxDifference = Math.max(maxDifference, Math.abs(actual - (level as number)));
        }
      }
      expect(maxDifference).toBeLessThanOrEqual(1);
      await slide.close();
    });
  },
);
