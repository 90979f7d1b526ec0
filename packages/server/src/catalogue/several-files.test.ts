/** Tests the catalogue entries of slides that consist of several files, such as DICOM series and slides with a companion folder. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { type Image, listImages, updateImage } from '@lamina/contract';
import { buildDicom, type DicomPlan } from '@lamina/slide/testing';
import { describe, expect, it, vi } from 'vitest';
import { databaseKinds } from '../store/testing/test-database.ts';
import { slideServer } from '../testing/slide-server.ts';

// Slides are read in separate processes, which start slowly on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** Builds DICOM files. @param plans plan of each file by its name; all files belong to one series unless a plan names another one */
const buildDicomFiles = async (plans: Readonly<Record<string, DicomPlan>>) =>
  Promise.all(
    Object.entries(plans).map(
      async ([name, plan], i) => [name, await buildDicom({ instance: String(i + 1), ...plan })] as const,
    ),
  );

/** Plans of twelve images of one slide; each image has half the area of the one before. */
const twelveResolutions = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [`${i}.dcm`, { downsample: 2 ** (i / 2) }]),
);

/** Starts a server, and returns functions that fill its slide folder and scan it. */
async function startServer(database: 'SQLite' | 'PostgreSQL' = 'SQLite') {
  const server = await slideServer({ database });
  const admin = server.as(await server.fixtures.admin());
  return {
    server,
    admin,
    inFolder: (relativePath: string) => path.join(server.config.slidesDir, relativePath),
    /** Writes the files of a series to the folder Set. Returns their total size in bytes. */
    async put(plans: Readonly<Record<string, DicomPlan>>): Promise<number> {
      const files = await buildDicomFiles(plans);
      for (const [name, bytes] of files) await server.put(`Set/${name}`, bytes);
      return files.reduce((sum, [, { length }]) => sum + length, 0);
    },
    /** Scans the slide folder. Returns the images that an administrator sees. */
    async rescanAndList(): Promise<readonly Image[]> {
      await server.rescan();
      return (await admin.call(listImages)).body.images;
    },
  };
}

describe.each(databaseKinds)('DICOM series in a slide folder (database: %s)', (database) => {
  it('becomes one catalogue entry with the width of its largest image and the total size of its twelve files', async () => {
    const { put, rescanAndList } = await startServer(database);
    const bytes = await put(twelveResolutions);
    expect(await rescanAndList()).toMatchObject([
      { file_name: '0.dcm', status: 'ready', format: 'dicom', size_bytes: bytes, width: 96, height: 64 },
    ]);
  });

  it('has no separate catalogue entries for the files of its label, overview and thumbnail', async () => {
    const { put, rescanAndList } = await startServer(database);
    const picture = { width: 32, height: 32 };
    await put({
      'a-label.dcm': { kind: 'LABEL', ...picture },
      'b-overview': { kind: 'OVERVIEW', ...picture },
      'c-thumbnail.dcm': { kind: 'THUMBNAIL', ...picture },
      'd-slide.dcm': {},
    });
    expect((await rescanAndList()).map(({ file_name }) => file_name)).toEqual(['d-slide.dcm']);
  });

  it('has an entry of its own when the same folder contains other series', async () => {
    const { put, rescanAndList } = await startServer(database);
    await put({ a: {}, b: { downsample: 2 }, c: { series: '2' }, d: { series: '2', downsample: 2 } });
    await put({ 'e.dcm': { series: '3' } });
    expect((await rescanAndList()).map(({ file_name, status }) => [file_name, status])).toEqual([
      ['a', 'ready'],
      ['c', 'ready'],
      ['e.dcm', 'ready'],
    ]);
  });

  it('is read again only when one of its files is changed, added or removed', async () => {
    const { server, put, rescanAndList, inFolder } = await startServer(database);
    const inspect = vi.spyOn(server.services.slides, 'inspect');
    await put({ 'a.dcm': {}, 'b.dcm': { downsample: 2 } });
    const [before] = await rescanAndList();
    await rescanAndList();
    expect(inspect).toHaveBeenCalledTimes(1);
    await server.put('Set/b.dcm', await buildDicom({ instance: '2', downsample: 4 }));
    await rescanAndList();
    expect(inspect).toHaveBeenCalledTimes(2);
    await server.put('Set/c.dcm', await buildDicom({ instance: '3', downsample: 8 }));
    const [withThreeFiles] = await rescanAndList();
    expect(inspect).toHaveBeenCalledTimes(3);
    await fs.rm(inFolder('Set/b.dcm'));
    await fs.rm(inFolder('Set/c.dcm'));
    const [withOneFile, ...others] = await rescanAndList();
    expect(inspect).toHaveBeenCalledTimes(4);
    expect(others).toEqual([]);
    expect([withThreeFiles?.id, withOneFile?.id]).toEqual([before?.id, before?.id]);
    expect(withOneFile?.size_bytes).toBe((await fs.stat(inFolder('Set/a.dcm'))).size);
  });

  it('keeps its catalogue entry, with the edits of an administrator, when a file with a larger image is added to the series', async () => {
    const { server, admin, put, rescanAndList } = await startServer(database);
    await put({ 'b.dcm': { downsample: 2 } });
    const [small] = await rescanAndList();
    const params = { imageId: small?.id ?? '' };
    await admin.call(updateImage, { params, body: { organ_type: 'Set by hand' } });
    await server.put('Set/a.dcm', await buildDicom({ instance: '2' }));
    expect(await rescanAndList()).toMatchObject([
      { id: small?.id, file_name: 'a.dcm', organ_type: 'Set by hand', status: 'ready', width: 96 },
    ]);
  });

  it('returns status 200 for tiles of two levels that are stored in different files', async () => {
    const { server, put } = await startServer(database);
    await put({ 'a.dcm': { codec: 'jpeg' }, 'b.dcm': { codec: 'jpeg', downsample: 2 } });
    await server.rescan();
    const session = await server.sessionOf(await server.fixtures.user());
    const id = await server.idOf('a.dcm');
    for (const tile of ['7/0_0', '6/0_0', '0/0_0']) {
      const { statusCode } = await server.pixels(`${id}/image_files/${tile}.jpeg`, session);
      expect([tile, statusCode]).toEqual([tile, 200]);
    }
  });

  it('is listed as failed, with the missing part as the reason, until all files of an image have arrived', async () => {
    const { put, rescanAndList } = await startServer(database);
    const part = (number: number): DicomPlan => ({
      instance: String(number),
      part: { number, from: (number - 1) * 2, to: number * 2, total: 3 },
    });
    await put({ '1.dcm': part(1), '2.dcm': part(2) });
    expect(await rescanAndList()).toMatchObject([
      {
        file_name: '1.dcm',
        status: 'failed',
        error: 'Part 3 of the 3 files of an image is missing.',
        error_code: 'FILE_MISSING',
      },
    ]);
    await put({ '3.dcm': part(3) });
    expect(await rescanAndList()).toMatchObject([{ file_name: '1.dcm', status: 'ready' }]);
  });

  it('does not include a DICOM segmentation, which is listed as failed with a reason', async () => {
    const { server, put, rescanAndList } = await startServer(database);
    await put({ 'a.dcm': {}, 'b.dcm': { downsample: 2 } });
    const bytes = Buffer.from(await buildDicom({ instance: '9' })).toString('latin1');
    // Replaces the SOP class of whole-slide images by the one of segmentations, padded to the same length.
    const segmentation = bytes.replaceAll(
      '1.2.840.10008.5.1.4.1.1.77.1.6',
      '1.2.840.10008.5.1.4.1.1.66.4\0\0',
    );
    await server.put('Set/c.dcm', Buffer.from(segmentation, 'latin1'));
    expect(await rescanAndList()).toMatchObject([
      { file_name: 'a.dcm', status: 'ready', error: null },
      { file_name: 'c.dcm', status: 'failed', error: expect.stringMatching(/not a whole-slide image\.$/) },
    ]);
  });
});

