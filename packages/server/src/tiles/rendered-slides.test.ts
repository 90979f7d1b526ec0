/** Tests slides without native JPEG tiles through HTTP: the server renders all their tiles, and only render workers open their files. */
import { listImages } from '@lamina/contract';
import { buildCzi, buildEts, buildVsi } from '@lamina/slide/testing';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { tileAdapters } from '../testing/inject.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

const side = 600;
/** A CZI file stores the samples of a pixel in this order: blue, green, red. */
const pixels = new Uint8Array(side * side * 3).map((_, i) => [40, 120, 200][i % 3] as number);
const wholeImage = { x: 0, y: 0, width: side, height: side, pixelType: 3, compression: 0, data: pixels };
const czi = buildCzi({ subblocks: [wholeImage] });
const jpegXr = buildCzi({ subblocks: [{ ...wholeImage, compression: 4 }] });

describe.each(tileAdapters)('images via $tileAdapter (the fast path skips Fastify)', ({ tileFastPath }) => {
  let server: SlideServer;
  let session: string;
  beforeAll(async () => {
    server = await slideServer({ isShared: true, config: { tileFastPath } });
    await server.put('Set/good.czi', czi.bytes);
    await server.put('Set/jpeg-xr.czi', jpegXr.bytes);
    await server.put('Set/alone.mrxs', 'a preview');
    await server.put('Set/area.vsi', buildVsi([{ number: 1, width: 64, height: 64, type: 0 }]));
    const tile = { coordinates: [0, 0, 0, 0], data: new Uint8Array(64 * 64 * 3).fill(99) };
    await server.put(
      'Set/_area_/stack1/frame_t.ets',
      buildEts({ tileWidth: 64, tileHeight: 64, compression: 0, tiles: [tile] }),
    );
    await server.rescan();
    session = await server.sessionOf(await server.fixtures.user());
  });
  afterAll(() => server.close());

  async function pixelOf(jpeg: Buffer): Promise<number[]> {
    return [...(await sharp(jpeg).extract({ left: 5, top: 5, width: 1, height: 1 }).raw().toBuffer())];
  }

  describe('a slide without native JPEG tiles (whose tiles the server renders)', () => {
    it('returns a Deep Zoom descriptor, and tiles and a thumbnail with the colour of the file', async () => {
      const id = await server.idOf('good.czi');
      const descriptor = await server.pixels(`${id}/image.dzi`, session);
      expect(descriptor.body).toContain('TileSize="512" Overlap="0" Format="jpg"');
      expect(descriptor.body).toContain('<Size Width="600" Height="600"/>');
      for (const address of ['image_files/10/0_0.jpg', 'image_files/10/1_1.jpg', 'thumbnail.jpg']) {
        const answer = await server.pixels(`${id}/${address}`, session);
        expect(answer.statusCode, address).toBe(200);
        const [r = 0, g = 0, b = 0] = await pixelOf(answer.rawPayload);
        expect(Math.max(Math.abs(r - 200), Math.abs(g - 120), Math.abs(b - 40)), address).toBeLessThan(4);
      }
    });

    it('has a prerendered tile in the cache after a request has opened the slide', async () => {
      const { catalogue, slides } = server.services;
      const id = await server.idOf('good.czi');
      const image = await catalogue.servable(id);
      if (image === null) throw new Error('good.czi is not in the catalogue');
      await server.pixels(`${id}/image.dzi`, session); // opens the slide
      const cachedTile = { address: { dziLevel: 3, column: 0, row: 0 }, knownTag: undefined };
      // The request is aborted, so that only a cached tile can be returned.
      const client = { requester: { account: 'account', session: 'session' }, signal: AbortSignal.abort() };
      await vi.waitFor(
        async () => expect(await slides.tile(image, cachedTile, client)).toMatchObject({ source: 'kept' }), // from the cache
        { timeout: 50_000, interval: 200 },
      );
    });

    it('returns 404 for tiles and levels outside its Deep Zoom descriptor', async () => {
      const id = await server.idOf('good.czi');
      for (const address of ['10/2_0.jpg', '11/0_0.jpg']) {
        expect((await server.pixels(`${id}/image_files/${address}`, session)).statusCode).toBe(404);
      }
    });

    it('returns a tile of a VSI file whose pixels are in a companion folder', async () => {
      const id = await server.idOf('area.vsi');
      const answer = await server.pixels(`${id}/image_files/6/0_0.jpg`, session);
      expect(answer.statusCode).toBe(200);
      expect(await pixelOf(answer.rawPayload)).toEqual([99, 99, 99]);
      await expect(server.idOf('frame_t.ets')).rejects.toThrow('not in the catalogue');
    });

    it.each([
      ['a CZI file with JPEG XR compression', 'jpeg-xr.czi', /JPEG XR.+ZEN/],
      ['an MRXS file without its companion folder', 'alone.mrxs', /not complete/],
    ])('has the status failed with a reason in the image list when it is %s', async (_, name, reason) => {
      const { body } = await server.as(await server.fixtures.admin()).call(listImages);
      const image = body.images.find(({ file_name }) => file_name === name);
      expect(image).toMatchObject({ status: 'failed', error: expect.stringMatching(reason) });
    });
  });
});
