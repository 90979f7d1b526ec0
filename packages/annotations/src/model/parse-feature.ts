/** Validates a feature that a client sends or that an imported file contains. */
import type { AnnotationFeature, Extent } from './feature.ts';
import { FeatureError, type FeatureProblem } from './feature-error.ts';
import { asObject, createBudget, parseGeometry } from './parse-geometry.ts';
import { parseProperties } from './parse-properties.ts';
import { isUuid } from './uuid.ts';

export type ParsedFeature =
  | { readonly ok: true; readonly feature: AnnotationFeature }
  | { readonly ok: false; readonly error: FeatureProblem };

export interface ParseOptions {
  /** The size of the slide limits the coordinates; when it is null (unknown), `annotationLimits.coordinate` limits them. */
  readonly extent: Extent | null;
}

/**
 * Validates a feature and copies it; the result shares no object with `value`. Returns the first problem found. Self-intersecting
 * rings are accepted; `findSelfIntersections` finds them.
 */
export function parseFeature(value: unknown, { extent }: ParseOptions): ParsedFeature {
  try {
    const { type, id, geometry, nucleusGeometry, properties } = asObject(value, '');
    if (type !== 'Feature') throw new FeatureError('unknown_value', 'type');
    if (typeof id !== 'string' || !isUuid(id)) throw new FeatureError('id_not_uuid', 'id');
    if (geometry === undefined || geometry === null) throw new FeatureError('missing', 'geometry');
    const budget = createBudget(extent);
    const feature: AnnotationFeature = {
      type: 'Feature',
      id: id.toLowerCase(),
      geometry: parseGeometry(geometry, 'geometry', budget),
      ...(nucleusGeometry !== undefined &&
        nucleusGeometry !== null && {
          nucleusGeometry: parseGeometry(nucleusGeometry, 'nucleusGeometry', budget),
        }),
      properties: parseProperties(properties, id.toLowerCase()),
    };
    return { ok: true, feature };
  } catch (error) {
    if (!(error instanceof FeatureError)) throw error;
    const { code, path, params } = error;
    return { ok: false, error: { code, path, params } };
  }
}
