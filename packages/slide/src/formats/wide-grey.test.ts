/** Tests grey images of more than 8 bits per sample in every format that has them: how their samples become black to white. */
import { describe, expect, it } from 'vitest';
import { readNativeDziTile } from '../deep-zoom/deep-zoom.ts';
import type { Slide } from '../model/slide.ts';
import { renderThumbnail } from '../render/render-thumbnail.ts';
import { renderTile } from '../render/render-tile.ts';
import { buildDicom, pictureOf } from '../testing/build-dicom.ts';
import { buildPng } from '../testing/build-png.ts';
import { buildTiff, type DirectoryPlan, short } from '../testing/build-tiff.ts';
import { pixelsOf } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodeJpeg2000 } from '../testing/encode-frames.ts';
import { encodeSamples, type SamplesPlan } from '../testing/encode-samples.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { tag } from '../tiff/tags.ts';

const [width, height] = [96, 80];

/** Returns samples that rise evenly from `min` in the first to `max` in the last pixel. */
function ramp(min: number, max: number): Uint16Array {
  const last = width * height - 1;
  return Uint16Array.from({ length: last + 1 }, (_, i) => Math.round(min + ((max - min) * i) / last));
}

/** Returns a directory of 16-bit grey in tiles of 32 pixels. */
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

/** Returns the grey of the first, the middle and the last pixel, 0…255. */
async function sampledGreys(slide: Slide): Promise<number[]> {
  const { rgb } = await drawLevel(slide, 0);
  return [0, Math.floor(rgb.length / 2), rgb.length - 1].map((i) => rgb[i] as number);
}

/**
 * Checks the first, the middle and the last pixel of a ramp. The tolerance is 3, because an estimated range excludes one
 * pixel in a thousand.
 */
function expectRamp(values: number[], first = 0, last = 255): void {
  for (const [i, expected] of [first, (first + last) / 2, last].entries()) {
    expect(Math.abs((values[i] as number) - expected)).toBeLessThanOrEqual(3);
  }
}

