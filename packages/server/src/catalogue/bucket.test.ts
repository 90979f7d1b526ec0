/** The catalogue of a bucket, on a real S3 server behind a proxy that records requests and that tests can make fail. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { type Image, listImages, updateDataset, updateImage } from '@lamina/contract';
import {
  buildDicom,
  buildSvs,
  type Fault,
  makeBucket,
  startFaultProxy,
  withoutObjectStore,
} from '@lamina/slide/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { slideServer } from '../testing/slide-server.ts';

// Slides are read in separate processes, from an S3 server in another process, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

/** Builds a slide that tests recognise by its width, in pixels. */
const svsOf = (width: number) => buildSvs({ width, height: 64, tileSize: 64, downsamples: [1] });
const [narrowSlide, wideSlide] = [await svsOf(64), await svsOf(128)];
const unavailable: Fault = { kind: 'status', status: 503 };

/** Starts a server whose bucket tests can fill (`put`, `store`) and make fail (`proxy`). `inspect` records the reads of slides. */
async function startServerWithBucket() {
  const settings = await makeBucket('slides/');
  const proxy = await startFaultProxy(settings.endpoint);
  onTestFinished(() => proxy.close());
  const server = await slideServer({ config: { objectStore: { ...settings, endpoint: proxy.endpoint } } });
  const admin = server.as(await server.fixtures.admin());
  const store = server.services.objectStorage?.store;
  if (store === undefined) throw new Error('the server has no object store');
  const listAsAdmin = async (): Promise<readonly Image[]> => (await admin.call(listImages)).body.images;
  return {
    server,
    admin,
    proxy,
    store,
    listAsAdmin,
    inspect: vi.spyOn(server.services.slides, 'inspect'),
    async put(key: string, bytes: Uint8Array | string): Promise<void> {
      const file = path.join(server.config.dataDir, 'to-put');
      await fs.writeFile(file, bytes);
      await store.put(key, file);
    },
    /** Scans the slide folder and the bucket. Returns the images that an administrator sees. */
    async rescanAndList() {
      await server.rescan();
      return listAsAdmin();
    },
    /** Returns `dataset/file name` of each image by its id. */
    placesById: (images: readonly Image[]) =>
      Object.fromEntries(
        images.map(({ id, dataset_name, file_name }) => [id, `${dataset_name}/${file_name}`]),
      ),
  };
}

