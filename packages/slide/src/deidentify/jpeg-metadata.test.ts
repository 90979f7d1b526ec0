import { describe, expect, it } from 'vitest';
import { thumbnailPixels } from '../render/render-thumbnail.ts';
import { layOutNdpi, ndpiBytes, ndpiDirectories } from '../testing/build-ndpi.ts';
import { buildTiff, type DirectoryPlan, long } from '../testing/build-tiff.ts';
import { difference } from '../testing/compare-pixels.ts';
import { deidentifiedCopy } from '../testing/deidentified-copy.ts';
import { encodePicture } from '../testing/encode-picture.ts';
import { withTags } from '../testing/lossless-directory.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';

const build = (...directories: DirectoryPlan[]) => buildTiff({ directories }).bytes;

describe('de-identified copy of a file with JPEG streams', () => {
  const segment = (marker: number, body: Uint8Array) =>
    Buffer.concat([Buffer.from([0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255]), body]);
  /** Inserts segments after the start-of-image marker. */
  const withSegments = (jpeg: Uint8Array, ...inserted: Uint8Array[]) =>
    Buffer.concat([jpeg.subarray(0, 2), ...inserted, jpeg.subarray(2)]);
  const name = 'Jane Doe 1970';
  const identifying = [
    segment(0xfe, Buffer.from(name)), // COM
    segment(0xe1, Buffer.from(`Exif\0\0${name}`)), // APP1
    segment(0xe0, Buffer.from(`JFXX\0${name}`)), // APP0, extension of JFIF
    segment(0xe2, Buffer.from(`MPF\0 ${name}`)), // APP2
    segment(0xef, Buffer.from(name.repeat(1000))), // APP15
  ];

  async function expectErased(bytes: Uint8Array): Promise<void> {
    expect(Buffer.from(bytes).includes(name)).toBe(true);
    const copy = await deidentifiedCopy(bytes);
    expect(copy.length).toBe(bytes.length);
    for (const part of ['Jane', 'Doe', '1970']) expect(copy.includes(part)).toBe(false);
    for (const partBytes of [1000, 4099, 65_536])
      expect(Buffer.compare(await deidentifiedCopy(bytes, partBytes), copy)).toBe(0);
    const pixels = await thumbnailPixels(await openBytes(bytes), 256);
    expect(difference(await thumbnailPixels(await openBytes(copy), 256), pixels).max).toBe(0);
  }

  it('has zeros in place of JPEG comments and application data when the file is NDPI', async () => {
    const directories = await ndpiDirectories({});
    const plans = directories.map((plan, i) => {
      if (i > 2) return plan;
      const jpeg = withSegments(plan.jpeg, ...identifying);
      const inserted = jpeg.length - plan.jpeg.length;
      const starts = plan.tags[tag.McuStarts]?.numbers.map((start) => start + inserted) ?? [];
      return { jpeg, tags: { ...plan.tags, [tag.McuStarts]: long(...starts) } };
    });
    await expectErased(ndpiBytes(layOutNdpi(plans)));
  });

  it('has zeros in place of JPEG comments and application data in the tiles and strips of a TIFF', async () => {
    for (const tileSize of [128, null]) {
      const plan = await encodePicture(paintTissue(480, 400), tileSize, 'ycbcr');
      const commented = (streams: DirectoryPlan['tiles']) =>
        streams?.map((stream) => stream && withSegments(stream, ...identifying));
      const bytes = build({
        ...plan,
        ...(plan.tiles && { tiles: commented(plan.tiles) ?? [] }),
        ...(plan.strips && { strips: commented(plan.strips) ?? [] }),
      });
      await expectErased(bytes);
    }
  });

  it('has zeros in place of comments in the JPEG tables of a TIFF, and of the bytes after the tables', async () => {
    const plan = await encodePicture(paintTissue(480, 400), 128, 'ycbcr');
    const tables = Uint8Array.from(plan.tags[tag.JPEGTables]?.numbers ?? []);
    const commented = Buffer.concat([withSegments(tables, ...identifying), Buffer.from(name)]);
    await expectErased(build(withTags(plan, { [tag.JPEGTables]: { type: 7, numbers: [...commented] } })));
  });

  it('keeps the ICC profile and the known bytes of a JFIF segment, but not a name that follows them in the segment', async () => {
    const plan = await encodePicture(paintTissue(128, 128), 128, 'ycbcr');
    const jfif = Buffer.from('JFIF\0\x01\x02\0\0\x01\0\x01\0\0', 'latin1');
    const profile = segment(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01profile'));
    const tile = withSegments(
      plan.tiles?.[0] ?? new Uint8Array(),
      segment(0xe0, Buffer.concat([jfif, Buffer.from(name)])),
      profile,
    );
    const copy = await deidentifiedCopy(build({ ...plan, tiles: [tile] }));
    expect([copy.includes(jfif), copy.includes(profile), copy.includes(name)]).toEqual([true, true, false]);
  });

  it('fails with LIMIT_EXCEEDED when a JPEG stream has more than 1,000 segments before its image', async () => {
    const plan = await encodePicture(paintTissue(128, 128), 128, 'ycbcr');
    const comments = Array.from({ length: 1001 }, () => segment(0xfe, new Uint8Array()));
    const tile = withSegments(plan.tiles?.[0] ?? new Uint8Array(), ...comments);
    await expect(deidentifiedCopy(build({ ...plan, tiles: [tile] }))).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
  });
});
