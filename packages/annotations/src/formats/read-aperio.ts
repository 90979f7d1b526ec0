/**
 * Reads XML of Aperio ImageScope: `Annotations/Annotation/Regions/Region/Vertices/Vertex`. An `Annotation` element is a
 * layer in ImageScope; its `Name` becomes the class of its regions. Each region becomes one annotation, whose name is the
 * `Text` of the region. `LineColor` is an integer with red in its lowest byte. A region with `NegativeROA="1"` is a hole. The
 * program HALO writes `V` instead of `Vertex`, and words instead of digits as the `Type` of a region.
 */
import { containsHole } from '../geometry/assemble.ts';
import { createEllipse } from '../geometry/ellipse.ts';
import { type Bounds, boundsOfPositions, boundsTouch } from '../geometry/ring.ts';
import type { Color } from '../model/feature.ts';
import type { Position, Ring } from '../model/geometry.ts';
import { annotationLimits } from '../model/limits.ts';
import { chooseClassColor } from './class-color.ts';
import { cleanLine } from './clean-text.ts';
import type { Collector } from './collector.ts';
import { importLimits } from './import-limits.ts';
import { ImportError } from './import-types.ts';
import { closeRing } from './read-asap.ts';
import { readDecimal, readXmlElements } from './read-xml.ts';

interface Region {
  readonly attributes: Readonly<Record<string, string>>;
  readonly line: number;
  /** x and y of each vertex; null where the attribute is not a number. */
  readonly points: (readonly [number | null, number | null])[];
}

/** Shapes by the attribute `Type` of a region. Regions with other values, usually "0" or "Polygon", are freehand outlines. */
const shapesByType: ReadonlyMap<string | undefined, 'rectangle' | 'ellipse' | 'line'> = new Map([
  ['1', 'rectangle'],
  ['Rectangle', 'rectangle'],
  ['2', 'ellipse'],
  ['Ellipse', 'ellipse'],
  ['3', 'line'], // an arrow
  ['4', 'line'], // a ruler
  ['Ruler', 'line'],
]);

interface Layer {
  readonly name: string;
  /** Null when the file has no valid colour. */
  readonly color: Color | null;
  readonly regions: Region[];
}

/** Adds the regions of a document to the collector. @throws ImportError */
export function readAperio(text: string, collector: Collector): void {
  const layers: Layer[] = [];
  let vertexCount = 0;
  let regionCount = 0;
  readXmlElements(text, (path, attributes, line) => {
    const name = path.at(-1);
    if (path.length === 1 && name !== 'Annotations') throw new ImportError('unknown_format');
    if (name === 'Annotation') {
      layers.push({ name: attributes.Name ?? '', color: readColor(attributes.LineColor), regions: [] });
    } else if (name === 'Region') {
      if (++regionCount > annotationLimits.layerAnnotations) {
        throw new ImportError('too_many_features', { limit: annotationLimits.layerAnnotations });
      }
      layers.at(-1)?.regions.push({ attributes, line, points: [] });
    } else if (name === 'Vertex' || name === 'V') {
      if (++vertexCount > annotationLimits.layerVertices) {
        throw new ImportError('too_many_vertices', { limit: annotationLimits.layerVertices });
      }
      layers
        .at(-1)
        ?.regions.at(-1)
        ?.points.push([readDecimal(attributes.X), readDecimal(attributes.Y)]);
    }
  });
  let comparisons = 0; // in all layers
  const countComparisons = (number: number) => {
    comparisons += number;
    if (comparisons > importLimits.holeComparisons)
      throw new ImportError('too_many_values', { limit: importLimits.holeComparisons });
  };
  for (const layer of layers) addLayer(layer, collector, countComparisons);
}

/** An outline that may have holes. */
interface Outline {
  readonly ring: Ring;
  readonly bounds: Bounds;
  readonly holes: Region[];
}

