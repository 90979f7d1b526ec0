import { describe, expect, it } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { ascii, buildTiff, type DirectoryPlan, short } from '../testing/build-tiff.ts';
import { difference } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';

const NAMESPACE = 'http://www.leica-microsystems.com/scn/2010/10/01';
/** Nanometres per pixel at full resolution. */
const SCALE = 500;
/** Size of the glass in nanometres. */
const GLASS = { width: 26_000_000, height: 76_000_000 };

/** A scanned image that the XML lists. */
interface ImagePlan {
  /** Pixels of full resolution. */
  readonly width: number;
  readonly height: number;
  /** Index of the directory of full resolution; the directories of smaller levels follow it. */
  readonly ifd: number;
  readonly downsamples?: readonly number[];
  /** Nanometres from the corner of the glass. */
  readonly x?: number;
  readonly y?: number;
  readonly objective?: string;
  /** Light source, e.g. `brightfield`. */
  readonly light?: string;
  /** Nanometres per pixel. */
  readonly scale?: number;
}

/** Returns the XML of a scanned image. */
const imageXml = ({
  width,
  height,
  ifd,
  downsamples = [1, 4],
  x = 5_000_000,
  y = 9_000_000,
  objective = '20',
  light = 'brightfield',
  scale = SCALE,
}: ImagePlan) => {
  const dimensions = downsamples.map(
    (downsample, r) =>
      `<dimension r="${r}" sizeX="${width / downsample}" sizeY="${height / downsample}" ifd="${ifd + r}"/>`,
  );
  // A second focal plane, whose directory the reader ignores.
  const otherFocalPlane = `<dimension r="0" z="1" sizeX="${width}" sizeY="${height}" ifd="0"/>`;
  return (
    '<image name="DOE^JANE" uuid="1"><creationDate>2012-03-04</creationDate><device model="SCN400" version="1"/>' +
    `<pixels sizeX="${width}" sizeY="${height}">${dimensions.reverse().join('')}${otherFocalPlane}</pixels>` +
    `<view sizeX="${width * scale}" sizeY="${height * scale}" offsetX="${x}" offsetY="${y}" spacingZ="0"/>` +
    `<scanSettings><objectiveSettings><objective>${objective}</objective></objectiveSettings>` +
    `<illuminationSettings><numericalAperture>0.4</numericalAperture><illuminationSource>${light}</illuminationSource></illuminationSettings></scanSettings></image>`
  );
};

/** Returns the XML of the image of the whole glass. @param ifd index of its only directory */
const macroXml = (ifd: number) =>
  '<image name="macro"><pixels sizeX="65" sizeY="190">' +
  `<dimension r="0" sizeX="65" sizeY="190" ifd="${ifd}"/></pixels>` +
  `<view sizeX="${GLASS.width}" sizeY="${GLASS.height}" offsetX="0" offsetY="0"/>` +
  '<scanSettings><illuminationSettings><illuminationSource>brightfield</illuminationSource></illuminationSettings></scanSettings></image>';

/** Returns the XML of a collection of images, with a patient's name that must not appear anywhere: DOE^JANE, also in Base64. */
const scnXml = (images: string, namespace = NAMESPACE) =>
  `<?xml version="1.0"?>\n<scn xmlns="${namespace}" uuid="2"><collection name="DOE^JANE" sizeX="${GLASS.width}" sizeY="${GLASS.height}">` +
  `<barcode>RE9FXkpBTkU=</barcode>${images}</collection></scn>`;

const [WIDTH, HEIGHT] = [400, 240];
const tissue = paintTissue(WIDTH, HEIGHT);
/** Directory of the image of the whole glass. */
const photograph = losslessPicture(paintTissue(65, 190), null);
/** Returns the directories of an image at full resolution and at a quarter of it. */
const levelsOf = (picture: Raster) =>
  [1, 4].map((downsample) => losslessPicture(shrinkRaster(picture, downsample), 64));

