import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Raster } from '../decode/raster.ts';
import { openSlide } from '../open-slide.ts';
import { buildIcc, type IccPlan } from '../testing/build-icc.ts';
import { differenceOf } from '../testing/colour-difference.ts';
import { anyByteFault, damageBytes } from '../testing/damage-bytes.ts';
import { seededNumbers } from '../testing/seeded-numbers.ts';
import { applyColourTable, computeColourTable } from './colour-table.ts';
import { nameOfProfile } from './icc-profile.ts';
import { ProfileError } from './profile-bytes.ts';

vi.setConfig({ testTimeout: 120_000 });

const slides = process.env.TEST_SLIDES ?? '';
const hasLittleCms = spawnSync('transicc', ['-h']).error === undefined;
const skippedWithoutLittleCms = hasLittleCms ? '' : ' (skipped without transicc of Little CMS)';
const skippedWithoutSlides = slides === '' ? ' (skipped without TEST_SLIDES)' : '';

type Colour = readonly [number, number, number];
type Intent = 'perceptual' | 'relative colorimetric';

/** Returns seeded random colours; every second one is light, as in stained tissue. */
function seededColours(count: number): readonly Colour[] {
  const random = seededNumbers(1);
  const sample = (isLight: boolean) => (isLight ? 160 + random(96) : random(256));
  return Array.from({ length: count }, (_, index) => {
    const isLight = index % 2 === 0;
    return [sample(isLight), sample(isLight), sample(isLight)];
  });
}

function convertByTable(profile: Uint8Array, colours: readonly Colour[]): readonly Colour[] {
  const raster: Raster = { width: colours.length, height: 1, rgb: Uint8Array.from(colours.flat()) };
  applyColourTable(computeColourTable(profile), raster);
  return colours.map((_, index) => [...raster.rgb.subarray(index * 3, index * 3 + 3)] as unknown as Colour);
}