/** @throws ImportError, also from `countComparisons`, which adds a number to the comparisons of the whole file */
function addLayer(layer: Layer, collector: Collector, countComparisons: (number: number) => void): void {
  const isHole = ({ attributes }: Region) => attributes.NegativeROA === '1';
  const regions = layer.regions.filter((region) => !isHole(region));
  const outlines = new Map(regions.flatMap((region) => outlineEntries(region)));
  const ascendingBySize = [...outlines.values()].sort((a, b) => boxArea(a.bounds) - boxArea(b.bounds));
  for (const hole of layer.regions.filter(isHole)) {
    const outline = findOutlineAround(ascendingBySize, hole, countComparisons);
    if (outline) outline.holes.push(hole);
    else {
      collector.beginFeature(hole.line);
      collector.reject('unsupported_element', 'NegativeROA');
    }
  }
  for (const region of regions) {
    collector.beginFeature(region.line);
    addRegion(region, outlines.get(region)?.holes ?? [], layer, collector);
  }
}

/** Returns a list of one pair, the region and its outline; empty for lines, ellipses (vertices are corners) and below three vertices. */
function outlineEntries(region: Region): readonly (readonly [Region, Outline])[] {
  const positions = region.points.filter(isPosition);
  const shape = shapesByType.get(region.attributes.Type);
  if (positions.length < 3 || shape === 'ellipse' || shape === 'line') return [];
  return [[region, { ring: closeRing(positions), bounds: boundsOfPositions(positions), holes: [] }]];
}

function boxArea({ minX, minY, maxX, maxY }: Bounds): number {
  return (maxX - minX) * (maxY - minY);
}

/** The number of edges of a hole that `containsHole` usually compares with all edges of an outline. */
const testedHoleEdges = 3;
/** Minimum number of edges that is counted for an outline: a test of a smaller outline does not take less time. */
const minCountedEdges = 20;

/** Returns the outline around a hole; null when there is none. Of several outlines, it is the one with the smallest bounding box. */
function findOutlineAround(
  ascendingBySize: readonly Outline[],
  { points }: Region,
  countComparisons: (number: number) => void,
): Outline | null {
  const positions = points.filter(isPosition);
  if (positions.length === 0) return null;
  const [hole, holeBounds] = [closeRing(positions), boundsOfPositions(positions)];
  countComparisons(ascendingBySize.length);
  const outline = ascendingBySize.find(({ ring, bounds }) => {
    if (!boundsTouch(bounds, holeBounds)) return false;
    countComparisons(Math.max(ring.length, minCountedEdges) * testedHoleEdges);
    return containsHole(ring, hole);
  });
  return outline ?? null;
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

/** Returns a geometry for the collector to validate. Two vertices of a rectangle or an ellipse are opposite corners of its box. */
function readGeometry({ attributes, points }: Region, holes: readonly Region[]): unknown {
  const positions = points.filter(isPosition);
  // The collector rejects this geometry and names the first position with a coordinate that is not a number.
  if (positions.length < points.length) return { type: 'MultiPoint', coordinates: points };
  if (positions.length === 1) return { type: 'Point', coordinates: positions[0] };
  const shape = shapesByType.get(attributes.Type);
  if (shape === 'line') return { type: 'LineString', coordinates: points };
  if (shape === 'ellipse' && positions.length > 0) return createEllipse(boundsOfPositions(positions));
  if (shape === 'rectangle' && positions.length === 2) {
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

/** Unpacks a colour whose lowest byte is red; null when the text is not an integer. */
function readColor(text: string | undefined): Color | null {
  const packed = readDecimal(text);
  return packed === null || !Number.isInteger(packed)
    ? null
    : [packed & 255, (packed >> 8) & 255, (packed >> 16) & 255];
}

function isPosition(point: readonly [number | null, number | null] | undefined): point is Position {
  return point !== undefined && point[0] !== null && point[1] !== null;
}
