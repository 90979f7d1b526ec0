/**
 * Turns stored annotations into the GeoJSON features that clients receive: the stored JSON, with revision, authors and times added
 * to its `properties`.
 */
import type { AnnotationRecord } from '@lamina/contract';
import type { AnnotationRow, ListedAnnotation } from '../store/annotations.ts';

type RecordedRow = Pick<ListedAnnotation, keyof AnnotationRecord>;

/** Returns the fields that the server adds to the properties of a stored feature. */
function addedFieldsOf({
  revision,
  created_by,
  created_at,
  updated_by,
  updated_at,
}: RecordedRow): AnnotationRecord {
  return { revision, created_by, created_at, updated_by, updated_at };
}

/**
 * Returns the JSON of a feature without parsing the stored JSON, which saves time in long lists. `properties` is the last member
 * of the stored JSON and is not empty, so the text ends with two braces, before which the fields are inserted.
 */
export function featureText(row: ListedAnnotation): string {
  const withoutBraces = row.feature.slice(0, -2);
  const addedMembers = JSON.stringify(addedFieldsOf(row)).slice(1, -1);
  return `${withoutBraces},${addedMembers}}}`;
}

/** Returns the JSON of a feature for a visitor of a share link: without people, times, descriptions and metadata. */
export function visitorFeatureText({ feature }: Pick<ListedAnnotation, 'feature'>): string {
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

/**
 * Returns the current state of an annotation, which a client shows after a conflict. A deleted or unknown annotation has no
 * geometry, and `properties.deleted` is true.
 */
export function currentFeatureOf(id: string, row: AnnotationRow | undefined): StoredFeature {
  if (row !== undefined && row.deleted_at === null) return featureOf(row);
  const addedFields = row === undefined ? { revision: null } : addedFieldsOf(row);
  return { type: 'Feature', id, geometry: null, properties: { deleted: true, ...addedFields } };
}

export function featureOf(row: AnnotationRow): StoredFeature {
  const feature = JSON.parse(row.feature) as StoredFeature;
  return { ...feature, properties: { ...feature.properties, ...addedFieldsOf(row) } };
}
