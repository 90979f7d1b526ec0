/**
 * Reads annotation XML of the slide viewer ASAP, which the Camelyon challenges and other data sets use. Its elements are
 * `ASAP_Annotations/Annotations/Annotation/Coordinates/Coordinate` and `ASAP_Annotations/AnnotationGroups/Group`. The group
 * of an annotation becomes its class.
 *
 * Source: ASAP, `XmlRepository`. ASAP for Windows writes decimal commas in languages that use them.
 */
import { annotationLimits } from '../model/limits.ts';
import { chooseClassColor } from './class-color.ts';
import { cleanLine } from './clean-text.ts';
import type { Collector } from './collector.ts';
import { ImportError } from './import-types.ts';
import { readCssColor } from './read-dsa.ts';
import { readDecimal, readXmlElements } from './read-xml.ts';

interface AsapAnnotation {
  readonly attributes: Readonly<Record<string, string>>;
  readonly line: number;
  /** The attribute `Order` and the position of each coordinate; x or y is null when it is not a number. */
  readonly points: { readonly order: number; readonly position: readonly [number | null, number | null] }[];
}

/** Adds the annotations of a document to the collector. @throws ImportError */
export function readAsap(text: string, collector: Collector): void {
  const annotations: AsapAnnotation[] = [];
  const groupColors = new Map<string, string>();
  let vertexCount = 0;
  readXmlElements(text, (path, attributes, line) => {
    const name = path.at(-1);
    if (path.length === 1 && name !== 'ASAP_Annotations') throw new ImportError('unknown_format');
    if (name === 'Annotation') annotations.push({ attributes, line, points: [] });
    if (name === 'Group' && attributes.Name) groupColors.set(attributes.Name, attributes.Color ?? '');
    if (annotations.length > annotationLimits.layerAnnotations) {
      throw new ImportError('too_many_features', { limit: annotationLimits.layerAnnotations });
    }
    if (name !== 'Coordinate') return;
    if (++vertexCount > annotationLimits.layerVertices) {
      throw new ImportError('too_many_vertices', { limit: annotationLimits.layerVertices });
    }
    const points = annotations.at(-1)?.points;
    points?.push({
      order: readDecimal(attributes.Order) ?? points.length, // without `Order`: the order of the file
      position: [readDecimal(attributes.X), readDecimal(attributes.Y)],
    });
  });
  for (const annotation of annotations) {
    collector.beginFeature(annotation.line);
    addAnnotation(annotation, groupColors, collector);
  }
}

function addAnnotation(
  { attributes, points }: AsapAnnotation,
  groupColors: ReadonlyMap<string, string>,
  collector: Collector,
): void {
  const positions = points.toSorted((a, b) => a.order - b.order).map(({ position }) => position);
  const geometry = readGeometry(attributes.Type ?? 'Polygon', positions);
  if (!geometry) {
    collector.reject('unsupported_element', 'Type');
    return;
  }
  if (attributes.Type === 'Spline') collector.warn('spline_as_polygon');
  const group = attributes.PartOfGroup ?? 'None'; // ASAP writes `None` for an annotation without a group
  const annotationColor = readCssColor(attributes.Color);
  const className = group === 'None' ? '' : cleanLine(group, collector);
  const classColor = readCssColor(groupColors.get(group)) ?? annotationColor;
  if (className && !classColor) collector.warn('class_color_chosen');
  // The annotation gets a colour of its own only if it differs from that of its class. Compares strings, because colours are arrays.
  const differsFromClass = annotationColor && String(annotationColor) !== String(classColor ?? '');
  collector.add({
    id: undefined,
    geometry,
    properties: {
      objectType: 'annotation',
      ...(attributes.Name && { name: cleanLine(attributes.Name, collector) }),
      ...((differsFromClass || !className) && annotationColor && { color: annotationColor }),
      ...(className && {
        classification: { names: [className], color: classColor ?? chooseClassColor([className]) },
      }),
    },
  });
}

/** Returns a geometry for the collector to validate; null for an unknown type. */
function readGeometry(
  type: string,
  positions: readonly (readonly [number | null, number | null])[],
): unknown {
  switch (type) {
    case 'Dot':
      return { type: 'Point', coordinates: positions[0] };
    case 'PointSet':
      return { type: 'MultiPoint', coordinates: positions };
    case 'Measurement':
      return { type: 'LineString', coordinates: positions };
    case 'Polygon':
    case 'Rectangle':
    case 'Spline':
      return { type: 'Polygon', coordinates: [closeRing(positions)] };
    default:
      return null;
  }
}

/** Returns the ring with its closing position, which most XML files leave out. A closed ring has at least four positions. */
export function closeRing<Point extends readonly [number | null, number | null]>(
  points: readonly Point[],
): readonly Point[] {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last || (points.length > 3 && first[0] === last[0] && first[1] === last[1])) return points;
  return [...points, first];
}
