/** Annotations of DICOM files: every type of graphics, measurements, and files that contradict themselves. */
import { describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import { type DicomElement, type DicomItem, sequence, text, ul, writeDicom } from '../testing/build-dicom.ts';
import { type BulkAnnotation, readBulkAnnotations } from './bulk-annotations.ts';
import { tag } from './tags.ts';

const bytesOf = (values: Float32Array | Float64Array | Uint32Array) => new Uint8Array(values.buffer);
const floats = (number: number, values: readonly number[]): DicomElement => ({
  tag: number,
  vr: 'OF',
  value: bytesOf(Float32Array.from(values)),
});
const numbers = (number: number, values: readonly number[]): DicomElement => ({
  tag: number,
  vr: 'OL',
  value: bytesOf(Uint32Array.from(values)),
});

/** A group; elements are in the order of their numbers. */
function group(
  graphic: string,
  count: number,
  { coordinates, index, more = [] }: { coordinates: number[]; index?: number[]; more?: DicomItem },
): DicomItem {
  return [
    floats(tag.PointCoordinatesData, coordinates),
    ...(index === undefined ? [] : [numbers(tag.LongPrimitivePointIndexList, index)]),
    ...more,
    text(tag.AnnotationGroupLabel, 'LO', 'nuclei'),
    ul(tag.NumberOfAnnotations, count),
    text(tag.GraphicType, 'CS', graphic),
  ];
}

function fileOf(groups: readonly DicomItem[], { modality = 'ANN', type = '2D' } = {}): Uint8Array {
  return writeDicom({
    preamble: new Uint8Array(128),
    meta: [text(tag.TransferSyntaxUID, 'UI', '1.2.840.10008.1.2.1')],
    isExplicit: true,
    elements: [
      text(tag.Modality, 'CS', modality),
      text(tag.AnnotationCoordinateType, 'CS', type),
      sequence(tag.AnnotationGroupSequence, groups),
    ],
  });
}

async function read(file: Uint8Array): Promise<BulkAnnotation[]> {
  const found: BulkAnnotation[] = [];
  await readBulkAnnotations(memorySource(file), (annotation) => found.push(annotation));
  return found;
}

const values = (stored: readonly number[], owners?: readonly number[]) =>
  sequence(tag.MeasurementsSequence, [
    [
      sequence(tag.ConceptNameCodeSequence, [[text(tag.CodeMeaning, 'LO', 'Area')]]),
      sequence(tag.MeasurementValuesSequence, [
        [
          floats(tag.FloatingPointValues, stored),
          ...(owners === undefined ? [] : [numbers(tag.AnnotationIndexList, owners)]),
        ],
      ]),
    ],
  ]);

describe('readBulkAnnotations', () => {
  it('reads polygons of different lengths by their index', async () => {
    const triangle = [0, 0, 4, 0, 0, 4];
    const square = [10, 10, 12, 10, 12, 12, 10, 12];
    const file = fileOf([group('POLYGON', 2, { coordinates: [...triangle, ...square], index: [1, 7] })]);
    expect(await read(file)).toEqual([
      { graphic: 'polygon', coordinates: triangle, group: 'nuclei', color: null, measurements: [] },
      { graphic: 'polygon', coordinates: square, group: 'nuclei', color: null, measurements: [] },
    ]);
  });

  it('reads points and their measurements when they exceed one block of the file', async () => {
    const count = 3000;
    const coordinates = Array.from({ length: 2 * count }, (_, i) => i);
    const areas = Array.from({ length: count }, (_, i) => i / 2);
    const found = await read(fileOf([group('POINT', count, { coordinates, more: [values(areas)] })]));
    expect(found).toHaveLength(count);
    expect(found[2500]).toMatchObject({ coordinates: [5000, 5001], measurements: [['Area', 1250]] });
  });

  it('assigns a measurement of some annotations to the annotations that its index list names', async () => {
    const file = fileOf([
      group('POINT', 3, { coordinates: [0, 0, 1, 1, 2, 2], more: [values([7, 9], [1, 3])] }),
    ]);
    const measured = (await read(file)).map(({ measurements }) => measurements);
    expect(measured).toEqual([[['Area', 7]], [], [['Area', 9]]]);
  });

  it('returns the outline of an ellipse that is given by the ends of its axes', async () => {
    const file = fileOf([group('ELLIPSE', 1, { coordinates: [0, 5, 20, 5, 10, 0, 10, 10] })]);
    const [{ coordinates } = { coordinates: [] }] = await read(file);
    const distances = Array.from({ length: coordinates.length / 2 }, (_, n) => {
      const [x, y] = [coordinates[2 * n] as number, coordinates[2 * n + 1] as number];
      return ((x - 10) / 10) ** 2 + ((y - 5) / 5) ** 2;
    });
    for (const distance of distances) expect(distance).toBeCloseTo(1, 9);
  });

  const triangle = { coordinates: [0, 0, 4, 0, 0, 4] };
  it.each([
    ['annotations in millimetres', fileOf([], { type: '3D' }), 'FORMAT_NOT_SUPPORTED'],
    ['another object', fileOf([], { modality: 'SR' }), 'FORMAT_NOT_SUPPORTED'],
    ['an unknown graphic type', fileOf([group('CURVE', 1, triangle)]), 'FORMAT_NOT_SUPPORTED'],
    ['10^9 claimed points', fileOf([group('POINT', 1e9, triangle)]), 'FILE_CORRUPT'],
    ['10^9 claimed polygons', fileOf([group('POLYGON', 1e9, { ...triangle, index: [1] })]), 'FILE_CORRUPT'],
    ['polygons without an index', fileOf([group('POLYGON', 1, triangle)]), 'FILE_CORRUPT'],
    [
      'an index beyond the points',
      fileOf([group('POLYGON', 1, { ...triangle, index: [99] })]),
      'FILE_CORRUPT',
    ],
    ['an index of 0', fileOf([group('POLYGON', 1, { ...triangle, index: [0] })]), 'FILE_CORRUPT'],
    ['an index in disorder', fileOf([group('POLYGON', 2, { ...triangle, index: [3, 1] })]), 'FILE_CORRUPT'],
    [
      'a measurement with too few values',
      fileOf([group('POINT', 3, { ...triangle, more: [values([1])] })]),
      'FILE_CORRUPT',
    ],
    [
      'a measurement of the same annotation twice',
      fileOf([group('POINT', 3, { ...triangle, more: [values([1, 2], [2, 0])] })]),
      'FILE_CORRUPT',
    ],
  ])('rejects %s', async (_, file, code) => {
    await expect(read(file)).rejects.toMatchObject({ code });
  });

  it('rejects a truncated file', async () => {
    const file = fileOf([group('POINT', 3, triangle)]);
    await expect(read(file.subarray(0, file.length - 40))).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
  });
});
