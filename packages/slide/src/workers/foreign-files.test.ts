/** Tests slides that refer to files of other slides, in real render processes. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cropRaster } from '../decode/raster.ts';
import { groupSlideFiles, openSlide } from '../open-slide.ts';
import { loadOpenSlide } from '../openslide/library.ts';
import { openLocalFiles } from '../source/slide-files.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { compiledCodeFolder } from '../testing/compiled-code.ts';
import { paintPlain } from '../testing/paint-tissue.ts';
import { writeMirax } from '../testing/write-mirax.ts';
import { RenderPool } from './render-pool.ts';

vi.setConfig({ testTimeout: 60_000 });

const library = await loadOpenSlide();
const secret = paintPlain(512, 512, [200, 30, 30]);
const harmless = paintPlain(512, 512, [30, 30, 200]);
/** First tile of full resolution: the images have 512 (2^9) pixels. */
const address = { dziLevel: 9, column: 0, row: 0 };

let root: string;
let pool: RenderPool;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'foreign-files-'));
  await mkdir(join(root, 'restricted'));
  await mkdir(join(root, 'open'));
  await writeMirax(join(root, 'restricted'), 'secret', { picture: secret, tileSide: 128 });
  await writeMirax(join(root, 'open'), 'other', { picture: secret, tileSide: 128 });
  pool = new RenderPool({
    processes: 1,
    queueLimit: 10,
    timeoutMs: 30_000,
    compiledFolder: compiledCodeFolder,
    slideFolders: [root],
  });
});
afterAll(async () => {
  await pool.close();
  await rm(root, { recursive: true });
});

/** Ways to name another slide's data file in Slidedat.ini; GLib, OpenSlide's parser, reads `data` as the first data file. */
const attacks: readonly (readonly [string, (ini: string, data: string) => string])[] = [
  ['with a plain relative path', (ini, data) => ini.replace('FILE_0=Data0000.dat', `FILE_0=${data}`)],
  [
    'in a section whose line continues after a NUL byte',
    (ini, data) => `${ini}[X]\n[DATAFILE]\u0000=\nFILE_0=${data}\n`,
  ],
  [
    'with a key that is repeated after a non-ASCII space',
    (ini, data) => ini.replace('FILE_0=', `FILE_0=${data}\n\u00a0FILE_0=`),
  ],
  [
    'with a key that is repeated before a non-ASCII space',
    (ini, data) => ini.replace('FILE_0=', `FILE_0=${data}\nFILE_0\u00a0=`),
  ],
  ['with a key that occurs twice', (ini, data) => ini.replace('FILE_0=', `FILE_0=${data}\nFILE_0=`)],
  ['after a line that GLib does not parse as a comment', (ini, data) => `${ini};[X]\nFILE_0=${data}\n`],
];

describe.skipIf(library === null)('a MIRAX slide that names a data file of another slide', () => {
  it.each(attacks)(
    'is rejected with FILE_CORRUPT, without a pixel of the other slide, when the name is given %s',
    async (_, ini) => {
      for (const data of ['../../restricted/secret/Data0000.dat', '../other/Data0000.dat']) {
        // The index fits the other slide's data file, so GLib's reading would show the other slide.
        const options = { picture: secret, tileSide: 128, ini: (text: string) => ini(text, data) };
        await writeMirax(join(root, 'open'), 'attack', options);
        await writeFile(join(root, 'open', 'attack', 'Data0000.dat'), Buffer.alloc(100_000));
        const location = { path: join(root, 'open', 'attack.mrxs'), members: ['attack/'] };
        await expect(pool.tile(location, address), data).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
      }
    },
  );

  it('is rejected with FILE_CORRUPT when the data file is a symbolic link to the other slide', async () => {
    await writeMirax(join(root, 'open'), 'linked', { picture: harmless, tileSide: 128 });
    const data = join(root, 'open', 'linked', 'Data0000.dat');
    await rm(data);
    await symlink(join(root, 'restricted', 'secret', 'Data0000.dat'), data);
    const location = { path: join(root, 'open', 'linked.mrxs'), members: ['linked/'] };
    await expect(pool.tile(location, address)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });

  it('does not prevent valid MIRAX slides from being rendered, each slide in its own process', async () => {
    await writeMirax(join(root, 'open'), 'sound', { picture: harmless, tileSide: 128 });
    const validSlide = { path: join(root, 'open', 'sound.mrxs'), members: ['sound/'] };
    const secretSlide = { path: join(root, 'restricted', 'secret.mrxs'), members: ['secret/'] };
    for (const [location, picture] of [
      [validSlide, harmless],
      [secretSlide, secret],
      [validSlide, harmless],
    ] as const) {
      const rendered = await pixelsOf(await pool.tile(location, address));
      expect(difference(rendered, cropRaster(picture, 0, 0, 256, 256)).max).toBeLessThan(4);
    }
    expect(pool.processIds).toHaveLength(2);
    expect(pool.faults).toBe(0);
  });
});

describe('access to the files of a slide', () => {
  it('is rejected with FILE_CORRUPT for a file that is not a member (listed file) of the slide', async () => {
    const folder = join(root, 'members');
    await mkdir(join(folder, '_area_', 'stack1'), { recursive: true });
    for (const name of ['area.vsi', 'other.vsi', '_area_/stack1/frame_t.ets']) {
      await writeFile(join(folder, name), name);
    }
    const files = await openLocalFiles({ path: join(folder, 'area.vsi'), members: ['_area_/'] });
    await (await files.open('_area_/stack1/frame_t.ets')).close();
    for (const name of ['other.vsi', '_area_/../other.vsi', './other.vsi', '_area_', '../open/other.mrxs']) {
      await expect(files.open(name), name).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
      await expect(files.pathOf(name), name).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    }
    await symlink(join(folder, 'other.vsi'), join(folder, '_area_', 'link.ets'));
    await expect(files.open('_area_/link.ets')).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    await symlink(join(folder, '_area_', 'stack1', 'frame_t.ets'), join(folder, '_area_', 'own.ets'));
    await (await files.open('_area_/own.ets')).close();
    await files.close();
  });

  it('is rejected with FILE_CORRUPT when a .vms file has a second key ImageFile that begins with a non-ASCII space', async () => {
    const folder = join(root, 'vms');
    await mkdir(folder);
    const description = '[Virtual Microscope Specimen]\nImageFile=own.jpg\n\u00a0ImageFile=other.jpg\n';
    await writeFile(join(folder, 'a.vms'), description);
    await writeFile(join(folder, 'own.jpg'), '');
    await writeFile(join(folder, 'other.jpg'), '');
    const groups = await groupSlideFiles({ path: folder }, ['a.vms', 'other.jpg', 'own.jpg']);
    expect(groups).toEqual([{ main: 'a.vms', members: [] }]);
    const location = { path: join(folder, 'a.vms'), members: [] };
    await expect(openSlide(location)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
  });
});
