/** Tests how the catalogue follows the slide folder: new, changed, missing and unreadable files, and metadata files. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { deleteImage, type User, updateImage } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it, vi } from 'vitest';
import type { SlideServer } from '../testing/slide-server.ts';
import { startCatalogueServer, svs } from './testing/catalogue-server.ts';

describe('catalogue of a slide folder', () => {
  /** Returns the number of images that a reader sees. */
  const countListed = async ({ services }: SlideServer, reader: User) =>
    (await services.catalogue.list({ limit: 500 }, reader)).images.length;

  it('lists new files, omits missing files, and reuses the entry of a missing file when the file reappears', async () => {
    const { server, listedNames, list, reader } = await startCatalogueServer();
    await server.put('Set/a.svs', svs);
    await server.put('Set/b.svs', svs);
    await server.rescan();
    const [before] = await list(reader);
    await fs.rm(path.join(server.config.slidesDir, 'Set/a.svs'));
    await server.rescan();
    expect(await listedNames()).toEqual(['b.svs']);
    await server.put('Set/a.svs', svs);
    await server.rescan();
    expect(await list(reader)).toContainEqual({ ...before, id: before?.id });
  });

  it('uses the first folder of a slide path as the dataset, also for demonstration slides', async () => {
    const { server, list, reader } = await startCatalogueServer();
    await server.put('Breast/2024/a.svs', svs);
    await server.put('b.svs', svs);
    const demo = path.join(server.config.dataDir, 'demo', 'Demo');
    await fs.mkdir(demo, { recursive: true });
    await fs.writeFile(path.join(demo, 'c.svs'), svs);
    await server.rescan();
    expect((await list(reader)).map((image) => [image.file_name, image.dataset_name])).toEqual([
      ['a.svs', 'Breast'],
      ['c.svs', 'Demo'],
      ['b.svs', null],
    ]);
  });

  it('updates dataset and organ of a slide when its metadata file (catalogue.csv) changes', async () => {
    const { server, list, reader } = await startCatalogueServer();
    await server.put('Set/a.svs', svs);
    await server.put('Set/catalogue.csv', 'file_name,dataset_name,organ_type\na.svs,Study,Meme\n');
    await server.rescan();
    expect(await list(reader)).toMatchObject([{ dataset_name: 'Study', organ_type: 'Meme' }]);
    await server.put('Set/catalogue.csv', 'file_name,organ_type\na.svs,Deri\n');
    await server.rescan();
    expect(await list(reader)).toMatchObject([{ dataset_name: 'Set', organ_type: 'Deri' }]);
  });

  it('keeps each field that an administrator has edited when metadata files or the slide file change', async () => {
    const { server, admin, list, reader } = await startCatalogueServer();
    await server.put('Set/a.svs', svs);
    await server.rescan();
    const imageId = await server.idOf('a.svs');
    await admin.call(updateImage, {
      params: { imageId },
      body: { organ_type: 'Set by hand', file_name: 'Case 1' },
    });
    await server.put('Set/catalogue.csv', 'file_name,dataset_name,organ_type\na.svs,Study,Meme\n');
    await server.put('Set/a.svs', await buildSvs({ width: 100, height: 100, downsamples: [1] }));
    await server.rescan();
    expect(await list(reader)).toMatchObject([
      { id: imageId, file_name: 'Case 1', dataset_name: 'Study', organ_type: 'Set by hand', width: 100 },
    ]);
  });

  it('keeps a removed entry removed after a scan, a restart and a change of its file', async () => {
    const { server, admin, listedNames } = await startCatalogueServer();
    await server.put('Set/a.svs', svs);
    await server.rescan();
    const imageId = await server.idOf('a.svs');
    await admin.call(deleteImage, { params: { imageId } });
    await server.rescan();
    await server.services.catalogue.start();
    await server.put('Set/a.svs', await buildSvs({ width: 100, height: 100, downsamples: [1] }));
    await server.rescan();
    expect(await listedNames(admin)).toEqual([]);
    expect(await fs.readdir(path.join(server.config.slidesDir, 'Set'))).toEqual(['a.svs']);
    await admin.call(updateImage, { params: { imageId }, body: { removed: false } });
    expect(await listedNames()).toEqual(['a.svs']);
  });

  it('reads a file again only when it has changed', async () => {
    const { server } = await startCatalogueServer();
    const inspect = vi.spyOn(server.services.slides, 'inspect');
    await server.put('Set/a.svs', svs);
    await server.put('Set/broken.svs', svs.subarray(0, 2000));
    await server.rescan();
    expect(inspect).toHaveBeenCalledTimes(2);
    await server.rescan();
    await server.rescan();
    expect(inspect).toHaveBeenCalledTimes(2);
    await server.put('Set/a.svs', svs);
    await server.rescan();
    expect(inspect).toHaveBeenCalledTimes(3);
  });

  it('reads again, at the start of the server, only the files that could not be read before', async () => {
    const { server } = await startCatalogueServer();
    await server.put('Set/a.svs', svs);
    await server.put('Set/broken.svs', svs.subarray(0, 2000));
    await server.rescan();
    const inspect = vi.spyOn(server.services.slides, 'inspect');
    await server.services.catalogue.start();
    await server.services.catalogue.settled();
    expect(inspect.mock.calls.map(([file]) => file.path)).toEqual(['Set/broken.svs']);
  });

  it.each([
    ['a truncated SVS file', 'cut.svs', svs.subarray(0, 2000)],
    ['an empty SVS file', 'empty.svs', new Uint8Array()],
    ['text in a .tif file', 'text.tif', 'This is no picture at all.'],
    ['text in a .dcm file', 'text.dcm', 'Nor is this.'],
    ['text in a .png file', 'picture.png', 'nor this'],
  ])(
    'lists %s to administrators as failed, with one sentence that gives the reason',
    async (_, name, bytes) => {
      const { server, admin, list, listedNames } = await startCatalogueServer();
      await server.put('Set/good.svs', svs);
      await server.put(`Set/${name}`, bytes);
      await server.rescan();
      expect(await listedNames()).toEqual(['good.svs']);
      const failed = (await list(admin)).find(({ file_name }) => file_name === name);
      expect(failed).toMatchObject({ status: 'failed', width: null, format: null });
      expect(failed?.error).toMatch(/^[A-Z][^/\\]*\.$/);
    },
  );

  it('lists a damaged file as ready after it is repaired', async () => {
    const { server, listedNames } = await startCatalogueServer();
    await server.put('Set/a.svs', svs.subarray(0, 2000));
    await server.rescan();
    expect(await listedNames()).toEqual([]);
    await server.put('Set/a.svs', svs);
    await server.rescan();
    expect(await listedNames()).toEqual(['a.svs']);
  });

  it('lists an unusable metadata file (catalogue.csv) as failed to administrators until it is corrected', async () => {
    const { server, admin, list, listedNames } = await startCatalogueServer();
    await server.put('Set/a.svs', svs);
    await server.put('Set/catalogue.csv', 'nonsense');
    await server.rescan();
    expect(await listedNames()).toEqual([]);
    expect(await list(admin)).toMatchObject([
      { file_name: 'a.svs', status: 'ready', hidden: true },
      {
        file_name: 'catalogue.csv',
        dataset_name: 'Set',
        status: 'failed',
        error: expect.stringMatching(/^catalogue\.csv: the first line names no column file_name\. /),
      },
    ]);
    await server.put('Set/catalogue.csv', 'file_name\n');
    await server.rescan();
    expect(await listedNames(admin)).toEqual(['a.svs']);
    expect(await listedNames()).toEqual(['a.svs']);
  });

  it('lists a file that is copied into the slide folder, without a request to scan the folder', async () => {
    const { server, admin, listedNames } = await startCatalogueServer();
    await server.services.catalogue.start();
    await server.put('New/a.svs', svs);
    await vi.waitFor(async () => expect(await listedNames(admin)).toEqual(['a.svs']), {
      timeout: 20_000,
      interval: 100,
    });
  }, 30_000);

  it('isEmpty returns false while the file of an entry exists, even when the entry is removed from the catalogue', async () => {
    const { server, admin } = await startCatalogueServer();
    const { catalogue } = server.services;
    expect(await catalogue.isEmpty()).toBe(true);
    await server.put('Set/a.svs', svs);
    await server.rescan();
    expect(await catalogue.isEmpty()).toBe(false);
    await admin.call(deleteImage, { params: { imageId: await server.idOf('a.svs') } });
    expect(await catalogue.isEmpty()).toBe(false);
    await fs.rm(path.join(server.config.slidesDir, 'Set'), { recursive: true });
    await server.rescan();
    expect(await catalogue.isEmpty()).toBe(true);
  });

  it('creates one entry for a file that three concurrent scans find', async () => {
    const { server } = await startCatalogueServer();
    const user = await server.fixtures.user();
    await server.put('Set/a.svs', svs);
    await Promise.all([server.rescan(), server.rescan(), server.rescan()]);
    expect(await countListed(server, user)).toBe(1);
  });
});
