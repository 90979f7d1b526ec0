/**
 * Property tests of the DICOM reader: it returns the original pixels of any lossless slide. It rejects a damaged slide, or throws
 * errors for the damaged tiles and returns the intact ones.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { tag } from '../dicom/tags.ts';
import { SlideError } from '../model/slide.ts';
import { openSlideFrom } from '../open-slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import {
  buildDicom,
  type DicomElement,
  type DicomFile,
  type DicomFragments,
  type DicomPlan,
  littleEndian,
  pictureOf,
  planDicom,
  writeDicom,
} from '../testing/build-dicom.ts';
import { difference } from '../testing/compare-pixels.ts';
import {
  anyByteFault,
  anyShare,
  type ByteFault,
  damageBytes,
  hostileNumber,
} from '../testing/damage-bytes.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { memoryFiles } from '../testing/memory-files.ts';
import { propertyRuns } from '../testing/property-runs.ts';
import { openDamaged, readTiles, type TileResult } from '../testing/read-damaged.ts';

/** Number of damaged files per property. */
const runs = propertyRuns(1000);
const TIMEOUT_MS = 60_000 + runs * 10;

/** Encodings that store the exact pixels. */
const losslessCodecs = ['explicit', 'implicit', 'encapsulated', 'rle', 'jpegls', 'jpeg2000'] as const;

/** Generates any slide that can be written without loss. */
const anyPlan: fc.Arbitrary<DicomPlan> = fc
  .record({
    width: fc.integer({ min: 1, max: 60 }),
    height: fc.integer({ min: 1, max: 60 }),
    tileWidth: fc.integer({ min: 8, max: 40 }),
    tileHeight: fc.integer({ min: 8, max: 40 }),
    codec: fc.constantFrom(...losslessCodecs),
    organization: fc.constantFrom('TILED_FULL', 'TILED_SPARSE', null),
    offsetTable: fc.constantFrom('empty', 'basic', 'extended'),
    fragmentsPerFrame: fc.integer({ min: 1, max: 3 }),
    focalPlanes: fc.integer({ min: 1, max: 2 }),
    opticalPaths: fc.integer({ min: 1, max: 2 }),
    hasUndefinedLengths: fc.boolean(),
    isPlanar: fc.boolean(),
  })
  .map((plan) => {
    // RLE, uncompressed frames in items, and the extended offset table allow only one item per frame.
    const allowsFragments =
      plan.codec !== 'rle' && plan.codec !== 'encapsulated' && plan.offsetTable !== 'extended';
    return allowsFragments ? plan : { ...plan, fragmentsPerFrame: 1 };
  });

/** An image of 3 × 2 tiles, so that property tests are fast. */
const small = { width: 20, height: 14, tileWidth: 8, tileHeight: 8 } as const;
/** Plans of the intact slides that the tests damage. */
const basePlans: readonly DicomPlan[] = [
  { ...small },
  { ...small, codec: 'implicit' },
  { ...small, codec: 'implicit', organization: 'TILED_SPARSE', hasUndefinedLengths: true },
  { ...small, organization: 'TILED_SPARSE', opticalPaths: 2 },
  { ...small, isPlanar: true, focalPlanes: 2 },
  { ...small, photometric: 'MONOCHROME2', bits: 16 },
  { ...small, codec: 'encapsulated', offsetTable: 'extended' },
  { ...small, codec: 'encapsulated', offsetTable: 'empty' },
  { ...small, codec: 'rle', offsetTable: 'basic' },
  { ...small, codec: 'rle', offsetTable: 'empty', hasUndefinedLengths: true },
  { ...small, codec: 'jpegls', offsetTable: 'empty', fragmentsPerFrame: 2 },
  { ...small, codec: 'jpegls', offsetTable: 'extended' },
  { ...small, codec: 'jpeg2000', offsetTable: 'basic', fragmentsPerFrame: 3 },
  { ...small, codec: 'jpeg', photometric: 'YBR_FULL', offsetTable: 'basic' },
  { ...small, codec: 'jpeg', photometric: 'YBR_FULL', offsetTable: 'empty', fragmentsPerFrame: 2 },
];

/** A change that damages a file. `where` chooses the element or entry, as a fraction (0 to 1) of all of them. */
type Fault = ElementFault | ByteFault;

type ElementFault =
  | { readonly kind: 'remove' | 'repeat' | 'misplace'; readonly where: number }
  | { readonly kind: 'length'; readonly where: number; readonly length: number }
  | { readonly kind: 'vr'; readonly where: number; readonly vr: string }
  | { readonly kind: 'value'; readonly where: number; readonly value: Uint8Array }
  | { readonly kind: 'number'; readonly where: number; readonly number: number }
  | TableFault;

/**
 * Damage to offset tables and items that does not change the bytes of a frame: an entry with a wrong number, a table of
 * `count` zeros, an item (fragment) that is missing, empty or repeated, or no delimiter after the items.
 */
