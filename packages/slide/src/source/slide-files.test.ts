import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintOfFiles } from './file-source.ts';
import { openLocalFiles, type SlideFiles } from './slide-files.ts';

let folder: string;
let files: SlideFiles;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slide-files-'));
  await mkdir(join(folder, 'dataset', 'parts'), { recursive: true });
  await writeFile(join(folder, 'secret'), 'secret');
  await writeFile(join(folder, 'dataset', 'slide.mrxs'), 'main');
  await writeFile(join(folder, 'dataset', 'beside.dat'), 'beside');
  await writeFile(join(folder, 'dataset', 'parts', '..data.dat'), 'part');
  files = await openLocalFiles({ path: join(folder, 'dataset', 'slide.mrxs') });
});
afterEach(async () => {
  await files.close();
  await rm(folder, { recursive: true });
});

const textOf = async (name: string) => {
  const source = await files.open(name);
  return Buffer.from(await source.read(0, source.size)).toString();
};

describe('the local files of a slide', () => {
  it('are the main file and all other files in its folder and subfolders when the members of the slide are unknown', async () => {
    expect(files.name).toBe('slide.mrxs');
    expect(Buffer.from(await files.main.read(0, 4)).toString()).toBe('main');
    expect(await files.list()).toEqual(['beside.dat', 'slide.mrxs']);
    expect(await textOf('beside.dat')).toBe('beside');
    expect(await textOf('parts/..data.dat')).toBe('part');
  });

  it.each([
    [
      'the main file and the member (further file) that the location lists',
      ['beside.dat'],
      ['beside.dat', 'slide.mrxs'],
    ],
    ['only the main file when the location has an empty list of members', [], ['slide.mrxs']],
  ])('are %s', async (_, members, names) => {
    const slideFiles = await openLocalFiles({ path: join(folder, 'dataset', 'slide.mrxs'), members });
    expect(await slideFiles.list()).toEqual(names);
    await slideFiles.close();
  });

  it.each(['../secret', 'parts/../../secret', '..', '.', '', '/etc/passwd', 'beside.dat\0'])(
    'are rejected with FILE_CORRUPT when the slide refers to them by an unsafe path: %j',
    async (name) => {
      await expect(files.open(name)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    },
  );

  it("are rejected with FILE_CORRUPT when a symbolic link leads outside the slide's folder", async () => {
    await symlink(join(folder, 'secret'), join(folder, 'dataset', 'link.dat'));
    await expect(files.open('link.dat')).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  describe('whose members (further files) are recorded in the catalogue', () => {
    const location = () => ({
      path: join(folder, 'dataset', 'slide.mrxs'),
      members: ['beside.dat', 'parts/..data.dat'],
    });

    it('include only the main file and the members, not other files of the folder', async () => {
      await writeFile(join(folder, 'dataset', 'stranger.dat'), 'stranger');
      const named = await openLocalFiles(location());
      expect(await named.list()).toEqual(['beside.dat', 'parts/..data.dat', 'slide.mrxs']);
      await named.close();
    });

    it('change the fingerprint of the slide when one of the members changes', async () => {
      const before = await openLocalFiles(location());
      expect(before.fingerprint).toBe(await fingerprintOfFiles(location()));
      expect(before.fingerprint).not.toBe(before.main.fingerprint);
      await writeFile(join(folder, 'dataset', 'parts', '..data.dat'), 'another part');
      expect(await fingerprintOfFiles(location())).not.toBe(before.fingerprint);
      await before.close();
    });

    it('cause FILE_MISSING when the slide is opened while one of the members does not exist', async () => {
      await rm(join(folder, 'dataset', 'beside.dat'));
      await expect(openLocalFiles(location())).rejects.toMatchObject({ code: 'FILE_MISSING' });
      await expect(fingerprintOfFiles(location())).rejects.toMatchObject({ code: 'FILE_MISSING' });
    });
  });

  describe('in a member folder', () => {
    const openWithFolder = () =>
      openLocalFiles({ path: join(folder, 'dataset', 'slide.mrxs'), members: ['parts/'] });

    it('are listed by listFolder at any depth, sorted, with their sizes, without symbolic links', async () => {
      await mkdir(join(folder, 'dataset', 'parts', 'deeper'));
      await writeFile(join(folder, 'dataset', 'parts', 'deeper', 'z.dat'), 'deep part');
      await symlink(join(folder, 'secret'), join(folder, 'dataset', 'parts', 'link.dat'));
      const named = await openWithFolder();
      expect(await named.listFolder('parts/')).toEqual([
        { path: 'parts/..data.dat', size: 4 },
        { path: 'parts/deeper/z.dat', size: 9 },
      ]);
      expect((await named.open('parts/deeper/z.dat')).size).toBe(9);
      await named.close();
    });

    it('are the only ones that listFolder lists: it throws FILE_CORRUPT for other folders and for symbolic links', async () => {
      const named = await openWithFolder();
      for (const name of ['parts', '../', './', '/', 'other/', 'parts/../parts/']) {
        await expect(named.listFolder(name)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
      }
      await expect(files.listFolder('parts/')).rejects.toMatchObject({ code: 'FILE_CORRUPT' }); // no list of members
      await rm(join(folder, 'dataset', 'parts'), { recursive: true });
      await expect(named.listFolder('parts/')).rejects.toMatchObject({ code: 'FILE_MISSING' });
      await symlink(folder, join(folder, 'dataset', 'parts'));
      await expect(named.listFolder('parts/')).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
      await named.close();
    });
  });

  it('cause FILE_MISSING when a file is opened by a name that does not exist', async () => {
    await expect(files.open('gone.dat')).rejects.toMatchObject({ code: 'FILE_MISSING' });
  });

  it('are all closed when the slide is closed', async () => {
    const beside = await files.open('beside.dat');
    await files.close();
    await expect(beside.read(0, 1)).rejects.toMatchObject({ code: 'FILE_MISSING' });
  });
});
