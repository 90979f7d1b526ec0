/** Colour profiles through HTTP: descriptor, colour table, tiles in sRGB, and thumbnails. */
import { gunzipSync } from 'node:zlib';
import { getActivity } from '@lamina/contract';
import { RenderPool, SlideError } from '@lamina/slide';
import { buildIcc, buildSvs } from '@lamina/slide/testing';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

/** 480 × 400 pixels in tiles of 128; native levels at downsample 1 and 4 are the Deep Zoom levels 9 and 7 of 0…9. */
const slideOptions = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;

describe('colour profiles of slides', () => {
  let server: SlideServer;
  let session: string;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    server = await slideServer({ isShared: true });
    const invalidProfile = Buffer.from('no profile '.repeat(40));
    const files = {
      'none.svs': await buildSvs(slideOptions),
      'scanner.svs': await buildSvs({ ...slideOptions, profile: buildIcc({ name: 'Scanner "7" <b>' }) }),
      'table.svs': await buildSvs({ ...slideOptions, profile: buildIcc({ kind: 'mft2' }) }),
      'interrupted.svs': await buildSvs({ ...slideOptions, profile: buildIcc() }),
      'unreadable.svs': await buildSvs({ ...slideOptions, profile: buildIcc() }),
      'broken.svs': await buildSvs({ ...slideOptions, profile: invalidProfile }),
      'print.svs': await buildSvs({ ...slideOptions, profile: buildIcc({ model: 'CMYK' }) }),
    };
    for (const [name, bytes] of Object.entries(files)) await server.put(`Tissue/${name}`, bytes);
    await server.rescan();
    for (const name of Object.keys(files)) ids[name] = await server.idOf(name);
    session = await server.sessionOf(await server.fixtures.user());
  });
  afterAll(() => server.close());

  const get = (name: string, path: string, headers: Record<string, string> = {}) =>
    server.pixels(`${ids[name]}/${path}`, session, { headers });
  const getConverted = (name: string, tile: string) =>
    server.pixels(`${ids[name]}/image_files/${tile}`, null, { query: { colour: 'srgb', session } });

  const profileOf = async (name: string) =>
    /<ColourProfile[^>]*>/.exec((await get(name, 'image.dzi')).body)?.[0] ?? null;

  describe('GET descriptor', () => {
    it('has no ColourProfile element for a slide without a profile', async () => {
      const { body } = await get('none.svs', 'image.dzi');
      expect(body).toMatch(/<Size Width="480" Height="400"\/><\/Image>\n$/);
    });

    it('contains the name of the profile, its size in bytes and the number of nodes of its colour table', async () => {
      const bytes = buildIcc({ name: 'Scanner "7" <b>' }).length;
      expect(await profileOf('scanner.svs')).toBe(
        `<ColourProfile xmlns="urn:lamina:colour" Name="Scanner &#34;7&#34; &#60;b&#62;" Bytes="${bytes}" TableNodes="33"/>`,
      );
    });

    it('states the reason in the attribute Ignored when the profile is broken or not for RGB', async () => {
      expect(await profileOf('broken.svs')).toBe(
        '<ColourProfile xmlns="urn:lamina:colour" Bytes="440" Ignored="broken"/>',
      );
      expect(await profileOf('print.svs')).toMatch(/ Name="Test scanner" Bytes="\d+" Ignored="model"\/>$/);
    });

    const unreadProfile = '<ColourProfile xmlns="urn:lamina:colour" Ignored="broken"/>';
    /** Makes reads of colour profiles fail as if each ended its render worker. @param times number of reads; absent: all */
    function failProfileReads(times?: number) {
      const readColour = vi.spyOn(RenderPool.prototype, 'colour');
      onTestFinished(() => readColour.mockRestore());
      const failure = new SlideError('DECODE_FAILED', 'The decoding process ended');
      if (times === undefined) readColour.mockRejectedValue(failure);
      else for (let i = 0; i < times; i++) readColour.mockRejectedValueOnce(failure);
      return readColour;
    }

    it('contains the profile at the next request after the render worker died while reading the profile', async () => {
      failProfileReads(1);
      const failed = await get('interrupted.svs', 'image.dzi');
      expect(failed.body).toContain(unreadProfile);
      const { etag } = failed.headers;
      const next = await get('interrupted.svs', 'image.dzi', { 'if-none-match': String(etag) });
      expect([next.statusCode, next.body]).toEqual([200, expect.stringContaining('TableNodes="33"')]);
    });

    it('makes no fourth attempt to read a profile after three render workers have died while reading it', async () => {
      const readColour = failProfileReads();
      for (let request = 0; request < 5; request++)
        expect(await profileOf('unreadable.svs')).toBe(unreadProfile);
      expect(readColour).toHaveBeenCalledTimes(3);
    });
  });

  describe('GET colour table', () => {
    it('returns a grid of 33 × 33 × 33 RGB colours, of which the first is black and the last is white', async () => {
      for (const name of ['scanner.svs', 'table.svs']) {
        const response = await get(name, 'colour-table');
        expect(response.statusCode).toBe(200);
        expect(response.headers).toMatchObject({
          'content-type': 'application/octet-stream',
          vary: 'Accept-Encoding',
        });
        expect(response.headers['cache-control']).toMatch(/^private, max-age=\d+$/);
        expect(response.rawPayload).toHaveLength(33 ** 3 * 3);
        expect(Math.max(...response.rawPayload.subarray(0, 3))).toBeLessThanOrEqual(1);
        expect(Math.min(...response.rawPayload.subarray(-3))).toBeGreaterThanOrEqual(254);
      }
    });

    it('returns samples in an order in which red varies fastest', async () => {
      const table = (await get('scanner.svs', 'colour-table')).rawPayload;
      const lastOfFirstRow = 32 * 3; // 33 nodes of 3 samples
      expect(table[lastOfFirstRow]).toBeGreaterThan(200);
      expect(table[lastOfFirstRow + 2]).toBeLessThan(100);
    });

    it('returns a compressed table with a different ETag to clients that accept gzip', async () => {
      const [plain, gzip, refused] = [
        await get('scanner.svs', 'colour-table'),
        await get('scanner.svs', 'colour-table', { 'accept-encoding': 'br, gzip' }),
        await get('scanner.svs', 'colour-table', { 'accept-encoding': 'gzip;q=0' }),
      ];
      expect(gzip.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(gzip.rawPayload)).toEqual(plain.rawPayload);
      expect(gzip.headers.etag).not.toBe(plain.headers.etag);
      expect(refused.headers['content-encoding']).toBeUndefined();
      expect(refused.rawPayload).toEqual(plain.rawPayload);
    });

    it('returns 304 without a body when If-None-Match equals the ETag', async () => {
      const { etag } = (await get('scanner.svs', 'colour-table')).headers;
      const response = await get('scanner.svs', 'colour-table', { 'if-none-match': String(etag) });
      expect([response.statusCode, response.body]).toEqual([304, '']);
    });

    it('returns 404 for a slide without a usable profile', async () => {
      for (const name of ['none.svs', 'broken.svs', 'print.svs']) {
        expect((await get(name, 'colour-table')).json()).toMatchObject({ code: 'not_found' });
      }
    });

    it('writes an image-opened audit event for the account', async () => {
      const reader = await server.fixtures.user();
      const readerSession = await server.sessionOf(reader);
      await server.pixels(`${ids['scanner.svs']}/colour-table`, readerSession);
      const { activity } = (await server.as(reader).call(getActivity)).body;
      expect(activity.filter(({ action }) => action === 'image-opened')).toMatchObject([
        { imageId: ids['scanner.svs'], subject: 'scanner.svs' },
      ]);
    });
  });

  const pixelsOf = async (jpeg: Uint8Array) => (await sharp(jpeg).raw().toBuffer()) as Uint8Array;

  /** Converts RGB pixels with the nearest node of the colour table, which is exact enough to compare mean values. */
  function convert(table: Uint8Array, pixels: Uint8Array): Uint8Array {
    const nodeOf = (sampleIndex: number) => Math.round(((pixels[sampleIndex] as number) / 255) * 32);
    return Uint8Array.from(pixels, (_, index) => {
      const red = index - (index % 3); // index of the first sample of the pixel
      const node = (nodeOf(red + 2) * 33 + nodeOf(red + 1)) * 33 + nodeOf(red);
      return table[node * 3 + (index % 3)] as number;
    });
  }

  function meanDifference(one: Uint8Array, other: Uint8Array): number {
    expect(one).toHaveLength(other.length);
    return (
      one.reduce((sum, sample, index) => sum + Math.abs(sample - (other[index] as number)), 0) / one.length
    );
  }

  describe('GET tile', () => {
    it('returns the colours of the file unchanged when the request does not ask for sRGB', async () => {
      for (const tile of ['9/1_1.jpg', '6/0_0.jpg']) {
        const [scanned, withoutProfile] = [
          await get('scanner.svs', `image_files/${tile}`),
          await get('none.svs', `image_files/${tile}`),
        ];
        expect(scanned.rawPayload).toEqual(withoutProfile.rawPayload);
      }
    });

    it.each([
      ['9/1_1.jpg', 'native level at full resolution'],
      ['7/0_0.jpg', 'native level at 1/4 resolution'],
      ['6/0_0.jpg', 'rendered level at 1/8 resolution'],
    ])(
      'returns the tile %s (%s) with the colours of the colour table when sRGB is requested',
      async (tile) => {
        const table = (await get('scanner.svs', 'colour-table')).rawPayload;
        const scanned = await get('scanner.svs', `image_files/${tile}`);
        const converted = await getConverted('scanner.svs', tile);
        expect(converted.statusCode).toBe(200);
        expect(converted.headers.etag).not.toBe(scanned.headers.etag);
        const pixels = await pixelsOf(scanned.rawPayload);
        const actual = await pixelsOf(converted.rawPayload);
        expect(meanDifference(actual, convert(table, pixels))).toBeLessThan(3);
        expect(meanDifference(actual, pixels)).toBeGreaterThan(5);
        expect((await getConverted('scanner.svs', tile)).rawPayload).toEqual(converted.rawPayload);
      },
    );

    it('returns the colours of the file when sRGB is requested but the profile is missing or ignored', async () => {
      for (const name of ['none.svs', 'broken.svs', 'print.svs']) {
        const [scanned, converted] = [
          await get(name, 'image_files/9/1_1.jpg'),
          await getConverted(name, '9/1_1.jpg'),
        ];
        expect(converted.rawPayload).toEqual(scanned.rawPayload);
        expect(converted.headers.etag).toBe(scanned.headers.etag);
      }
    });

    it('returns 400 for an unknown value of the parameter colour', async () => {
      const response = await server.pixels(`${ids['none.svs']}/image_files/9/1_1.jpg`, null, {
        query: { colour: 'cmyk', session },
      });
      expect(response.json()).toMatchObject({ code: 'invalid_request' });
    });
  });

  describe('GET thumbnail', () => {
    it('is in sRGB when the slide has a colour table, otherwise in the colours of the file', async () => {
      const table = (await get('scanner.svs', 'colour-table')).rawPayload;
      const [plain, converted, invalidProfile] = await Promise.all(
        ['none.svs', 'scanner.svs', 'broken.svs'].map(async (name) =>
          pixelsOf((await get(name, 'thumbnail.jpg')).rawPayload),
        ),
      );
      const scanned = plain as Uint8Array;
      expect(meanDifference(converted as Uint8Array, convert(table, scanned))).toBeLessThan(3);
      expect(meanDifference(converted as Uint8Array, scanned)).toBeGreaterThan(5);
      expect(invalidProfile).toEqual(scanned);
    });
  });
});
