/** Writes XML of Aperio ImageScope: one layer per class and colour; every outline, hole, line and point is a region. */
import { expandEllipse } from '../geometry/ellipse.ts';
import type { PixelSize } from '../geometry/measure.ts';
import { boundsOf } from '../geometry/measure.ts';
import { roundCoordinate } from '../geometry/translate.ts';
import type { AnnotationFeature, Color } from '../model/feature.ts';
import { isArea, type Position, pathsOf, polygonsOf } from '../model/geometry.ts';
import type { Features } from './export-types.ts';
import { openTag } from './write-xml.ts';

/** Values of the attribute `Type` of a region. A point is a freehand outline of one position. */
const regionTypes = { freehand: 0, ellipse: 2, ruler: 4 } as const;

interface Region {
  readonly type: keyof typeof regionTypes;
  readonly isHole: boolean;
  /** For an ellipse: two opposite corners of its bounding box. For an outline or a hole: the ring without its closing position. */
  readonly positions: readonly Position[];
}

/** Colour of annotations without a class and without a colour of their own. */
const unclassifiedColor: Color = [0, 255, 0];

/** Yields the parts of a document. */
export function* writeAperio(features: Features, pixelSize: PixelSize | null): Generator<string> {
  // The key of a layer is its class name and its colour as JSON.
  const layers = new Map<
    string,
    { readonly name: string; readonly color: Color; readonly features: AnnotationFeature[] }
  >();
  for (const feature of features) {
    const { classification, color } = feature.properties;
    const name = classification?.names.join(': ') ?? '';
    const layerColor = classification?.color ?? color ?? unclassifiedColor;
    const key = JSON.stringify([name, layerColor]);
    const layer = layers.get(key) ?? { name, color: layerColor, features: [] };
    layer.features.push(feature);
    layers.set(key, layer);
  }
  yield `<?xml version="1.0" encoding="UTF-8"?>\n${openTag('Annotations', pixelSize ? { MicronsPerPixel: pixelSize.x } : {})}\n`;
  let layerId = 0;
  for (const { name, color, features: layerFeatures } of layers.values()) {
    const [red, green, blue] = color;
    // Red is in the lowest byte. The constant is named like the attribute, for the shorthand below. `Type` 4 is the
    // value that ImageScope writes for layers of drawn regions.
    const LineColor = red + green * 256 + blue * 65_536;
    layerId++;
    yield `${openTag('Annotation', { Id: layerId, Name: name, LineColor, Visible: 1, Type: 4 })}\n<Regions>\n`;
    let regionId = 0;
    for (const feature of layerFeatures) {
      for (const region of regionsOf(feature)) {
        regionId++;
        yield* writeRegion(region, regionId, feature.properties.name ?? '');
      }
    }
    yield '</Regions>\n</Annotation>\n';
  }
  yield '</Annotations>\n';
}

function* writeRegion({ type, isHole, positions }: Region, id: number, text: string): Generator<string> {
  yield `${openTag('Region', { Id: id, Type: regionTypes[type], Text: text, NegativeROA: isHole ? 1 : 0 })}\n<Vertices>\n`;
  yield positions
    .map(([x, y]) => openTag('Vertex', { X: roundCoordinate(x), Y: roundCoordinate(y), Z: 0 }, '/>'))
    .join('\n');
  yield '\n</Vertices>\n</Region>\n';
}

/** Returns the regions of an annotation: one for each outline, hole, line and point. */
function regionsOf({ geometry }: AnnotationFeature): readonly Region[] {
  if (geometry.type === 'Polygon' && geometry.isEllipse) {
    const { minX, minY, maxX, maxY } = boundsOf(geometry);
    return [
      {
        type: 'ellipse',
        isHole: false,
        positions: [
          [minX, minY],
          [maxX, maxY],
        ],
      },
    ];
  }
  if (isArea(geometry)) {
    return polygonsOf(expandEllipse(geometry)).flatMap((rings) =>
      rings.map(
        (ring, index): Region => ({ type: 'freehand', isHole: index > 0, positions: ring.slice(0, -1) }),
      ),
    );
  }
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint') {
    return pathsOf(geometry)
      .flat()
      .map((position): Region => ({ type: 'freehand', isHole: false, positions: [position] }));
  }
  return pathsOf(geometry).map((positions): Region => ({ type: 'ruler', isHole: false, positions }));
}
