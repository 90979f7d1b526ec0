/**
 * Tests that a de-identified copy has the pixels of the slide, no label or macro, and no identifier of the original in any
 * byte, and that its bytes are the same whichever ranges are read. Generated files are always tested, real ones only if
 * TEST_SLIDES names their folder.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Slide } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { planDicom, writeDicom } from '../testing/build-dicom.ts';
import { layOutNdpi, ndpiBytes, ndpiDirectories } from '../testing/build-ndpi.ts';
import { buildSvs, svsDirectories } from '../testing/build-svs.ts';
import { ascii, buildTiff } from '../testing/build-tiff.ts';
import { buildVsi } from '../testing/build-vsi.ts';
import { difference } from '../testing/compare-pixels.ts';
import { openSlidePeer } from '../testing/peers.ts';
import { seededNumbers } from '../testing/seeded-numbers.ts';
import { tag } from '../tiff/tags.ts';
import { blankAperioDescription } from './descriptions.ts';
import { openOriginal, planOriginals } from './originals.ts';

const slides = process.env.TEST_SLIDES ?? '';
const byOpenSlide = await openSlidePeer();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deidentify-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Copy {
  readonly bytes: Uint8Array;
  readonly path: string;
}

/** Writes the de-identified copy of a slide of one file, read in ranges of pseudo-random lengths. */
async function copyOf(path: string, seed = 1): Promise<Copy> {
  const location = { path, members: [] };
  const plan = await planOriginals(location, null, 'salt');
  const [file] = plan.files;
  if (plan.notDeidentifiedBecause !== null || file === undefined)
    throw new Error(plan.notDeidentifiedBecause ?? 'no file');
  const original = await openOriginal(location, null, plan, file);
  const next = seededNumbers(seed);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < file.size; ) {
    // Seed 1 reads ranges of any length, other seeds ranges of at most 64 KiB.
    const length = Math.min(1 + next(seed === 1 ? file.size : 65_536), file.size - at);
    parts.push(await original.read(at, length));
    at += length;
  }
  await original.close();
  const bytes = Buffer.concat(parts);
  const copy = join(folder, `${seed}-${basename(path)}`);
  await writeFile(copy, bytes);
  return { bytes, path: copy };
}

/** Expects equal levels and equal bytes of the first 64 tiles of each level. */
async function expectSameTiles(original: Slide, copy: Slide): Promise<void> {
  expect(copy.levels).toEqual(original.levels);
  for (const [level, { columns, rows }] of original.levels.entries()) {
    for (let i = 0; i < Math.min(64, columns * rows); i++) {
      const address = { level, column: i % columns, row: Math.floor(i / columns) };
      expect(await copy.readTile(address)).toEqual(await original.readTile(address));
    }
  }
}

/** Expects the same tiles and scale, and no associated image in the copy except the thumbnail. */
async function expectSamePixels(originalPath: string, copyPath: string): Promise<void> {
  const original = await openSlide({ path: originalPath, members: [] });
  const copy = await openSlide({ path: copyPath, members: [] });
  await expectSameTiles(original, copy);
  expect(copy.mpp).toEqual(original.mpp);
  expect(copy.objectivePower).toBe(original.objectivePower);
  expect([...copy.associatedImages].filter((name) => name !== 'thumbnail')).toEqual([]);
  await original.close();
  await copy.close();
}

const contains = (bytes: Uint8Array, text: string) =>
  Buffer.from(bytes).includes(Buffer.from(text, 'latin1'));

