import { describe, expect, it } from 'vitest';
import { readNativeTile } from '../deep-zoom/deep-zoom.ts';
import type { Slide } from '../model/slide.ts';
import { renderThumbnail } from '../render/render-thumbnail.ts';
import { renderTile } from '../render/render-tile.ts';
import { buildDicom } from '../testing/build-dicom.ts';
import { buildPng } from '../testing/build-png.ts';
import { buildTiff, type DirectoryPlan, short } from '../testing/build-tiff.ts';
import { pixelsOf } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodeJpeg2000 } from '../testing/encode-frames.ts';
import { encodeSamples, type SamplesPlan } from '../testing/encode-samples.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { tag } from '../tiff/tags.ts';

const [width, height] = [96, 80];

/** Values from `least` to `most` in even steps. */
function ramp(least: number, most: number): Uint16Array {
  const last = width * height - 1;
  return Uint16Array.from({ length: last + 1 }, (_, i) => Math.round(least + ((most - least) * i) / last));
}

function directoryOf(samples: Uint16Array, plan: Partial<SamplesPlan> = {}): DirectoryPlan {
  const tile = { width: 32, height: 32 };
  return encodeSamples({
    width,
    height,
    samples,
    samplesPerPixel: 1,
    bits: 16,
    photometric: 1,
    tile,
    ...plan,
  });
}

function tiffOf(...directories: DirectoryPlan[]): Uint8Array {
  return buildTiff({ directories }).bytes;
}

/** Returns the first, the middle and the last pixel, 0…255 each. */
async function cornerSamples(slide: Slide): Promise<number[]> {
  const { rgb } = await drawLevel(slide, 0);
  return [0, Math.floor(rgb.length / 2), rgb.length - 1].map((at) => rgb[at] as number);
}

/** Tolerance of an estimated range, which excludes one pixel in a thousand. */
function expectRamp(values: number[], from = 0, to = 255): void {
  for (const [i, value] of [from, (from + to) / 2, to].entries()) {
    expect(Math.abs((values[i] as number) - value)).toBeLessThanOrEqual(3);
  }
}

describe('12-bit grey in 16-bit samples', () => {
  const dark = ramp(200, 3900);

  it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
    ['TIFF in tiles', () => tiffOf(directoryOf(dark))],
    [
      'TIFF in strips',
      () =>
        tiffOf(encodeSamples({ width, height, samples: dark, samplesPerPixel: 1, bits: 16, photometric: 1 })),
    ],
    [
      'TIFF that is stored rotated',
      () => tiffOf(directoryOf(dark, { tags: { [tag.Orientation]: short(1) } })),
    ],
    [
      'PNG',
      () =>
        buildPng({ width, height, colourType: 0, bits: 16, sample: (x, y) => dark[y * width + x] as number }),
    ],
    ['JPEG 2000', () => encodeJpeg2000({ width, height, samplesPerPixel: 1, values: dark })],
  ])('is stretched from its darkest to its brightest pixels: %s', async (_, build) => {
    expectRamp(await cornerSamples(await openBytes(await build())));
  });

  it('is inverted with WhiteIsZero', async () => {
    const tags = { [tag.MinSampleValue]: short(0), [tag.MaxSampleValue]: short(7800) };
    const slide = await openBytes(tiffOf(directoryOf(dark, { photometric: 0 })));
    expectRamp(await cornerSamples(slide), 255, 0);
    const declared = await openBytes(tiffOf(directoryOf(dark, { photometric: 0, tags })));
    expectRamp(await cornerSamples(declared), 248, 128);
  });

  it.each(['MONOCHROME2', 'MONOCHROME1'])(
    'is stretched in DICOM without a window: %s',
    async (photometric) => {
      const slide = await openBytes(await buildDicom({ photometric, bits: 16, wordStep: 10 }));
      const { rgb } = await drawLevel(slide, 0);
      const sorted = rgb.toSorted();
      expect(sorted[0]).toBeLessThan(10);
      expect(sorted.at(-1)).toBeGreaterThan(240);
    },
  );

  it('is scaled by the range that a TIFF declares', async () => {
    const tags = { [tag.MinSampleValue]: short(0), [tag.MaxSampleValue]: short(7800) };
    expectRamp(await cornerSamples(await openBytes(tiffOf(directoryOf(dark, { tags })))), 7, 127);
  });

  it.each([
    ['all of 16 bits', 0, 65_535],
    ['an empty range', 9, 9],
    ['an inverted range of 8 bits', 255, 0],
  ])('has an estimated range when a TIFF declares %s', async (_, least, most) => {
    const tags = { [tag.MinSampleValue]: short(least), [tag.MaxSampleValue]: short(most) };
    expectRamp(await cornerSamples(await openBytes(tiffOf(directoryOf(dark, { tags })))));
  });

  it('has a range that is estimated on the smallest level and used for all levels', async () => {
    const small = encodeSamples({
      width: width / 2,
      height: height / 2,
      samples: ramp(200, 3900).filter((_, i) => i % 4 === 0),
      samplesPerPixel: 1,
      bits: 16,
      photometric: 1,
      tags: { [tag.NewSubfileType]: short(1) },
    });
    const slide = await openBytes(tiffOf(directoryOf(dark.map((sample) => sample * 2)), small));
    expect(slide.levels).toHaveLength(2);
    const [first, middle] = await cornerSamples(slide);
    expect(first).toBeLessThan(18);
    expect(middle).toBe(255);
    const { rgb } = await drawLevel(slide, 1);
    expect(rgb.at(-1)).toBeGreaterThan(250);
  });

  it('has the same range in every tile and in the thumbnail', async () => {
    const slide = await openBytes(tiffOf(directoryOf(dark)));
    expect(await readNativeTile(slide, { dziLevel: 7, column: 0, row: 0 })).toBeNull();
    const tile = await pixelsOf(await renderTile(slide, { dziLevel: 7, column: 0, row: 0 }));
    const thumbnail = await pixelsOf(await renderThumbnail(slide, 64));
    expect(tile.rgb[0]).toBeLessThan(5);
    expect(tile.rgb.at(-1)).toBeGreaterThan(250);
    expect(thumbnail.rgb.at(-1)).toBeGreaterThan(250);
  });
});

describe('16-bit grey', () => {
  it('that covers more than half of the range is not stretched', async () => {
    const values = await cornerSamples(await openBytes(tiffOf(directoryOf(ramp(20_000, 40_000)))));
    expect(values).toEqual([20_000 >> 8, 30_000 >> 8, 40_000 >> 8]);
  });

  it('with a constant low value stays dark', async () => {
    expect(await cornerSamples(await openBytes(tiffOf(directoryOf(ramp(300, 300)))))).toEqual([0, 0, 0]);
  });

  it('in colour images is never stretched', async () => {
    const samples = Uint16Array.from({ length: width * height * 3 }, () => 2000);
    const directory = directoryOf(samples, { samplesPerPixel: 3, photometric: 2 });
    expect(await cornerSamples(await openBytes(tiffOf(directory)))).toEqual([7, 7, 7]);
  });
});