describe('a slide of 12-bit grey in 16-bit samples', () => {
  /** Samples of 12 bits, of which 3900 is almost the largest. */
  const dark = ramp(200, 3900);

  it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
    ['TIFF in tiles', () => tiffOf(directoryOf(dark))],
    [
      'TIFF in strips',
      () =>
        tiffOf(encodeSamples({ width, height, samples: dark, samplesPerPixel: 1, bits: 16, photometric: 1 })),
    ],
    [
      'TIFF with Orientation 1 (upright)',
      () => tiffOf(directoryOf(dark, { tags: { [tag.Orientation]: short(1) } })),
    ],
    [
      'PNG',
      () =>
        buildPng({ width, height, colourType: 0, bits: 16, sample: (x, y) => dark[y * width + x] as number }),
    ],
    ['JPEG 2000', () => encodeJpeg2000({ width, height, samplesPerPixel: 1, values: dark })],
  ])(
    'in %s is stretched so that its darkest pixels become black and its brightest white',
    async (_, build) => {
      expectRamp(await sampledGreys(await openBytes(await build())));
    },
  );

  it('in a WhiteIsZero TIFF is inverted and stretched, whether or not the file declares the range of samples', async () => {
    const tags = { [tag.MinSampleValue]: short(0), [tag.MaxSampleValue]: short(7800) };
    const slide = await openBytes(tiffOf(directoryOf(dark, { photometric: 0 })));
    expectRamp(await sampledGreys(slide), 255, 0);
    // In the declared range, 200 is 7 of 255 and 3900 is 128.
    const declared = await openBytes(tiffOf(directoryOf(dark, { photometric: 0, tags })));
    expectRamp(await sampledGreys(declared), 248, 128);
  });

  it.each([
    ['black to white', 'MONOCHROME2'],
    ['white to black', 'MONOCHROME1'],
  ])(
    'is stretched from %s in a DICOM file of the photometric interpretation %s without a display window',
    async (_, photometric) => {
      const plan = { photometric, bits: 16, wordStep: 20 } as const;
      const { rgb } = await drawLevel(await openBytes(await buildDicom(plan)), 0);
      // The samples of the file are 20 times the green ones of the picture.
      const green = pictureOf(plan).rgb.filter((__, i) => i % 3 === 1);
      const [least, greatest] = [Math.min(...green), Math.max(...green)];
      const differences = Array.from(green, (sample, i) => {
        const stretched = ((sample - least) / (greatest - least)) * 255;
        const expected = photometric === 'MONOCHROME1' ? 255 - stretched : stretched;
        return Math.abs((rgb[i * 3] as number) - expected);
      });
      // An estimated range excludes one pixel in a thousand.
      expect(Math.max(...differences)).toBeLessThan(8);
    },
  );

  it('is scaled by the range that a TIFF declares (MinSampleValue to MaxSampleValue), not by the range of its samples', async () => {
    const tags = { [tag.MinSampleValue]: short(0), [tag.MaxSampleValue]: short(7800) };
    // Of the declared range 0 to 7800, 200 is 7 of 255 and 3900 is 127.
    expectRamp(await sampledGreys(await openBytes(tiffOf(directoryOf(dark, { tags })))), 7, 127);
  });

  it.each([
    ['the range 0 to 65,535 (all 16 bits)', 0, 65_535],
    ['the empty range 9 to 9', 9, 9],
    ['the inverted range 255 to 0', 255, 0],
  ])('is stretched by the estimated range of its samples if a TIFF declares %s', async (_, min, max) => {
    const tags = { [tag.MinSampleValue]: short(min), [tag.MaxSampleValue]: short(max) };
    expectRamp(await sampledGreys(await openBytes(tiffOf(directoryOf(dark, { tags })))));
  });

  it('is stretched at all levels by the range of samples that is estimated from the level of lowest resolution', async () => {
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
    // Full resolution has samples from 400 to 7800; the estimated range is 200 to 3900.
    const [first, middle] = await sampledGreys(slide);
    expect(first).toBeLessThan(18); // (400 − 200) / 3700 of 255 is 14
    expect(middle).toBe(255);
    const { rgb } = await drawLevel(slide, 1);
    expect(rgb.at(-1)).toBeGreaterThan(250);
  });

  it('is stretched to black and white in a rendered tile and in the thumbnail', async () => {
    const slide = await openBytes(tiffOf(directoryOf(dark)));
    expect(await readNativeDziTile(slide, { dziLevel: 7, column: 0, row: 0 })).toBeNull();
    const tile = await pixelsOf(await renderTile(slide, { dziLevel: 7, column: 0, row: 0 }));
    const thumbnail = await pixelsOf(await renderThumbnail(slide, 64));
    expect(tile.rgb[0]).toBeLessThan(5);
    expect(tile.rgb.at(-1)).toBeGreaterThan(250);
    expect(thumbnail.rgb.at(-1)).toBeGreaterThan(250);
  });
});

describe('a slide of 16-bit samples', () => {
  it('shows the high byte of each sample, without stretching, if samples exceed 32,767, half of the maximum', async () => {
    const values = await sampledGreys(await openBytes(tiffOf(directoryOf(ramp(20_000, 40_000)))));
    expect(values).toEqual([20_000 >> 8, 30_000 >> 8, 40_000 >> 8]);
  });

  it('is shown as black if all its samples have the same low value (300)', async () => {
    expect(await sampledGreys(await openBytes(tiffOf(directoryOf(ramp(300, 300)))))).toEqual([0, 0, 0]);
  });

  it('shows the high byte of each sample, without stretching, if it is stored as RGB', async () => {
    const samples = Uint16Array.from({ length: width * height * 3 }, () => 2000);
    const directory = directoryOf(samples, { samplesPerPixel: 3, photometric: 2 });
    expect(await sampledGreys(await openBytes(tiffOf(directory)))).toEqual([7, 7, 7]); // the high byte of 2000
  });
});