/** Real slides with identifiers that their originals contain. */
const realSlides: Readonly<Record<string, readonly string[]>> = {
  'aperio/CMU-1-Small-Region.svs': [
    'CPAPERIOCS',
    'CMU-1',
    '12/29/09',
    '09:59:15',
    'b414003d-95c6',
    '1004486',
  ],
  'aperio/1065626.svs': ['DSR ID = 0', 'Filename = 0', 'User = 0', 'ImageID = 0'],
  'aperio/small.svs': [],
  'hamamatsu/test3-DAPI-2-(387).ndpi': ['950291', '950410', '2017:02:07', '2011/05/23', 'BarcodeNo'],
  'vectra-qptiff/small_vectra.qptiff': ['2020-09-22T19:38'],
  'generic-tiff/CMU-1-small.tiff': [],
  'generic-tiff/boxes.tiff': [],
  'generic-tiff/BigTIFFSubIFD8.tif': [],
  'generic-tiff/be_cog.tiff': [],
  'ome-tiff/cells.ome.tif': [],
  'ome-tiff/OS-2-vsi.ome.tif': [],
  'dicom/uncompressed/raw.dicom': [],
  'dicom/camelyon-jpeg/multi_frame_jpeg_camelyon_challenge_image.dcm': [],
  'dicom/highdicom/sm_image.dcm': [],
};

/** All other files in the folder of real slides that may be a slide of one file. */
const otherSlides =
  slides === ''
    ? []
    : (await readdir(slides, { recursive: true }))
        .filter((name) => /\.(svs|tiff?|ndpi|qptiff|czi|vsi|dcm|dicom|png|jpe?g|jp2)$/.test(name))
        .filter((name) => !(name in realSlides) && !/cmu-1-small-region|zarr/.test(name))
        .sort();

describe.skipIf(slides === '')('de-identified copy of a real slide (skipped without TEST_SLIDES)', () => {
  it.each(Object.keys(realSlides))(
    'has the pixels and length of the original, and neither label nor macro: %s',
    async (name) => {
      const path = join(slides, name);
      const { bytes, path: copy } = await copyOf(path);
      expect(bytes.length).toBe((await readFile(path)).length);
      await expectSamePixels(path, copy);
    },
  );

  it.each(Object.keys(realSlides))(
    'has the same bytes whether it is read in long or in short parts: %s',
    async (name) => {
      const path = join(slides, name);
      const { bytes } = await copyOf(path);
      for (const seed of [2, 3]) expect(Buffer.compare((await copyOf(path, seed)).bytes, bytes)).toBe(0);
    },
  );

  it.each(Object.entries(realSlides).filter(([, identifiers]) => identifiers.length > 0))(
    'contains none of the identifiers of the original: %s',
    async (name, identifiers) => {
      const path = join(slides, name);
      const original = await readFile(path);
      const { bytes } = await copyOf(path);
      for (const identifier of identifiers) {
        expect([identifier, contains(original, identifier), contains(bytes, identifier)]).toEqual([
          identifier,
          true,
          false,
        ]);
      }
    },
  );

  it.skipIf(!byOpenSlide).each(['aperio/CMU-1-Small-Region.svs', 'hamamatsu/test3-DAPI-2-(387).ndpi'])(
    'has the pixels of the original in OpenSlide (skipped without libopenslide): %s',
    async (name) => {
      const path = join(slides, name);
      const original = await byOpenSlide?.(path);
      const copy = await byOpenSlide?.((await copyOf(path)).path);
      if (!original || !copy) throw new Error('OpenSlide does not read the file');
      expect(copy.levels).toEqual(original.levels);
      const white = { r: 255, g: 255, b: 255 };
      for (const [level, { width, height }] of original.levels.entries()) {
        const area = { x: 0, y: 0, width: Math.min(width, 1024), height: Math.min(height, 1024) };
        const originalPixels = await original.read(level, area, white);
        expect(difference(originalPixels, await copy.read(level, area, white)).max).toBe(0);
      }
      await original.close();
      await copy.close();
    },
  );

  it.each(otherSlides)(
    'has the pixels of the original, unless planOriginals (the check before de-identification) states why a copy is not possible: %s',
    async (name) => {
      const path = join(slides, name);
      const location = { path, members: [] };
      const plan = await planOriginals(location, null, 'salt');
      if (plan.notDeidentifiedBecause !== null) {
        expect(plan.files).toMatchObject([{ patches: [] }]);
        return;
      }
      const original = await openSlide(location).catch(() => null);
      if (original === null) return; // a file that is not a slide, for example annotations
      await original.close();
      const { bytes, path: copy } = await copyOf(path);
      expect(bytes.length).toBe((await readFile(path)).length);
      await expectSamePixels(path, copy);
    },
  );

  it('of several DICOM files opens as one slide with the original tiles, because UIDs are replaced consistently', async () => {
    const dicom = join(slides, 'dicom/cmu-1-small-region');
    const [main = '', ...members] = (await readdir(dicom)).filter((name) => name.endsWith('.dcm')).sort();
    const location = { path: join(dicom, main), members };
    const plan = await planOriginals(location, null, 'salt');
    expect(plan.notDeidentifiedBecause).toBeNull();
    expect(plan.files.map(({ path }) => path)).toEqual([main, ...members]);
    const target = await mkdtemp(join(folder, 'dicom-'));
    for (const file of plan.files) {
      const original = await openOriginal(location, null, plan, file);
      await writeFile(join(target, file.path), await original.read(0, file.size));
      await original.close();
    }
    const original = await openSlide(location);
    const copy = await openSlide({ path: join(target, main), members });
    await expectSameTiles(original, copy);
    await original.close();
    await copy.close();
  });

  it.each([
    ['dicom/label-only/test_wikipedia.dcm', 'labels'],
    ['generic-tiff/old-style-jpeg-compression.tif', 'old-style'],
    ['zeiss-czi/RGB-8bit.czi', 'neither DICOM nor TIFF'],
    ['plain-images/test-image.png', 'neither DICOM nor TIFF'],
    ['olympus-vsi/vsi-ets-test-jpg2k.vsi', 'neither DICOM nor TIFF'],
  ])(
    'is not possible for %s, and planOriginals (the check before de-identification) states the reason "%s"',
    async (name, reason) => {
      const plan = await planOriginals({ path: join(slides, name), members: [] }, null, 'salt');
      expect(plan.notDeidentifiedBecause).toContain(reason);
      expect(plan.files).toMatchObject([{ patches: [] }]);
    },
  );
});

