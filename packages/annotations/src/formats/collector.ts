/**
 * Collects the features that a reader of a file format finds: validates and counts them, and records warnings and rejections for
 * the result of the import. All readers (`read-*.ts`) pass their features to it.
 */
import { translateGeometry } from '../geometry/translate.ts';
import { type AnnotationFeature, countFeatureVertices, type ObjectType } from '../model/feature.ts';
import { annotationLimits } from '../model/limits.ts';
import { type ParsedFeature, parseFeature } from '../model/parse-feature.ts';
import { createUuid, isUuid } from '../model/uuid.ts';
import { importLimits } from './import-limits.ts';
import {
  ImportError,
  type ImportFormat,
  type ImportOptions,
  type ImportResult,
  type ImportWarningCode,
  type Rejection,
  type RejectionCode,
} from './import-types.ts';

/** A feature as a reader finds it in a file, not validated. A missing `id` (undefined) or one that is not a UUID is replaced. */
export interface RawFeature {
  readonly id: unknown;
  readonly geometry: unknown;
  readonly nucleusGeometry?: unknown; // of a cell
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface Collector {
  /**
   * Begins the next feature of the file; readers call it once per feature, before its warnings and rejections.
   *
   * @param line the line of the file, from 1; absent for JSON
   */
  readonly beginFeature: (line?: number) => void;
  /** Adds a warning to the current feature. */
  readonly warn: (code: ImportWarningCode) => void;
  /** Rejects the current feature. @param path the invalid JSON member or XML attribute; '' (default) for the feature itself */
  readonly reject: (code: RejectionCode, path?: string, params?: Rejection['params']) => void;
  /** Validates and adds a feature. @returns its id; null when it is rejected */
  readonly add: (raw: RawFeature) => string | null;
  /** Returns the result of the import, after the last feature. */
  readonly result: (format: ImportFormat) => ImportResult;
}

/** Creates the collector of one import. @throws ImportError from `beginFeature` and `add` when the file exceeds the limits of a layer */
export function createCollector({ extent, offset }: ImportOptions): Collector {
  const features: AnnotationFeature[] = [];
  const ids = new Set<string>();
  /** For each warning, the numbers of the features that have it. */
  const warnings = new Map<ImportWarningCode, Set<number>>();
  const rejected: Rejection[] = [];
  let rejectedCount = 0;
  /** Number of the current feature in the file, from 1. */
  let featureNumber = 0;
  /** Line of the current feature in the file; null for JSON. */
  let line: number | null = null;
  let vertices = 0;
  const shift = offset && (offset.x !== 0 || offset.y !== 0) ? offset : null;

  /** Validates a feature, moves it by the offset, and validates it again, because the extent limits the moved coordinates. */
  function moveAndValidate(feature: unknown): ParsedFeature {
    if (shift === null) return parseFeature(feature, { extent });
    const parsed = parseFeature(feature, { extent: null });
    return parsed.ok ? parseFeature(translateFeature(parsed.feature, shift), { extent }) : parsed;
  }

  const reject: Collector['reject'] = (code, path = '', params = {}) => {
    rejectedCount++;
    if (rejected.length < importLimits.rejections)
      rejected.push({ feature: featureNumber, line, code, path, params });
  };
  const warn: Collector['warn'] = (code) => {
    const featuresWithWarning = warnings.get(code) ?? new Set();
    warnings.set(code, featuresWithWarning.add(featureNumber));
  };
  return {
    beginFeature: (featureLine) => {
      featureNumber++;
      line = featureLine ?? null;
      if (featureNumber > annotationLimits.layerAnnotations) {
        throw new ImportError('too_many_features', { limit: annotationLimits.layerAnnotations });
      }
    },
    warn,
    reject,
    add: (raw) => {
      const hasId = typeof raw.id === 'string' && isUuid(raw.id);
      const id = hasId ? String(raw.id).toLowerCase() : createUuid();
      if (!hasId && raw.id !== undefined) warn('id_replaced');
      if (ids.has(id)) {
        reject('duplicate_id', 'id');
        return null;
      }
      const parsed = moveAndValidate({ type: 'Feature', ...raw, id });
      if (!parsed.ok) {
        reject(parsed.error.code, parsed.error.path, parsed.error.params);
        return null;
      }
      vertices += countFeatureVertices(parsed.feature);
      if (vertices > annotationLimits.layerVertices) {
        throw new ImportError('too_many_vertices', { limit: annotationLimits.layerVertices });
      }
      ids.add(id);
      features.push(parsed.feature);
      return id;
    },
    result: (format) => {
      const resultFeatures = removeMissingParents(features, ids, warnings);
      return {
        ok: true,
        format,
        features: resultFeatures,
        counts: {
          features: resultFeatures.length,
          vertices,
          byType: countTypes(resultFeatures),
          byClass: countClasses(resultFeatures),
        },
        warnings: [...warnings].map(([code, featuresWithWarning]) => ({
          code,
          count: featuresWithWarning.size,
        })),
        rejected,
        rejectedCount,
      };
    },
  };
}

function translateFeature(feature: AnnotationFeature, { x, y }: { x: number; y: number }): AnnotationFeature {
  const { geometry, nucleusGeometry } = feature;
  return {
    ...feature,
    geometry: translateGeometry(geometry, x, y),
    ...(nucleusGeometry && { nucleusGeometry: translateGeometry(nucleusGeometry, x, y) }),
  };
}

/** Removes the parent from features whose parent is not in the file or was rejected, and adds the warning `parent_missing`. */
function removeMissingParents(
  features: readonly AnnotationFeature[],
  ids: ReadonlySet<string>,
  warnings: Map<ImportWarningCode, Set<number>>,
): readonly AnnotationFeature[] {
  // The other sets in `warnings` contain feature numbers. Indexes are enough here, because only the size of a set is used.
  const changedIndexes = new Set<number>();
  const result = features.map((feature, index) => {
    const { parentId, ...properties } = feature.properties;
    if (parentId === undefined || ids.has(parentId)) return feature;
    changedIndexes.add(index);
    return { ...feature, properties };
  });
  if (changedIndexes.size > 0) warnings.set('parent_missing', changedIndexes);
  return result;
}

function countTypes(features: readonly AnnotationFeature[]): Partial<Record<ObjectType, number>> {
  const counts: Partial<Record<ObjectType, number>> = {};
  for (const { properties } of features)
    counts[properties.objectType] = (counts[properties.objectType] ?? 0) + 1;
  return counts;
}

/** Counts the features per list of class names, in the order in which the lists first appear in the file. */
function countClasses(features: readonly AnnotationFeature[]) {
  const counts = new Map<string, { names: readonly string[]; count: number }>();
  for (const { properties } of features) {
    const names = properties.classification?.names ?? [];
    const key = JSON.stringify(names);
    const classCount = counts.get(key) ?? { names, count: 0 };
    classCount.count++;
    counts.set(key, classCount);
  }
  return [...counts.values()];
}