describe('computeColourTable (ICC profile to sRGB table)', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lamina-icc-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Converts with Little CMS: to sRGB, with black point compensation. */
  async function convertByLittleCms(
    profile: Uint8Array,
    colours: readonly Colour[],
    intent: Intent,
  ): Promise<readonly Colour[]> {
    const file = join(folder, 'profile.icc');
    await writeFile(file, profile);
    const intentNumber = intent === 'perceptual' ? 0 : 1;
    const output = await new Promise<string>((resolve, reject) => {
      const args = ['-i', file, '-o', '*sRGB', `-t${intentNumber}`, '-b', '-n'];
      const child = execFile('transicc', args, { maxBuffer: 2 ** 26 }, (error, stdout) => {
        if (error) reject(error);
        else resolve(stdout);
      });
      child.stdin?.end(`${colours.map((colour) => colour.join(' ')).join('\n')}\n`);
    });
    const lines = output.trim().split('\n');
    return lines.map(
      (line) =>
        line
          .trim()
          .split(/\s+/)
          .map((value) => Math.min(255, Math.max(0, Math.round(Number(value))))) as unknown as Colour,
    );
  }

  /** Returns the differences (ΔE2000) from Little CMS that 95 % and 99.9 % of 20,000 colours do not exceed. */
  async function differencesFromLittleCms(profile: Uint8Array, intent: Intent) {
    const colours = seededColours(20_000);
    const expected = await convertByLittleCms(profile, colours, intent);
    const actual = convertByTable(profile, colours);
    expect(expected).toHaveLength(colours.length);
    const sorted = actual
      .map((colour, index) => differenceOf(colour, expected[index] as Colour))
      .sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] as number;
    return { p95: at(0.95), p999: at(0.999) };
  }

  const profiles: readonly (readonly [string, IccPlan, Intent])[] = [
    ['three curves and a matrix', {}, 'relative colorimetric'],
    ['three curves and a matrix, of ICC version 2', { version: 2, gamma: 2.4 }, 'relative colorimetric'],
    ['an 8-bit lookup table to Lab', { kind: 'mft1', connection: 'Lab ' }, 'relative colorimetric'],
    ['a 16-bit lookup table to XYZ', { kind: 'mft2' }, 'relative colorimetric'],
    ['a 16-bit lookup table to Lab', { kind: 'mft2', connection: 'Lab ' }, 'relative colorimetric'],
    [
      'a 16-bit lookup table to Lab, of ICC version 2',
      { kind: 'mft2', connection: 'Lab ', version: 2 },
      'relative colorimetric',
    ],
    ['a lookup table with curves (mAB) to XYZ', { kind: 'mAB ' }, 'relative colorimetric'],
    [
      'a lookup table with curves (mAB) to Lab',
      { kind: 'mAB ', connection: 'Lab ' },
      'relative colorimetric',
    ],
    ['a darkest colour that is lighter than black', { kind: 'mft2', black: 0.1 }, 'relative colorimetric'],
    [
      'a lookup table only for the perceptual rendering intent',
      { kind: 'mft2', tables: ['A2B0'], connection: 'Lab ' },
      'perceptual',
    ],
  ];
  it.skipIf(!hasLittleCms).each(profiles)(
    `for a profile with %s, gives the colours of Little CMS: ΔE2000 at most 1 for 95 % and at most 2 for 99.9 % of them${skippedWithoutLittleCms}`,
    async (_, plan, intent) => {
      const { p95, p999 } = await differencesFromLittleCms(buildIcc(plan), intent);
      expect(p95).toBeLessThanOrEqual(1);
      expect(p999).toBeLessThanOrEqual(2);
    },
  );

  /** Slides with their profiles' names and sizes in bytes. */
  const realProfiles = [
    ['aperio/1065626.svs', 'AT2', 1_687_824],
    ['generic-tiff/boxes.tiff', 'sRGB built-in', 588],
    ['dicom/highdicom/sm_image.dcm', 'sRGB IEC61966-2.1', 3144],
    ['dicom/openslide-boxes/boxes_0.dcm', 'uRGB', 456],
  ] as const;
  it.skipIf(!hasLittleCms || slides === '').each(realProfiles)(
    `for the profile of %s, gives the colours of Little CMS: ΔE2000 at most 1 for 95 % and at most 2 for 99.9 % of them${skippedWithoutLittleCms}${skippedWithoutSlides}`,
    async (path, name, bytes) => {
      const slide = await openSlide({ path: join(slides, path) });
      try {
        const profile = (await slide.readIccProfile()) ?? new Uint8Array();
        expect([nameOfProfile(profile), profile.length]).toEqual([name, bytes]);
        const { p95, p999 } = await differencesFromLittleCms(profile, 'relative colorimetric');
        expect(p95).toBeLessThanOrEqual(1);
        expect(p999).toBeLessThanOrEqual(2);
      } finally {
        await slide.close();
      }
    },
  );

  it('converts the samples 255, 255, 255 of a scanner to white, and 0, 0, 0 to black, within 1 of 255', () => {
    for (const plan of [{}, { kind: 'mft2', black: 0.05 }, { kind: 'mAB ', connection: 'Lab ' }] as const) {
      const [white, black] = convertByTable(buildIcc(plan), [
        [255, 255, 255],
        [0, 0, 0],
      ]);
      for (const sample of white ?? []) expect(sample).toBeGreaterThanOrEqual(254);
      for (const sample of black ?? []) expect(sample).toBeLessThanOrEqual(1);
    }
  });

  it('returns 33 nodes per side for a profile with curves and a matrix, and for one whose own table has fewer nodes', () => {
    expect(computeColourTable(buildIcc()).nodes).toBe(33);
    expect(computeColourTable(buildIcc({ kind: 'mft2' })).nodes).toBe(33);
  });
});