/** Directories and XML of a file with the image of the whole glass and one scanned image of two levels. */
const oneImage = [photograph, ...levelsOf(tissue)];
const ONE_IMAGE_XML = macroXml(0) + imageXml({ width: WIDTH, height: HEIGHT, ifd: 1 });

/** Builds an SCN file and opens it. */
function open(directories: DirectoryPlan[], xml: string): Promise<Slide> {
  const [first, ...others] = directories;
  const described = withTags(first, { [tag.ImageDescription]: ascii(xml) });
  return openBytes(buildTiff({ directories: [described, ...others], isBig: true }).bytes);
}

describe('a Leica SCN file with one brightfield image', () => {
  it.each([NAMESPACE, 'http://www.leica-microsystems.com/scn/2010/03/10'])(
    'has the metadata and levels that its XML states, and the original pixels, for the XML namespace %s',
    async (namespace) => {
      const slide = await open(oneImage, scnXml(ONE_IMAGE_XML, namespace));
      expect(slide).toMatchObject({
        format: 'leica-scn',
        vendor: 'Leica',
        objectivePower: 20,
        mpp: { x: expect.closeTo(0.5, 9), y: expect.closeTo(0.5, 9) },
      });
      expect(slide.levels).toMatchObject([
        { width: 400, height: 240, downsample: 1 },
        { width: 100, height: 60, downsample: 4 },
      ]);
      for (const [level, downsample] of [1, 4].entries()) {
        const expected = shrinkRaster(tissue, downsample);
        expect(difference(await drawLevel(slide, level), expected).max).toBe(0);
      }
    },
  );

  it('returns tiles that are stored as JPEG with the codec jpeg (not decoded)', async () => {
    const directories = await Promise.all(
      [1, 4].map((downsample) => encodePicture(shrinkRaster(tissue, downsample), 128, 'ycbcr')),
    );
    const slide = await open([photograph, ...directories], scnXml(ONE_IMAGE_XML));
    expect(slide.levels[0].needsRendering).toBeUndefined();
    expect((await slide.readTile({ level: 0, column: 1, row: 0 }))?.codec).toBe('jpeg');
  });

  it('has the image of the whole glass as macro, and throws ASSOCIATED_IMAGE_MISSING for a label', async () => {
    const slide = await open(oneImage, scnXml(ONE_IMAGE_XML));
    expect([...slide.associatedImages]).toEqual(['macro']);
    const macro = await decodeImage(await slide.readAssociatedImage('macro'));
    expect(difference(macro, paintTissue(65, 190)).max).toBe(0);
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
  });

  it('shows only the brightfield image if there is a fluorescence image too', async () => {
    const picture = paintTissue(480, 320);
    const fluorescence = imageXml({ width: 480, height: 320, ifd: 3, light: 'fluorescence', x: 0, y: 0 });
    const slide = await open(
      [...oneImage, ...levelsOf(picture)],
      scnXml(macroXml(0) + fluorescence + imageXml({ width: WIDTH, height: HEIGHT, ifd: 1 })),
    );
    const brightfield = await open(oneImage, scnXml(ONE_IMAGE_XML));
    expect(slide.levels).toEqual(brightfield.levels);
    for (const [level, downsample] of [1, 4].entries()) {
      expect(difference(await drawLevel(slide, level), shrinkRaster(tissue, downsample)).max).toBe(0);
    }
  });
});