type TableFault =
  | { readonly kind: 'offset'; readonly where: number; readonly number: number }
  | { readonly kind: 'entries'; readonly count: number }
  | { readonly kind: 'drop' | 'empty' | 'repeat item'; readonly where: number }
  | { readonly kind: 'no end' };

const anyTableFault: fc.Arbitrary<TableFault> = fc.oneof(
  fc.record({ kind: fc.constant('offset' as const), where: anyShare, number: hostileNumber }),
  fc.record({ kind: fc.constant('entries' as const), count: fc.integer({ min: 0, max: 40 }) }),
  fc.record({
    kind: fc.constantFrom('drop' as const, 'empty' as const, 'repeat item' as const),
    where: anyShare,
  }),
  fc.record({ kind: fc.constant('no end' as const) }),
);
const anyElementFault: fc.Arbitrary<ElementFault> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('remove' as const, 'repeat' as const, 'misplace' as const),
    where: anyShare,
  }),
  fc.record({ kind: fc.constant('length' as const), where: anyShare, length: hostileNumber }),
  fc.record({
    kind: fc.constant('vr' as const),
    where: anyShare,
    vr: fc.constantFrom(
      'US',
      'UL',
      'SL',
      'FD',
      'IS',
      'DS',
      'LO',
      'UI',
      'SQ',
      'OB',
      'OW',
      'OV',
      'UN',
      'UT',
      'XX',
      '\0\0',
    ),
  }),
  fc.record({
    kind: fc.constant('value' as const),
    where: anyShare,
    value: fc.uint8Array({ maxLength: 40 }),
  }),
  fc.record({ kind: fc.constant('number' as const), where: anyShare, number: hostileNumber }),
  anyTableFault,
);
const anyFault: fc.Arbitrary<Fault> = fc.oneof({ arbitrary: anyElementFault, weight: 3 }, anyByteFault);

/** Writes a file with faults: element faults are applied before writing, byte faults to the written bytes. */
function damage(file: DicomFile, faults: readonly Fault[]): Uint8Array {
  const written = writeDicom(faults.filter(isElementFault).reduce(damageElements, file));
  return faults.filter((fault) => !isElementFault(fault)).reduce(damageBytes, written);
}

const byteFaults: ReadonlySet<string> = new Set([
  'flip',
  'cut',
  'delete',
  'double',
] satisfies ByteFault['kind'][]);

function isElementFault(fault: Fault): fault is ElementFault {
  return !byteFaults.has(fault.kind);
}

function damageElements(file: DicomFile, fault: ElementFault): DicomFile {
  const { elements } = file;
  const changePixelData = (change: (pixels: DicomFragments) => DicomFragments): DicomFile => ({
    ...file,
    elements: elements.map((element) =>
      'fragments' in element.value ? { ...element, value: change(element.value) } : element,
    ),
  });
  const index = 'where' in fault ? Math.floor(fault.where * elements.length) : 0;
  const replaceBy = (element: DicomElement): DicomFile => ({
    ...file,
    elements: elements.with(index, element),
  });
  const element = elements[index];
  if (!element) return file;
  switch (fault.kind) {
    case 'remove':
      return { ...file, elements: elements.toSpliced(index, 1) };
    case 'repeat':
      return { ...file, elements: elements.toSpliced(index, 0, element) };
    case 'misplace':
      return { ...file, elements: [...elements.toSpliced(index, 1), element] };
    case 'length':
      return replaceBy({ ...element, length: fault.length });
    case 'vr':
      return replaceBy({ ...element, vr: fault.vr });
    case 'value':
      return replaceBy({ ...element, value: fault.value });
    case 'number': {
      const isText = element.vr === 'IS' || element.vr === 'DS';
      const text = String(fault.number);
      const numberBytes = element.vr === 'US' ? 2 : 4;
      const value = isText
        ? Buffer.from(text.padEnd(text.length + (text.length % 2)))
        : littleEndian(numberBytes, [fault.number % 2 ** (8 * numberBytes)]);
      return element.value instanceof Uint8Array ? replaceBy({ ...element, value }) : file;
    }
    case 'entries':
      return changePixelData((all) => ({
        ...all,
        offsetTable: littleEndian(4, Array(fault.count).fill(0)),
      }));
    case 'offset':
      return {
        ...file,
        elements: elements.map((each) => {
          if ('fragments' in each.value) {
            return {
              ...each,
              value: { ...each.value, offsetTable: spoilEntry(each.value.offsetTable, 4, fault) },
            };
          }
          const isTable = each.tag === tag.ExtendedOffsetTable && each.value instanceof Uint8Array;
          return isTable ? { ...each, value: spoilEntry(each.value as Uint8Array, 8, fault) } : each;
        }),
      };
    case 'drop':
    case 'empty':
    case 'repeat item':
      return changePixelData((all) => {
        const item = Math.floor(fault.where * all.fragments.length);
        const fragment = all.fragments[item];
        if (!fragment) return all;
        const replacements = {
          drop: [],
          empty: [new Uint8Array()],
          'repeat item': [fragment, fragment],
        };
        return { ...all, fragments: all.fragments.toSpliced(item, 1, ...replacements[fault.kind]) };
      });
    case 'no end':
      return changePixelData((all) => ({ ...all, isDelimited: false }));
  }
}

