/**
 * Property tests of the TIFF reader: it returns the original pixels of any lossless TIFF. It rejects a damaged TIFF, or throws
 * errors for some of its tiles.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { cropRaster, type Raster } from '../decode/raster.ts';
import { openSlideFrom } from '../open-slide.ts';
import { svsDirectories } from '../testing/build-svs.ts';
import { buildTiff, type DirectoryPlan, type TagValue, type TiffPlan } from '../testing/build-tiff.ts';
import { tiledTiffDirectories } from '../testing/build-tiled-tiff.ts';
import { difference } from '../testing/compare-pixels.ts';
import {
  anyByteFault,
  anyShare,
  type ByteFault,
  damageBytes,
  hostileNumber,
} from '../testing/damage-bytes.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { encodeSamples, type SamplesPlan } from '../testing/encode-samples.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { propertyRuns } from '../testing/property-runs.ts';
import { openDamaged, readTiles } from '../testing/read-damaged.ts';

/** Number of damaged files per property. */
const runs = propertyRuns(1000);
const TIMEOUT_MS = 60_000 + runs * 10;

/**
 * A change that damages a file: in a tag of a directory, in the chain of directories, or in the bytes. `directory` and `where`
 * choose a directory and a tag, as fractions (0 to 1) of all. `next` and `loop` change the pointer to the next directory: to any
 * offset, or to a directory of the file.
 */
type Fault =
  | { readonly kind: 'remove'; readonly directory: number; readonly where: number }
  | { readonly kind: 'type'; readonly directory: number; readonly where: number; readonly type: number }
  | { readonly kind: 'number'; readonly directory: number; readonly where: number; readonly number: number }
  | { readonly kind: 'count'; readonly directory: number; readonly where: number; readonly count: number }
  | { readonly kind: 'add'; readonly directory: number; readonly tag: number; readonly value: TagValue }
  | { readonly kind: 'next'; readonly directory: number; readonly number: number }
  | { readonly kind: 'loop'; readonly directory: number; readonly where: number }
  | ByteFault;

/** Generates the number of a tag that readers use. */
const anyTag = fc
  .constantFrom(254, 256, 257, 258, 259, 262, 266, 270, 273, 274, 277, 278, 279, 282, 284, 296)
  .chain((commonTag) =>
    fc.constantFrom(commonTag, 317, 320, 322, 323, 324, 325, 330, 338, 339, 347, 530, 34_675),
  );
const anyType = fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 255);
const anyValue: fc.Arbitrary<TagValue> = fc.record({
  type: fc.constantFrom(1, 2, 3, 4, 5, 7, 13, 16),
  numbers: fc.array(hostileNumber, { maxLength: 8 }),
});
/** Generates the kind of a fault. */
const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const anyDirectoryFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: kind('remove'), directory: anyShare, where: anyShare }),
  fc.record({ kind: kind('type'), directory: anyShare, where: anyShare, type: anyType }),
  fc.record({ kind: kind('number'), directory: anyShare, where: anyShare, number: hostileNumber }),
  fc.record({ kind: kind('count'), directory: anyShare, where: anyShare, count: fc.nat(40) }),
  fc.record({ kind: kind('add'), directory: anyShare, tag: anyTag, value: anyValue }),
  fc.record({ kind: kind('next'), directory: anyShare, number: hostileNumber }),
  fc.record({ kind: kind('loop'), directory: anyShare, where: anyShare }),
);
const anyFault: fc.Arbitrary<Fault> = fc.oneof({ arbitrary: anyDirectoryFault, weight: 3 }, anyByteFault);

/** Reduces numbers to the range of the type, as a faulty writer would. A RATIONAL consists of two numbers. */
function truncateToType({ type, numbers }: TagValue): TagValue {
  /** Bits of a number by field type; 8 for other types. */
  const bits: Readonly<Record<number, number>> = { 3: 16, 4: 32, 5: 32, 13: 32, 16: 53, 18: 53 };
  const isHalfRational = type === 5 && numbers.length % 2 === 1;
  const completeNumbers = isHalfRational ? [...numbers, 1] : numbers;
  return { type, numbers: completeNumbers.map((number) => number % 2 ** (bits[type] ?? 8)) };
}

/** Writes a TIFF with faults: in directories before writing, in their chain and in the bytes afterwards. */
function damage(plan: TiffPlan, faults: readonly Fault[]): Uint8Array {
  const directories = [...plan.directories];
  for (const fault of faults) {
    if (!('directory' in fault)) continue;
    const index = Math.floor(fault.directory * directories.length);
    const directory = directories[index] as DirectoryPlan;
    if (fault.kind !== 'next' && fault.kind !== 'loop')
      directories[index] = damageDirectory(directory, fault);
  }
  const built = buildTiff({ ...plan, directories });
  const bytes = Buffer.from(built.bytes);
  for (const fault of faults) {
    if (fault.kind !== 'next' && fault.kind !== 'loop') continue;
    const directoryAt = (share: number) => built.directories[Math.floor(share * built.directories.length)];
    const nextPointer = directoryAt(fault.directory)?.nextAt ?? 0;
    const target = fault.kind === 'next' ? fault.number % 2 ** 32 : (directoryAt(fault.where)?.at ?? 0);
    // The lower 32 bits of the 64-bit pointer of a big-endian BigTIFF are its last four bytes.
    const lowerBits = nextPointer + (plan.isBig && plan.isLittleEndian === false ? 4 : 0);
    if (plan.isLittleEndian === false) bytes.writeUInt32BE(target, lowerBits);
    else bytes.writeUInt32LE(target, lowerBits);
  }
  return faults.filter(isByteFault).reduce(damageBytes, bytes);
}

