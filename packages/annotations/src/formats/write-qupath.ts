/** Writes GeoJSON for QuPath 0.4 and later, which requires closed rings and a name and a colour for every class. */
import { roundGeometry } from '../geometry/translate.ts';
import { encodeClassification, encodeMeasurements } from '../model/encode-feature.ts';
import type { AnnotationFeature } from '../model/feature.ts';
import type { Features } from './export-types.ts';
import { descriptionKey } from './read-qupath.ts';

/**
 * Maximum nesting of annotations in a file; deeper annotations become roots. With 83 levels, the import accepts the file (`jsonDepth` in
 * `import-limits.ts` is 256): a feature at level n has the JSON depth 3 × n, and a MultiPolygon in it adds 5.
 */
const maximumLevels = 83;

/** Yields a feature collection; children are nested in their parents. */
export function* writeQuPath(features: Features): Generator<string> {
  const { roots, childrenOf } = buildHierarchy(features);
  yield '{"type":"FeatureCollection","features":[';
  let separator = '';
  for (const root of roots) {
    yield separator + JSON.stringify(toQuPath(root, childrenOf));
    separator = ',\n';
  }
  yield ']}\n';
}

/** Counts the annotations whose parent is exported but which become roots: their nesting is too deep, or their ancestors form a cycle. */
export function countLostParents(features: Features): number {
  const byId = new Map(features.map((feature) => [feature.id, feature]));
  return features.filter(
    (feature) => byId.has(feature.properties.parentId ?? '') && !canBeNested(feature, byId),
  ).length;
}

interface Hierarchy {
  readonly roots: Features;
  /** Children by the id of their parent; the roots have the key undefined. */
  readonly childrenOf: ReadonlyMap<string | undefined, Features>;
}

/** An annotation is a root when it has no parent, its parent is missing, its ancestors form a cycle, or its nesting is too deep. */
function buildHierarchy(features: Features): Hierarchy {
  const byId = new Map(features.map((feature) => [feature.id, feature]));
  const childrenOf = Map.groupBy(features, (feature) =>
    canBeNested(feature, byId) ? feature.properties.parentId : undefined,
  );
  return { roots: childrenOf.get(undefined) ?? [], childrenOf };
}

/** Returns whether the annotation can be written inside its parent; also true when it names no parent. */
function canBeNested(feature: AnnotationFeature, byId: ReadonlyMap<string, AnnotationFeature>): boolean {
  let parentId = feature.properties.parentId;
  for (let level = 0; level < maximumLevels; level++) {
    if (parentId === undefined) return true;
    const parent = byId.get(parentId);
    // An annotation whose parent is missing is a root (level 0); one whose more distant ancestor is missing stays in its parent.
    if (!parent) return level > 0;
    parentId = parent.properties.parentId;
  }
  return false;
}

function toQuPath(feature: AnnotationFeature, childrenOf: Hierarchy['childrenOf']): object {
  const { id, geometry, nucleusGeometry, properties } = feature;
  const { objectType, name, color, classification, measurements, description, isLocked, isMissing } =
    properties;
  const children = childrenOf.get(id) ?? [];
  const metadata = { ...properties.metadata, ...(description && { [descriptionKey]: description }) };
  return {
    type: 'Feature',
    id,
    geometry: roundGeometry(geometry),
    ...(nucleusGeometry && { nucleusGeometry: roundGeometry(nucleusGeometry) }),
    properties: {
      objectType,
      ...(name !== undefined && { name }),
      ...(color && { color: color.slice(0, 3) }), // without opacity, because QuPath ignores a colour of four values here
      ...(classification && { classification: encodeClassification(classification) }),
      ...(isLocked && { isLocked }),
      ...(objectType === 'tmaCore' && { isMissing: isMissing === true }),
      ...(measurements && { measurements: encodeMeasurements(measurements) }),
      ...(children.length > 0 && { childObjects: children.map((child) => toQuPath(child, childrenOf)) }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    },
  };
}
