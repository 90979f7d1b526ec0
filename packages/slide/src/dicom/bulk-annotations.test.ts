/** Tests the reader of DICOM bulk annotations: graphic types, measurements, and files that contradict themselves. */
import { describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import { type DicomElement, type DicomItem, sequence, text, ul, writeDicom } from '../testing/build-dicom.ts';
import { type BulkAnnotation, readBulkAnnotations } from './bulk-annotations.ts';
import { tag } from './tags.ts';

const bytesOf = (values: Float32Array | Float64Array | Uint32Array) => new Uint8Array(values.buffer);
const floatList = (tagNumber: number, values: readonly number[]): DicomElement => ({
  tag: tagNumber,
  vr: 'OF',
  value: bytesOf(Float32Array.from(values)),
});
const uint32List = (tagNumber: number, values: readonly number[]): DicomElement => ({
  tag: tagNumber,
  vr: 'OL',
  value: bytesOf(Uint32Array.from(values)),
});

/**
 * Returns a group of annotations, with its elements in the order of their tags.
 *
 * @param index number (from 1) of the first coordinate of each annotation
 */
function group(
  graphic: string,
  count: number,
  {
    coordinates,
    index,
    measurements = [],
    label = Buffer.from('nuclei'),
  }: { coordinates: number[]; index?: number[]; measurements?: DicomItem; label?: Buffer },
): DicomItem {
  return [
    floatList(tag.PointCoordinatesData, coordinates),
    ...(index === undefined ? [] : [uint32List(tag.LongPrimitivePointIndexList, index)]),
    ...measurements,
    { tag: tag.AnnotationGroupLabel, vr: 'LO', value: label },
    ul(tag.NumberOfAnnotations, count),
    text(tag.GraphicType, 'CS', graphic),
  ];
}

function fileOf(
  groups: readonly DicomItem[],
  { modality = 'ANN', type = '2D', origin = 'VOLUME', characterSet = [] as string[] } = {},
): Uint8Array {
  return writeDicom({
    preamble: new Uint8Array(128),
    meta: [text(tag.TransferSyntaxUID, 'UI', '1.2.840.10008.1.2.1')],
    isExplicit: true,
    elements: [
      ...(characterSet.length === 0 ? [] : [text(tag.SpecificCharacterSet, 'CS', ...characterSet)]),
      text(tag.Modality, 'CS', modality),
      text(tag.PixelOriginInterpretation, 'CS', origin),
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

/** Returns a measurement "Area". @param annotationNumbers the annotations that have a value, from 1; absent for all */
const areas = (values: readonly number[], annotationNumbers?: readonly number[]) =>
  sequence(tag.MeasurementsSequence, [
    [
      sequence(tag.ConceptNameCodeSequence, [[text(tag.CodeMeaning, 'LO', 'Area')]]),
      sequence(tag.MeasurementValuesSequence, [
        [
          floatList(tag.FloatingPointValues, values),
          ...(annotationNumbers === undefined
            ? []
            : [uint32List(tag.AnnotationIndexList, annotationNumbers)]),
        ],
      ]),
    ],
  ]);

describe('readBulkAnnotations (reads a file of DICOM bulk annotations)', () => {
  it('splits the points of a group into polygons at the starts that the index list states', async () => {
    const triangle = [0, 0, 4, 0, 0, 4];
    const square = [10, 10, 12, 10, 12, 12, 10, 12];
    const file = fileOf([group('POLYGON', 2, { coordinates: [...triangle, ...square], index: [1, 7] })]);
    expect(await read(file)).toEqual([
      { graphic: 'polygon', coordinates: triangle, group: 'nuclei', color: null, measurements: [] },
      { graphic: 'polygon', coordinates: square, group: 'nuclei', color: null, measurements: [] },
    ]);
  });

  it.each([
    ['in the character set ISO_IR 192 (UTF-8)', ['ISO_IR 192'], 'Hücre çekirdeği 細胞核 ', 'utf8'],
    ['in the character set ISO_IR 100 (Latin-1)', ['ISO_IR 100'], 'für Ä und Ö ', 'latin1'],
    ['in UTF-8 without a stated character set', [], 'Hücre çekirdeği ', 'utf8'],
    ['in Latin-1 without a stated character set', [], 'für Ä ', 'latin1'],
  ] as const)(
    'returns the label of a group of annotations that is stored %s',
    async (_, characterSet, label, encoding) => {
      const bytes = Buffer.from(label, encoding);
      const padded = bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.from(' ')]);
      const points = group('POINT', 1, { coordinates: [1, 2], label: padded });
      const found = await read(fileOf([points], { characterSet: [...characterSet] }));
      expect(found.map((annotation) => annotation.group)).toEqual([label.trim()]);
    },
  );

  it('returns the label of a group of annotations in the Turkish character set, stated as ISO_IR 148 or as ISO 2022 IR 148', async () => {
    const label = Buffer.from([0x49, 0xfe, 0xfd, 0x6b, 0x20, 0xde]); // Işık Ş in ISO 8859-9
    for (const characterSet of [['ISO_IR 148'], ['ISO 2022 IR 148', 'ISO 2022 IR 87']]) {
      const found = await read(fileOf([group('POINT', 1, { coordinates: [1, 2], label })], { characterSet }));
      expect(found.map((annotation) => annotation.group)).toEqual(['Işık Ş']);
    }
  });

  it('returns all 3,000 points of a group with their measurements, although it reads at most 1,024 points at a time', async () => {
    const count = 3000;
    const coordinates = Array.from({ length: 2 * count }, (_, i) => i);
    const values = Array.from({ length: count }, (_, i) => i / 2);
    const found = await read(fileOf([group('POINT', count, { coordinates, measurements: [areas(values)] })]));
    expect(found).toHaveLength(count);
    expect(found[2500]).toMatchObject({ coordinates: [5000, 5001], measurements: [['Area', 1250]] });
  });

  it('assigns the values of a measurement only to the annotations that the index list of the measurement names', async () => {
    const file = fileOf([
      group('POINT', 3, { coordinates: [0, 0, 1, 1, 2, 2], measurements: [areas([7, 9], [1, 3])] }),
    ]);
    const measurementsByPoint = (await read(file)).map(({ measurements }) => measurements);
    expect(measurementsByPoint).toEqual([[['Area', 7]], [], [['Area', 9]]]);
  });

  it('returns a polygon for an ellipse, which the file stores as the ends of its axes', async () => {
    const file = fileOf([group('ELLIPSE', 1, { coordinates: [0, 5, 20, 5, 10, 0, 10, 10] })]);
    const [{ coordinates } = { coordinates: [] }] = await read(file);
    for (let i = 0; i < coordinates.length; i += 2) {
      const x = coordinates[i] as number;
      const y = coordinates[i + 1] as number;
      // The ellipse has its centre at 10, 5 and the semi-axes 10 and 5.
      expect(((x - 10) / 10) ** 2 + ((y - 5) / 5) ** 2).toBeCloseTo(1, 9);
    }
  });

  const triangle = { coordinates: [0, 0, 4, 0, 0, 4] };
  it.each([
    ['annotations in millimetres (3D) instead of pixels', fileOf([], { type: '3D' }), 'FORMAT_NOT_SUPPORTED'],
    ['annotations relative to a frame', fileOf([], { origin: 'FRAME' }), 'FORMAT_NOT_SUPPORTED'],
    ['the modality SR (structured report)', fileOf([], { modality: 'SR' }), 'FORMAT_NOT_SUPPORTED'],
    ['an unknown graphic type', fileOf([group('CURVE', 1, triangle)]), 'FORMAT_NOT_SUPPORTED'],
    ['10^9 claimed points but three stored ones', fileOf([group('POINT', 1e9, triangle)]), 'FILE_CORRUPT'],
    [
      '10^9 claimed polygons but one stored one',
      fileOf([group('POLYGON', 1e9, { ...triangle, index: [1] })]),
      'FILE_CORRUPT',
    ],
    [
      'polygons without a list of their first points',
      fileOf([group('POLYGON', 1, triangle)]),
      'FILE_CORRUPT',
    ],
    [
      'a polygon whose first point is beyond the stored points',
      fileOf([group('POLYGON', 1, { ...triangle, index: [99] })]),
      'FILE_CORRUPT',
    ],
    [
      'a polygon whose first point has the index 0 (indices start at 1)',
      fileOf([group('POLYGON', 1, { ...triangle, index: [0] })]),
      'FILE_CORRUPT',
    ],
    [
      'a list of first points of polygons that is not in ascending order',
      fileOf([group('POLYGON', 2, { ...triangle, index: [3, 1] })]),
      'FILE_CORRUPT',
    ],
    [
      'a measurement with too few values',
      fileOf([group('POINT', 3, { ...triangle, measurements: [areas([1])] })]),
      'FILE_CORRUPT',
    ],
    [
      'a measurement whose annotation numbers are not in ascending order',
      fileOf([group('POINT', 3, { ...triangle, measurements: [areas([1, 2], [2, 0])] })]),
      'FILE_CORRUPT',
    ],
  ])('throws $2 for a file with %s', async (_, file, code) => {
    await expect(read(file)).rejects.toMatchObject({ code });
  });

  it('throws FILE_TRUNCATED for a file without its last 40 bytes', async () => {
    const file = fileOf([group('POINT', 3, triangle)]);
    await expect(read(file.subarray(0, file.length - 40))).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
  });
});
