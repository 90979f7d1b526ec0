import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { cropRaster, shrinkRaster } from '../decode/raster.ts';
import { describeDeepZoom, readNativeDziTile } from '../deep-zoom/deep-zoom.ts';
import { readJpegHeader } from '../jpeg/header.ts';
import { openSlide } from '../open-slide.ts';
import { renderTile } from '../render/render-tile.ts';
import { openFileSource } from '../source/file-source.ts';
import {
  layOutNdpi,
  type NdpiDirectoryPlan,
  type NdpiPlan,
  ndpiBytes,
  ndpiDirectories,
  openNdpi,
  signedLong,
} from '../testing/build-ndpi.ts';
import { long } from '../testing/build-tiff.ts';
import { boxFilter, difference, MAX_JPEG_DIFFERENCE, pixelsOf } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { tag } from '../tiff/tags.ts';
import { openTiff } from '../tiff/tiff-file.ts';

vi.setConfig({ testTimeout: 60_000 });

/** The directories of the default slide: three levels, the macro and the map of tissue areas. */
let defaultDirectories: NdpiDirectoryPlan[];
beforeAll(async () => {
  defaultDirectories = await ndpiDirectories({});
});

/** Builds an NDPI file and opens it. */
const open = async (plan?: NdpiPlan) =>
  openBytes(ndpiBytes(layOutNdpi(plan ? await ndpiDirectories(plan) : defaultDirectories)));

/** Opens a slide whose directories are changed before they are written. */
async function openChanged(
  change: (directories: NdpiDirectoryPlan[]) => NdpiDirectoryPlan[],
  plan?: NdpiPlan,
) {
  return openBytes(ndpiBytes(layOutNdpi(change(plan ? await ndpiDirectories(plan) : defaultDirectories))));
}

const withTags = (
  directory: NdpiDirectoryPlan | undefined,
  tags: NdpiDirectoryPlan['tags'],
): NdpiDirectoryPlan => ({
  jpeg: directory?.jpeg ?? new Uint8Array(),
  tags: { ...directory?.tags, ...tags },
});

/** Returns a directory that states this size in its tags and in the frame header of its JPEG. */
function resized(directory: NdpiDirectoryPlan | undefined, width: number, height: number): NdpiDirectoryPlan {
  const jpeg = Buffer.from(directory?.jpeg ?? []);
  const { frameAt } = readJpegHeader(jpeg);
  jpeg.writeUInt16BE(height, frameAt + 5);
  jpeg.writeUInt16BE(width, frameAt + 7);
  const tags = { ...directory?.tags, [tag.ImageWidth]: long(width), [tag.ImageLength]: long(height) };
  return { tags, jpeg };
}

/** Returns a directory without these tags. */
const without = ({ jpeg, tags }: NdpiDirectoryPlan, ...names: number[]): NdpiDirectoryPlan => ({
  jpeg,
  tags: Object.fromEntries(Object.entries(tags).filter(([name]) => !names.includes(Number(name)))),
});