describe('de-identified copy of a generated slide', () => {
  async function writeSlide(name: string, bytes: Uint8Array): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return path;
  }

  it.each([
    ['classic', {}],
    ['big-endian', { isLittleEndian: false }],
    ['BigTIFF', { isBig: true }],
  ])('that is a %s SVS file has the original pixels, and zeros for label and macro', async (name, plan) => {
    const directories = await svsDirectories({});
    const bytes = await buildSvs(plan);
    const path = await writeSlide(`${name}.svs`, bytes);
    const { bytes: copy, path: copyPath } = await copyOf(path);
    await expectSamePixels(path, copyPath);
    const zeroed = copy.filter((byte, i) => byte === 0 && bytes[i] !== 0).length;
    expect(zeroed).toBeGreaterThan(100);
    expect(directories.length).toBeGreaterThan(3);
  });

  it('has the original pixels and no label when the label is the second directory of an SVS', async () => {
    const directories = await svsDirectories({});
    const label = directories.at(-2);
    if (label === undefined) throw new Error('no label');
    const { bytes } = buildTiff({
      directories: [...directories.slice(0, 1), label, ...directories.slice(1, -2)],
    });
    const path = await writeSlide('label-early.svs', bytes);
    const { path: copyPath } = await copyOf(path);
    await expectSamePixels(path, copyPath);
  });

  it('that is a generic TIFF has no page with another aspect ratio than the slide, no text and no bytes outside the TIFF structure', async () => {
    const [full, , ...levels] = (await svsDirectories({})).slice(0, -2);
    const [label] = (await svsDirectories({ width: 100, height: 300 })).slice(0, 1);
    if (full === undefined || label === undefined) throw new Error('no directories');
    const tags = {
      ...full.tags,
      [tag.ImageDescription]: ascii('Jane Doe 1970'),
      306: ascii('2020:01:02 03:04:05'),
    };
    const built = buildTiff({ directories: [{ ...full, tags }, ...levels, label] }).bytes;
    const bytes = Buffer.concat([built, Buffer.from('appended by a program for Jane Doe')]);
    const { bytes: copy, path } = await copyOf(await writeSlide('pages.tif', bytes));
    for (const text of ['Jane', '1970', '2020', '03:04', 'appended']) {
      expect([text, contains(bytes, text), contains(copy, text)]).toEqual([text, true, false]);
    }
    await expectSamePixels(join(folder, 'pages.tif'), path);
  });

  it('that is a DICOM file has no private information in the file meta information, no overlays and no binary documents', async () => {
    const text = Buffer.from('Jane Doe 1970 ');
    const file = await planDicom({});
    const identifying = [
      { tag: 0x0002_0102, vr: 'OB', value: text }, // PrivateInformation
      { tag: 0x0042_0011, vr: 'OB', value: text }, // EncapsulatedDocument
      { tag: 0x5600_0020, vr: 'OF', value: Buffer.concat([text, Buffer.alloc(2)]) }, // SpectroscopyData
      { tag: 0x6000_3000, vr: 'OW', value: text }, // OverlayData
    ];
    const [privateInformation, ...others] = identifying;
    if (privateInformation === undefined) throw new Error('no element');
    const bytes = Buffer.from(
      writeDicom({
        ...file,
        meta: [...file.meta, privateInformation],
        elements: [...file.elements, ...others].sort((a, b) => a.tag - b.tag),
      }),
    );
    expect(bytes.toString('latin1').split('Jane Doe')).toHaveLength(identifying.length + 1);
    const { bytes: copy, path } = await copyOf(await writeSlide('identifying.dcm', bytes));
    expect(contains(copy, 'Jane Doe')).toBe(false);
    await expectSamePixels(join(folder, 'identifying.dcm'), path);
  });

  it('is not possible for an Olympus VSI file without its folder of images, although the file is a valid TIFF', async () => {
    const path = await writeSlide('alone.vsi', buildVsi([]));
    const plan = await planOriginals({ path, members: [] }, null, 'salt');
    expect(plan.notDeidentifiedBecause).toContain('neither DICOM nor TIFF');
  });

  it('is not possible for an Olympus VSI slide with a folder of images', async () => {
    const path = await writeSlide('area.vsi', buildVsi([]));
    await mkdir(join(folder, '_area_', 'stack1'), { recursive: true });
    await writeFile(join(folder, '_area_', 'stack1', 'frame_t.ets'), 'pixels');
    const plan = await planOriginals({ path, members: ['_area_/'] }, null, 'salt');
    expect(plan.notDeidentifiedBecause).toContain('neither DICOM nor TIFF');
    expect(plan.files).toMatchObject([
      { path: 'area.vsi', patches: [] },
      { path: '_area_/stack1/frame_t.ets', size: 6, patches: [] },
    ]);
  });

  it('that is an NDPI file has the original pixels and no macro image', async () => {
    const path = await writeSlide('a.ndpi', ndpiBytes(layOutNdpi(await ndpiDirectories({}))));
    const { path: copyPath } = await copyOf(path);
    await expectSamePixels(path, copyPath);
  });
});

describe('blankAperioDescription (de-identifies the ImageDescription of an Aperio slide)', () => {
  it('keeps image sizes, numbers and names of properties, and replaces other text by spaces', () => {
    const description =
      'Aperio Image Library v11.2.1 \r\n46000x32914 [42673,5576 2220x2967] (240x240) JPEG/RGB Q=30;Made for Jane Doe|AppMag = 20|MPP = 0.4990|Filename = Jane|Patient 12 = x|User = 7f|no pair|Left = 25.69|Top = Jane';
    expect(blankAperioDescription(description)).toBe(
      'Aperio Image Library v11.2.1 \r\n46000x32914 [42673,5576 2220x2967] (240x240) JPEG/RGB Q=30;                 |AppMag = 20|MPP = 0.4990|Filename =     |           =  |User =   |=      |Left = 25.69|Top =     ',
    );
  });
});
