/**
 * Reader of DICOM Microscopy Bulk Simple Annotations (ANN). A file has groups of annotations; each group
 * stores all coordinates in one list. The reader reads this list in parts, so that memory does not grow with the number of annotations.
 * Source: DICOM PS3.3, sections A.87 (object) and C.37.1.2 (groups).
 */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from '../source/byte-window.ts';
import { textDecodingOf } from './character-set.ts';
import { rgbOfCieLab } from './cie-lab.ts';
import type { DataSet, DecodeText, ValuePosition } from './data-set.ts';
import { corruptError, limitExceededError } from './errors.ts';
import { readFileMeta } from './file-meta.ts';
import { limits } from './limits.ts';
import { type ElementSelection, readDataSet, valuesOf } from './read-data-set.ts';
import { tag } from './tags.ts';
import { transferSyntaxOf } from './uids.ts';

export interface BulkAnnotation {
  readonly graphic: 'point' | 'line' | 'polygon';
  /** x and y alternately, in pixels of the total pixel matrix (the whole image at full resolution). */
  readonly coordinates: readonly number[];
  /** Label of the annotation group. */
  readonly group: string;
  /** Red, green and blue, 0…255 each; null when the file recommends no colour. */
  readonly color: readonly [number, number, number] | null;
  /** Only the measurements that have a value for this annotation. */
  readonly measurements: readonly (readonly [name: string, value: number])[];
}

/** Number of annotations that are read together. */
const annotationsPerBatch = 1024;
/** Maximum number of coordinates (two for each point) of one batch of `annotationsPerBatch` annotations. */
const maxBatchValues = 2 ** 21;
const maxMeasurements = 128;
const maxNameLength = 200;
/** Number of vertices of the outline that approximates an ellipse. */
const ellipseVertices = 36;

/** For elements marked `position`, which may be large, `readDataSet` returns only the position of the value in the file. */
const measurementElements: ElementSelection = new Map([
  [tag.ConceptNameCodeSequence, { items: valuesOf([tag.CodeMeaning]) }],
  [
    tag.MeasurementValuesSequence,
    {
      items: new Map([
        [tag.FloatingPointValues, 'position'],
        [tag.AnnotationIndexList, 'position'],
      ] as const),
    },
  ],
]);

const elements: ElementSelection = new Map([
  ...valuesOf([
    tag.SpecificCharacterSet,
    tag.Modality,
    tag.PixelOriginInterpretation,
    tag.AnnotationCoordinateType,
  ]),
  [
    tag.AnnotationGroupSequence,
    {
      items: new Map([
        ...valuesOf([
          tag.AnnotationGroupLabel,
          tag.NumberOfAnnotations,
          tag.GraphicType,
          tag.RecommendedDisplayCIELabValue,
        ]),
        [tag.PointCoordinatesData, 'position'],
        [tag.DoublePointCoordinatesData, 'position'],
        [tag.LongPrimitivePointIndexList, 'position'],
        [tag.MeasurementsSequence, { items: measurementElements }],
      ]),
    },
  ],
] as const);

/**
 * Reads a file and calls `emit` with each of its annotations.
 *
 * @param onProgress called with the completed fraction, 0…1
 * @throws SlideError FORMAT_NOT_SUPPORTED for three-dimensional annotations, for coordinates relative to a frame, for an unknown
 *   transfer syntax or graphic type, and for DICOM files without annotations; FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function readBulkAnnotations(
  source: ByteSource,
  emit: (annotation: BulkAnnotation) => void,
  onProgress: (done: number) => void = () => undefined,
): Promise<void> {
  const window = byteWindow(source);
  const meta = await readFileMeta(window);
  const syntax = transferSyntaxOf(meta.transferSyntax);
  if (syntax === null)
    throw unsupportedError('Not supported: annotations in a file with an unknown transfer syntax');
  const context = { isExplicit: syntax.isExplicit, budget: { elements: limits.elements }, window };
  // AnnotationGroupSequence is in group 006a (the upper 16 bits of its tag); elements of later groups are not needed.
  const { dataSet } = await readDataSet(
    context,
    meta.dataSetOffset,
    elements,
    (elementTag) => elementTag > 0x006a_ffff,
  );
  if (dataSet.text(tag.Modality) !== 'ANN') throw unsupportedError('The DICOM file has no bulk annotations');
  if (dataSet.text(tag.AnnotationCoordinateType) !== '2D') {
    throw unsupportedError('Not supported: annotations whose coordinates are not in pixels of the slide');
  }
  if (dataSet.text(tag.PixelOriginInterpretation) === 'FRAME') {
    throw unsupportedError(
      'Not supported: annotations whose coordinates are relative to a frame of the image',
    );
  }
  const decode = textDecodingOf(dataSet);
  const groups = dataSet.items(tag.AnnotationGroupSequence);
  for (const [completedGroups, group] of groups.entries()) {
    await readGroup(source, group, decode, emit, (done) =>
      onProgress((completedGroups + done) / groups.length),
    );
  }
}

const unsupportedError = (reason: string) => new SlideError('FORMAT_NOT_SUPPORTED', reason);

type Graphic = 'POINT' | 'POLYLINE' | 'POLYGON' | 'ELLIPSE' | 'RECTANGLE';
/** Number of points of an annotation; null if it varies, in which case a list states where each annotation begins. */
const pointsPerAnnotation: Readonly<Record<Graphic, number | null>> = {
  POINT: 1,
  POLYLINE: null,
  POLYGON: null,
  ELLIPSE: 4,
  RECTANGLE: 4,
};
const isGraphic = (text: string | null): text is Graphic =>
  text !== null && Object.hasOwn(pointsPerAnnotation, text);