describe('a Leica SCN file with several images', () => {
  // The second image begins 100 pixels to the right of the first one's right edge and 60 pixels below its top edge.
  const secondTissue = paintTissue(160, 120);
  const twoImagesXml = scnXml(
    macroXml(0) +
      imageXml({ width: WIDTH, height: HEIGHT, ifd: 1 }) +
      imageXml({ width: 160, height: 120, ifd: 3, x: 5_000_000 + 500 * SCALE, y: 9_000_000 + 60 * SCALE }),
  );

  it('shows all images at their positions on the glass, with white between them', async () => {
    const slide = await open([...oneImage, ...levelsOf(secondTissue)], twoImagesXml);
    // The second image ends at 500 + 160 = 660 pixels.
    expect(slide.levels).toMatchObject([
      { width: 660, height: 240, downsample: 1, needsRendering: true },
      { width: 165, height: 60, downsample: 4 },
    ]);
    for (const [level, downsample] of [1, 4].entries()) {
      const drawn = await drawLevel(slide, level);
      const crop = (x: number, y: number, width: number, height: number) =>
        cropRaster(drawn, x / downsample, y / downsample, width / downsample, height / downsample);
      expect(difference(crop(0, 0, WIDTH, HEIGHT), shrinkRaster(tissue, downsample)).max).toBe(0);
      expect(difference(crop(500, 60, 160, 120), shrinkRaster(secondTissue, downsample)).max).toBe(0);
      // Between the images, and above and below the second one.
      const glass = [crop(WIDTH, 0, 100, HEIGHT), crop(500, 0, 160, 60), crop(500, 180, 160, 60)];
      for (const { rgb } of glass) expect(rgb.every((sample) => sample === 255)).toBe(true);
    }
  });

  it('returns null for a tile between the images', async () => {
    const distantImagesXml = scnXml(
      imageXml({ width: WIDTH, height: HEIGHT, ifd: 0 }) +
        imageXml({ width: 160, height: 120, ifd: 2, x: 5_000_000 + 2000 * SCALE }),
    );
    const slide = await open([...levelsOf(tissue), ...levelsOf(secondTissue)], distantImagesXml);
    expect(slide.levels[0]).toMatchObject({ width: 2160, height: 240 });
    expect(await slide.readTile({ level: 0, column: 2, row: 0 })).toBeNull();
    expect(await slide.readTile({ level: 0, column: 4, row: 0 })).toMatchObject({
      codec: 'rgb',
      width: 112,
      height: 240,
    });
    await expect(slide.readTile({ level: 0, column: 5, row: 0 })).rejects.toMatchObject({
      code: 'TILE_OUT_OF_RANGE',
    });
  });

  it.each<[string, Partial<ImagePlan>]>([
    ['with another objective', { objective: '40' }],
    ['with another number of levels', { downsamples: [1] }],
    ['at another resolution', { scale: SCALE / 2 }],
  ])(
    'is rejected with FORMAT_NOT_SUPPORTED if the second image was scanned %s than the first',
    async (_, plan) => {
      const secondImage = imageXml({ width: 160, height: 120, ifd: 3, x: 20_000_000, ...plan });
      const xml = scnXml(ONE_IMAGE_XML + secondImage);
      await expect(open([...oneImage, ...levelsOf(secondTissue)], xml)).rejects.toMatchObject({
        code: 'FORMAT_NOT_SUPPORTED',
      });
    },
  );
});

