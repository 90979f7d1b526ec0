/** Writes GeoJSON for programs that do not know the extensions of QuPath. */
import { expandEllipse } from '../geometry/ellipse.ts';
import { roundGeometry } from '../geometry/translate.ts';
import { encodeMeasurements } from '../model/encode-feature.ts';
import type { AnnotationFeature, Color } from '../model/feature.ts';
import { type Geometry, isArea } from '../model/geometry.ts';
import type { Features } from './export-types.ts';

/** Yields GeoJSON (RFC 7946) as a flat list: classes are strings, colours are `stroke` (#rrggbb), ellipses polygons. */
export function* writeGeoJson(features: Features): Generator<string> {
  yield '{"type":"FeatureCollection","features":[';
  let separator = '';
  for (const feature of features) {
    yield separator + JSON.stringify(toPlainFeature(feature));
    separator = ',\n';
  }
  yield ']}\n';
}

function toPlainFeature({ id, geometry, properties }: AnnotationFeature): object {
  const { objectType, name, color, classification, description, measurements } = properties;
  const displayedColor = color ?? classification?.color;
  return {
    type: 'Feature',
    id,
    geometry: toPlainGeometry(geometry),
    properties: {
      objectType,
      ...(name !== undefined && { name }),
      ...(classification && { classification: classification.names.join(': ') }),
      ...(displayedColor && { stroke: toHex(displayedColor) }),
      ...(description && { description }),
      ...(measurements && { measurements: encodeMeasurements(measurements) }),
    },
  };
}

function toPlainGeometry(geometry: Geometry): object {
  const { type, coordinates } = roundGeometry(isArea(geometry) ? expandEllipse(geometry) : geometry);
  return { type, coordinates };
}

/** Returns a colour as `#rrggbb`, without its opacity. */
export function toHex(color: Color): string {
  const [red, green, blue] = color;
  return `#${[red, green, blue].map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
