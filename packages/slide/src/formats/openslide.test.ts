import { mkdtemp, readdir, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeImage } from '../decode/decode-image.ts';
import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { describeDeepZoom } from '../deep-zoom/deep-zoom.ts';
import { joinScans } from '../jpeg/join-scans.ts';
import type { Slide, TileAddress } from '../model/slide.ts';
import { groupSlideFiles, openSlide, openSlideForNativeTiles, openSlideFrom } from '../open-slide.ts';
import { setLibraryAccess } from '../openslide/access.ts';
import { loadOpenSlide, type OpenSlideLibrary } from '../openslide/library.ts';
import { renderTile } from '../render/render-tile.ts';
import { summariseSlide } from '../render/slide-summary.ts';
import { openLocalFiles } from '../source/slide-files.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { compiledCodeFolder } from '../testing/compiled-code.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { realSlide } from '../testing/real-slide.ts';
import { writeMirax } from '../testing/write-mirax.ts';
import { RenderPool } from '../workers/render-pool.ts';
import { openServedSlide } from '../workers/served-slide.ts';
import { openWithOpenSlide } from './openslide.ts';

vi.setConfig({ testTimeout: 60_000 });

const library = await loadOpenSlide();
const skipped = library ? '' : ' (skipped: libopenslide is not installed)';

let folder: string;
const picture = paintTissue(1024, 768);
/** Column and row of the tiles of 128 pixels that the slide `whole.mrxs` does not store; they are in its last column. */
const missing = [
  [7, 2],
  [7, 3],
] as const;
/** Column and row of the tile that cannot be decoded in the slide `damaged.mrxs`. */
const damaged = [[1, 2]] as const;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openslide-'));
  await writeMirax(folder, 'whole', { picture, tileSide: 128, missing });
  await writeMirax(folder, 'damaged', { picture, tileSide: 128, damaged });
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads a tile; null where the slide has none. */
async function rasterOf(slide: Slide, address: TileAddress): Promise<Raster | null> {
  const tile = await slide.readTile(address);
  return tile && { width: tile.width, height: tile.height, rgb: tile.bytes };
}

/** Lists the addresses of all tiles of a level. */
function* addressesOf(slide: Slide, level: number): Generator<TileAddress> {
  const { columns, rows } = slide.levels[level] as Slide['levels'][0];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) yield { level, column, row };
  }
}

