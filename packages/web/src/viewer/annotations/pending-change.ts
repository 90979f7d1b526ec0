/**
 * Pending changes: changes of annotations that the server has not acknowledged. They are stored in IndexedDB, so the names of
 * their fields must not change.
 */
import type { FeatureJson } from '@lamina/annotations';

export interface PendingChange {
  /** Id of the annotation. */
  readonly id: string;
  /** Id of a layer on the server, or the placeholder of a layer that is not created yet (`newLayerId`). */
  readonly layerId: string;
  readonly imageId: string;
  /** The revision on the server to which the change applies; null for a new annotation. */
  readonly base: number | null;
  /** The annotation after the change; null for a deletion. */
  readonly feature: FeatureJson | null;
}

/** Changes of one layer that were sent together and are sent again unchanged until the server responds. */
export interface PendingBatch {
  readonly layerId: string;
  readonly imageId: string;
  readonly changes: readonly PendingChange[];
}

/**
 * A change of an annotation that another closed tab has changed, too. It is sent after the server has acknowledged the other change, or the
 * user has discarded it. If both changes have the same base revision, the server then reports a conflict, which the user resolves.
 */
export interface WaitingChange {
  readonly change: PendingChange;
  /** Id of its record in the storage. */
  readonly recordId: string;
}

/** All changes that the server has not acknowledged: those not sent yet, and the batches without a response. */
export interface PendingWork {
  /** At most one change of each annotation. */
  readonly changes: readonly PendingChange[];
  readonly batches: readonly PendingBatch[];
  readonly waiting: readonly WaitingChange[];
}

/**
 * Returns a key that no other annotation has. The id alone does not identify an annotation: the server accepts the same id in
 * several layers, such as after the import of an exported layer.
 */
export function annotationKey({ layerId, id }: Pick<PendingChange, 'layerId' | 'id'>): string {
  return `${layerId} ${id}`;
}

const newLayerPrefix = 'new:';

/** Returns the placeholder id of a layer that will be created on the server when its first annotation is saved. */
export function newLayerId(imageId: string): string {
  return `${newLayerPrefix}${imageId}`;
}

/** Whether a layer id is a placeholder of `newLayerId`. */
export function isNewLayer(layerId: string): boolean {
  return layerId.startsWith(newLayerPrefix);
}