/** Overwrites one entry of an offset table, whose entries have 4 or 8 bytes. */
function spoilEntry(
  table: Uint8Array,
  bytes: 4 | 8,
  { where, number }: { readonly where: number; readonly number: number },
): Uint8Array {
  const copy = Buffer.from(table);
  const entryStart = Math.floor((where * copy.length) / bytes) * bytes;
  if (copy.length > 0) copy.writeUInt32LE(number, entryStart);
  return copy;
}

/** Returns the indices of tiles that were read without an error but differ from the expected tile. */
function wrongTiles(tiles: readonly TileResult[], expectedTiles: readonly TileResult[]): number[] {
  const isRejectedOrCorrect = (tile: TileResult, i: number) => {
    const expected = expectedTiles[i];
    if (tile instanceof SlideError || tile === expected) return true;
    if (!(tile instanceof Uint8Array && expected instanceof Uint8Array)) return false;
    return Buffer.compare(tile, expected) === 0;
  };
  return tiles.flatMap((tile, i) => (isRejectedOrCorrect(tile, i) ? [] : [i]));
}

describe('the DICOM reader (with random slides and random faults)', () => {
  const bases: { readonly file: DicomFile; readonly tiles: readonly (Uint8Array | SlideError | null)[] }[] =
    [];
  beforeAll(async () => {
    for (const plan of basePlans) {
      const file = await planDicom(plan);
      const slide = await openSlideFrom(memoryFiles({ a: writeDicom(file) }));
      bases.push({ file, tiles: await readTiles(slide) });
    }
  });
  const anyBase = fc.nat(basePlans.length - 1).map((i) => bases[i] as (typeof bases)[number]);

  it(
    'returns the original pixels of a slide in any lossless encoding',
    async () => {
      await fc.assert(
        fc.asyncProperty(anyPlan, async (plan) => {
          const slide = await openSlideFrom(memoryFiles({ a: await buildDicom(plan) }));
          expect(difference(await drawLevel(slide, 0), pictureOf(plan))).toEqual({ mean: 0, max: 0 });
          await slide.close();
        }),
        { numRuns: propertyRuns(200, 1 / 50) },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'throws no error other than SlideError for a damaged slide, and reads at most about the size of the file per tile',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          anyBase,
          fc.array(anyFault, { minLength: 1, maxLength: 3 }),
          async ({ file }, faults) => {
            const bytes = damage(file, faults);
            const opened = await openDamaged(bytes);
            if (!opened) return;
            const { slide, count } = opened;
            const bytesReadBefore = count.bytes;
            const tiles = await readTiles(slide);
            expect(count.bytes - bytesReadBefore).toBeLessThan((tiles.length + 4) * bytes.length + 4096);
            await slide.close();
            expect(count.open).toBe(0);
          },
        ),
        { numRuns: runs },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'returns the original pixels of each tile or throws a SlideError if an offset table or an item is damaged',
    async () => {
      await fc.assert(
        fc.asyncProperty(anyBase, anyTableFault, async (base, fault) => {
          // Only one fault, because one dropped and one repeated frame together would be a valid file.
          const opened = await openDamaged(damage(base.file, [fault]));
          if (!opened) return;
          const tiles = await readTiles(opened.slide);
          expect(wrongTiles(tiles, base.tiles)).toEqual([]);
          await opened.slide.close();
        }),
        { numRuns: propertyRuns(1000, 1 / 5) },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'returns correct tiles after one failed read of the file, and closes all files',
    async () => {
      await fc.assert(
        fc.asyncProperty(anyBase, fc.nat(30), async ({ file, tiles }, failingRead) => {
          let reads = 0;
          const failAt = (files: SlideFiles): SlideFiles => {
            const { main } = files;
            const countAndFail = () => {
              if (reads++ === failingRead) throw new SlideError('FILE_MISSING', 'The disk is gone');
            };
            const read: typeof main.read = async (...range) => {
              countAndFail();
              return main.read(...range);
            };
            const readInto: typeof main.readInto = async (...range) => {
              countAndFail();
              return main.readInto(...range);
            };
            return { ...files, main: { ...main, read, readInto } };
          };
          const opened = await openDamaged(writeDicom(file), failAt);
          if (!opened) return;
          const first = await readTiles(opened.slide);
          expect(wrongTiles(first, tiles)).toEqual([]);
          const second = reads > failingRead ? await readTiles(opened.slide) : tiles;
          expect(wrongTiles(second, tiles)).toEqual([]);
          expect(second.filter((tile) => tile instanceof SlideError)).toEqual([]);
          await opened.slide.close();
          expect(opened.count.open).toBe(0);
        }),
        { numRuns: propertyRuns(500, 1 / 20) },
      );
    },
    TIMEOUT_MS,
  );
});