describe('openSlideFrom (opens a slide)', () => {
  const whole = scnXml(ONE_IMAGE_XML);

  it.each<[string, DirectoryPlan[], string, string]>([
    ['when its XML is truncated', oneImage, whole.slice(0, -12), 'FILE_CORRUPT'],
    ['when the root element of its XML is not scn', oneImage, `<a xmlns="${NAMESPACE}"/>`, 'FILE_CORRUPT'],
    ['when its XML has no collection element', oneImage, `<scn xmlns="${NAMESPACE}"/>`, 'FILE_CORRUPT'],
    [
      'when its XML has a document type definition',
      oneImage,
      whole.replace('<scn', '<!DOCTYPE scn [<!ENTITY a "b">]><scn'),
      'FILE_CORRUPT',
    ],
    ['when its XML uses an undefined entity', oneImage, whole.replace('RE9F', '&lol;'), 'FILE_CORRUPT'],
    [
      'when the elements of its XML are nested 10,000 deep',
      oneImage,
      scnXml('<image>'.repeat(10_000)),
      'LIMIT_EXCEEDED',
    ],
    ['when it has only the image of the whole glass', oneImage, scnXml(macroXml(0)), 'NOT_A_SLIDE'],
    ['when it has no image', oneImage, scnXml(''), 'NOT_A_SLIDE'],
    [
      'when all images show fluorescence',
      oneImage,
      whole.replaceAll('>brightfield', '>fluorescence'),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when an image has no view element, which states its place on the glass',
      oneImage,
      whole.replace(/<view[^>]*offsetX="5[^>]*>/, ''),
      'FILE_CORRUPT',
    ],
    [
      'when a view (place of an image on the glass) has the width 0',
      oneImage,
      whole.replace('sizeX="200000"', 'sizeX="0"'),
      'FILE_CORRUPT',
    ],
    [
      'when a view (place of an image on the glass) has a negative offset',
      oneImage,
      whole.replace('offsetX="5000000"', 'offsetX="-1"'),
      'FILE_CORRUPT',
    ],
    [
      'when its collection element, which describes the glass, has no size',
      oneImage,
      whole.replace(`sizeX="${GLASS.width}" sizeY="${GLASS.height}"><b`, '><b'),
      'FILE_CORRUPT',
    ],
    [
      'when its XML names a TIFF directory beyond the last one',
      oneImage,
      whole.replace('ifd="2"', 'ifd="9"'),
      'FILE_CORRUPT',
    ],
    [
      'when its XML names a TIFF directory that is not a number',
      oneImage,
      whole.replace('ifd="2"', 'ifd="two"'),
      'FILE_CORRUPT',
    ],
    [
      'when a level and its TIFF directory have different sizes',
      oneImage,
      whole.replace('sizeX="100" sizeY="60"', 'sizeX="101" sizeY="60"'),
      'FILE_CORRUPT',
    ],
    [
      'when two levels name the same TIFF directory',
      oneImage,
      whole.replace('sizeX="100" sizeY="60" ifd="2"', 'sizeX="400" sizeY="240" ifd="1"'),
      'FILE_CORRUPT',
    ],
    [
      'when an image has no dimension element, which describes a level',
      oneImage,
      whole.replace(/<dimension r="[01]" sizeX="[14]00"[^>]*>/g, ''),
      'FILE_CORRUPT',
    ],
    [
      'when an image has 34 levels (limit 32)',
      oneImage,
      whole.replace(
        '<dimension r="1"',
        `${'<dimension r="1" sizeX="1" sizeY="1" ifd="2"/>'.repeat(32)}<dimension r="1"`,
      ),
      'LIMIT_EXCEEDED',
    ],
    [
      'when it has 257 images (limit 256)',
      oneImage,
      scnXml(imageXml({ width: WIDTH, height: HEIGHT, ifd: 1 }).repeat(257)),
      'LIMIT_EXCEEDED',
    ],
    [
      'when the TIFF directory of a level has the width 0',
      [...oneImage.slice(0, 2), withTags(oneImage[2], { [tag.ImageWidth]: short(0) })],
      whole,
      'FILE_CORRUPT',
    ],
    [
      'when its images lie further apart than a slide is wide',
      oneImage,
      scnXml(ONE_IMAGE_XML + imageXml({ width: WIDTH, height: HEIGHT, ifd: 1, x: 9_000_000_000_000_000 })),
      'LIMIT_EXCEEDED',
    ],
  ])(
    'throws $3, in a message without the patient name, for a Leica SCN file %s',
    async (_, directories, xml, code) => {
      const opening = open(directories, xml);
      await expect(opening).rejects.toMatchObject({ name: 'SlideError', code });
      await expect(opening).rejects.toMatchObject({ message: expect.not.stringContaining('DOE') });
    },
  );
});
