import { describe, expect, it } from 'vitest';
import { svsDirectories } from '../testing/build-svs.ts';
import { ascii, buildTiff, type DirectoryPlan } from '../testing/build-tiff.ts';
import { deidentifiedCopy } from '../testing/deidentified-copy.ts';
import { losslessPicture, withTags } from '../testing/lossless-directory.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { entriesOf, renameTag } from '../testing/tiff-entries.ts';
import { tag } from '../tiff/tags.ts';

const full = losslessPicture(paintTissue(480, 400), 64);
const build = (...directories: DirectoryPlan[]) => buildTiff({ directories }).bytes;

describe('texts in the de-identified copy of a TIFF', () => {
  const value = [...Buffer.from('Jane Doe 4711 ')];
  const fieldTypes = { BYTE: 1, ASCII: 2, SHORT: 3, UNDEFINED: 7 } as const;

  it.each([
    ['Artist', 315, 'BYTE'],
    ['Artist', 315, 'UNDEFINED'],
    ['Artist', 315, 'SHORT'],
    ['DateTime', 306, 'BYTE'],
    ['HostComputer', 316, 'ASCII'],
    ['DocumentName', 269, 'UNDEFINED'],
    ['Make', 271, 'ASCII'],
    ['Model', 272, 'UNDEFINED'],
    ['Software', tag.Software, 'ASCII'],
    ['ImageDescription', tag.ImageDescription, 'BYTE'],
    ['XMP', tag.XMP, 'BYTE'],
    ['a private tag', 65_000, 'SHORT'],
    ['ImageDepth', tag.ImageDepth, 'ASCII'],
  ] as const)('are not kept in %s (tag %i) of the field type %s', async (_, number, typeName) => {
    const type = fieldTypes[typeName];
    const bytes = Buffer.from(build(withTags(full, { [number]: { type, numbers: value } })));
    const written = Buffer.from(typeName === 'SHORT' ? value.flatMap((character) => [character, 0]) : value);
    expect(bytes.includes(written)).toBe(true);
    expect((await deidentifiedCopy(bytes)).includes(written.subarray(0, 12))).toBe(false);
  });

  it.each(['Hamamatsu', 'C9600-12', 'NDP.scan 2.5.89', 'OME Bio-Formats 6.7.0'])(
    'are kept in Software when they name a known program or device: %s',
    async (software) => {
      const copy = await deidentifiedCopy(build(withTags(full, { [tag.Software]: ascii(software) })));
      expect(copy.includes(software)).toBe(true);
    },
  );

  it('are not kept in the second of two ImageDescription entries of one directory', async () => {
    const description = ascii('Aperio Image Library v11 ');
    const bytes = Buffer.from(
      build(withTags(full, { [tag.ImageDescription]: description, 269: ascii('Aperio Jane Doe 1970 abc') })),
    );
    renameTag(bytes, 269, tag.ImageDescription);
    const copy = await deidentifiedCopy(bytes);
    expect(bytes.includes('Jane')).toBe(true);
    expect(copy.includes('Jane')).toBe(false);
  });

  it('are not kept when two directories share a text, whether the copy is read at once or in parts of 64 bytes', async () => {
    const plan = withTags(full, { [tag.ImageDescription]: ascii('Jane Doe '.repeat(40)) });
    const bytes = Buffer.from(build(plan, plan));
    const [first, secondEntry] = entriesOf(bytes, tag.ImageDescription);
    bytes.copy(bytes, secondEntry, first, (first ?? 0) + 12);
    const copy = await deidentifiedCopy(bytes);
    expect(copy.includes('Jane')).toBe(false);
    expect(Buffer.compare(await deidentifiedCopy(bytes, 64), copy)).toBe(0);
  });

  it('make the copy fail with an error about the overlap when two texts overlap in the file', async () => {
    const tags = {
      [tag.ImageDescription]: ascii('Jane Doe '.repeat(40)),
      271: ascii('Jane Doe and Company'),
    };
    const bytes = Buffer.from(build(withTags(full, tags)));
    const [description = 0] = entriesOf(bytes, tag.ImageDescription);
    const [make = 0] = entriesOf(bytes, 271);
    bytes.writeUInt32LE(bytes.readUInt32LE(description + 8) + 9, make + 8);
    await expect(deidentifiedCopy(bytes)).rejects.toThrow('overlap');
  });

  it('of an Aperio description with 100,000 line breaks or 200,000 digits are processed within the time limit of a test', async () => {
    const [first, ...others] = (await svsDirectories({})).slice(0, -2);
    for (const filler of ['\n '.repeat(100_000), `${'1'.repeat(200_000)}y`]) {
      const description = ascii(`Aperio Image Library v11${filler}`);
      const bytes = build(withTags(first, { [tag.ImageDescription]: description }), ...others);
      expect((await deidentifiedCopy(bytes)).byteLength).toBe(bytes.byteLength);
    }
  });
});