describe.skipIf(withoutObjectStore !== null)(
  'catalogue of slides in an S3 bucket (needs TEST_S3_ENDPOINT)',
  () => {
    it('treats object keys like file paths with regard to datasets, hidden folders, metadata files and slides of several files', async () => {
      const { put, rescanAndList } = await startServerWithBucket();
      await put('Breast/2026/a.svs', narrowSlide);
      await put('Breast/catalogue.csv', 'file_name,organ_type\na.svs,Meme\n');
      await put('b.svs', wideSlide);
      await put('Breast/.trash/c.svs', narrowSlide);
      await put('Breast/notes.txt', 'not a slide');
      await put('Colon/case/one', await buildDicom({ instance: '1' }));
      await put('Colon/case/two', await buildDicom({ instance: '2', downsample: 2 }));
      await put('Colon/m.mrxs', 'no real one');
      await put('Colon/m/Data0000.dat', '12345');
      const images = await rescanAndList();
      expect(
        images.map(({ dataset_name, file_name, organ_type, status }) => [
          dataset_name,
          file_name,
          organ_type,
          status,
        ]),
      ).toEqual([
        ['Breast', 'a.svs', 'Meme', 'ready'],
        ['Colon', 'm.mrxs', null, 'failed'],
        ['Colon', 'one', null, 'ready'],
        [null, 'b.svs', null, 'ready'],
      ]);
      expect(images[1]?.size_bytes).toBe(16); // 11 bytes of m.mrxs and 5 bytes of its companion m/Data0000.dat
    });

    it('keeps a slide in its restricted dataset when the object catalogue.csv is damaged or missing', async () => {
      const { server, admin, store, put, rescanAndList } = await startServerWithBucket();
      const reader = server.as(await server.fixtures.user({ role: 'viewer' }));
      const countVisible = async () => (await reader.call(listImages)).body.images.length;
      await put('Set/a.svs', narrowSlide);
      await put('Set/catalogue.csv', 'file_name,dataset_name\na.svs,Gizli\n');
      await rescanAndList();
      await admin.call(updateDataset, { body: { dataset: 'Gizli', access: 'restricted' } });
      for (const content of [Buffer.from([0xfd, 0xfe]), 'file_name,dataset_name\n']) {
        await put('Set/catalogue.csv', content);
        await rescanAndList();
        expect(await countVisible()).toBe(0);
      }
      await store.delete('Set/catalogue.csv');
      await put('Set/new.svs', wideSlide);
      await rescanAndList();
      expect(await countVisible()).toBe(0);
    });

    it('is scanned without reading an object when the listing of the bucket is unchanged', async () => {
      const { put, rescanAndList, proxy, inspect } = await startServerWithBucket();
      await put('Set/a.svs', narrowSlide);
      await put('Set/dataset.json', '{"organ_type":"Meme"}');
      await put('Set/case/one', await buildDicom({ instance: '1' }));
      await put('Set/case/two', await buildDicom({ instance: '2', downsample: 2 }));
      const before = await rescanAndList();
      const requestCount = proxy.requests.length;
      inspect.mockClear();
      expect(await rescanAndList()).toEqual(before);
      expect(proxy.requests.slice(requestCount)).toEqual([expect.stringMatching(/^GET \/test-[\w-]+\/?$/)]);
      expect(inspect).not.toHaveBeenCalled();
    });

    it('keeps the id and the edits of an entry when its object is moved, copied, replaced or deleted and added again', async () => {
      const { put, store, admin, rescanAndList, placesById, inspect } = await startServerWithBucket();
      await put('Set/a.svs', narrowSlide);
      const [first] = await rescanAndList();
      const id = first?.id ?? '';
      await admin.call(updateImage, { params: { imageId: id }, body: { organ_type: 'Meme' } });

      // Object storage cannot move an object: a move is a copy and a deletion.
      await put('Other/b.svs', narrowSlide);
      await store.delete('Set/a.svs');
      inspect.mockClear();
      expect(await rescanAndList()).toMatchObject([
        { id, dataset_name: 'Other', file_name: 'b.svs', organ_type: 'Meme' },
      ]);
      expect(inspect).not.toHaveBeenCalled();

      await put('Other/copy.svs', narrowSlide);
      const both = await rescanAndList(); // b.svs keeps the id; copy.svs gets a new one
      expect(Object.values(placesById(both))).toEqual(['Other/b.svs', 'Other/copy.svs']);
      expect(both.map((image) => image.id === id)).toEqual([true, false]);
      await store.delete('Other/copy.svs');

      await put('Other/b.svs', wideSlide);
      expect(await rescanAndList()).toMatchObject([{ id, width: 128, organ_type: 'Meme' }]);
      await store.delete('Other/b.svs');
      expect(await rescanAndList()).toEqual([]);
      await put('Set/c.svs', wideSlide);
      expect(placesById(await rescanAndList())).toEqual({ [id]: 'Set/c.svs' });
    });

    it('keeps its entries and logs one warning while the bucket is unreachable, and lists a new slide when the bucket is reachable again', async () => {
      const { server, put, rescanAndList, proxy, listAsAdmin } = await startServerWithBucket();
      await put('Set/a.svs', narrowSlide);
      await server.put('Folder/f.svs', wideSlide);
      const before = await rescanAndList();
      expect(before).toHaveLength(2);
      proxy.failAlways(unavailable);
      for (let i = 0; i < 3; i++) expect(await rescanAndList()).toEqual(before);
      const warnings = server
        .logged()
        .split('\n')
        .filter((line) => line.includes('slide storage `root` unreadable'));
      expect(warnings).toHaveLength(1);
      expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ root: 'bucket', path: '' });

      proxy.failAlways(null);
      await vi.waitFor(
        async () => {
          await put('Set/b.svs', wideSlide);
          await server.rescan();
          expect((await listAsAdmin()).map(({ file_name }) => file_name)).toContain('b.svs');
        },
        { timeout: 60_000, interval: 500 },
      );
    });
  },
);