function isByteFault(fault: Fault): fault is ByteFault {
  return ['flip', 'cut', 'delete', 'double'].includes(fault.kind);
}

type DirectoryFault = Extract<Fault, { readonly kind: 'remove' | 'type' | 'number' | 'count' | 'add' }>;

/** Changes, removes or adds a tag of a directory. */
function damageDirectory(directory: DirectoryPlan, fault: DirectoryFault): DirectoryPlan {
  if (fault.kind === 'add') {
    return { ...directory, tags: { ...directory.tags, [fault.tag]: truncateToType(fault.value) } };
  }
  const tags = Object.entries(directory.tags);
  const index = Math.floor(fault.where * tags.length);
  const [name, value] = tags[index] ?? ['0', { type: 1, numbers: [0] }];
  const replaceBy = (changed: TagValue): DirectoryPlan => ({
    ...directory,
    tags: { ...directory.tags, [Number(name)]: truncateToType(changed) },
  });
  switch (fault.kind) {
    case 'remove':
      return { ...directory, tags: Object.fromEntries(tags.toSpliced(index, 1)) };
    case 'type':
      return replaceBy({ ...value, type: fault.type });
    case 'number':
      return replaceBy({ ...value, numbers: [...value.numbers.slice(0, -1), fault.number] });
    case 'count':
      return replaceBy({
        ...value,
        numbers: Array.from({ length: fault.count }, (_, i) => value.numbers[i] ?? 0),
      });
  }
}

const size = { width: 45, height: 37 };
const tissue = paintTissue(size.width, size.height);
const tile = { width: 16, height: 16 };
const colours = { ...size, samples: tissue.rgb, samplesPerPixel: 3, photometric: 2 } as const;

/** Generates any RGB TIFF that is written without loss. */
const anyLossless: fc.Arbitrary<{ plan: SamplesPlan; isLittleEndian: boolean; isBig: boolean }> = fc.record({
  plan: fc
    .record({
      packing: fc.constantFrom(
        'none' as const,
        'lzw' as const,
        'packbits' as const,
        'deflate' as const,
        'zstd' as const,
      ),
      tile: fc.constantFrom(undefined, tile, { width: 32, height: 16 }, { width: 64, height: 48 }),
      rowsPerStrip: fc.constantFrom(1, 5, 16, 37),
      isPlanar: fc.boolean(),
      isDifferenced: fc.boolean(),
    })
    .map(({ tile: cut, rowsPerStrip, isDifferenced, ...plan }) => ({
      ...colours,
      ...plan,
      ...(cut ? { tile: cut } : { rowsPerStrip }),
      // Writers use the predictor only with a packing that benefits from it.
      isDifferenced: isDifferenced && plan.packing !== 'none' && plan.packing !== 'packbits',
    })),
  isLittleEndian: fc.boolean(),
  isBig: fc.boolean(),
});

describe('the TIFF reader', () => {
  /** Plans of the intact files that the tests damage. */
  const bases: TiffPlan[] = [];
  beforeAll(async () => {
    const pyramid = await tiledTiffDirectories({
      ...size,
      tileSize: 16,
      downsamples: [1, 2],
      picture: tissue,
    });
    const aperio = await svsDirectories({ ...size, tileSize: 16, downsamples: [1, 4], picture: tissue });
    bases.push({ directories: pyramid }, { directories: pyramid, isBig: true }, { directories: aperio });
    const [full, ...reduced] = pyramid as [DirectoryPlan, ...DirectoryPlan[]];
    bases.push({ directories: [{ ...full, subDirectories: reduced }], isLittleEndian: false });
    for (const packing of ['none', 'lzw', 'packbits', 'deflate', 'zstd'] as const) {
      bases.push({ directories: [encodeSamples({ ...colours, packing, tile })] });
      bases.push({ directories: [encodeSamples({ ...colours, packing, rowsPerStrip: 8 })], isBig: true });
      bases.push({
        directories: [encodeSamples({ ...colours, packing, tile, isPlanar: true })],
        isLittleEndian: false,
      });
    }
  });

  it(
    'returns the original pixels of a lossless TIFF of any compression, layout and byte order',
    async () => {
      await fc.assert(
        fc.asyncProperty(anyLossless, async ({ plan, isLittleEndian, isBig }) => {
          const directories = [encodeSamples({ ...plan, isLittleEndian })];
          const { bytes } = buildTiff({ directories, isLittleEndian, isBig });
          const slide = await openSlideFrom(memoryFiles({ slide: bytes }));
          const drawn: Raster = cropRaster(await drawLevel(slide, 0), 0, 0, size.width, size.height);
          expect(difference(drawn, tissue)).toEqual({ mean: 0, max: 0 });
          await slide.close();
        }),
        { numRuns: propertyRuns(400, 1 / 25) },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'throws no error other than SlideError for a damaged TIFF, and reads at most about 8 times its size per tile',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(bases.length - 1),
          fc.array(anyFault, { minLength: 1, maxLength: 3 }),
          async (base, faults) => {
            const bytes = damage(bases[base] as TiffPlan, faults);
            const opened = await openDamaged(bytes);
            if (!opened) return;
            const { slide, count } = opened;
            const bytesReadBefore = count.bytes;
            const tiles = await readTiles(slide);
            expect(count.bytes - bytesReadBefore).toBeLessThan((tiles.length + 4) * 8 * bytes.length + 4096);
            await slide.close();
            expect(count.open).toBe(0);
          },
        ),
        { numRuns: runs },
      );
    },
    TIMEOUT_MS,
  );
});
