/**
 * Reads JSON of the Digital Slide Archive (DSA): one annotation, which is a list of elements (shapes), or an array of annotations. The
 * `group` of an element becomes its class, and its `label` its name.
 *
 * Source: large_image, `girder_annotation/docs/annotations.rst`.
 */
import { createEllipse } from '../geometry/ellipse.ts';
import { mapPositions } from '../geometry/translate.ts';
import type { Color } from '../model/feature.ts';
import type { Geometry, PolygonGeometry, Position } from '../model/geometry.ts';
import { chooseClassColor } from './class-color.ts';
import { cleanLine, cleanText } from './clean-text.ts';
import type { Collector } from './collector.ts';
import { ImportError } from './import-types.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns whether a JSON value contains an annotation of the Digital Slide Archive. */
export function isDsa(value: unknown): boolean {
  return annotationsOf(value).length > 0;
}

/** Adds the elements of all annotations to the collector. @throws ImportError when there is no annotation */
export function readDsa(value: unknown, collector: Collector): void {
  const annotations = annotationsOf(value);
  if (annotations.length === 0) throw new ImportError('unknown_format');
  for (const { elements } of annotations) {
    for (const element of elements) {
      collector.beginFeature();
      if (isObject(element)) readElement(element, collector);
      else collector.reject('not_an_object');
    }
  }
}

/** Returns the annotations of a file; the server of the DSA wraps each one in `{annotation: …}`. */
function annotationsOf(value: unknown): readonly { readonly elements: readonly unknown[] }[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.flatMap((item) => {
    const annotation = isObject(item) && isObject(item.annotation) ? item.annotation : item;
    return isObject(annotation) && Array.isArray(annotation.elements)
      ? [{ elements: annotation.elements }]
      : [];
  });
}

function readElement(element: Json, collector: Collector): void {
  const geometry = readGeometry(element);
  if (!geometry) {
    collector.reject('unsupported_element', 'type');
    return;
  }
  const label = isObject(element.label) ? element.label.value : undefined;
  const group = typeof element.group === 'string' ? cleanLine(element.group, collector) : '';
  const lineColor = readCssColor(element.lineColor);
  if (group && !lineColor) collector.warn('class_color_chosen');
  collector.add({
    id: undefined,
    geometry,
    properties: {
      objectType: 'annotation',
      ...(typeof label === 'string' && { name: cleanLine(label, collector) }),
      ...(lineColor && !group && { color: lineColor }),
      ...(group && { classification: { names: [group], color: lineColor ?? chooseClassColor([group]) } }),
      ...(typeof element.description === 'string' && {
        description: cleanText(element.description, collector),
      }),
    },
  });
}

/** Returns the geometry of an element, for the collector to validate; null for an element that is not a shape. */
function readGeometry(element: Json): unknown {
  switch (element.type) {
    case 'point':
      return { type: 'Point', coordinates: element.center };
    case 'arrow':
      return { type: 'LineString', coordinates: element.points };
    case 'polyline':
      return readPolyline(element);
    case 'rectangle':
    case 'rectanglegrid': // without its grid lines
      return readBox(element, rectangleOf);
    case 'ellipse':
      return readBox(element, ellipseOf);
    case 'circle':
      return readBox({ ...element, width: twice(element.radius), height: twice(element.radius) }, ellipseOf);
    default:
      return null;
  }
}

function readPolyline({ points, closed, holes }: Json): unknown {
  if (closed !== true) return { type: 'LineString', coordinates: points };
  const holeRings = Array.isArray(holes) ? (holes as readonly unknown[]) : [];
  const rings = [points, ...holeRings];
  return { type: 'Polygon', coordinates: rings.map(closeRing) };
}

/** Returns the ring with its closing position. Returns a value that is not a list unchanged; the collector rejects it. */
function closeRing(points: unknown): unknown {
  if (!Array.isArray(points) || points.length === 0) return points;
  const first: unknown = points[0];
  const last: unknown = points.at(-1);
  const isClosed =
    Array.isArray(first) && Array.isArray(last) && first[0] === last[0] && first[1] === last[1];
  return isClosed ? points : [...(points as readonly unknown[]), first];
}

/**
 * Reads an element with centre, width, height and rotation in radians.
 *
 * @param shapeOf creates the shape around the origin
 * @returns a polygon; when a member has the wrong type, a geometry that the collector rejects
 */
function readBox(element: Json, shapeOf: (width: number, height: number) => PolygonGeometry): unknown {
  const { center, width, height, rotation = 0 } = element;
  /** A ring of one position is too short, so the collector rejects the element. */
  const invalid = { type: 'Polygon', coordinates: [[center]] };
  if (!Array.isArray(center) || typeof width !== 'number' || typeof height !== 'number') return invalid;
  const [x, y] = center as readonly unknown[];
  if (typeof x !== 'number' || typeof y !== 'number' || typeof rotation !== 'number') return invalid;
  const cosine = Math.cos(rotation);
  const sine = Math.sin(rotation);
  const shape = shapeOf(Math.abs(width), Math.abs(height));
  const placed: Geometry = mapPositions(
    shape,
    ([dx, dy]): Position => [x + dx * cosine - dy * sine, y + dx * sine + dy * cosine],
  );
  if (rotation === 0 || placed.type !== 'Polygon') return placed; // the second comparison only narrows the type
  // Without `isEllipse`, because a rotated ellipse does not fill its axis-parallel bounding box.
  return { type: 'Polygon', coordinates: placed.coordinates };
}

function rectangleOf(width: number, height: number): PolygonGeometry {
  const halfWidth = width / 2;
  const halfHeight = height / 2;
  return {
    type: 'Polygon',
    coordinates: [
      [
        [-halfWidth, -halfHeight],
        [halfWidth, -halfHeight],
        [halfWidth, halfHeight],
        [-halfWidth, halfHeight],
        [-halfWidth, -halfHeight],
      ],
    ],
  };
}

function ellipseOf(width: number, height: number): PolygonGeometry {
  return createEllipse({ minX: -width / 2, minY: -height / 2, maxX: width / 2, maxY: height / 2 });
}

/** Reads `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgb()` and `rgba()`, without the opacity; null for other colours. */
export function readCssColor(value: unknown): Color | null {
  if (typeof value !== 'string') return null;
  const shortHex = /^#([\da-f])([\da-f])([\da-f])$/i.exec(value);
  if (shortHex) return readChannels(shortHex, (digit) => Number.parseInt(digit + digit, 16));
  const longHex = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})(?:[\da-f]{2})?$/i.exec(value);
  if (longHex) return readChannels(longHex, (digits) => Number.parseInt(digits, 16));
  const decimal = /^rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*(?:,[^)]*)?\)$/i.exec(value);
  return decimal ? readChannels(decimal, (digits) => Math.min(255, Number(digits))) : null;
}

/** Returns the colour whose three channels are the groups of a match. */
function readChannels(
  [, red = '', green = '', blue = '']: RegExpExecArray,
  parse: (text: string) => number,
): Color {
  return [parse(red), parse(green), parse(blue)];
}

/** Doubles a number, such as the radius of a circle. Returns other values unchanged; the collector rejects them. */
function twice(value: unknown): unknown {
  return typeof value === 'number' ? value * 2 : value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
