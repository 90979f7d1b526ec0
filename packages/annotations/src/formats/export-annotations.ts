import { translateGeometry } from '../geometry/translate.ts';
import type { AnnotationFeature } from '../model/feature.ts';
import { isArea, pathsOf, polygonsOf } from '../model/geometry.ts';
import type { ExportOptions, ExportResult, ExportWarningCode, Features } from './export-types.ts';
import { writeAperio } from './write-aperio.ts';
import { isAsapMeasurement, writeAsap } from './write-asap.ts';
import { writeCsv } from './write-csv.ts';
import { writeGeoJson } from './write-geojson.ts';
import { countLostParents, writeQuPath } from './write-qupath.ts';

/**
 * Writes annotations in the format of another program. `warnings` counts the annotations that lose something in this format.
 *
 * @param options `offset` is the position in the slide that becomes the origin of the file
 */
export function exportAnnotations(
  features: Features,
  { format, pixelSize, offset }: ExportOptions,
): ExportResult {
  const moved = offset ? features.map((feature) => translate(feature, -offset.x, -offset.y)) : features;
  switch (format) {
    case 'qupath': {
      const lostParents = countLostParents(features);
      return {
        chunks: writeQuPath(moved),
        mediaType: 'application/geo+json',
        extension: 'geojson',
        warnings: lostParents > 0 ? [{ code: 'hierarchy_flattened', count: lostParents }] : [],
      };
    }
    case 'geojson':
      return {
        chunks: writeGeoJson(moved),
        mediaType: 'application/geo+json',
        extension: 'geojson',
        warnings: countLosses(features, ['ellipses_as_polygons', 'hierarchy_flattened', 'details_left_out']),
      };
    case 'asap':
      return {
        chunks: writeAsap(moved),
        mediaType: 'application/xml',
        extension: 'xml',
        warnings: countLosses(features, [
          'holes_as_outlines',
          'lines_left_out',
          'measurements_left_out',
          'ellipses_as_polygons',
          'hierarchy_flattened',
          'descriptions_left_out',
          'details_left_out',
        ]),
      };
    case 'aperio':
      return {
        chunks: writeAperio(moved, pixelSize),
        mediaType: 'application/xml',
        extension: 'xml',
        warnings: countLosses(features, [
          'measurements_left_out',
          'hierarchy_flattened',
          'descriptions_left_out',
          'details_left_out',
        ]),
      };
    case 'csv':
      return {
        chunks: writeCsv(moved, pixelSize),
        mediaType: 'text/csv; charset=utf-8',
        extension: 'csv',
        warnings: [], // a table of measurements is not expected to contain the shapes
      };
  }
}

/** For each warning code, tests whether a feature contains the information that the format cannot store. */
const lossTests: Readonly<Record<ExportWarningCode, (feature: AnnotationFeature) => boolean>> = {
  holes_as_outlines: ({ geometry }) =>
    isArea(geometry) && polygonsOf(geometry).some((rings) => rings.length > 1),
  lines_left_out: ({ geometry }) =>
    (geometry.type === 'LineString' || geometry.type === 'MultiLineString') &&
    !isAsapMeasurement(geometry.type, pathsOf(geometry)[0] ?? []), // ASAP stores only lines of two positions
  measurements_left_out: ({ properties }) => properties.measurements !== undefined,
  ellipses_as_polygons: ({ geometry }) => geometry.type === 'Polygon' && geometry.isEllipse === true,
  hierarchy_flattened: ({ properties }) => properties.parentId !== undefined,
  descriptions_left_out: ({ properties }) => Boolean(properties.description),
  details_left_out: ({ geometry, nucleusGeometry, properties: { metadata, isLocked, isMissing } }) =>
    geometry.plane !== undefined ||
    nucleusGeometry !== undefined ||
    Object.keys(metadata ?? {}).length > 0 ||
    isLocked === true ||
    isMissing === true,
};

function countLosses(features: Features, codes: readonly ExportWarningCode[]): ExportResult['warnings'] {
  return codes
    .map((code) => ({ code, count: features.filter(lossTests[code]).length }))
    .filter(({ count }) => count > 0);
}

function translate(feature: AnnotationFeature, dx: number, dy: number): AnnotationFeature {
  const { geometry, nucleusGeometry } = feature;
  return {
    ...feature,
    geometry: translateGeometry(geometry, dx, dy),
    ...(nucleusGeometry && { nucleusGeometry: translateGeometry(nucleusGeometry, dx, dy) }),
  };
}