/** Calls `emit` with each annotation of a group. @param onProgress called with the completed fraction of the group */
async function readGroup(
  source: ByteSource,
  group: DataSet,
  decode: DecodeText,
  emit: (annotation: BulkAnnotation) => void,
  onProgress: (done: number) => void,
): Promise<void> {
  const type = group.text(tag.GraphicType);
  if (!isGraphic(type)) throw unsupportedError('Not supported: annotations of an unknown graphic type');
  const count = group.whole(tag.NumberOfAnnotations) ?? 0;
  const label = (group.freeText(tag.AnnotationGroupLabel, decode) ?? '').slice(0, maxNameLength);
  const color = readRecommendedColor(group);
  const coordinates =
    numberListAt(source, group.position(tag.PointCoordinatesData), 'float32') ??
    numberListAt(source, group.position(tag.DoublePointCoordinatesData), 'float64');
  if (coordinates === null) throw corruptError('a group has no coordinates');
  const pointCount = pointsPerAnnotation[type];
  const startList =
    pointCount === null
      ? numberListAt(source, group.position(tag.LongPrimitivePointIndexList), 'uint32')
      : null;
  if (pointCount === null && (startList === null || startList.length !== count)) {
    throw corruptError('a group has no index of its points, or one of the wrong length');
  }
  if (pointCount !== null && coordinates.length !== 2 * pointCount * count) {
    throw corruptError('the number of points of a group contradicts its number of annotations');
  }
  const measurements = measurementsOf(source, group, decode, count);

  for (let first = 0; first < count; first += annotationsPerBatch) {
    const end = Math.min(count, first + annotationsPerBatch);
    const starts = await readStarts(first, end);
    const batchStart = starts[0] as number;
    const batchEnd = starts.at(-1) as number;
    if (batchEnd - batchStart > maxBatchValues)
      throw limitExceededError('its annotations have too many points');
    const values = await coordinates.read(batchStart, batchEnd - batchStart);
    const batchValues = await Promise.all(measurements.map(({ read }) => read(first, end)));
    for (let n = 0; n < end - first; n++) {
      const valuesStart = (starts[n] as number) - batchStart;
      const valuesEnd = (starts[n + 1] as number) - batchStart;
      emit({
        ...shapeOf(type, Array.from(values.subarray(valuesStart, valuesEnd))),
        group: label,
        color,
        measurements: measurements.flatMap(({ name }, i) => {
          const value = batchValues[i]?.[n];
          return value === undefined || Number.isNaN(value) ? [] : [[name, value] as const];
        }),
      });
    }
    onProgress(end / count);
  }

  /**
   * Returns the index of the first coordinate of each annotation from `first` to `end`, both included. If `end` is `count`, there
   * is no annotation `end`; its index is then the number of coordinates.
   */
  async function readStarts(first: number, end: number): Promise<number[]> {
    const coordinateCount = coordinates?.length ?? 0;
    if (startList === null) {
      const coordinatesPerAnnotation = 2 * (pointCount ?? 1); // `pointCount` is not null when there is no start list
      return Array.from({ length: end - first + 1 }, (_, n) => coordinatesPerAnnotation * (first + n));
    }
    // The list has no entry after that of the last annotation, which ends with the last coordinate.
    const stored = await startList.read(first, Math.min(end + 1, count) - first);
    // The file counts coordinates from 1.
    const starts = Array.from(stored, (value) => value - 1);
    if (end === count) starts.push(coordinateCount);
    for (const [n, start] of starts.entries()) {
      const isInside = start >= 0 && start <= coordinateCount && start % 2 === 0;
      const isAscending = n === 0 || start > (starts[n - 1] ?? 0);
      if (!isInside || !isAscending) throw corruptError('the index of points is not in order');
    }
    return starts;
  }
}

function readRecommendedColor(group: DataSet): BulkAnnotation['color'] {
  const lab = group.reals(tag.RecommendedDisplayCIELabValue);
  if (lab.length !== 3) return null;
  const { r, g, b } = rgbOfCieLab(lab);
  return [r, g, b];
}

/** A list of numbers in the file. It stays in the file; callers read ranges of it. */
interface StoredNumbers {
  readonly length: number;
  read(first: number, count: number): Promise<Float32Array | Float64Array | Uint32Array>;
}