describe.skipIf(library === null)(`a MIRAX slide${skipped}`, () => {
  it('has the levels, pixel size, objective power and background that Slidedat.ini states', async () => {
    const slide = await openSlide({ path: join(folder, 'whole.mrxs') });
    expect(slide).toMatchObject({
      format: 'mirax',
      vendor: '3DHISTECH',
      mpp: { x: 0.25, y: 0.25 },
      objectivePower: 40,
      background: { r: 240, g: 240, b: 240 },
    });
    expect(slide.levels).toMatchObject([
      {
        width: 1024,
        height: 768,
        tileWidth: 256,
        tileHeight: 256,
        columns: 4,
        rows: 3,
        needsRendering: true,
      },
      { width: 512, height: 384, columns: 2, rows: 2, downsample: 2 },
    ]);
    expect([...slide.associatedImages]).toEqual([]);
    expect(await slide.readIccProfile()).toBeNull();
    await slide.close();
    await expect(slide.readTile({ level: 0, column: 0, row: 0 })).rejects.toMatchObject({
      name: 'SlideError',
    });
  });

  it('has the corner of the scanned area as the origin of its bounds, also when a render worker has read it', async () => {
    const isOutside = (column: number, row: number) => column < 2 || row < 1;
    const missingTiles = Array.from({ length: 48 }, (_, n) => [n % 8, Math.floor(n / 8)] as const).filter(
      ([column, row]) => isOutside(column, row),
    );
    await writeMirax(folder, 'cropped', { picture, tileSide: 128, missing: missingTiles });
    const slide = await openSlide({ path: join(folder, 'cropped.mrxs') });
    const served = await openServedSlide({ path: join(folder, 'cropped.mrxs') }, async () =>
      summariseSlide(slide),
    );
    expect([slide.boundsOrigin, served.boundsOrigin]).toEqual([
      { x: 256, y: 128 },
      { x: 256, y: 128 },
    ]);
    await Promise.all([slide.close(), served.close()]);
  });

  it('returns tiles with the original pixels in all levels', async () => {
    const slide = await openSlide({ path: join(folder, 'whole.mrxs') });
    for (const level of [0, 1]) {
      const expectedPixels = shrinkRaster(picture, 2 ** level);
      for (const address of addressesOf(slide, level)) {
        const tile = (await rasterOf(slide, address)) as Raster;
        const { column, row } = address;
        // The missing tiles are in the right half of the last column of level 0, which is not compared.
        const width = level === 0 && column === 3 ? 128 : tile.width;
        const expectedTile = cropRaster(expectedPixels, column * 256, row * 256, width, tile.height);
        expect(
          difference(cropRaster(tile, 0, 0, width, tile.height), expectedTile).max,
          JSON.stringify(address),
        ).toBe(0);
      }
    }
    await slide.close();
  });

  it('has the background colour where the file stores no tile', async () => {
    const slide = await openSlide({ path: join(folder, 'whole.mrxs') });
    const tile = (await rasterOf(slide, { level: 0, column: 3, row: 1 })) as Raster;
    expect([...tile.rgb.subarray(-3)]).toEqual([240, 240, 240]);
    await slide.close();
  });

  it('returns intact tiles while concurrent reads of a damaged tile fail with FILE_CORRUPT', async () => {
    const slide = await openSlide({ path: join(folder, 'damaged.mrxs') });
    const addresses = Array.from({ length: 10 }, () => [...addressesOf(slide, 0)]).flat();
    const outcomes = await Promise.allSettled(addresses.map((address) => rasterOf(slide, address)));
    for (const [i, outcome] of outcomes.entries()) {
      const { column, row } = addresses[i] as TileAddress;
      // The reader's tiles have 256 pixels, those of the file 128: tile 0, 1 contains the damaged tile 1, 2 of the file.
      if (column === 0 && row === 1) {
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: { name: 'SlideError', code: 'FILE_CORRUPT' },
        });
      } else {
        const expectedPixels = cropRaster(picture, column * 256, row * 256, 256, 256);
        expect(outcome.status).toBe('fulfilled');
        if (outcome.status === 'fulfilled')
          expect(difference(outcome.value as Raster, expectedPixels).max).toBe(0);
      }
    }
    await slide.close();
  });

  it('throws errors whose messages contain no path of the server', async () => {
    const slide = await openSlide({ path: join(folder, 'damaged.mrxs') });
    await expect(slide.readTile({ level: 0, column: 0, row: 1 })).rejects.toMatchObject({
      message: expect.not.stringContaining(folder),
    });
    await slide.close();
  });

  it.each([
    ['a level that does not exist', { level: 2, column: 0, row: 0 }],
    ['a column that does not exist', { level: 0, column: 4, row: 0 }],
    ['a row before the first', { level: 0, column: 0, row: -1 }],
    ['a fractional column', { level: 0, column: 0.5, row: 0 }],
  ])('throws TILE_OUT_OF_RANGE for a tile address with %s', async (_, address) => {
    const slide = await openSlide({ path: join(folder, 'whole.mrxs') });
    await expect(slide.readTile(address)).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
    await slide.close();
  });

  it('is opened and rendered by a render worker and never by the server process', async () => {
    const location = { path: join(folder, 'whole.mrxs') };
    expect(await openSlideForNativeTiles(location)).toBeNull();
    const pool = new RenderPool({
      processes: 1,
      queueLimit: 10,
      timeoutMs: 60_000,
      compiledFolder: compiledCodeFolder,
    });
    const served = await openServedSlide(location, () => pool.inspect(location));
    const slide = await openSlide(location);
    expect(describeDeepZoom(served)).toEqual(describeDeepZoom(slide));
    expect(served.fingerprint).toBe(slide.fingerprint);
    await expect(served.readTile({ level: 0, column: 0, row: 0 })).rejects.toMatchObject({
      code: 'FORMAT_NOT_SUPPORTED',
    });
    const address = { dziLevel: 10, column: 1, row: 1 };
    const rendered = await pixelsOf(await pool.tile(location, address));
    expect(difference(rendered, cropRaster(picture, 256, 256, 256, 256)).mean).toBeLessThan(3);
    expect(difference(rendered, await pixelsOf(await renderTile(slide, address))).max).toBe(0);
    await Promise.all([slide.close(), served.close(), pool.close()]);
  });

  it.each<[string, (ini: string) => string, string]>([
    [
      'whose slide ID differs from that of its index',
      (ini) => ini.replace('SLIDE_ID=', 'SLIDE_ID=X'),
      'FILE_CORRUPT',
    ],
    ['without levels', (ini) => ini.replace('HIER_0_COUNT=2', 'HIER_0_COUNT=0'), 'FILE_CORRUPT'],
    [
      'of a negative number of tiles',
      (ini) => ini.replace('IMAGENUMBER_X=8', 'IMAGENUMBER_X=-8'),
      'FILE_CORRUPT',
    ],
    [
      'with a level that is not described',
      (ini) => ini.replace('[LAYER_0_LEVEL_1_SECTION]', '[ANOTHER]'),
      'FILE_CORRUPT',
    ],
  ])('%s is rejected with $2', async (_, changeIni, code) => {
    await writeMirax(folder, 'rejected', { picture, tileSide: 128, ini: changeIni });
    await expect(openSlide({ path: join(folder, 'rejected.mrxs') })).rejects.toMatchObject({
      name: 'SlideError',
      code,
    });
  });

  it('with a truncated index is rejected with FILE_CORRUPT', async () => {
    await writeMirax(folder, 'truncated', { picture, tileSide: 128 });
    await writeFile(join(folder, 'truncated', 'Index.dat'), 'short');
    await expect(openSlide({ path: join(folder, 'truncated.mrxs') })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
  });
});