describe('applyColourTable (converts pixels with a table of sRGB colours)', () => {
  it('changes no sample by more than 1 of 255 when the table maps every node to its own colour', () => {
    const random = seededNumbers(3);
    const { nodes, rgb } = { nodes: 33, rgb: new Uint8Array(33 ** 3 * 3) };
    for (let node = 0; node < 33 ** 3; node++) {
      const position = [node % 33, Math.floor(node / 33) % 33, Math.floor(node / 33 ** 2)];
      for (const [axis, step] of position.entries()) rgb[node * 3 + axis] = Math.round((step / 32) * 255);
    }
    const samples = Uint8Array.from({ length: 3000 }, () => random(256));
    const raster = { width: 1000, height: 1, rgb: samples.slice() };
    applyColourTable({ nodes, rgb }, raster);
    for (const [index, sample] of samples.entries()) {
      expect(Math.abs((raster.rgb[index] as number) - sample)).toBeLessThanOrEqual(1);
    }
  });
});

describe('computeColourTable (ICC profile to sRGB table) with an unusable profile', () => {
  const reasonOf = (profile: Uint8Array) => {
    try {
      computeColourTable(profile);
      return null;
    } catch (error) {
      if (error instanceof ProfileError) return error.reason;
      throw error;
    }
  };

  it.each<[string, Uint8Array, string]>([
    ['a profile of no bytes', new Uint8Array(), 'broken'],
    ['a text instead of a profile', Buffer.from('profile 1 '.repeat(50)), 'broken'],
    ['a truncated profile', buildIcc().subarray(0, 300), 'broken'],
    ['a profile of CMYK', buildIcc({ model: 'CMYK' }), 'model'],
    ['a profile of grey', buildIcc({ model: 'GRAY' }), 'model'],
    [
      'a profile without the tags that contain its colour tables',
      buildIcc({ kind: 'mft2', tables: [] }),
      'broken',
    ],
    ['a profile whose white is as dark as its black', buildIcc({ kind: 'mft2', black: 1 }), 'broken'],
  ])('throws ProfileError with the reason "$2" for %s', (_, profile, reason) => {
    expect(reasonOf(profile)).toBe(reason);
  });

  const whole = fc.constantFrom(
    ...(['matrix', 'mft1', 'mft2', 'mAB '] as const).map((kind) => buildIcc({ kind, connection: 'Lab ' })),
  );
  it('throws no error other than ProfileError when one to three bytes at random positions are damaged', () => {
    fc.assert(
      fc.property(whole, fc.array(anyByteFault, { minLength: 1, maxLength: 3 }), (profile, faults) => {
        const damaged = faults.reduce(damageBytes, profile);
        const reason = reasonOf(damaged);
        expect([null, 'broken', 'model']).toContain(reason);
        expect(nameOfProfile(damaged)?.length ?? 0).toBeLessThanOrEqual(80);
      }),
      { numRuns: 150 },
    );
  });

  it('throws ProfileError with the reason "broken" when the profile states a curve of more than 4 billion values', () => {
    const profile = Buffer.from(buildIcc({ gamma: 1 }));
    const curve = profile.indexOf('para');
    profile.write('curv', curve, 'latin1');
    profile.writeUInt32BE(0xffff_ffff, curve + 8);
    expect(reasonOf(profile)).toBe('broken');
  });
});

describe('nameOfProfile (reads the name of an ICC profile)', () => {
  it('returns the name without control characters, cut to 80 characters', () => {
    expect(nameOfProfile(buildIcc({ name: ' Scanner\n\u0000\u200b  3 ' }))).toBe('Scanner 3');
    expect(nameOfProfile(buildIcc({ name: 'x'.repeat(5000) }))).toBe('x'.repeat(80));
  });

  it('returns null when the profile has no name or is broken', () => {
    expect(nameOfProfile(buildIcc({ name: '' }))).toBeNull();
    expect(nameOfProfile(Buffer.from('profile'))).toBeNull();
  });
});
