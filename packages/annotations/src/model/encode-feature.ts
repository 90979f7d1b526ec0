/** The JSON of a feature in the API and the database: as QuPath 0.4 and later write it, plus `description` and `parentId`. */
import type { AnnotationFeature, AnnotationProperties, Classification, Color } from './feature.ts';
import type { Geometry } from './geometry.ts';
import { encodeMeasurement } from './measurement-json.ts';

export type ClassificationJson =
  | { readonly name: string; readonly color: Color }
  | { readonly names: readonly string[]; readonly color: Color };

export interface FeatureJson {
  readonly type: 'Feature';
  readonly id: string;
  readonly geometry: Geometry;
  readonly nucleusGeometry?: Geometry;
  readonly properties: Omit<AnnotationProperties, 'classification' | 'measurements'> & {
    readonly classification?: ClassificationJson;
    readonly measurements?: Readonly<Record<string, number | string>>;
  };
}

/** Returns a value that `JSON.stringify` writes without loss and from which `parseFeature` restores an equal feature. */
export function encodeFeature(feature: AnnotationFeature): FeatureJson {
  const { classification, measurements, ...properties } = feature.properties;
  return {
    ...feature,
    properties: {
      ...properties,
      ...(classification && { classification: encodeClassification(classification) }),
      ...(measurements && { measurements: encodeMeasurements(measurements) }),
    },
  };
}

/** Returns `{name, color}` for a class with one name, `{names, color}` for a derived class. */
export function encodeClassification({ names, color }: Classification): ClassificationJson {
  const [name = ''] = names;
  return names.length === 1 ? { name, color } : { names, color };
}

/** Returns the measurements with NaN and infinities as strings, because JSON cannot represent them as numbers. */
export function encodeMeasurements(
  measurements: Readonly<Record<string, number>>,
): Record<string, number | string> {
  return Object.fromEntries(
    Object.entries(measurements).map(([name, value]) => [name, encodeMeasurement(value)]),
  );
}