describe('an NDPI slide', () => {
  it('has its levels in descending order of size, each divided into tiles at restart markers', async () => {
    const { format, vendor, levels } = await open();
    expect({ format, vendor }).toEqual({ format: 'ndpi', vendor: 'Hamamatsu' });
    expect(levels).toMatchObject([
      { width: 384, height: 272, tileWidth: 256, tileHeight: 256, columns: 2, rows: 2, downsample: 1 },
      { width: 192, height: 136, tileWidth: 192, tileHeight: 136, columns: 1, rows: 1, downsample: 2 },
      { width: 96, height: 68, tileWidth: 96, tileHeight: 72, columns: 1, rows: 1, downsample: 4 },
    ]);
  });

  it.each<[string, NdpiPlan]>([
    ['full chroma resolution', {}],
    ['half chroma resolution', { intervals: { width: 192, height: 16, colour: 'half' }, downsamples: [1] }],
    ['grey pixels', { intervals: { width: 128, height: 8, colour: 'grey' } }],
    ['restart intervals as wide as the slide', { intervals: { width: 384, height: 8 } }],
    [
      'restart intervals of the smallest supported size',
      { intervals: { width: 32, height: 8 }, width: 128, height: 72 },
    ],
    ['restart intervals of several rows of blocks', { intervals: { width: 384, height: 24 } }],
    ['a width that ends inside a block (MCU)', { width: 379, downsamples: [1] }],
    ['restart markers only at full resolution', { wholeFrom: 1 }],
    ['no restart markers at all', { wholeFrom: 0 }],
  ])('with %s returns tiles with the original pixels, except for JPEG artefacts', async (_, plan) => {
    const { width = 384, height = 272 } = plan;
    const picture =
      plan.intervals?.colour === 'grey' ? greyTissue(width, height) : paintTissue(width, height);
    const slide = await open({ picture, ...plan });
    for (const [level, { downsample, ...size }] of slide.levels.entries()) {
      const reduced = shrinkRaster(picture, Math.round(downsample));
      const expectedPixels = cropRaster(reduced, 0, 0, size.width, size.height);
      expect(difference(await drawLevel(slide, level), expectedPixels).mean, `level ${level}`).toBeLessThan(
        MAX_JPEG_DIFFERENCE,
      );
    }
  });

  it('returns a tile without decoding it if the tile consists of whole restart intervals', async () => {
    const slide = await open();
    expect(describeDeepZoom(slide)).toMatchObject({ tileSize: 256, maxLevel: 9 });
    const nativeTile = await readNativeDziTile(slide, { dziLevel: 9, column: 0, row: 0 });
    const expectedPixels = cropRaster(paintTissue(384, 272), 0, 0, 256, 256);
    expect(difference(await pixelsOf(nativeTile ?? new Uint8Array()), expectedPixels).mean).toBeLessThan(
      MAX_JPEG_DIFFERENCE,
    );
  });

  it('renders a tile of half resolution, which the file does not store, with a mean difference of less than 2 of 255 from box-filtered full resolution', async () => {
    const slide = await open({ downsamples: [1, 4] });
    const whole = await drawLevel(slide, 0);
    const tile = await pixelsOf(await renderTile(slide, { dziLevel: 8, column: 0, row: 0 }));
    const expectedPixels = boxFilter(whole, 2, { x: 0, y: 0, width: 192, height: 136 });
    expect(difference(tile, expectedPixels).mean).toBeLessThan(2);
  });

  it('has the pixel size and objective power that the TIFF directory of full resolution states', async () => {
    const { mpp, objectivePower } = await open({ sourceLens: 40, pixelsPerCm: 43_826 });
    expect(mpp).toEqual({ x: 10_000 / 43_826, y: 10_000 / 43_826 });
    expect(objectivePower).toBe(40);
  });

  it('has its macro, but not its map of tissue areas, as an associated image', async () => {
    const slide = await open();
    expect([...slide.associatedImages]).toEqual(['macro']);
    const macro = await pixelsOf((await slide.readAssociatedImage('macro')).bytes);
    expect(macro).toMatchObject({ width: 120, height: 48 });
    expect(macro.rgb[0]).toBeGreaterThan(250);
    await expect(slide.readAssociatedImage('label')).rejects.toMatchObject({
      code: 'ASSOCIATED_IMAGE_MISSING',
    });
    expect((await open({ hasAssociatedImages: false })).associatedImages.size).toBe(0);
  });

  it('leaves the JPEG comments of the file, which may contain a patient name, out of tiles and metadata', async () => {
    const slide = await openChanged(([full]) => {
      const jpeg = Buffer.from(full?.jpeg ?? []);
      const comment = Buffer.from('\xff\xfe\0\x0ePATIENT 4711', 'latin1');
      const commented = Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]);
      return [{ ...withTags(full, { [tag.McuStarts]: long(0) }), jpeg: commented }];
    });
    const tile = await slide.readTile({ level: 0, column: 1, row: 0 });
    expect(Buffer.from(tile?.bytes ?? []).includes('PATIENT')).toBe(false);
    expect(JSON.stringify(slide)).not.toContain('4711');
  });

  it.each([
    ['a level that does not exist', { level: 3, column: 0, row: 0 }],
    ['a column that does not exist', { level: 0, column: 2, row: 0 }],
    ['a row that does not exist', { level: 0, column: 0, row: 2 }],
    ['a column before the first', { level: 0, column: -1, row: 0 }],
    ['a fractional row', { level: 0, column: 0, row: 0.5 }],
    ['the second column of a level that has only one', { level: 2, column: 1, row: 0 }],
  ])('throws TILE_OUT_OF_RANGE for a tile address with %s', async (_, address) => {
    const slide = await open();
    await expect(slide.readTile(address)).rejects.toMatchObject({ code: 'TILE_OUT_OF_RANGE' });
  });
});

