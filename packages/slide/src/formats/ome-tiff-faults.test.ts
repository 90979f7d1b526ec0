/** Tests damaged and unsupported OME-TIFF files: each row of the table is a defect and the expected error code. */
import { describe, expect, it } from 'vitest';
import {
  buildOmeTiff,
  greyDirectory,
  HEIGHT,
  imageXml,
  omeXml,
  openOmeTiff,
  pixelsXml,
  RGB_XML,
  tissue,
  WIDTH,
} from '../testing/build-ome.ts';
import { type DirectoryPlan, short } from '../testing/build-tiff.ts';
import { losslessDirectory, losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { tag } from '../tiff/tags.ts';

describe('openSlideFrom (opens a slide from its files)', () => {
  const rgb = [losslessPicture(tissue, 64)];
  /** OME-XML of a colour image without the XML declaration. */
  const withoutDeclaration = RGB_XML.slice(RGB_XML.indexOf('?>') + 2);
  const grey16 = losslessDirectory({
    width: WIDTH,
    height: HEIGHT,
    tileSize: 64,
    samplesPerPixel: 1,
    bits: 16,
    sampleAt: (x) => x,
  });
  /** Returns OME-XML of one image with TiffData elements. */
  const withTiffData = (elements: string, attributes = 'SizeC="1"') =>
    omeXml(imageXml(pixelsXml(attributes, elements)));

  it.each<[string, string, DirectoryPlan[], string]>([
    ['when its XML is truncated', RGB_XML.slice(0, -20), rgb, 'FILE_CORRUPT'],
    [
      'when its XML has a document type definition',
      `<!DOCTYPE OME [<!ENTITY a "b">]>${withoutDeclaration}`,
      rgb,
      'FILE_CORRUPT',
    ],
    [
      'when its XML uses an undefined entity',
      RGB_XML.replace('<Channel', '&file;<Channel'),
      rgb,
      'FILE_CORRUPT',
    ],
    ['when the root element of its XML is not OME', `<a>${withoutDeclaration}</a>`, rgb, 'FILE_CORRUPT'],
    [
      'when the elements of its XML are nested 10,000 deep',
      omeXml('<a>'.repeat(10_000)),
      rgb,
      'LIMIT_EXCEEDED',
    ],
    ['when its XML has no Image element', omeXml(''), rgb, 'FILE_CORRUPT'],
    ['when an Image element of its XML has no Pixels element', omeXml(imageXml('')), rgb, 'FILE_CORRUPT'],
    ['when its XML states no image width (SizeX)', RGB_XML.replace('SizeX=', 'SizeQ='), rgb, 'FILE_CORRUPT'],
    [
      'when its XML states an image width (SizeX) of 0',
      RGB_XML.replace('SizeX="300"', 'SizeX="0"'),
      rgb,
      'FILE_CORRUPT',
    ],
    [
      'when its XML states a negative image width (SizeX)',
      RGB_XML.replace('SizeX="300"', 'SizeX="-300"'),
      rgb,
      'FILE_CORRUPT',
    ],
    [
      'when the image width in its XML (SizeX) differs from that in the TIFF directory',
      RGB_XML.replace('SizeX="300"', 'SizeX="301"'),
      rgb,
      'FILE_CORRUPT',
    ],
    [
      'when its number of channels (SizeC) is no multiple of the samples per pixel',
      RGB_XML.replace('SizeC="3"', 'SizeC="4"'),
      rgb,
      'FILE_CORRUPT',
    ],
    [
      'when it has 10^9 channels',
      withTiffData('', 'SizeC="1000000000"'),
      [greyDirectory(0)],
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when it has 2^50 focal planes',
      RGB_XML.replace('SizeZ="1"', 'SizeZ="1125899906842624"'),
      rgb,
      'LIMIT_EXCEEDED',
    ],
    ['when its DimensionOrder is unknown', RGB_XML.replace('XYCZT', 'XYQQQ'), rgb, 'FILE_CORRUPT'],
    [
      'when a TiffData element names a directory (IFD) beyond the last one',
      withTiffData('<TiffData IFD="7"/>'),
      [greyDirectory(0)],
      'FILE_CORRUPT',
    ],
    [
      'when the directory (IFD) of a TiffData element is not a number',
      withTiffData('<TiffData IFD="x"/>'),
      [greyDirectory(0)],
      'FILE_CORRUPT',
    ],
    [
      'when a TiffData element begins at a focal plane (FirstZ) beyond the last one (SizeZ)',
      withTiffData('<TiffData FirstZ="3" IFD="0"/>'),
      [greyDirectory(0)],
      'FILE_CORRUPT',
    ],
    [
      'when the PlaneCount of a TiffData element is -1',
      withTiffData('<TiffData IFD="0" PlaneCount="-1"/>'),
      [greyDirectory(0)],
      'FILE_CORRUPT',
    ],
    [
      'when its XML assigns no TIFF directory to a channel',
      withTiffData('<TiffData IFD="0"/>', 'SizeC="2"'),
      [greyDirectory(0), greyDirectory(1)],
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when its channels have different sizes',
      withTiffData('<TiffData/>', 'SizeC="2"'),
      [
        greyDirectory(0),
        losslessDirectory({
          width: 299,
          height: 200,
          tileSize: 64,
          samplesPerPixel: 1,
          bits: 8,
          sampleAt: () => 0,
        }),
      ],
      'FILE_CORRUPT',
    ],
    [
      'when its channels have different tile sizes',
      withTiffData('<TiffData/>', 'SizeC="2"'),
      [greyDirectory(0), greyDirectory(1, 32)],
      'FILE_CORRUPT',
    ],
    [
      'when only one of two channels has a pyramid',
      withTiffData('<TiffData/>', 'SizeC="2"'),
      [
        {
          ...greyDirectory(0),
          subDirectories: [
            withTags(
              losslessDirectory({
                width: 150,
                height: 100,
                tileSize: 64,
                samplesPerPixel: 1,
                bits: 8,
                sampleAt: () => 0,
              }),
              {},
            ),
          ],
        },
        greyDirectory(1),
      ],
      'FILE_CORRUPT',
    ],
    [
      'when one of two channels is in colour',
      withTiffData('<TiffData/>', 'SizeC="2"'),
      [greyDirectory(0), losslessPicture(tissue, 64)],
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when two channels are in colour',
      omeXml(imageXml(pixelsXml('SizeC="6"', '<TiffData/>'))),
      [...rgb, ...rgb],
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when a channel has floating-point samples',
      withTiffData('<TiffData/>'),
      [withTags(greyDirectory(0), { [tag.SampleFormat]: short(3) })],
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when its channels have signed 16-bit samples',
      withTiffData('<TiffData/>', 'SizeC="2"'),
      [0, 1].map(() => withTags(grey16, { [tag.SampleFormat]: short(2) })),
      'FORMAT_NOT_SUPPORTED',
    ],
    [
      'when its channels have tiles of more than 2^24 pixels',
      withTiffData('<TiffData/>', 'SizeC="2"'),
      [0, 1].map((index) =>
        withTags(greyDirectory(index), { [tag.TileWidth]: short(8192), [tag.TileLength]: short(4096) }),
      ),
      'LIMIT_EXCEEDED',
    ],
    [
      'when it has two channels that are stored rotated (Orientation 6)',
      withTiffData('<TiffData/>', 'SizeC="2"'),
      [0, 1].map((index) => withTags(greyDirectory(index), { [tag.Orientation]: short(6) })),
      'FORMAT_NOT_SUPPORTED',
    ],
  ])('throws $3 for an OME-TIFF %s', async (_, xml, directories, code) => {
    await expect(openOmeTiff(xml, directories)).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('rejects an OME-TIFF with invalid XML, and leaves a patient name in this XML out of the error message', async () => {
    const xml = omeXml(
      imageXml(pixelsXml('SizeC="3" Type="DOE^JANE"', '<TiffData IFD="DOE^JANE"/>'), 'Name="DOE^JANE"'),
    );
    await expect(openOmeTiff(xml, rgb)).rejects.toMatchObject({
      message: expect.not.stringContaining('DOE'),
    });
  });

  it('rejects an OME-TIFF truncated at any length with FILE_TRUNCATED or FORMAT_NOT_RECOGNISED', async () => {
    const file = buildOmeTiff(RGB_XML, [
      losslessDirectory({
        width: 20,
        height: 20,
        tileSize: 16,
        samplesPerPixel: 3,
        bits: 8,
        sampleAt: () => 7,
      }),
    ]);
    const outcomes = new Set<string>();
    for (let length = 0; length < file.length; length++) {
      const outcome = await openBytes(file.subarray(0, length)).then(
        () => 'opened',
        ({ name, code }: { name: string; code: string }) => `${name} ${code}`,
      );
      outcomes.add(outcome);
    }
    expect([...outcomes].sort()).toEqual(['SlideError FILE_TRUNCATED', 'SlideError FORMAT_NOT_RECOGNISED']);
  });
});
