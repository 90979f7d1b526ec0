/** The catalogue entry of a file that is moved, renamed, replaced, copied, removed or restored. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { deleteImage, type Image, listImages, updateImage } from '@lamina/contract';
import { buildDicom, buildSvs } from '@lamina/slide/testing';
import { describe, expect, it, vi } from 'vitest';
import { createServices } from '../services.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';
import { reconcile } from './reconcile.ts';

// Slides are read in separate processes, which start slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** Builds a slide that tests recognise by its width, in pixels. */
const svsOf = (width: number) => buildSvs({ width, height: 64, tileSize: 64, downsamples: [1] });
const [narrowSlide, wideSlide] = [await svsOf(64), await svsOf(128)];

/** Starts a server, and returns functions that move slide files and scan. `inspect` records the reads of slide files. */
async function startServer(database: 'SQLite' | 'PostgreSQL' = 'SQLite') {
  const server = await slideServer({ database });
  const admin = server.as(await server.fixtures.admin());
  const absolute = (relativePath: string) => path.join(server.config.slidesDir, relativePath);
  const listAsAdmin = async (): Promise<readonly Image[]> => (await admin.call(listImages)).body.images;
  return {
    server,
    admin,
    absolute,
    inspect: vi.spyOn(server.services.slides, 'inspect'),
    async move(from: string, to: string): Promise<void> {
      await fs.mkdir(path.dirname(absolute(to)), { recursive: true });
      await fs.rename(absolute(from), absolute(to));
    },
    /** Scans the slide folder. Returns the images that an administrator sees. */
    async rescanAndList() {
      await server.rescan();
      return listAsAdmin();
    },
    /** Returns `dataset/file name` of each image by its id. */
    placesById: (images: readonly Image[]) =>
      Object.fromEntries(
        images.map(({ id, dataset_name, file_name }) => [id, `${dataset_name}/${file_name}`]),
      ),
    auditEntriesOf: async (imageId: string) =>
      server.services.db
        .selectFrom('audit')
        .select(['action', 'detail'])
        .where('target', '=', imageId)
        .where('action', 'not in', ['image-imported', 'image-edited'])
        .orderBy('seq')
        .execute(),
  };
}

const idOf = (images: readonly Image[], name: string): string => {
  const image = images.find(({ file_name }) => file_name === name);
  if (image === undefined) throw new Error(`${name} is not listed`);
  return image.id;
};