describe('the levels of an NDPI slide', () => {
  it('are only the images of the focal plane closest to the middle (offset 0)', async () => {
    const planes = await Promise.all(
      [-4000, 1000, 0].map(async (focalPlane) => {
        const directories = await ndpiDirectories({
          hasAssociatedImages: false,
          sourceLens: focalPlane ? 20 : 40,
        });
        return directories.map((directory) =>
          withTags(directory, { [tag.FocalPlane]: signedLong(focalPlane) }),
        );
      }),
    );
    const slide = await openChanged(() => planes.flat());
    expect(slide.levels.map(({ width }) => width)).toEqual([384, 192, 96]);
    expect(slide.objectivePower).toBe(40);
    expect(slide.shownPlane).toEqual({ plane: 2, planes: 3, times: 1 });
  });

  it('are those of the focal plane that comes first in the file if two planes are equally far from the middle (offset 0)', async () => {
    const slide = await openChanged(([full, half, quarter]) => [
      withTags(full, { [tag.FocalPlane]: signedLong(-2000) }),
      withTags(half, { [tag.FocalPlane]: signedLong(2000) }),
      withTags(quarter, { [tag.FocalPlane]: signedLong(-2000) }),
    ]);
    expect(slide.levels.map(({ width }) => width)).toEqual([384, 96]);
  });

  it('are recognised by magnification and aspect ratio, whatever the order of the TIFF directories', async () => {
    const slide = await openChanged(
      ([full, half, quarter, macro, map]) => [macro, quarter, map, full, half] as NdpiDirectoryPlan[],
    );
    expect(slide.levels.map(({ width }) => width)).toEqual([384, 192, 96]);
    expect(slide.objectivePower).toBe(20);
  });

  it('do not include an image whose aspect ratio differs from that of full resolution', async () => {
    const wide = (
      await ndpiDirectories({ width: 256, height: 64, downsamples: [1] })
    )[0] as NdpiDirectoryPlan;
    const slide = await openChanged((directories) => [...directories, wide]);
    expect(slide.levels.map(({ width }) => width)).toEqual([384, 192, 96]);
  });

  it('have the size that their JPEG states if the TIFF directory states a slightly different size', async () => {
    const slide = await openChanged(
      ([full, half]) => [full, withTags(half, { [tag.ImageWidth]: long(193) })] as NdpiDirectoryPlan[],
      { wholeFrom: 1 },
    );
    expect(slide.levels[1]).toMatchObject({ width: 192, height: 136 });
    expect(await drawLevel(slide, 1)).toMatchObject({ width: 192, height: 136 });
  });

  it('do not include an image without restart markers that is too large to decode as a whole', async () => {
    const large = await ndpiDirectories({ downsamples: [1, 2], wholeFrom: 1, hasAssociatedImages: false });
    const slide = await openChanged(([, , quarter]) => [
      resized(large[0], 384 * 64, 272 * 64),
      resized(large[1], 192 * 64, 136 * 64),
      quarter as NdpiDirectoryPlan,
    ]);
    expect(slide.levels.map(({ width }) => width)).toEqual([24_576, 96]);
  });
});