describe.each([
  ['a.mrxs', 'a'],
  ['a.vsi', '_a_'],
])('slide %s with a companion folder', (name, folder) => {
  it('has one catalogue entry, and is read again when a file of the folder changes', async () => {
    const { server, rescanAndList } = await startServer();
    const inspect = vi.spyOn(server.services.slides, 'inspect');
    await server.put(`Set/${name}`, 'no real one');
    await server.put(`Set/${folder}/deep/preview.jpg`, 'nor this');
    await server.put(`Set/${folder}/Data0000.dat`, '12345');
    expect(await rescanAndList()).toMatchObject([{ file_name: name, size_bytes: 24 }]); // 11 + 8 + 5 bytes
    expect(inspect).toHaveBeenCalledTimes(1);
    await server.put(`Set/${folder}/Data0000.dat`, '1234');
    expect(await rescanAndList()).toMatchObject([{ file_name: name, size_bytes: 23 }]);
    expect(inspect).toHaveBeenCalledTimes(2);
  });
});

const slides = process.env.TEST_SLIDES;

describe.skipIf(slides === undefined)('real DICOM folders (needs TEST_SLIDES)', () => {
  it('are listed as ready, or as failed with a reason for files that are not slides', async () => {
    const { server, rescanAndList } = await startServer();
    await fs.cp(path.join(slides ?? '', 'dicom'), server.config.slidesDir, { recursive: true });
    const images = await rescanAndList();
    expect(images.map(({ dataset_name, file_name, status }) => [dataset_name, file_name, status])).toEqual([
      ['camelyon-jpeg', 'multi_frame_jpeg_camelyon_challenge_image.dcm', 'ready'],
      ['camelyon-jpeg2000', 'multi_frame_jpeg2000_camelyon_challenge_image.dcm', 'ready'],
      ['cmu-1-small-region', 'level-0-frames-0-30.dcm', 'ready'],
      ['highdicom', 'seg_image_sm_control_labelmap.dcm', 'failed'],
      ['highdicom', 'sm_annotations.dcm', 'failed'],
      ['highdicom', 'sm_image.dcm', 'ready'],
      ['highdicom', 'sm_image_grayscale.dcm', 'ready'],
      ['highdicom', 'sm_image_jpegls.dcm', 'ready'],
      ['highdicom', 'sm_image_numbers.dcm', 'ready'],
      ['label-only', 'test_wikipedia.dcm', 'failed'],
      ['openslide-boxes', 'boxes_0.dcm', 'ready'],
      ['uncompressed', 'raw.dicom', 'ready'],
    ]);
    for (const { status, error } of images) {
      if (status === 'failed') expect(error).toMatch(/^[A-Z][^/\\]*\.$/);
    }
  });
});