describe.each(databaseKinds)('catalogue entry of a slide (database: %s)', (database) => {
  it('follows a file that is renamed and moved to another folder, and gets audit events about the move', async () => {
    const { server, rescanAndList, move, inspect, auditEntriesOf } = await startServer(database);
    await server.put('Breast/a.svs', narrowSlide);
    const [before] = await rescanAndList();
    await move('Breast/a.svs', 'Colon/2026/b.svs');
    inspect.mockClear();
    expect(await rescanAndList()).toEqual([{ ...before, dataset_name: 'Colon', file_name: 'b.svs' }]);
    expect(inspect).not.toHaveBeenCalled();
    expect(await auditEntriesOf(before?.id ?? '')).toEqual([
      { action: 'image-moved', detail: '{"from":"Breast/a.svs","to":"Colon/2026/b.svs"}' },
      { action: 'image-dataset-changed', detail: '{"dataset_before":"Breast","dataset_after":"Colon"}' },
    ]);
  });

  it('keeps the name, dataset and organ that an administrator entered when its file is moved', async () => {
    const { server, admin, rescanAndList, move } = await startServer(database);
    await server.put('Breast/a.svs', narrowSlide);
    const [before] = await rescanAndList();
    await admin.call(updateImage, {
      params: { imageId: before?.id ?? '' },
      body: { dataset_name: 'Study', organ_type: 'Meme', file_name: 'Case 1' },
    });
    await move('Breast/a.svs', 'Colon/b.svs');
    expect(await rescanAndList()).toMatchObject([
      { id: before?.id, dataset_name: 'Study', organ_type: 'Meme', file_name: 'Case 1' },
    ]);
  });

  it('follows its file when two files swap names', async () => {
    const { server, rescanAndList, move, inspect, placesById } = await startServer(database);
    await server.put('Set/a.svs', narrowSlide);
    await server.put('Set/b.svs', wideSlide);
    const before = await rescanAndList();
    const [a, b] = [idOf(before, 'a.svs'), idOf(before, 'b.svs')];
    await move('Set/a.svs', 'Set/c');
    await move('Set/b.svs', 'Set/a.svs');
    await move('Set/c', 'Set/b.svs');
    inspect.mockClear();
    const after = await rescanAndList();
    expect(placesById(after)).toEqual({ [a]: 'Set/b.svs', [b]: 'Set/a.svs' });
    expect(after.map(({ width, file_name }) => [file_name, width])).toEqual([
      ['a.svs', 128],
      ['b.svs', 64],
    ]);
    expect(inspect).not.toHaveBeenCalled();
  });

  it('is marked as missing when the file of another slide is moved to its path', async () => {
    const { server, rescanAndList, move, placesById, auditEntriesOf } = await startServer(database);
    await server.put('Set/a.svs', narrowSlide);
    await server.put('Set/b.svs', wideSlide);
    const before = await rescanAndList();
    await move('Set/b.svs', 'Set/a.svs');
    expect(placesById(await rescanAndList())).toEqual({ [idOf(before, 'b.svs')]: 'Set/a.svs' });
    expect(await auditEntriesOf(idOf(before, 'a.svs'))).toEqual([{ action: 'image-missing', detail: '{}' }]);
  });

  it('follows its file to the new path of a moved folder although new files are put at the old paths', async () => {
    const { server, rescanAndList, move, placesById } = await startServer(database);
    for (const name of ['a', 'b', 'c']) await server.put(`Old/${name}.svs`, await svsOf(80));
    const before = await rescanAndList();
    await move('Old', 'New');
    await server.put('Old/a.svs', wideSlide);
    const after = await rescanAndList();
    for (const { id, file_name } of before) expect(placesById(after)[id]).toBe(`New/${file_name}`);
    expect(after.map(({ dataset_name, file_name }) => `${dataset_name}/${file_name}`)).toEqual([
      'New/a.svs',
      'New/b.svs',
      'New/c.svs',
      'Old/a.svs',
    ]);
  });

  it('keeps a pixel size that an administrator entered when its file is replaced and read again', async () => {
    const { server, admin, rescanAndList } = await startServer(database);
    await server.put('a.svs', narrowSlide);
    const [before] = await rescanAndList();
    const params = { imageId: before?.id ?? '' };
    await admin.call(updateImage, { params, body: { calibration: { mpp: 0.33 } } });
    await server.put('a.svs', wideSlide);
    expect(await rescanAndList()).toMatchObject([{ width: 128, mpp_x: 0.33, scale_entered: true }]);
    await admin.call(updateImage, { params, body: { calibration: null } });
    const [after] = await rescanAndList();
    expect([after?.mpp_x, after?.scale_entered]).toEqual([before?.mpp_x, undefined]);
    expect(before?.mpp_x).not.toBe(0.33);
  });

  it('keeps its id and its edits when its file is replaced, and shows the properties of the new file', async () => {
    const { server, admin, rescanAndList } = await startServer(database);
    await server.put('Set/a.svs', narrowSlide);
    const [before] = await rescanAndList();
    await admin.call(updateImage, { params: { imageId: before?.id ?? '' }, body: { organ_type: 'Meme' } });
    await server.put('Set/a.svs', wideSlide);
    expect(await rescanAndList()).toMatchObject([{ id: before?.id, width: 128, organ_type: 'Meme' }]);
  });

  it('is marked as missing when its file disappears, and is listed again when the file reappears at any path', async () => {
    const { server, rescanAndList, move, placesById, auditEntriesOf } = await startServer(database);
    await server.put('Set/a.svs', narrowSlide);
    const [before] = await rescanAndList();
    const id = before?.id ?? '';
    await move('Set/a.svs', '../elsewhere.svs');
    expect(await rescanAndList()).toEqual([]);
    await move('../elsewhere.svs', 'Other/b.svs');
    expect(placesById(await rescanAndList())).toEqual({ [id]: 'Other/b.svs' });
    await fs.rm(path.join(server.config.slidesDir, 'Other/b.svs'));
    expect(await rescanAndList()).toEqual([]);
    await server.put('Other/b.svs', wideSlide); // another file at the same path
    expect(await rescanAndList()).toMatchObject([{ id, width: 128 }]);
    expect((await auditEntriesOf(id)).map(({ action }) => action)).toEqual([
      'image-missing',
      'image-moved',
      'image-dataset-changed', // from Set to Other
      'image-missing',
    ]);
  });

  it('is created for each copy of the slide file and for each hard link to the file', async () => {
    const { server, rescanAndList, absolute, placesById } = await startServer(database);
    await server.put('Set/a.svs', narrowSlide);
    const [before] = await rescanAndList();
    await fs.copyFile(absolute('Set/a.svs'), absolute('Set/copy.svs'));
    await fs.link(absolute('Set/a.svs'), absolute('Set/link.svs'));
    const after = await rescanAndList();
    expect(Object.values(placesById(after))).toEqual(['Set/a.svs', 'Set/copy.svs', 'Set/link.svs']);
    expect(idOf(after, 'a.svs')).toBe(before?.id);
    expect(after.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready']);
    expect(await rescanAndList()).toEqual(after);
  });

  it('that an administrator removed stays removed when its file is moved', async () => {
    const { server, admin, rescanAndList, move } = await startServer(database);
    await server.put('Set/a.svs', narrowSlide);
    const [before] = await rescanAndList();
    await admin.call(deleteImage, { params: { imageId: before?.id ?? '' } });
    await move('Set/a.svs', 'Other/b.svs');
    expect(await rescanAndList()).toEqual([]);
  });

  it('follows a file that was moved while no server was running', async () => {
    const { server, rescanAndList, move, placesById } = await startServer(database);
    await server.put('Set/a.svs', narrowSlide);
    await server.put('Set/b.svs', wideSlide);
    const before = await rescanAndList();
    await move('Set/a.svs', 'Other/a.svs');
    await move('Set/b.svs', 'Set/a.svs');
    const { config, services } = server;
    const restarted = await createServices({ config, db: services.db, log: services.log });
    try {
      await restarted.catalogue.start();
      await restarted.catalogue.settled();
    } finally {
      for (const service of [restarted.catalogue, restarted.jobs, restarted.slides]) await service.close();
    }
    expect(placesById(await rescanAndList())).toEqual({
      [idOf(before, 'a.svs')]: 'Other/a.svs',
      [idOf(before, 'b.svs')]: 'Set/a.svs',
    });
  });
});

describe('slide of several files', () => {
  it('keeps its entry when it is a DICOM series whose folder is moved', async () => {
    const { server, rescanAndList, move, inspect, placesById } = await startServer();
    await server.put('Breast/case/a.dcm', await buildDicom({ instance: '1' }));
    await server.put('Breast/case/b.dcm', await buildDicom({ instance: '2', downsample: 2 }));
    const [before] = await rescanAndList();
    inspect.mockClear();
    await move('Breast/case', 'Colon/series');
    expect(placesById(await rescanAndList())).toEqual({ [before?.id ?? '']: 'Colon/a.dcm' });
    expect(inspect).not.toHaveBeenCalled();
  });

  it.each([
    ['a.mrxs', 'a', 'b.mrxs', 'b'],
    ['a.vsi', '_a_', 'b.vsi', '_b_'],
  ])(
    'keeps its entry when its file "%s" and its companion folder "%s" are renamed and moved',
    async (name, folder, newName, newFolder) => {
      const { server, rescanAndList, move, placesById } = await startServer();
      await server.put(`Set/${name}`, 'no real one');
      await server.put(`Set/${folder}/Data0000.dat`, '12345');
      const [before] = await rescanAndList();
      await move(`Set/${name}`, `Other/${newName}`);
      await move(`Set/${folder}`, `Other/${newFolder}`);
      expect(placesById(await rescanAndList())).toEqual({ [before?.id ?? '']: `Other/${newName}` });
    },
  );
});

describe('slide file that is moved during a scan', () => {
  it('has one entry, with the new path, when the scan finds the file at the old and at the new path', async () => {
    const { server, rescanAndList, placesById } = await startServer();
    await server.put('Set/a.svs', narrowSlide);
    const [before] = await rescanAndList();
    const { db, log, audit } = server.services;
    const file = { root: 'slides', path: 'Set/a.svs', members: [] } as const;
    const fingerprint = (await server.services.slides.fingerprintOf(file)) ?? '';
    const slideAt = (dataset_name: string) => ({
      path: `${dataset_name}/a.svs`,
      members: [],
      sizeBytes: narrowSlide.length,
      fingerprint,
      dataset_name,
      organ_type: null,
      isMetadataIncomplete: false,
    });
    const slides = [slideAt('Set'), slideAt('Other')];
    const scans = [{ root: 'slides', slides, problems: [], metadataFiles: [], unread: [] }] as const;
    const dependencies = { db, log, audit, now: server.clock.now };
    await reconcile({ ...dependencies, fingerprintOf: async () => null }, scans, { retryFailed: false });
    const admin = server.as(await server.fixtures.admin());
    expect(placesById((await admin.call(listImages)).body.images)).toEqual({
      [before?.id ?? '']: 'Other/a.svs',
    });
  });
});