describe('an NDPI file of more than 4 GiB', () => {
  const gap = 5 * 2 ** 30 + 1000;

  it('has all levels and its macro, which are stored at offsets of more than 32 bits', async () => {
    const slide = await openNdpi(layOutNdpi(defaultDirectories, gap));
    expect(slide.levels.map(({ width }) => width)).toEqual([384, 192, 96]);
    expect(slide).toMatchObject({ mpp: { x: 0.5, y: 0.5 }, objectivePower: 20 });
    expect(difference(await drawLevel(slide, 0), paintTissue(384, 272)).mean).toBeLessThan(
      MAX_JPEG_DIFFERENCE,
    );
    expect(await slide.readAssociatedImage('macro')).toMatchObject({ width: 120, height: 48 });
  });

  it('returns the original pixels from restart intervals that are 6 GiB after the first one', async () => {
    const [full] = defaultDirectories as [NdpiDirectoryPlan];
    const { numbers } = full.tags[tag.McuStarts] ?? { numbers: [] };
    const [firstStart = 0] = numbers;
    // The first interval follows the header; all others are moved back by 6 GiB.
    const shift = 6 * 2 ** 30;
    const starts = numbers.map((start, i) => (i === 0 ? start : start + shift));
    const head = full.jpeg.subarray(0, numbers[1]);
    const tail = full.jpeg.subarray((numbers[1] as number) - 2);
    const built = layOutNdpi([
      {
        jpeg: head,
        tags: {
          ...full.tags,
          [tag.McuStarts]: long(...starts),
          [tag.McuStartsHigh]: long(...starts.map((start) => Math.floor(start / 2 ** 32))),
          [tag.StripByteCounts]: long(full.jpeg.length + shift),
        },
      },
    ]);
    const jpegOffset = built.pieces[1]?.at ?? 0;
    const tailOffset = jpegOffset + (numbers[1] as number) + shift - 2;
    const slide = await openNdpi({
      ...built,
      pieces: [...built.pieces, { at: tailOffset, bytes: tail }],
      size: tailOffset + tail.length,
    });
    expect(firstStart).toBeGreaterThan(0);
    const tile = await slide.readTile({ level: 0, column: 1, row: 0 });
    const expectedPixels = cropRaster(paintTissue(384, 272), 256, 0, 128, 256);
    expect(difference(await pixelsOf(tile?.bytes ?? new Uint8Array()), expectedPixels).mean).toBeLessThan(
      MAX_JPEG_DIFFERENCE,
    );
  });

  it('is rejected with a SlideError if its TIFF directories have no NDPI version tag', async () => {
    const built = layOutNdpi(
      (await ndpiDirectories({})).map((plan) => without(plan, tag.NdpiVersion)),
      gap,
    );
    await expect(openNdpi(built)).rejects.toMatchObject({ name: 'SlideError' });
  });
});

describe.skipIf(!process.env.TEST_SLIDES)(
  'a real NDPI slide (needs TEST_SLIDES, a folder of real slides)',
  () => {
    const path = join(process.env.TEST_SLIDES ?? '', 'hamamatsu', 'test3-DAPI-2-(387).ndpi');

    it('has four levels from 3968 × 4864 to 496 × 608 pixels, 0.228 µm per pixel, objective power 40 and a macro', async () => {
      const slide = await openSlide({ path });
      expect(slide).toMatchObject({
        format: 'ndpi',
        vendor: 'Hamamatsu',
        objectivePower: 40,
        mpp: { x: 10_000 / 43_826, y: 10_000 / 43_826 },
      });
      expect(slide.levels).toMatchObject([
        { width: 3968, height: 4864, tileWidth: 3968, tileHeight: 256, columns: 1, rows: 19, downsample: 1 },
        { width: 1984, height: 2432, tileWidth: 1984, tileHeight: 256, columns: 1, rows: 10, downsample: 2 },
        { width: 992, height: 1216, downsample: 4 },
        { width: 496, height: 608, downsample: 8 },
      ]);
      expect([...slide.associatedImages]).toEqual(['macro']);
      expect(await slide.readAssociatedImage('macro')).toMatchObject({ width: 1188, height: 406 });
      await slide.close();
    });

    it('has at each level the same pixels, read tile by tile, as the JPEG of the level decoded as a whole', async () => {
      const slide = await openSlide({ path });
      const source = await openFileSource(path);
      const file = await openTiff(source);
      for (const [level, directory] of (await file.directories()).slice(0, 4).entries()) {
        const offset = (await directory.number(tag.StripOffsets)) ?? 0;
        const jpeg = await source.read(offset, (await directory.number(tag.StripByteCounts)) ?? 0);
        expect(readJpegHeader(jpeg).restartInterval).toBeGreaterThan(0);
        const [rendered, reference] = [await drawLevel(slide, level), await pixelsOf(jpeg)];
        expect(Buffer.compare(rendered.rgb, reference.rgb), `level ${level}`).toBe(0);
      }
      await Promise.all([slide.close(), source.close()]);
    });

    it('returns a native tile (sent without decoding) of less than 200,000 bytes', async () => {
      const slide = await openSlide({ path });
      const tile = await slide.readTile({ level: 0, column: 0, row: 9 });
      expect(tile?.bytes.length).toBeLessThan(200_000);
      await slide.close();
    });
  },
);

/** Returns a grey image of the tissue, from its green samples. */
function greyTissue(width: number, height: number) {
  const { rgb } = paintTissue(width, height);
  return { width, height, rgb: rgb.map((_, i) => rgb[i - (i % 3) + 1] as number) };
}
