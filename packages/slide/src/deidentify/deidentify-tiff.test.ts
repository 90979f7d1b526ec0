import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Slide } from '../model/slide.ts';
import { memorySource } from '../source/memory-source.ts';
import { buildOmeTiff, imageXml, omeXml, pixelsXml, RGB_XML, tissue } from '../testing/build-ome.ts';
import { ascii, buildTiff, type DirectoryPlan, long, short } from '../testing/build-tiff.ts';
import { deidentifiedCopy } from '../testing/deidentified-copy.ts';
import { losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { entriesOf, renameTag } from '../testing/tiff-entries.ts';
import { tag } from '../tiff/tags.ts';
import { openTiff } from '../tiff/tiff-file.ts';
import { deidentifyTiff } from './deidentify-tiff.ts';

const full = losslessPicture(paintTissue(480, 400), 64);
const label = losslessPicture(paintTissue(100, 160), 64);
const reduced = { [tag.NewSubfileType]: long(1) };
const mask = { [tag.NewSubfileType]: long(4) };

const build = (...directories: DirectoryPlan[]) => buildTiff({ directories }).bytes;
/** Whether the file contains the first tile of a directory. */
const hasTile = (bytes: Buffer, { tiles }: DirectoryPlan) => bytes.includes(Buffer.from(tiles?.[0] ?? []));

/** Returns the sizes of the directories of the main chain. */
async function sizesOf(bytes: Uint8Array): Promise<string[]> {
  const sizes: string[] = [];
  for (const directory of await (await openTiff(memorySource(bytes))).directories())
    sizes.push(`${await directory.number(tag.ImageWidth)}x${await directory.number(tag.ImageLength)}`);
  return sizes;
}

/** Expects that two files have equal levels and equal tiles. */
async function expectSameTiles(bytes: Uint8Array, copy: Uint8Array): Promise<void> {
  const slides: [Slide, Slide] = [await openBytes(bytes), await openBytes(copy)];
  const [original, copied] = slides;
  expect(copied.levels).toEqual(original.levels);
  for (const [level, { columns, rows }] of original.levels.entries()) {
    for (let i = 0; i < columns * rows; i++) {
      const address = { level, column: i % columns, row: Math.floor(i / columns) };
      // A failed `toEqual` would print the difference of large arrays, which takes minutes.
      const isEqual = isDeepStrictEqual(await copied.readTile(address), await original.readTile(address));
      expect([address, isEqual]).toEqual([address, true]);
    }
  }
}

describe('de-identified copy of a generic TIFF', () => {
  it('keeps a reduced level in a SubIFD whose next directory is the label, and removes the label', async () => {
    const level = losslessPicture(paintTissue(240, 200), 64);
    const { bytes, directories } = buildTiff({
      directories: [
        { ...full, subDirectories: [level] },
        withTags(label, { ...reduced, [tag.ImageDescription]: ascii('label') }),
      ],
      isChained: true,
    });
    const copy = await deidentifiedCopy(bytes);
    const nextAt = directories[0]?.subDirectories[0]?.nextAt ?? 0;
    expect([Buffer.from(bytes).readUInt32LE(nextAt), copy.readUInt32LE(nextAt)]).toEqual([
      directories[1]?.at,
      0,
    ]);
    expect([hasTile(copy, level), hasTile(copy, label)]).toEqual([true, false]);
    await expectSameTiles(bytes, copy);
  });

  it.each<[string, DirectoryPlan]>([
    ['a label marked as reduced', withTags(label, { ...reduced, [tag.ImageDescription]: ascii('label') })],
    ['a mask of another size', withTags(label, mask)],
    ['a reduced image of another shape', withTags(label, reduced)],
  ])('does not contain %s that precedes the slide in the file', async (_, first) => {
    const bytes = build(first, withTags(full, { [tag.NewSubfileType]: long(0) }));
    const copy = await deidentifiedCopy(bytes);
    expect([hasTile(copy, full), hasTile(copy, label)]).toEqual([true, false]);
    expect(await sizesOf(copy)).toEqual(['480x400']);
    await expectSameTiles(bytes, copy);
  });

  it('does not contain a smaller page of the shape of the slide that is not marked as reduced', async () => {
    const square = losslessPicture(paintTissue(400, 400), 64);
    const page = losslessPicture(paintTissue(100, 100), 64);
    const copy = await deidentifiedCopy(build(square, page));
    expect([hasTile(copy, square), hasTile(copy, page)]).toEqual([true, false]);
  });

  it('contains a level that is marked as reduced, a mask of the slide size and a second page of the slide size', async () => {
    const level = withTags(losslessPicture(paintTissue(240, 200), 64), reduced);
    const secondPage = losslessPicture(paintTissue(480, 400), 64);
    const bytes = build(full, level, withTags(secondPage, mask), secondPage);
    const copy = await deidentifiedCopy(bytes);
    expect(await sizesOf(copy)).toEqual(['480x400', '240x200', '480x400', '480x400']);
    await expectSameTiles(bytes, copy);
  });

  it('contains only the largest directory when all directories are marked as reduced', async () => {
    const bytes = build(withTags(label, reduced), withTags(full, reduced));
    const copy = await deidentifiedCopy(bytes);
    expect(await sizesOf(copy)).toEqual(['480x400']);
    await expectSameTiles(bytes, copy);
  });

  it.each([
    ['ImageDescription', { [tag.ImageDescription]: ascii('slide_label') }],
    ['PageName', { 285: ascii('Barcode') }],
  ])('is not possible when the %s of the slide names a label', async (_, tags) => {
    await expect(deidentifiedCopy(build(withTags(full, tags)))).rejects.toThrow('label');
  });

  it('is not possible for a Trestle slide, which is recognised by its program MedScan', async () => {
    const tags = { [tag.Software]: ascii('MedScan'), [tag.ImageDescription]: ascii('OverlapsXY= 32 32') };
    await expect(deidentifiedCopy(build(withTags(full, tags)))).rejects.toThrow('MedScan');
  });
});

describe('de-identified copy of a TIFF without valid byte counts', () => {
  const strips = losslessPicture(paintTissue(300, 200), null, 'none');

  it('has the pixels of the original when the byte counts of its uncompressed strips are 0', async () => {
    const zeros = long(...(strips.strips ?? []).map(() => 0));
    const bytes = build(withTags(strips, { [tag.StripByteCounts]: zeros }));
    await expectSameTiles(bytes, await deidentifiedCopy(bytes));
  });

  it('has the pixels of the original when the byte counts of its uncompressed strips are missing', async () => {
    const bytes = Buffer.from(build(strips));
    renameTag(bytes, tag.StripByteCounts, 65_000);
    await expectSameTiles(bytes, await deidentifiedCopy(bytes));
  });

  it('is not possible when the byte counts of its tiles are missing', async () => {
    const bytes = Buffer.from(build(full));
    renameTag(bytes, tag.TileByteCounts, 65_000);
    await expect(deidentifiedCopy(bytes)).rejects.toThrow('without a length');
  });
});

describe('de-identified copy of an OME-TIFF', () => {
  const second = (attributes: string, pixels: string) =>
    omeXml(
      imageXml(
        pixelsXml('SizeC="3"', '<Channel SamplesPerPixel="3"/><TiffData IFD="0" PlaneCount="1"/>'),
        'Name="scan"',
      ) +
        `<Image ID="Image:1" ${attributes}><Pixels DimensionOrder="XYCZT" ${pixels} SizeZ="1" SizeT="1" Type="uint8" SizeC="3"><Channel SamplesPerPixel="3"/><TiffData IFD="1" PlaneCount="1"/></Pixels></Image>`,
    );

  it.each([
    ['the name "label"', 'Name="label"'],
    ['the name "Label_1"', 'Name="Label_1"'],
    ['the name "slide_label"', 'Name="slide_label"'],
    ['the name "LabelImage"', 'Name="LabelImage"'],
    ['the name "Etikett"', 'Name="Etikett"'],
    ['no name', ''],
  ])('is not possible for a file with a second image of another shape and %s', async (_, attributes) => {
    const xml = second(attributes, 'SizeX="100" SizeY="160"');
    const bytes = buildOmeTiff(xml, [losslessPicture(tissue, 64), label]);
    await expect(deidentifiedCopy(bytes)).rejects.toThrow('label');
  });

  it('is not possible for a file with a smaller second image of the same shape that is not marked as reduced', async () => {
    const bytes = buildOmeTiff(second('', 'SizeX="150" SizeY="100"'), [
      losslessPicture(tissue, 64),
      losslessPicture(paintTissue(150, 100), 64),
    ]);
    await expect(deidentifiedCopy(bytes)).rejects.toThrow('another size');
  });

  it('does not contain an XML attribute value that has a greater-than sign ("Jane Doe > block A")', async () => {
    const xml = RGB_XML.replace('<Image ID', '<Image Name="Jane Doe > block A" ID');
    const bytes = buildOmeTiff(xml, [losslessPicture(tissue, 64)]);
    const copy = await deidentifiedCopy(bytes);
    expect(Buffer.from(bytes).includes('Jane Doe > block A')).toBe(true);
    for (const part of ['Jane', 'Doe', 'block']) expect(copy.includes(part)).toBe(false);
    await expectSameTiles(bytes, copy);
  });
});

describe('deidentifyTiff (plans the de-identified copy of a TIFF)', () => {
  /** Builds a TIFF of `count` directories of 32,768 × 32,768 pixels that share a table of 2^22 tiles, all at the same position. */
  function sharedTable(count: number): Buffer {
    const tiles = 2 ** 22;
    const table = Buffer.alloc(4 * tiles);
    for (let i = 0; i < tiles; i++) table.writeUInt32LE(1000, 4 * i);
    const plan = {
      tags: {
        [tag.NewSubfileType]: long(1),
        [tag.ImageWidth]: long(32_768),
        [tag.ImageLength]: long(32_768),
        [tag.BitsPerSample]: short(8),
        [tag.Compression]: short(7),
        [tag.TileWidth]: long(16),
        [tag.TileLength]: long(16),
        [tag.TileOffsets]: long(0),
        [tag.TileByteCounts]: long(0),
      },
    };
    const structure = Buffer.from(build(...Array.from({ length: count }, () => plan)));
    for (const number of [tag.TileOffsets, tag.TileByteCounts]) {
      for (const entry of entriesOf(structure, number)) {
        structure.writeUInt32LE(tiles, entry + 4);
        structure.writeUInt32LE(structure.length, entry + 8);
      }
    }
    return Buffer.concat([structure, table]);
  }

  it('accepts one directory with a table of 2^22 tiles (the limit), and rejects 31 directories that share this table', async () => {
    const { patches, jpegStreams } = await deidentifyTiff(memorySource(sharedTable(1)));
    expect([patches.length < 10, jpegStreams.length]).toEqual([true, 1]);
    await expect(deidentifyTiff(memorySource(sharedTable(31)))).rejects.toThrow('too many tiles');
  });

  it('rejects a file with 201 directories that share a text of 1 MiB (limit: 128 MiB; the text counts for each directory)', async () => {
    const plan = withTags(full, { [tag.ImageDescription]: ascii('x'.repeat(2 ** 20)) });
    const small = withTags(full, { [tag.ImageDescription]: ascii('x'.repeat(10)) });
    const bytes = Buffer.from(build(plan, ...Array.from({ length: 200 }, () => small)));
    const [first = 0, ...others] = entriesOf(bytes, tag.ImageDescription);
    for (const entry of others) bytes.copy(bytes, entry, first, first + 12);
    await expect(deidentifyTiff(memorySource(bytes))).rejects.toThrow('texts are too long');
  });
});
