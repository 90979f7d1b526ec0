/** Tests that HTTP clients get the pixels of slides in a bucket (S3), while the object store works and while it fails. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { fingerprintOfVersions, type ObjectMetadata, versionOfObject } from '@lamina/slide';
import {
  buildSvs,
  type Fault,
  type FaultProxy,
  makeBucket,
  startFaultProxy,
  withoutObjectStore,
} from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { tileAdapters } from '../testing/inject.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

const file = 'Tissue/a.svs';
// The slide has 480 × 400 pixels in tiles of 128. Its native levels, at downsample 1 and 4, are the Deep Zoom levels 9 and 7 of 0…9.
const nativeTile = 'image_files/9/1_1.jpg';
const otherNativeTile = 'image_files/7/0_0.jpg';
const renderedTile = 'image_files/8/1_1.jpg';
const otherRenderedTile = 'image_files/6/0_0.jpg';

describe.each(tileAdapters)('images via $tileAdapter (the fast path skips Fastify):', ({ tileFastPath }) => {
  let proxy: FaultProxy;
  let server: SlideServer;
  let session: string;
  // The same slide, stored as an object of the bucket and as a file of the slide folder.
  let bucketImageId: string;
  let folderImageId: string;

  /** Returns the catalogue entry that a scan would create. */
  const catalogueEntryOf = (key: string, facts: ObjectMetadata) =>
    ({ root: 'bucket', path: key, fingerprint: fingerprintOfVersions([versionOfObject(facts)]) }) as const;

  describe.skipIf(withoutObjectStore !== null)(`a slide in a bucket (${withoutObjectStore ?? 'S3'})`, () => {
    beforeAll(async () => {
      const direct = await makeBucket('some/prefix/');
      proxy = await startFaultProxy(direct.endpoint);
      server = await slideServer({
        config: { objectStore: { ...direct, endpoint: proxy.endpoint }, tileFastPath },
        isShared: true,
      });
      await server.put(file, await buildSvs());
      await server.rescan();
      folderImageId = await server.idOf('a.svs');
      const facts = await putSlide(file, await buildSvs());
      bucketImageId = (await server.fixtures.image(catalogueEntryOf(file, facts))).id;
      session = await server.sessionOf(await server.fixtures.user());
    });
    afterAll(async () => {
      await server?.close();
      await proxy?.close();
    });

    async function putSlide(key: string, bytes: Uint8Array): Promise<ObjectMetadata> {
      const { store } = server.services.objectStorage ?? expect.fail('no object storage');
      const localFile = path.join(server.config.dataDir, 'to-be-put.svs');
      await fs.writeFile(localFile, bytes);
      return store.put(key, localFile);
    }

    /** Requests a part of an image, for example its thumbnail or a tile. */
    const fetchPart = async (imageId: string, part: string) => {
      const { statusCode, headers, rawPayload } = await server.pixels(`${imageId}/${part}`, session);
      return { status: statusCode, retryAfter: headers['retry-after'], bytes: rawPayload };
    };

    it.each(['image.dzi', 'thumbnail.jpg', nativeTile, renderedTile])(
      'returns for the path "%s" the bytes that an identical slide in a folder returns',
      async (part) => {
        const [object, files] = [await fetchPart(bucketImageId, part), await fetchPart(folderImageId, part)];
        expect([object.status, files.status]).toEqual([200, 200]);
        expect(object.bytes.equals(files.bytes)).toBe(true);
      },
    );

    it.each<[string, Fault]>([
      ['sends whole objects instead of parts', { kind: 'whole' }],
      ['sends a different byte range than requested', { kind: 'wrong-range' }],
      ['responds with 403', { kind: 'status', status: 403 }],
      ['redirects to another host', { kind: 'redirect', to: 'http://169.254.169.254/' }],
    ])('returns 503, not the error for a damaged file, when the object store %s', async (_, fault) => {
      const slide = await buildSvs({ properties: { AppMag: '20', Note: fault.kind } });
      const facts = await putSlide('Tissue/uncached.svs', slide);
      const { id } = await server.fixtures.image(catalogueEntryOf('Tissue/uncached.svs', facts));
      proxy.failAlways(fault);
      for (const part of ['image.dzi', 'thumbnail.jpg', nativeTile, renderedTile]) {
        expect(await fetchPart(id, part)).toMatchObject({ status: 503, retryAfter: '2' });
      }
      proxy.failAlways(null);
      await server.services.db.deleteFrom('images').where('id', '=', id).execute();
    });

    it('returns cached tiles while the object store is down, and 503 for everything that is not cached', async () => {
      await fetchPart(bucketImageId, otherNativeTile);
      proxy.failAlways({ kind: 'status', status: 503 });
      // A failed check opens the circuit breaker. Cached parts are served before and after it.
      await vi.waitFor(
        async () => {
          expect((await fetchPart(bucketImageId, nativeTile)).status).toBe(200);
          expect((await fetchPart(bucketImageId, 'thumbnail.jpg')).status).toBe(503);
        },
        { timeout: 50_000, interval: 200 },
      );
      expect((await fetchPart(bucketImageId, renderedTile)).status).toBe(200);
      const uncached = await server.fixtures.image({
        root: 'bucket',
        path: 'Tissue/uncached.svs',
        fingerprint: 'x',
      });
      expect(await fetchPart(uncached.id, 'image.dzi')).toMatchObject({ status: 503, retryAfter: '2' });
      expect((await fetchPart(folderImageId, otherRenderedTile)).status).toBe(200);
    });

    it('returns the thumbnail and an uncached tile when the object store is available again after an outage', async () => {
      proxy.failAlways(null);
      await vi.waitFor(
        async () => expect((await fetchPart(bucketImageId, 'thumbnail.jpg')).status).toBe(200),
        { timeout: 50_000, interval: 500 }, // the circuit breaker probes the store every 5 s
      );
      const [object, files] = [
        await fetchPart(bucketImageId, otherRenderedTile),
        await fetchPart(folderImageId, otherRenderedTile),
      ];
      expect(object.status).toBe(200);
      expect(object.bytes.equals(files.bytes)).toBe(true);
    });

    it('returns the new Deep Zoom descriptor after its object in the bucket was replaced', async () => {
      const before = await fetchPart(bucketImageId, 'image.dzi');
      await putSlide(file, await buildSvs({ width: 300, height: 200, downsamples: [1] }));
      await vi.waitFor(
        async () => {
          const { status, bytes } = await fetchPart(bucketImageId, 'image.dzi');
          expect(status).toBe(200);
          expect(bytes.equals(before.bytes)).toBe(false);
          expect(bytes.toString()).toContain('Width="300"');
        },
        { timeout: 50_000, interval: 100 },
      );
    });

    it('is found by a scan of the bucket, and then returns descriptor, thumbnail and tiles', async () => {
      await putSlide('Found/found.svs', await buildSvs({ properties: { AppMag: '40' } }));
      await server.rescan();
      const id = await server.idOf('found.svs');
      for (const part of ['image.dzi', 'thumbnail.jpg', nativeTile, renderedTile]) {
        expect((await fetchPart(id, part)).status).toBe(200);
      }
    });

    it('returns 404 when its object does not exist in the bucket', async () => {
      const gone = await server.fixtures.image({ root: 'bucket', path: 'Tissue/gone.svs', fingerprint: 'x' });
      expect((await fetchPart(gone.id, 'image.dzi')).status).toBe(404);
    });

    it('leaves no secret access key of the object store in the server log', () => {
      const { secretAccessKey } = server.config.objectStore ?? expect.fail('no object storage');
      expect(server.logged()).not.toContain(secretAccessKey);
    });
  });
});
