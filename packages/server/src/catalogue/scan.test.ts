/** Tests the scan of a slide folder or a bucket: which files it finds as slides, with which members and metadata. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fingerprintOf, groupSlideFiles } from '@lamina/slide';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBucketTree } from '../slide-storage/bucket-tree.ts';
import { readDiskTree } from '../slide-storage/disk-tree.ts';
import type { GroupFolder } from '../slide-storage/folder-tree.ts';
import { createScanner } from './scan.ts';

/** Temporary folder of the test; `root`, the slide folder, is in it. */
let base: string;
let root: string;
beforeEach(async () => {
  base = await fs.mkdtemp(path.join(os.tmpdir(), 'scan-'));
  root = path.join(base, 'slides');
  await fs.mkdir(root);
});
afterEach(() => fs.rm(base, { recursive: true }));

/** Writes a file below the slide folder. */
async function writeFile(relativePath: string, content: string | Buffer = 'x'): Promise<void> {
  await fs.mkdir(path.dirname(path.join(root, relativePath)), { recursive: true });
  await fs.writeFile(path.join(root, relativePath), content);
}
const log = pino({ level: 'silent' });
/** Creates a scanner of the slide folder; `groupFiles` finds slides that consist of several files. */
const createTestScanner = (
  groupFiles: GroupFolder = (folder, names) => groupSlideFiles({ path: folder }, names),
) => createScanner({ root: 'slides', readTree: () => readDiskTree({ root, groupFiles, log }), log });
/** Scans the slide folder with a new scanner. */
const scan = () => createTestScanner().scan();
/** Scans the slide folder and returns the paths of the found slides. */
const foundPaths = async () => (await scan()).slides.map((slide) => slide.path);