describe('openSlide (opens a slide) with a format that only the library OpenSlide reads', () => {
  /** Slidedat.ini, which lists the companion files of a MIRAX slide. */
  const description = '[HIERARCHICAL]\nINDEXFILE=Index.dat\n[DATAFILE]\nFILE_COUNT=1\nFILE_0=Data0000.dat\n';
  /** Returns the files of a MIRAX slide. @param companions text of the files that the description lists */
  const miraxFiles = (
    ini: string,
    companions: Readonly<Record<string, string>> = { 'Index.dat': '', 'Data0000.dat': '' },
  ) =>
    memoryFiles(
      Object.fromEntries([
        ['slide.mrxs', Buffer.from('')],
        ['slide/Slidedat.ini', Buffer.from(ini)],
        ...Object.entries(companions).map(([name, text]) => [`slide/${name}`, Buffer.from(text)]),
      ]) as Record<string, Uint8Array>,
    );
  /** Returns the files of a VMS slide. @param companions names of further files, which are empty */
  const vmsFiles = (text: string, ...companions: string[]) =>
    memoryFiles(
      Object.fromEntries([
        ['slide.vms', Buffer.from(text)],
        ...companions.map((name) => [name, Buffer.from('')]),
      ]) as Record<string, Uint8Array>,
    );
  const specimen = '[Virtual Microscope Specimen]\nImageFile=a.jpg\nImageFile(1,0)=b.jpg\nMapFile=map.jpg\n';

  it.each<[string, () => ReturnType<typeof memoryFiles>, string]>([
    ['MIRAX', () => miraxFiles(description), 'Install libopenslide0 to read MIRAX slides.'],
    [
      'VMS',
      () => vmsFiles(specimen, 'a.jpg', 'b.jpg', 'map.jpg'),
      'Install libopenslide0 to read Hamamatsu VMS and VMU slides.',
    ],
    [
      'Sakura',
      () => memoryFiles({ 'a.svslide': Buffer.from('SQLite format 3\0…') }),
      'Install libopenslide0 to read Sakura slides.',
    ],
  ])(
    'tells the user to install libopenslide0 for %s if the library is missing',
    async (_, files, message) => {
      // The library cannot open files in memory, which has the same effect as a missing library.
      await expect(openSlideFrom(files())).rejects.toMatchObject({ code: 'FORMAT_NOT_SUPPORTED', message });
    },
  );

  it.each<[string, () => ReturnType<typeof memoryFiles>, string]>([
    ['a MIRAX slide without its folder', () => memoryFiles({ 'a.mrxs': Buffer.from('') }), 'FILE_TRUNCATED'],
    [
      'a MIRAX slide without its index file',
      () => miraxFiles(description, { 'Data0000.dat': '' }),
      'FILE_TRUNCATED',
    ],
    [
      'a MIRAX slide without its data file',
      () => miraxFiles(description, { 'Index.dat': '' }),
      'FILE_TRUNCATED',
    ],
    [
      'a MIRAX slide that does not name its index',
      () => miraxFiles(description.replace('INDEXFILE', 'X')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide that does not name its data',
      () => miraxFiles(description.replace('FILE_0', 'X')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide that lists 0 files',
      () => miraxFiles(description.replace('COUNT=1', 'COUNT=0')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide that lists −1 files',
      () => miraxFiles(description.replace('COUNT=1', 'COUNT=-1')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide whose number of files is a word',
      () => miraxFiles(description.replace('COUNT=1', 'COUNT=many')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide that lists 10^6 files',
      () => miraxFiles(description.replace('COUNT=1', 'COUNT=1000000')),
      'LIMIT_EXCEEDED',
    ],
    [
      'a MIRAX slide with data in a parent folder',
      () => miraxFiles(description.replace('Data0000.dat', '../../secret')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide with data outside its folder',
      () => miraxFiles(description.replace('Data0000.dat', '../other.svs')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide with data at an absolute path',
      () => miraxFiles(description.replace('Data0000.dat', '/etc/passwd')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide with data at a Windows path',
      () => miraxFiles(description.replace('Data0000.dat', '..\\secret')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide whose index file has an empty name',
      () => miraxFiles(description.replace('=Index.dat', '=')),
      'FILE_CORRUPT',
    ],
    [
      'a MIRAX slide whose index file has the path "."',
      () => miraxFiles(description.replace('=Index.dat', '=.')),
      'FILE_CORRUPT',
    ],
    ['a MIRAX slide whose Slidedat.ini is binary', () => miraxFiles('\0\0\0\0'), 'FILE_CORRUPT'],
    ['a MIRAX slide whose Slidedat.ini is empty', () => miraxFiles(''), 'FILE_CORRUPT'],
    ['a MIRAX slide whose Slidedat.ini has 2 MiB', () => miraxFiles('#'.repeat(2 ** 21)), 'LIMIT_EXCEEDED'],
    ['a MIRAX slide whose Slidedat.ini has 10^6 lines', () => miraxFiles('\n'.repeat(1e6)), 'LIMIT_EXCEEDED'],
    [
      'a VMS slide without an image that it lists',
      () => vmsFiles(specimen, 'a.jpg', 'map.jpg'),
      'FILE_TRUNCATED',
    ],
    [
      'a VMS slide that lists no image',
      () => vmsFiles('[Virtual Microscope Specimen]\nNoJpegRows=1\n'),
      'FILE_CORRUPT',
    ],
    [
      'a VMS slide that lists an image in a parent folder',
      () => vmsFiles(specimen.replace('b.jpg', '../b.jpg'), 'a.jpg', 'map.jpg'),
      'FILE_CORRUPT',
    ],
    [
      'a VMS slide that lists an image at an absolute path',
      () => vmsFiles(specimen.replace('b.jpg', '/b.jpg'), 'a.jpg', 'map.jpg'),
      'FILE_CORRUPT',
    ],
    [
      'a VMU slide without the image that it lists',
      () => vmsFiles('[Uncompressed Virtual Microscope Specimen]\nImageFile=a.ngr\n'),
      'FILE_TRUNCATED',
    ],
    [
      'a VMS slide whose .vms file is truncated',
      () => vmsFiles(`${specimen}Ma`, 'a.jpg', 'b.jpg', 'map.jpg'),
      'FILE_CORRUPT',
    ],
  ])('throws $2 for %s', async (_, files, code) => {
    await expect(openSlideFrom(files())).rejects.toMatchObject({ name: 'SlideError', code });
  });

  it('throws FILE_CORRUPT if a companion file is a symbolic link to a file outside the folder', async () => {
    await writeMirax(folder, 'linked', { picture, tileSide: 128 });
    await writeFile(join(folder, 'secret.dat'), 'secret');
    const outside = await mkdtemp(join(tmpdir(), 'openslide-outside-'));
    await writeFile(join(outside, 'Data0000.dat'), 'secret');
    await unlink(join(folder, 'linked', 'Data0000.dat'));
    await symlink(join(outside, 'Data0000.dat'), join(folder, 'linked', 'Data0000.dat'));
    await expect(openSlide({ path: join(folder, 'linked.mrxs') })).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
    await rm(outside, { recursive: true });
  });
});

describe('groupSlideFiles (finds the files that belong to one slide)', () => {
  it('groups a VMS or VMU slide with the files that it lists, and a MIRAX slide with the folder of its name', async () => {
    const slideFolder = await mkdtemp(join(tmpdir(), 'openslide-group-'));
    const specimen =
      '[Virtual Microscope Specimen]\nImageFile=a.jpg\nImageFile(1,0)=b.jpg\nMapFile=map.jpg\n';
    await writeFile(join(slideFolder, 'slide.vms'), specimen);
    await writeFile(join(slideFolder, 'broken.vmu'), 'what is this');
    const names = [
      'a.jpg',
      'b.jpg',
      'broken.vmu',
      'c.jpg',
      'lone.mrxs',
      'map.jpg',
      'slide.MRXS',
      'slide.vms',
    ];
    expect(await groupSlideFiles({ path: slideFolder }, names, ['slide', 'other'])).toEqual(
      expect.arrayContaining([
        { main: 'slide.vms', members: ['a.jpg', 'b.jpg', 'map.jpg'] },
        { main: 'broken.vmu', members: [] },
        { main: 'slide.MRXS', members: ['slide/'] },
        { main: 'lone.mrxs', members: [] },
      ]),
    );
    await rm(slideFolder, { recursive: true });
  });

  it('groups the other slides of a folder even if a VMS file in the folder cannot be opened', async () => {
    const groups = await groupSlideFiles({ path: folder }, ['gone.vms', 'slide.mrxs'], ['slide']);
    expect(groups).toEqual([
      { main: 'gone.vms', members: [] },
      { main: 'slide.mrxs', members: ['slide/'] },
    ]);
  });
});

/** Encodes a JPEG as Hamamatsu's VMS scanners write it: with a restart marker after every row of blocks. */
async function withRestartMarkers({ width, height, rgb }: Raster): Promise<Uint8Array> {
  const rows = Array.from({ length: height / 8 }, (_, i) =>
    sharp(rgb.subarray(i * 8 * width * 3, (i + 1) * 8 * width * 3), {
      raw: { width, height: 8, channels: 3 },
    })
      .jpeg({ quality: 95, chromaSubsampling: '4:4:4', optimiseCoding: false })
      .toBuffer(),
  );
  return joinScans(await Promise.all(rows)) ?? new Uint8Array();
}

describe.skipIf(library === null)(`a Hamamatsu VMS slide${skipped}`, () => {
  it('has the metadata of its description and the pixels of the JPEG that it lists', async () => {
    const { width, height } = { width: 512, height: 256 };
    const jpeg = await withRestartMarkers(cropRaster(picture, 0, 0, width, height));
    await writeFile(join(folder, 'vms-a.jpg'), jpeg);
    await writeFile(join(folder, 'vms-map.jpg'), await withRestartMarkers(cropRaster(picture, 0, 0, 64, 32)));
    const description = [
      '[Virtual Microscope Specimen]',
      'NoLayers=1',
      'NoJpegColumns=1',
      'NoJpegRows=1',
      'ImageFile=vms-a.jpg',
      'MapFile=vms-map.jpg',
      'SourceLens=40',
      'PhysicalWidth=128000',
      'PhysicalHeight=64000',
    ];
    await writeFile(join(folder, 'old.vms'), description.join('\n'));
    const slide = await openSlide({ path: join(folder, 'old.vms') });
    expect(slide).toMatchObject({ format: 'hamamatsu', vendor: 'Hamamatsu', objectivePower: 40 });
    expect(slide.mpp).toEqual({ x: 0.25, y: 0.25 });
    expect(slide.levels[0]).toMatchObject({ width: 512, height: 256 });
    const tile = (await rasterOf(slide, { level: 0, column: 1, row: 0 })) as Raster;
    const whole = await decodeImage({ codec: 'jpeg', bytes: jpeg, width, height });
    expect(difference(tile, cropRaster(whole, 256, 0, 256, 256)).max).toBe(0);
    await slide.close();
  });
});

describe.skipIf(library === null)(
  `openWithOpenSlide (opens a slide with the library OpenSlide)${skipped}`,
  () => {
    it('returns the same metadata as the built-in reader for an Aperio slide', async () => {
      const path = join(folder, 'aperio.svs');
      await writeFile(path, await buildSvs({ picture, colour: 'rgb' }));
      const fromReader = await openSlide({ path });
      const fromOpenSlide = await openWithOpenSlide(await openLocalFiles({ path }));
      expect(fromReader.format).toBe('aperio');
      expect(fromOpenSlide).toMatchObject({
        format: 'aperio',
        vendor: 'Aperio',
        mpp: fromReader.mpp,
        objectivePower: fromReader.objectivePower,
      });
      await Promise.all([fromReader.close(), fromOpenSlide?.close()]);
    });

    it('returns null for a generic TIFF, because OpenSlide draws some of these files incorrectly', async () => {
      const path = join(folder, 'plain.tif');
      const tiff = sharp(picture.rgb, { raw: { width: 1024, height: 768, channels: 3 } });
      await writeFile(path, await tiff.tiff({ tile: true, compression: 'jpeg' }).toBuffer());
      const files = await openLocalFiles({ path });
      expect(await openWithOpenSlide(files)).toBeNull();
      await files.close();
    });

    it('removes its links to the files of the slide when the library cannot detect the vendor', async () => {
      const linkFolder = await mkdtemp(join(tmpdir(), 'openslide-links-'));
      const files = await openLocalFiles({ path: join(folder, 'whole.mrxs') });
      const detectVendor = vi.spyOn(library as OpenSlideLibrary, 'detectVendor');
      detectVendor.mockRejectedValueOnce(new Error('no thread'));
      setLibraryAccess({ kind: 'own-process', folder: linkFolder });
      try {
        await expect(openWithOpenSlide(files)).rejects.toThrow('no thread');
        expect(await readdir(linkFolder)).toEqual([]);
      } finally {
        setLibraryAccess({ kind: 'direct' });
        detectVendor.mockRestore();
        await files.close();
        await rm(linkFolder, { recursive: true });
      }
    });
  },
);

describe.skipIf(library === null)(
  `openWithOpenSlide (opens a slide with the library OpenSlide) with CMU-1-Small-Region.svs${skipped}`,
  () => {
    const path = realSlide;

    it('returns the same pixels as the built-in reader', async () => {
      const fromReader = await openSlide({ path });
      const fromOpenSlide = (await openWithOpenSlide(await openLocalFiles({ path }))) as Slide;
      expect(fromOpenSlide.levels).toMatchObject([{ width: 2220, height: 2967 }]);
      expect([...fromOpenSlide.associatedImages].sort()).toEqual(['label', 'macro', 'thumbnail']);
      const label = await fromOpenSlide.readAssociatedImage('label');
      expect(label).toMatchObject({ codec: 'rgb', width: 387, height: 463 });
      const [{ tileWidth, columns, rows }] = fromReader.levels;
      // The built-in reader has tiles of 240 pixels and OpenSlide of 256, so the whole image is composed for comparison.
      const whole = new Uint8Array(2220 * 2967 * 3);
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const stored = await fromReader.readTile({ level: 0, column, row });
          const tile = await decodeImage(stored as NonNullable<typeof stored>);
          const width = Math.min(tileWidth, 2220 - column * tileWidth);
          const height = Math.min(tileWidth, 2967 - row * tileWidth);
          for (let y = 0; y < height; y++) {
            const rowStart = ((row * tileWidth + y) * 2220 + column * tileWidth) * 3;
            whole.set(tile.rgb.subarray(y * tileWidth * 3, (y * tileWidth + width) * 3), rowStart);
          }
        }
      }
      for (const address of addressesOf(fromOpenSlide, 0)) {
        const tile = (await rasterOf(fromOpenSlide, address)) as Raster;
        const [x, y] = [address.column * 256, address.row * 256];
        const expectedPixels = cropRaster(
          { width: 2220, height: 2967, rgb: whole },
          x,
          y,
          tile.width,
          tile.height,
        );
        expect(Buffer.compare(tile.rgb, expectedPixels.rgb), JSON.stringify(address)).toBe(0);
      }
      await Promise.all([fromReader.close(), fromOpenSlide.close()]);
    });

    it('returns the same pixels for 4,000 concurrent reads as for sequential reads', async () => {
      const slide = (await openWithOpenSlide(await openLocalFiles({ path }))) as Slide;
      const addresses = [...addressesOf(slide, 0)];
      const sequentialTiles: Uint8Array[] = [];
      for (const address of addresses) {
        sequentialTiles.push((await slide.readTile(address))?.bytes ?? new Uint8Array());
      }
      const comparisons = await Promise.all(
        // 7919 is prime, so the reads cover all tiles in an irregular order.
        Array.from({ length: 4000 }, async (_, i) => {
          const index = (i * 7919) % addresses.length;
          const tile = await slide.readTile(addresses[index] as TileAddress);
          return Buffer.compare(tile?.bytes ?? new Uint8Array(), sequentialTiles[index] as Uint8Array);
        }),
      );
      expect(comparisons.filter((comparison) => comparison !== 0)).toEqual([]);
      await slide.close();
    });
  },
);
