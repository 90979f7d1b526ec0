/**
 * Reads outlines and points of DICOM Microscopy Bulk Simple Annotations (ANN). Coordinates are in pixels of the total pixel
 * matrix; they are read a part at a time, so that memory does not grow with the number of annotations.
 * Source: DICOM PS3.3, sections A.87 (object) and C.37.1.2 (groups).
 */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { byteWindow } from '../source/byte-window.ts';
import { rgbOfCieLab } from './cie-lab.ts';
import type { DataSet, Place } from './data-set.ts';
import { corrupt, limitExceeded } from './errors.ts';
import { readFileMeta } from './file-meta.ts';
import { limits } from './limits.ts';
import { type ElementSelection, readDataSet, valuesOf } from './read-data-set.ts';
import { tag } from './tags.ts';
import { transferSyntaxOf } from './uids.ts';

export interface BulkAnnotation {
  readonly graphic: 'point' | 'line' | 'polygon';
  /** x and y alternately, in pixels of the total pixel matrix (the whole image at full resolution). */
  readonly coordinates: readonly number[];
  readonly group: string;
  readonly color: readonly [number, number, number] | null;
  readonly measurements: readonly (readonly [name: string, value: number])[];
}

const batch = 1024;
const maxBatchValues = 2 ** 21;
const maxMeasurements = 128;
const maxNameLength = 200;
/** Number of vertices of the outline that approximates an ellipse. */
const ellipseVertices = 36;

const measurementElements: ElementSelection = new Map([
  [tag.ConceptNameCodeSequence, { items: valuesOf([tag.CodeMeaning]) }],
  [
    tag.MeasurementValuesSequence,
    {
      items: new Map([
        [tag.FloatingPointValues, 'place'],
        [tag.AnnotationIndexList, 'place'],
      ] as const),
    },
  ],
]);

const elements: ElementSelection = new Map([
  ...valuesOf([tag.Modality, tag.AnnotationCoordinateType]),
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
        [tag.PointCoordinatesData, 'place'],
        [tag.DoublePointCoordinatesData, 'place'],
        [tag.LongPrimitivePointIndexList, 'place'],
        [tag.MeasurementsSequence, { items: measurementElements }],
      ]),
    },
  ],
] as const);

/**
 * Calls a function with each annotation.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED for three-dimensional annotations and other objects, FILE_CORRUPT, FILE_TRUNCATED,
 * LIMIT_EXCEEDED
 */
export async function readBulkAnnotations(
  source: ByteSource,
  emit: (annotation: BulkAnnotation) => void,
  onProgress: (done: number) => void = () => undefined,
): Promise<void> {
  const window = byteWindow(source);
  const meta = await readFileMeta(window);
  const syntax = transferSyntaxOf(meta.transferSyntax);
  if (syntax === null) throw unsupported('Its transfer syntax is unknown');
  const walk = { isExplicit: syntax.isExplicit, budget: { elements: limits.elements }, window };
  const { dataSet } = await readDataSet(walk, meta.dataSetAt, elements, (number) => number > 0x006a_ffff);
  if (dataSet.text(tag.Modality) !== 'ANN') throw unsupported('The file has no bulk annotations');
  if (dataSet.text(tag.AnnotationCoordinateType) !== '2D') {
    throw unsupported('Its coordinates are not in pixels of the slide');
  }
  const groups = dataSet.items(tag.AnnotationGroupSequence);
  for (const [n, group] of groups.entries()) {
    await readGroup(source, group, emit, (done) => onProgress((n + done) / groups.length));
  }
}

const unsupported = (reason: string) => new SlideError('FORMAT_NOT_SUPPORTED', reason);

type Graphic = 'POINT' | 'POLYLINE' | 'POLYGON' | 'ELLIPSE' | 'RECTANGLE';
/** Number of points of an annotation; null when the index list determines it. */
const pointsOf: Readonly<Record<Graphic, number | null>> = {
  POINT: 1,
  POLYLINE: null,
  POLYGON: null,
  ELLIPSE: 4,
  RECTANGLE: 4,
};
const isGraphic = (text: string | null): text is Graphic => text !== null && Object.hasOwn(pointsOf, text);