describe('scan of a slide folder', () => {
  it('finds slides at any depth with dataset and size, and ignores other files', async () => {
    await writeFile('Breast/2024/a.SVS', '12345');
    await writeFile('b.ome.tif');
    await writeFile('Breast/notes.txt');
    await writeFile('Breast/Thumbs.db');
    await writeFile('README.md');
    expect((await scan()).slides).toMatchObject([
      { path: 'b.ome.tif', members: [], sizeBytes: 1, dataset_name: null, organ_type: null },
      { path: 'Breast/2024/a.SVS', members: [], sizeBytes: 5, dataset_name: 'Breast', organ_type: null },
    ]);
  });

  it('returns for each slide the fingerprint (identity of the content) that fingerprintOf() of @lamina/slide computes', async () => {
    await writeFile('a.svs');
    await writeFile('Set/b.mrxs', '1');
    await writeFile('Set/b/Data0000.dat', '234');
    await writeFile('Set/b/deep/preview.jpg', '56');
    await writeFile('c.vms', '[Virtual Microscope Specimen]\nImageFile=one.jpg\nMapFile=map.jpg\n');
    await writeFile('one.jpg', '23');
    await writeFile('map.jpg', '4');
    await fs.symlink('a.svs', path.join(root, 'linked.svs'));
    const { slides } = await scan();
    expect(slides.map((slide) => slide.path).sort()).toEqual(['Set/b.mrxs', 'a.svs', 'c.vms', 'linked.svs']);
    for (const { path: slidePath, members, fingerprint } of slides) {
      const location = { path: await fs.realpath(path.join(root, slidePath)), members };
      expect([slidePath, fingerprint]).toEqual([slidePath, await fingerprintOf(location, null)]);
    }
  });

  it('applies catalogue.csv to the slides of its folder, and reports an invalid dataset.json', async () => {
    await writeFile('Set/catalogue.csv', 'file_name,organ_type\na.svs,Meme\n');
    await writeFile('Set/dataset.json', '{');
    await writeFile('Set/a.svs');
    const { slides, problems } = await scan();
    expect(slides).toMatchObject([{ path: 'Set/a.svs', organ_type: 'Meme' }]);
    expect(problems).toEqual([
      { path: 'Set/dataset.json', error: 'dataset.json: the file is not valid JSON.' },
    ]);
  });

  it('skips hidden files and folders', async () => {
    await writeFile('.trash/a.svs');
    await writeFile('Set/.a.svs');
    await writeFile('Set/._b.svs');
    expect(await foundPaths()).toEqual([]);
  });

  it('recognises DICOM files without an extension by their content', async () => {
    await writeFile('Set/IM0001', Buffer.concat([Buffer.alloc(128), Buffer.from('DICM')]));
    await writeFile('Set/1.2.840.5', Buffer.concat([Buffer.alloc(128), Buffer.from('DICM')]));
    await writeFile('Set/LICENSE', 'Free for all');
    expect(await foundPaths()).toEqual(['Set/1.2.840.5', 'Set/IM0001']);
  });

  it.each([
    ['b.mrxs', 'b'],
    ['b.vsi', '_b_'],
  ])('treats the companion folder of %s as part of its slide', async (name, folder) => {
    await writeFile(`Set/${name}`, '1');
    await writeFile(`Set/${folder}/Data0000.dat`, '234');
    await writeFile(`Set/${folder}/deep/preview.jpg`, '56');
    expect((await scan()).slides).toMatchObject([
      { path: `Set/${name}`, members: [`${folder}/`], sizeBytes: 6 }, // 1 + 3 + 2 bytes
    ]);
  });

  it('adds to a Hamamatsu VMS slide exactly the files that its .vms file names', async () => {
    const vms = '[Virtual Microscope Specimen]\nImageFile=one.jpg\nMapFile=map.jpg\n';
    await writeFile('Set/a.vms', vms);
    await writeFile('Set/one.jpg', '23');
    await writeFile('Set/map.jpg', '4');
    await writeFile('Set/a picture.jpg');
    expect((await scan()).slides).toMatchObject([
      { path: 'Set/a.vms', members: ['map.jpg', 'one.jpg'], sizeBytes: vms.length + 3 }, // one.jpg: 2 bytes, map.jpg: 1 byte
      { path: 'Set/a picture.jpg', members: [] },
    ]);
  });

  it('ignores a slide of several files that names a file outside the folder', async () => {
    await writeFile('Set/a.dcm');
    await writeFile('Set/b.dcm');
    const { slides } = await createTestScanner(async () => [
      { main: 'a.dcm', members: ['../../secret'] },
    ]).scan();
    expect(slides.map(({ path }) => path)).toEqual(['Set/b.dcm']);
  });

  it('reports a folder as unread when its files cannot be grouped into slides', async () => {
    await writeFile('Set/a.dcm');
    await writeFile('Set/b.dcm');
    const { slides, unread } = await createTestScanner(async () => null).scan();
    expect([slides, unread]).toEqual([[], ['Set']]);
  });

  it('treats each file of a folder as a slide of its own after three failed attempts to group the files by slide', async () => {
    await writeFile('Set/a.dcm');
    await writeFile('Set/b.dcm');
    let attempts = 0;
    const failingScanner = createTestScanner(async () => {
      attempts++;
      return 'failed';
    });
    const scans = [await failingScanner.scan(), await failingScanner.scan(), await failingScanner.scan()];
    expect(scans.map(({ slides, unread }) => [slides.map(({ path }) => path), unread])).toEqual([
      [[], ['Set']],
      [[], ['Set']],
      [['Set/a.dcm', 'Set/b.dcm'], []],
    ]);
    await failingScanner.scan();
    expect(attempts).toBe(3);
  });

  it('passes only the DICOM files of a folder to the callback groupFiles, and passes them again only after one has changed', async () => {
    const groupedNames: string[][] = [];
    const recordingScanner = createTestScanner(async (_, names) => {
      groupedNames.push([...names]);
      return [];
    });
    for (const name of ['a.svs', 'b.tif', 'c.dcm', 'd.dcm', 'LICENSE']) await writeFile(`Set/${name}`);
    await writeFile('Other/e.svs');
    await writeFile('Other/f.dcm');
    await recordingScanner.scan();
    await recordingScanner.scan();
    expect(groupedNames).toEqual([['c.dcm', 'd.dcm']]);
    await writeFile('Set/d.dcm', 'longer');
    await recordingScanner.scan();
    expect(groupedNames).toHaveLength(2);
  });

  it('returns no slides for a slide folder that does not exist', async () => {
    await fs.rm(root, { recursive: true });
    expect(await scan()).toEqual({ slides: [], problems: [], metadataFiles: [], unread: [] });
  });

  it('reports a slide folder as unread, not as empty, when it cannot be read', async () => {
    await fs.rm(root, { recursive: true });
    await fs.writeFile(root, 'a file, not a folder');
    expect(await scan()).toEqual({ slides: [], problems: [], metadataFiles: [], unread: [''] });
  });
});

