/**
 * Reads XML of Aperio ImageScope: `Annotations/Annotation/Regions/Region/Vertices/Vertex`. The annotation, a layer in
 * ImageScope, is the class; `LineColor` is an integer with red in its lowest byte. HALO writes `V` instead of `Vertex`.
 */
import { createEllipse } from '../geometry/ellipse.ts';
import { boundsOfPositions, ringContains } from '../geometry/ring.ts';
import type { Color } from '../model/feature.ts';
import type { Position } from '../model/geometry.ts';
import { annotationLimits } from '../model/limits.ts';
import { chooseClassColor } from './class-color.ts';
import { cleanLine } from './clean-text.ts';
import type { Collector } from './collector.ts';
import { ImportError } from './import-types.ts';
import { closeRing } from './read-asap.ts';
import { readDecimal, readXmlEvents } from './read-xml.ts';

interface Region {
  readonly attributes: Readonly<Record<string, string>>;
  readonly line: number;
  readonly points: (readonly [number | null, number | null])[];
}

interface Layer {
  readonly name: string;
  readonly color: Color | null;
  readonly regions: Region[];
}

/** @throws ImportError */
export function readAperio(text: string, collector: Collector): void {
  const layers: Layer[] = [];
  let vertices = 0;
  let regions = 0;
  readXmlEvents(text, {
    open: (path, attributes, line) => {
      const name = path.at(-1);
      if (path.length === 1 && name !== 'Annotations') throw new ImportError('unknown_format');
      if (name === 'Annotation') {
        layers.push({ name: attributes.Name ?? '', color: readColor(attributes.LineColor), regions: [] });
      } else if (name === 'Region') {
        if (++regions > annotationLimits.layerAnnotations) {
          throw new ImportError('too_many_features', { limit: annotationLimits.layerAnnotations });
        }
        layers.at(-1)?.regions.push({ attributes, line, points: [] });
      } else if (name === 'Vertex' || name === 'V') {
        if (++vertices > annotationLimits.layerVertices) {
          throw new ImportError('too_many_vertices', { limit: annotationLimits.layerVertices });
        }
        layers
          .at(-1)
          ?.regions.at(-1)
          ?.points.push([readDecimal(attributes.X), readDecimal(attributes.Y)]);
      }
    },
    close: () => undefined,
  });
  for (const layer of layers) addLayer(layer, collector);
}

function addLayer(layer: Layer, collector: Collector): void {
  const isHole = ({ attributes }: Region) => attributes.NegativeROA === '1';
  const outlines = layer.regions.filter((region) => !isHole(region));
  const holesOf = new Map<Region, Region[]>();
  for (const hole of layer.regions.filter(isHole)) {
    const outline = outlineAround(outlines, hole);
    if (outline) holesOf.set(outline, [...(holesOf.get(outline) ?? []), hole]);
    else {
      collector.begin(hole.line);
      collector.reject('unsupported_element', 'NegativeROA');
    }
  }
  for (const region of outlines) {
    collector.begin(region.line);
    addRegion(region, holesOf.get(region) ?? [], layer, collector);
  }
}

/** A hole belongs to the smallest outline around its first vertex. */
function outlineAround(outlines: readonly Region[], { points }: Region): Region | null {
  const [first] = points;
  if (!isPosition(first)) return null;
  const around = outlines.filter((outline) => {
    const ring = outline.points.filter(isPosition);
    return ring.length >= 3 && outline.attributes.Type !== '2' && ringContains(ring, first);
  });
  const sizeOf = (region: Region) => {
    const { minX, minY, maxX, maxY } = boundsOfPositions(region.points.filter(isPosition));
    return (maxX - minX) * (maxY - minY);
  };
  return around.reduce<Region | null>(
    (best, one) => (best && sizeOf(best) <= sizeOf(one) ? best : one),
    null,
  );
}

function addRegion(region: Region, holes: readonly Region[], layer: Layer, collector: Collector): void {
  const { attributes } = region;
  const className = cleanLine(layer.name, collector).trim();
  if (className && !layer.color) collector.warn('class_color_chosen');
  const text = cleanLine(attributes.Text ?? '', collector);
  collector.add({
    id: undefined,
    geometry: readGeometry(region, holes),
    properties: {
      objectType: 'annotation',
      ...(text && { name: text }),
      ...(className
        ? { classification: { names: [className], color: layer.color ?? chooseClassColor([className]) } }
        : layer.color && { color: layer.color }),
    },
  });
}

/** Types: 0 freehand, 1 rectangle, 2 ellipse, 3 arrow, 4 ruler. Two vertices of a rectangle or an ellipse are its corners. */
function readGeometry({ attributes, points }: Region, holes: readonly Region[]): unknown {
  const positions = points.filter(isPosition);
  // The collector names the first coordinate that is no number.
  if (positions.length < points.length) return { type: 'MultiPoint', coordinates: points };
  if (positions.length === 1) return { type: 'Point', coordinates: positions[0] };
  if (attributes.Type === '3' || attributes.Type === '4') return { type: 'LineString', coordinates: points };
  if (attributes.Type === '2' && positions.length > 0) return createEllipse(boundsOfPositions(positions));
  if (attributes.Type === '1' && positions.length === 2) {
    const { minX, minY, maxX, maxY } = boundsOfPositions(positions);
    return {
      type: 'Polygon',
      coordinates: [
        [
          [minX, minY],
          [maxX, minY],
          [maxX, maxY],
          [minX, maxY],
          [minX, minY],
        ],
      ],
    };
  }
  return { type: 'Polygon', coordinates: [points, ...holes.map((hole) => hole.points)].map(closeRing) };
}

function readColor(text: string | undefined): Color | null {
  const packed = readDecimal(text);
  return packed === null || !Number.isInteger(packed)
    ? null
    : [packed & 255, (packed >> 8) & 255, (packed >> 16) & 255];
}

function isPosition(point: readonly [number | null, number | null] | undefined): point is Position {
  return point !== undefined && point[0] !== null && point[1] !== null;
}