async function readGroup(
  source: ByteSource,
  group: DataSet,
  emit: (annotation: BulkAnnotation) => void,
  onProgress: (done: number) => void,
): Promise<void> {
  const type = group.text(tag.GraphicType);
  if (!isGraphic(type)) throw unsupported('It has an unknown type of graphics');
  const count = group.whole(tag.NumberOfAnnotations) ?? 0;
  const label = (group.text(tag.AnnotationGroupLabel) ?? '').slice(0, maxNameLength);
  const lab = group.reals(tag.RecommendedDisplayCIELabValue);
  const { r, g, b } = lab.length === 3 ? rgbOfCieLab(lab) : { r: -1, g: 0, b: 0 };
  const color = r < 0 ? null : ([r, g, b] as const);
  const single = group.place(tag.PointCoordinatesData);
  const coordinates =
    numbersAt(source, single, 'float32') ??
    numbersAt(source, group.place(tag.DoublePointCoordinatesData), 'float64');
  if (coordinates === null) throw corrupt('a group has no coordinates');
  const points = pointsOf[type];
  const index =
    points === null ? numbersAt(source, group.place(tag.LongPrimitivePointIndexList), 'uint32') : null;
  if (points === null && (index === null || index.length !== count)) {
    throw corrupt('a group has no index of its points');
  }
  if (points !== null && coordinates.length !== 2 * points * count) {
    throw corrupt('a group has another number of points than it claims');
  }
  const columns = measurementsOf(source, group, count);

  for (let first = 0; first < count; first += batch) {
    const last = Math.min(count, first + batch);
    const starts = await startsOf(first, last);
    const [from, to] = [starts[0] as number, starts.at(-1) as number];
    if (to - from > maxBatchValues) throw limitExceeded('its annotations have too many points');
    const values = await coordinates.read(from, to - from);
    const measured = await Promise.all(columns.map(({ read }) => read(first, last)));
    for (let n = 0; n < last - first; n++) {
      const own = Array.from(values.subarray((starts[n] as number) - from, (starts[n + 1] as number) - from));
      emit({
        ...shapeOf(type, own),
        group: label,
        color,
        measurements: columns.flatMap(({ name }, i) => {
          const value = measured[i]?.[n];
          return value === undefined || Number.isNaN(value) ? [] : [[name, value] as const];
        }),
      });
    }
    onProgress(last / count);
  }

  /** Returns where the coordinates of these annotations begin, and where the last one ends. */
  async function startsOf(first: number, last: number): Promise<number[]> {
    const end = coordinates?.length ?? 0;
    if (index === null) {
      return Array.from({ length: last - first + 1 }, (_, n) => 2 * (points ?? 1) * (first + n));
    }
    const stored = await index.read(first, Math.min(last + 1, count) - first);
    const starts = Array.from(stored, (value) => value - 1); // the first value has the number 1
    if (last === count) starts.push(end);
    for (const [n, start] of starts.entries()) {
      const isValid =
        start >= 0 && start <= end && start % 2 === 0 && (n === 0 || start > (starts[n - 1] ?? 0));
      if (!isValid) throw corrupt('the index of points is not in order');
    }
    return starts;
  }
}

interface Numbers {
  readonly length: number;
  read(first: number, count: number): Promise<Float32Array | Float64Array | Uint32Array>;
}

const arrays = { float32: Float32Array, float64: Float64Array, uint32: Uint32Array } as const;

/** Returns a list of numbers; null when the element is absent. The file and all supported systems are little-endian. */
function numbersAt(source: ByteSource, place: Place | null, type: keyof typeof arrays): Numbers | null {
  if (place === null || place.length === null) return null;
  const { at, length } = place;
  const Type = arrays[type];
  return {
    length: Math.floor(length / Type.BYTES_PER_ELEMENT),
    async read(first, count) {
      const values = new Type(count);
      const bytes = await source.read(at + first * Type.BYTES_PER_ELEMENT, values.byteLength);
      new Uint8Array(values.buffer).set(bytes);
      return values;
    },
  };
}

interface MeasurementColumn {
  readonly name: string;
  /** Returns NaN for annotations without a value. Ranges are read in order. */
  read(first: number, last: number): Promise<Float32Array>;
}

function measurementsOf(source: ByteSource, group: DataSet, count: number): MeasurementColumn[] {
  const items = group.items(tag.MeasurementsSequence);
  if (items.length > maxMeasurements) throw limitExceeded(`a group has ${items.length} measurements`);
  return items.flatMap((item, n) => {
    const [concept] = item.items(tag.ConceptNameCodeSequence);
    const name = (concept?.text(tag.CodeMeaning) ?? `Measurement ${n + 1}`).slice(0, maxNameLength);
    const [stored] = item.items(tag.MeasurementValuesSequence);
    const values = stored && numbersAt(source, stored.place(tag.FloatingPointValues), 'float32');
    if (!values) return [];
    const owners = numbersAt(source, stored.place(tag.AnnotationIndexList), 'uint32');
    if (values.length !== (owners?.length ?? count))
      throw corrupt('a measurement has too few or many values');
    return [{ name, read: owners === null ? dense(values) : sparse(values, owners) }];
  });
}

const dense = (values: Numbers) => async (first: number, last: number) =>
  Float32Array.from(await values.read(first, last - first));

/** Reads values that name their annotations, in order. */
function sparse(values: Numbers, owners: Numbers): MeasurementColumn['read'] {
  let next = 0;
  return async (first, last) => {
    const result = new Float32Array(last - first).fill(Number.NaN);
    const most = Math.min(owners.length - next, last - first);
    const [numbers, own] = await Promise.all([owners.read(next, most), values.read(next, most)]);
    for (const [n, number] of numbers.entries()) {
      if (number - 1 >= last) break;
      if (number - 1 < first) throw corrupt('the annotations of a measurement are not in order');
      result[number - 1 - first] = own[n] as number;
      next++;
    }
    return result;
  };
}

function shapeOf(type: Graphic, own: number[]): Pick<BulkAnnotation, 'graphic' | 'coordinates'> {
  if (type === 'POINT') return { graphic: 'point', coordinates: own };
  if (type === 'POLYLINE') return { graphic: 'line', coordinates: own };
  return { graphic: 'polygon', coordinates: type === 'ELLIPSE' ? ellipseOf(own) : own };
}

/** The file has both ends of the major and of the minor axis. */
function ellipseOf(ends: readonly number[]): number[] {
  const [ax, ay, bx, by, cx, cy, dx, dy] = ends as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [x, y] = [(ax + bx) / 2, (ay + by) / 2];
  return Array.from({ length: ellipseVertices }, (_, n) => {
    const angle = (2 * Math.PI * n) / ellipseVertices;
    const [major, minor] = [Math.cos(angle) / 2, Math.sin(angle) / 2];
    return [x + (bx - ax) * major + (dx - cx) * minor, y + (by - ay) * major + (dy - cy) * minor];
  }).flat();
}
