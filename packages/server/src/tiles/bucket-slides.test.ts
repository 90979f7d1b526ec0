/** Tests slides in a bucket through HTTP, while the object store works and fails. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { fingerprintOfVersions, type ObjectFacts, versionOfObject } from '@lamina/slide';
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

describe.each(tileAdapters)('through $tileAdapter', ({ tileFastPath }) => {
  let proxy: FaultProxy;
  let server: SlideServer;
  let session: string;
  let inBucket: string;
  let inFolder: string;

  /** Returns the catalogue entry that a scan would create. */
  const entryOf = (key: string, facts: ObjectFacts) =>
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
      inFolder = await server.idOf('a.svs');
      const facts = await putSlide(file, await buildSvs());
      inBucket = (await server.fixtures.image(entryOf(file, facts))).id;
      session = await server.sessionOf(await server.fixtures.user());
    });
    afterAll(async () => {
      await server?.close();
      await proxy?.close();
    });

    async function putSlide(key: string, bytes: Uint8Array): Promise<ObjectFacts> {
      const { store } = server.services.objectStorage ?? expect.fail('no object storage');
      const written = path.join(server.config.dataDir, 'to-be-put.svs');
      await fs.writeFile(written, bytes);
      return store.put(key, written);
    }

    const ask = async (imageId: string, what: string) => {
      const { statusCode, headers, rawPayload } = await server.pixels(`${imageId}/${what}`, session);
      return { status: statusCode, retryAfter: headers['retry-after'], bytes: rawPayload };
    };

    it.each(['image.dzi', 'thumbnail.jpg', nativeTile, renderedTile])(
      'returns the same bytes as a slide in a folder: %s',
      async (what) => {
        const [object, files] = [await ask(inBucket, what), await ask(inFolder, what)];
        expect([object.status, files.status]).toEqual([200, 200]);
        expect(object.bytes.equals(files.bytes)).toBe(true);
      },
    );

    it.each<[string, Fault]>([
      ['sends whole objects instead of parts', { kind: 'whole' }],
      ['sends a different byte range than requested', { kind: 'wrong-range' }],
      ['responds with 403', { kind: 'status', status: 403 }],
      ['redirects to another host', { kind: 'redirect', to: 'http://169.254.169.254/' }],
    ])('gets 503, not an error of a damaged file, when the object store %s', async (_, fault) => {
      const slide = await buildSvs({ properties: { AppMag: '20', Note: fault.kind } });
      const facts = await putSlide('Tissue/other.svs', slide);
      const { id } = await server.fixtures.image(entryOf('Tissue/other.svs', facts));
      proxy.failAlways(fault);
      for (const what of ['image.dzi', 'thumbnail.jpg', nativeTile, renderedTile]) {
        expect(await ask(id, what)).toMatchObject({ status: 503, retryAfter: '2' });
      }
      proxy.failAlways(null);
      await server.services.db.deleteFrom('images').where('id', '=', id).execute();
    });

    it('is served from the cache while the store is down, and uncached parts get 503', async () => {
      await ask(inBucket, otherNativeTile);
      proxy.failAlways({ kind: 'status', status: 503 });
      // A failed check opens the circuit breaker. Cached parts are served before and after it.
      await vi.waitFor(
        async () => {
          expect((await ask(inBucket, nativeTile)).status).toBe(200);
          expect((await ask(inBucket, 'thumbnail.jpg')).status).toBe(503);
        },
        { timeout: 50_000, interval: 200 },
      );
      expect((await ask(inBucket, renderedTile)).status).toBe(200);
      const other = await server.fixtures.image({
        root: 'bucket',
        path: 'Tissue/other.svs',
        fingerprint: 'x',
      });
      expect(await ask(other.id, 'image.dzi')).toMatchObject({ status: 503, retryAfter: '2' });
      expect((await ask(inFolder, otherRenderedTile)).status).toBe(200);
    });

    it('is served completely when the store is back', async () => {
      proxy.failAlways(null);
      await vi.waitFor(
        async () => expect((await ask(inBucket, 'thumbnail.jpg')).status).toBe(200),
        { timeout: 50_000, interval: 500 }, // the circuit breaker probes the store every 5 s
      );
      const [object, files] = [
        await ask(inBucket, otherRenderedTile),
        await ask(inFolder, otherRenderedTile),
      ];
      expect(object.status).toBe(200);
      expect(object.bytes.equals(files.bytes)).toBe(true);
    });

    it('is served from the new object after it was replaced', async () => {
      const before = await ask(inBucket, 'image.dzi');
      await putSlide(file, await buildSvs({ width: 300, height: 200, downsamples: [1] }));
      await vi.waitFor(
        async () => {
          const { status, bytes } = await ask(inBucket, 'image.dzi');
          expect(status).toBe(200);
          expect(bytes.equals(before.bytes)).toBe(false);
          expect(bytes.toString()).toContain('Width="300"');
        },
        { timeout: 50_000, interval: 100 },
      );
    });

    it('is found by a scan of the bucket and served', async () => {
      await putSlide('Found/found.svs', await buildSvs({ properties: { AppMag: '40' } }));
      await server.rescan();
      const id = await server.idOf('found.svs');
      for (const what of ['image.dzi', 'thumbnail.jpg', nativeTile, renderedTile]) {
        expect((await ask(id, what)).status).toBe(200);
      }
    });

    it('is 404 when its object does not exist', async () => {
      const gone = await server.fixtures.image({ root: 'bucket', path: 'Tissue/gone.svs', fingerprint: 'x' });
      expect((await ask(gone.id, 'image.dzi')).status).toBe(404);
    });

    it('causes no log line with the password of the store', () => {
      const { secretAccessKey } = server.config.objectStore ?? expect.fail('no object storage');
      expect(server.logged()).not.toContain(secretAccessKey);
    });
  });
});
