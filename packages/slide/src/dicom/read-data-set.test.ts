import { describe, expect, it } from 'vitest';
import { byteWindow } from '../source/byte-window.ts';
import { memorySource } from '../source/memory-source.ts';
import { type DicomElement, fl, sequence, sl, text, ul, us, writeDicom } from '../testing/build-dicom.ts';
import { type DataSet, dataSetOf } from './data-set.ts';
import { type ElementSelection, readDataSet } from './read-data-set.ts';
import { tag } from './tags.ts';

/** Offset of the first element, after the preamble and "DICM". */
const START = 132;
/** Bytes of the header of an element with a 4-byte length. */
const LONG_HEADER_BYTES = 12;

/** Writes elements and reads them as a data set. `reads` are the lengths of the reads of the source. */
async function read(elements: readonly DicomElement[], selection: ElementSelection, isExplicit = true) {
  const file = { preamble: new Uint8Array(128), meta: [], isExplicit, elements };
  const source = memorySource(writeDicom(file));
  const reads: number[] = [];
  const window = byteWindow({
    ...source,
    read(offset, length) {
      reads.push(length);
      return source.read(offset, length);
    },
  });
  const context = { window, isExplicit, budget: { elements: 100 } };
  const { dataSet, end } = await readDataSet(context, START, selection, () => false);
  return { dataSet, end, reads, size: source.size };
}

const values = (...tags: number[]): ElementSelection => new Map(tags.map((number) => [number, 'value']));

const encodings: readonly (readonly [string, isExplicit: boolean])[] = [
  ['state their types (explicit VR)', true],
  ['do not state their types (implicit VR)', false],
];