describe('scan of a bucket', () => {
  it('reports a deleted catalogue.csv as missing, and marks the metadata of the slides in its folder as incomplete', async () => {
    const objects = new Map([
      ['Set/a.svs', 'a slide'],
      ['Set/catalogue.csv', 'file_name,dataset_name\na.svs,Study A\n'],
    ]);
    const store: Parameters<typeof readBucketTree>[0]['store'] = {
      async *list() {
        for (const [key, { length }] of [...objects]) {
          yield { key, size: length, etag: `"${length}"`, lastModified: '2026-11-22T00:00:00.000Z' };
        }
      },
      read: async ({ key }) => Buffer.from(objects.get(key) ?? ''),
    };
    const { signal } = new AbortController();
    const bucketScanner = createScanner({
      root: 'bucket',
      readTree: () => readBucketTree({ store, groupFiles: async () => [], signal }),
      log,
    });
    const before = await bucketScanner.scan(new Set());
    expect(before).toMatchObject({
      slides: [{ dataset_name: 'Study A', isMetadataIncomplete: false }],
      metadataFiles: ['Set/catalogue.csv'],
    });
    objects.delete('Set/catalogue.csv');
    const after = await bucketScanner.scan(new Set(before.metadataFiles));
    expect(after).toMatchObject({
      slides: [{ dataset_name: 'Set', isMetadataIncomplete: true }],
      problems: [{ path: 'Set/catalogue.csv', error: 'catalogue.csv: the file is missing.' }],
      metadataFiles: [],
    });
  });
});

describe('symbolic links in a slide folder', () => {
  it('are followed to files and folders inside the slide folder', async () => {
    await writeFile('Store/a.svs');
    await fs.symlink(path.join(root, 'Store', 'a.svs'), path.join(root, 'linked.svs'));
    await fs.symlink('Store', path.join(root, 'Again'));
    await fs.mkdir(path.join(base, 'slides', '.hidden'));
    await writeFile('.hidden/b.svs');
    await fs.symlink('.hidden', path.join(root, 'Shown'));
    // A folder that can also be reached through a link is listed under its own path only.
    expect(await foundPaths()).toEqual(['linked.svs', 'Store/a.svs', 'Shown/b.svs']);
  });

  it('are not followed to targets outside the slide folder', async () => {
    await fs.writeFile(path.join(base, 'secret.svs'), 'x');
    await fs.mkdir(path.join(base, 'slides-elsewhere'));
    await fs.writeFile(path.join(base, 'slides-elsewhere', 'b.svs'), 'x');
    await fs.symlink(path.join(base, 'secret.svs'), path.join(root, 'a.svs'));
    await fs.symlink('../slides-elsewhere', path.join(root, 'Elsewhere'));
    await fs.symlink('/etc/passwd', path.join(root, 'passwd.tif'));
    expect(await foundPaths()).toEqual([]);
  });

  it('are skipped when they form a cycle or their target is missing', async () => {
    await writeFile('Set/a.svs');
    await fs.symlink('.', path.join(root, 'Set', 'loop'));
    await fs.symlink('..', path.join(root, 'Set', 'up'));
    await fs.symlink('gone.svs', path.join(root, 'dangling.svs'));
    await fs.symlink('self.svs', path.join(root, 'self.svs'));
    expect(await foundPaths()).toEqual(['Set/a.svs']);
  });
});

describe('entry of a slide folder that is not a regular file', () => {
  it.skipIf(process.platform === 'win32')(
    'is not listed as a slide if it is a named pipe or a folder with the name of a slide',
    async () => {
      execFileSync('mkfifo', [path.join(root, 'pipe.svs')]);
      await fs.mkdir(path.join(root, 'folder.svs'));
      expect(await foundPaths()).toEqual([]);
    },
  );
});