const arrayTypes = { float32: Float32Array, float64: Float64Array, uint32: Uint32Array } as const;

/**
 * Returns a list of numbers; null when the element is absent or its length is undefined. The bytes need no conversion,
 * because file and system are little-endian.
 */
function numberListAt(
  source: ByteSource,
  position: ValuePosition | null,
  type: keyof typeof arrayTypes,
): StoredNumbers | null {
  if (position === null || position.length === null) return null;
  const { offset, length } = position;
  const Type = arrayTypes[type];
  return {
    length: Math.floor(length / Type.BYTES_PER_ELEMENT),
    async read(first, count) {
      const values = new Type(count);
      const bytes = await source.read(offset + first * Type.BYTES_PER_ELEMENT, values.byteLength);
      new Uint8Array(values.buffer).set(bytes);
      return values;
    },
  };
}

/** The values of one measurement, e.g. "Area", for all annotations of a group. */
interface Measurement {
  readonly name: string;
  /**
   * Reads the values of the annotations from `first` to before `end`; NaN for annotations without a value. Consecutive
   * calls must read consecutive ranges.
   */
  read(first: number, end: number): Promise<Float32Array>;
}

function measurementsOf(
  source: ByteSource,
  group: DataSet,
  decode: DecodeText,
  count: number,
): Measurement[] {
  const items = group.items(tag.MeasurementsSequence);
  if (items.length > maxMeasurements) throw limitExceededError(`a group has ${items.length} measurements`);
  return items.flatMap((item, n) => {
    const [concept] = item.items(tag.ConceptNameCodeSequence);
    const name = (concept?.freeText(tag.CodeMeaning, decode) ?? `Measurement ${n + 1}`).slice(
      0,
      maxNameLength,
    );
    const [valuesItem] = item.items(tag.MeasurementValuesSequence);
    const values =
      valuesItem && numberListAt(source, valuesItem.position(tag.FloatingPointValues), 'float32');
    if (!values) return [];
    const annotationNumbers = numberListAt(source, valuesItem.position(tag.AnnotationIndexList), 'uint32');
    if (values.length !== (annotationNumbers?.length ?? count))
      throw corruptError('a measurement has too few or too many values');
    const read =
      annotationNumbers === null ? readAllValues(values) : readNumberedValues(values, annotationNumbers);
    return [{ name, read }];
  });
}

/** Returns a reader of a measurement with a value for every annotation. */
const readAllValues = (values: StoredNumbers) => async (first: number, end: number) =>
  Float32Array.from(await values.read(first, end - first));

/** Returns a reader of a measurement with values for some annotations, whose numbers (from 1) are in ascending order. */
function readNumberedValues(values: StoredNumbers, annotationNumbers: StoredNumbers): Measurement['read'] {
  let nextValue = 0;
  return async (first, end) => {
    const result = new Float32Array(end - first).fill(Number.NaN);
    const maxValues = Math.min(annotationNumbers.length - nextValue, end - first);
    const [numbers, storedValues] = await Promise.all([
      annotationNumbers.read(nextValue, maxValues),
      values.read(nextValue, maxValues),
    ]);
    for (const [n, number] of numbers.entries()) {
      const annotation = number - 1;
      if (annotation >= end) break;
      if (annotation < first) throw corruptError('the annotations of a measurement are not in order');
      result[annotation - first] = storedValues[n] as number;
      nextValue++;
    }
    return result;
  };
}

function shapeOf(type: Graphic, coordinates: number[]): Pick<BulkAnnotation, 'graphic' | 'coordinates'> {
  if (type === 'POINT') return { graphic: 'point', coordinates };
  if (type === 'POLYLINE') return { graphic: 'line', coordinates };
  return {
    graphic: 'polygon',
    coordinates: type === 'ELLIPSE' ? outlineOfEllipse(coordinates) : coordinates,
  };
}

/** Returns a polygon that approximates an ellipse. @param ends both ends of the major axis, then both ends of the minor axis */
function outlineOfEllipse(ends: readonly number[]): number[] {
  const [
    majorX1 = 0,
    majorY1 = 0,
    majorX2 = 0,
    majorY2 = 0,
    minorX1 = 0,
    minorY1 = 0,
    minorX2 = 0,
    minorY2 = 0,
  ] = ends;
  const centreX = (majorX1 + majorX2) / 2;
  const centreY = (majorY1 + majorY2) / 2;
  return Array.from({ length: ellipseVertices }, (_, n) => {
    const angle = (2 * Math.PI * n) / ellipseVertices;
    const majorFactor = Math.cos(angle) / 2;
    const minorFactor = Math.sin(angle) / 2;
    return [
      centreX + (majorX2 - majorX1) * majorFactor + (minorX2 - minorX1) * minorFactor,
      centreY + (majorY2 - majorY1) * majorFactor + (minorY2 - minorY1) * minorFactor,
    ];
  }).flat();
}
