/** A change of an annotation that the server has not acknowledged. */
import type { FeatureJson } from '@lamina/annotations';

export interface PendingChange {
  /** Of the annotation. */
  readonly id: string;
  /** A layer of the server, or one that is still to be created (`newLayerId`). */
  readonly layerId: string;
  readonly imageId: string;
  /** The revision that the change is based on; null: a new annotation. */
  readonly base: number | null;
  /** Null: a deletion. */
  readonly feature: FeatureJson | null;
}

/** Changes of one layer that were sent and are sent unchanged until the server answers. */
export interface PendingBatch {
  readonly layerId: string;
  readonly imageId: string;
  readonly changes: readonly PendingChange[];
}

export interface PendingWork {
  readonly changes: readonly PendingChange[];
  readonly batches: readonly PendingBatch[];
}

const newLayerPrefix = 'new:';

/** Returns the id of the layer of a slide that is created with its first annotation. */
export function newLayerId(imageId: string): string {
  return `${newLayerPrefix}${imageId}`;
}

export function isNewLayer(layerId: string): boolean {
  return layerId.startsWith(newLayerPrefix);
}