describe('readDataSet (reads selected elements of a DICOM data set)', () => {
  it.each(encodings)(
    'returns the values of all numeric and string types from elements that %s',
    async (_, isExplicit) => {
      const { dataSet } = await read(
        [
          text(tag.ImageType, 'CS', 'DERIVED', 'PRIMARY'),
          text(tag.InstanceNumber, 'IS', ' -7 '),
          us(tag.Rows, 500, 600),
          text(tag.PixelSpacing, 'DS', '0.5', '.25', '1e-3'),
          fl(tag.ImagedVolumeWidth, 1.5),
          ul(tag.TotalPixelMatrixRows, 4_000_000_000),
          sl(tag.RowPositionInTotalImagePixelMatrix, -3),
        ],
        values(
          tag.ImageType,
          tag.InstanceNumber,
          tag.Rows,
          tag.PixelSpacing,
          tag.ImagedVolumeWidth,
          tag.TotalPixelMatrixRows,
          tag.RowPositionInTotalImagePixelMatrix,
        ),
        isExplicit,
      );
      expect(dataSet.texts(tag.ImageType)).toEqual(['DERIVED', 'PRIMARY']);
      expect(dataSet.whole(tag.InstanceNumber)).toBe(-7);
      expect(dataSet.whole(tag.Rows)).toBe(500);
      expect(dataSet.reals(tag.PixelSpacing)).toEqual([0.5, 0.25, 0.001]);
      expect(dataSet.real(tag.ImagedVolumeWidth)).toBe(1.5);
      expect(dataSet.whole(tag.TotalPixelMatrixRows)).toBe(4_000_000_000);
      expect(dataSet.whole(tag.RowPositionInTotalImagePixelMatrix)).toBe(-3);
    },
  );

  it('returns null or an empty list for absent and empty elements', async () => {
    const { dataSet } = await read(
      [text(tag.Manufacturer, 'LO', ''), us(tag.Rows)],
      values(tag.Manufacturer, tag.Rows),
    );
    expect(dataSet.text(tag.Manufacturer)).toBeNull();
    expect(dataSet.texts(tag.Manufacturer)).toEqual([]);
    expect(dataSet.whole(tag.Rows)).toBeNull();
    expect(dataSet.whole(tag.Columns)).toBeNull();
    expect(dataSet.items(tag.OpticalPathSequence)).toEqual([]);
    expect(dataSet.position(tag.PixelData)).toBeNull();
  });

  it('throws FILE_CORRUPT for an invalid integer, and returns an empty list for an invalid decimal (DS)', async () => {
    const { dataSet } = await read(
      [
        text(tag.InstanceNumber, 'IS', '1A'),
        text(tag.PixelSpacing, 'DS', '0.5', 'x'),
        text(tag.Rows, 'LO', '5'),
      ],
      values(tag.InstanceNumber, tag.PixelSpacing, tag.Rows),
    );
    expect(dataSet.reals(tag.PixelSpacing)).toEqual([]);
    for (const name of [tag.InstanceNumber, tag.Rows] as const) {
      expect(() => dataSet.whole(name)).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
    }
  });

  it('returns an empty list for a decimal (DS) of 400,000 digits and a letter, within the time limit of a test', () => {
    const bytes = Buffer.from(`${'1'.repeat(400_000)}x`);
    const dataSet = dataSetOf(new Map([[tag.PixelSpacing, { kind: 'bytes', vr: 'DS', bytes }]]));
    expect(dataSet.reals(tag.PixelSpacing)).toEqual([]);
  });

  it('omits elements that the caller does not select', async () => {
    const { dataSet } = await read([text(tag.PatientID, 'LO', 'P-1'), us(tag.Rows, 5)], values(tag.Rows));
    expect(dataSet.has(tag.PatientID)).toBe(false);
  });

  it('does not read a value of 10 MB that the caller does not select', async () => {
    const large = { tag: 0x0009_0010, vr: 'OB', value: new Uint8Array(10_000_000) };
    const { dataSet, reads } = await read([large, us(tag.Rows, 5)], values(tag.Rows));
    expect(dataSet.whole(tag.Rows)).toBe(5);
    expect(reads.reduce((sum, length) => sum + length, 0)).toBeLessThan(100_000);
  });

  it('returns the offset and length of a value when the caller asks for the position of the value', async () => {
    const large = { tag: tag.ICCProfile, vr: 'OB', value: new Uint8Array(100_000) };
    const { dataSet } = await read([large], new Map([[tag.ICCProfile, 'position']]));
    expect(dataSet.position(tag.ICCProfile)).toEqual({ offset: START + LONG_HEADER_BYTES, length: 100_000 });
  });

  /** Returns an item with a sequence of two items; only the first has the element Rows. */
  const nestedItem = (rows: number) => [sequence(tag.PixelMeasuresSequence, [[us(tag.Rows, rows)], []])];
  const nestedSelection: ElementSelection = new Map([
    [
      tag.SharedFunctionalGroupsSequence,
      { items: new Map([[tag.PixelMeasuresSequence, { items: values(tag.Rows) }]]) },
    ],
  ]);
  const rowsOf = (dataSet: DataSet) =>
    dataSet
      .items(tag.SharedFunctionalGroupsSequence)
      .map((item) => item.items(tag.PixelMeasuresSequence).map((measures) => measures.whole(tag.Rows)));

  it.each(encodings)(
    'returns nested sequences, whether they state a length or end with a delimiter, from elements that %s',
    async (_, isExplicit) => {
      const lengths = sequence(tag.SharedFunctionalGroupsSequence, [nestedItem(1), nestedItem(2)]);
      for (const element of [lengths, { ...lengths, length: 0xffff_ffff }]) {
        const { dataSet, end, size } = await read([element], nestedSelection, isExplicit);
        expect(rowsOf(dataSet)).toEqual([
          [1, null],
          [2, null],
        ]);
        expect(end).toBe(size);
      }
    },
  );

  it('returns the items of a sequence of the value representation UN (unknown), whose elements do not state their types', async () => {
    const shared = sequence(tag.SharedFunctionalGroupsSequence, [nestedItem(3)]);
    for (const length of [undefined, 0xffff_ffff]) {
      const element = { ...shared, vr: 'UN', ...(length !== undefined && { length }) };
      const { dataSet } = await read([element], nestedSelection);
      expect(rowsOf(dataSet)).toEqual([[3, null]]);
    }
  });

  it('passes the items of a sequence that the caller selects to the onItem callback, and does not store the items', async () => {
    const receivedItems: (number | null)[] = [];
    const onItem = (item: DataSet) => receivedItems.push(item.whole(tag.Rows));
    const frames = sequence(tag.PerFrameFunctionalGroupsSequence, [[us(tag.Rows, 1)], [us(tag.Rows, 2)], []]);
    const { dataSet } = await read(
      [frames],
      new Map([[tag.PerFrameFunctionalGroupsSequence, { items: values(tag.Rows), onItem }]]),
    );
    expect(receivedItems).toEqual([1, 2, null]);
    expect(dataSet.items(tag.PerFrameFunctionalGroupsSequence)).toEqual([]);
  });

  it('returns the elements after an icon image with encapsulated pixel data', async () => {
    const icon = sequence(0x0088_0200, [
      [
        {
          tag: tag.PixelData,
          vr: 'OB',
          value: { offsetTable: new Uint8Array(), fragments: [new Uint8Array(30), new Uint8Array(7)] },
        },
      ],
    ]);
    const { dataSet } = await read(
      [{ ...icon, length: 0xffff_ffff }, us(0x0089_0010, 1), us(tag.Rows, 5)],
      values(tag.Rows),
    );
    expect(dataSet.whole(tag.Rows)).toBe(5);
  });

  it('returns the position of the pixel data and stops reading there', async () => {
    const pixels = { tag: tag.PixelData, vr: 'OW', value: new Uint8Array(64) };
    const { dataSet } = await read([pixels, us(tag.Rows, 5)], values(tag.Rows));
    expect(dataSet.position(tag.PixelData)).toEqual({ offset: START + LONG_HEADER_BYTES, length: 64 });
    expect(dataSet.has(tag.Rows)).toBe(false);
  });

  it('throws LIMIT_EXCEEDED for a data set of more elements than the caller permits', async () => {
    const elements = Array.from({ length: 101 }, (_, i) => us(0x0009_0000 + i, i));
    await expect(read(elements, new Map())).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});
