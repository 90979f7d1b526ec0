/** Features on the wire: the stored JSON with the fields of the server in its properties. */
import type { AnnotationRecord } from '@lamina/contract';
import type { AnnotationRow, ListedAnnotation } from '../store/annotations.ts';

type RecordedRow = Pick<ListedAnnotation, keyof AnnotationRecord>;

function recordOf({
  revision,
  created_by,
  created_at,
  updated_by,
  updated_at,
}: RecordedRow): AnnotationRecord {
  return { revision, created_by, created_at, updated_by, updated_at };
}

/** Returns the JSON of a feature without parsing the stored one, which ends with the braces of its properties. */
export function featureText(row: ListedAnnotation): string {
  return `${row.feature.slice(0, -2)},${JSON.stringify(recordOf(row)).slice(1)}}`;
}

/** Returns the JSON of a feature for a visitor: how it is drawn, without people, dates, descriptions and metadata. */
export function shownFeatureText({ feature }: Pick<ListedAnnotation, 'feature'>): string {
  const { type, id, geometry, properties } = JSON.parse(feature) as StoredFeature;
  const { objectType, name, color, classification, isLocked } = properties;
  return JSON.stringify({
    type,
    id,
    geometry,
    properties: { objectType, name, color, classification, isLocked },
  });
}

export interface StoredFeature {
  readonly type: 'Feature';
  readonly id: string;
  readonly geometry: object | null;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Returns an annotation as it is now; a deleted or unknown one without geometry, as `properties.deleted` says. */
export function featureAsItIs(id: string, row: AnnotationRow | undefined): StoredFeature {
  if (row !== undefined && row.deleted_at === null) return featureOf(row);
  const record = row === undefined ? { revision: null } : recordOf(row);
  return { type: 'Feature', id, geometry: null, properties: { deleted: true, ...record } };
}

export function featureOf(row: AnnotationRow): StoredFeature {
  const feature = JSON.parse(row.feature) as StoredFeature;
  return { ...feature, properties: { ...feature.properties, ...recordOf(row) } };
}
