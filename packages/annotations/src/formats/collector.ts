/** Collects the features of a file: checks, counts, and reports what is rejected. */

import { translateGeometry } from '../geometry/translate.ts';
import { type AnnotationFeature, countFeatureVertices, type ObjectType } from '../model/feature.ts';
import { annotationLimits } from '../model/limits.ts';
import { parseFeature } from '../model/parse-feature.ts';
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

/** A feature as a reader found it; `id` may be anything. */
export interface RawFeature {
  readonly id: unknown;
  readonly geometry: unknown;
  readonly nucleusGeometry?: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface Collector {
  /** Counts a feature of the file; call it once for each, before its warnings and rejections. */
  readonly begin: (line?: number) => void;
  readonly warn: (code: ImportWarningCode) => void;
  readonly reject: (code: RejectionCode, path?: string, params?: Rejection['params']) => void;
  /** @returns the id of the feature, null when it is rejected */
  readonly add: (raw: RawFeature) => string | null;
  readonly result: (format: ImportFormat) => ImportResult;
}

export function createCollector({ extent, offset }: ImportOptions): Collector {
  const features: AnnotationFeature[] = [];
  const ids = new Set<string>();
  const warnings = new Map<ImportWarningCode, Set<number>>();
  const rejected: Rejection[] = [];
  let rejectedCount = 0;
  let feature = 0;
  let line: number | null = null;
  let vertices = 0;

  const reject: Collector['reject'] = (code, path = '', params = {}) => {
    rejectedCount++;
    if (rejected.length < importLimits.rejections) rejected.push({ feature, line, code, path, params });
  };
  const warn: Collector['warn'] = (code) => {
    const concerned = warnings.get(code) ?? new Set();
    warnings.set(code, concerned.add(feature));
  };
  return {
    begin: (at) => {
      feature++;
      line = at ?? null;
      if (feature > annotationLimits.layerAnnotations) {
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
      const parsed = parseFeature({ type: 'Feature', ...raw, id }, { extent });
      if (!parsed.ok) {
        reject(parsed.error.code, parsed.error.path, parsed.error.params);
        return null;
      }
      vertices += countFeatureVertices(parsed.feature);
      if (vertices > annotationLimits.layerVertices) {
        throw new ImportError('too_many_vertices', { limit: annotationLimits.layerVertices });
      }
      ids.add(id);
      features.push(offset ? translateFeature(parsed.feature, offset) : parsed.feature);
      return id;
    },
    result: (format) => {
      const kept = withoutMissingParents(features, ids, warnings);
      return {
        ok: true,
        format,
        features: kept,
        counts: { features: kept.length, vertices, byType: countTypes(kept), byClass: countClasses(kept) },
        warnings: [...warnings].map(([code, concerned]) => ({ code, count: concerned.size })),
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

/** Children of a rejected feature stay, without a parent. */
function withoutMissingParents(
  features: readonly AnnotationFeature[],
  ids: ReadonlySet<string>,
  warnings: Map<ImportWarningCode, Set<number>>,
): readonly AnnotationFeature[] {
  const missing = new Set<number>();
  const kept = features.map((feature, index) => {
    const { parentId, ...properties } = feature.properties;
    if (parentId === undefined || ids.has(parentId)) return feature;
    missing.add(index);
    return { ...feature, properties };
  });
  if (missing.size > 0) warnings.set('parent_missing', missing);
  return kept;
}

function countTypes(features: readonly AnnotationFeature[]): Partial<Record<ObjectType, number>> {
  const counts: Partial<Record<ObjectType, number>> = {};
  for (const { properties } of features)
    counts[properties.objectType] = (counts[properties.objectType] ?? 0) + 1;
  return counts;
}

function countClasses(features: readonly AnnotationFeature[]) {
  const counts = new Map<string, { names: readonly string[]; count: number }>();
  for (const { properties } of features) {
    const names = properties.classification?.names ?? [];
    const key = JSON.stringify(names);
    const entry = counts.get(key) ?? { names, count: 0 };
    entry.count++;
    counts.set(key, entry);
  }
  return [...counts.values()];
}
