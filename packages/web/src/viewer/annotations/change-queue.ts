/**
 * The queue that sends changes of annotations to the server, in order and without losing any. It stores each change in
 * the browser before sending it, and removes it when the server has acknowledged it.
 *
 * When a batch gets no response, the queue sends the same batch again: the server recognises it and applies it only
 * once. Meanwhile the queue collects further changes of the same annotations. The base revision of these further changes (the
 * revision on the server to which a change applies) is the revision that the batch creates.
 *
 * The file is long because the methods of the queue share its private state.
 */
import { countVertices } from '@lamina/annotations';
import {
  type AnnotationChange,
  type AnnotationFeature,
  type AnnotationLayer,
  changeAnnotations,
} from '@lamina/contract';
import type { ChangeOutcome } from '../../api/annotations.ts';
import {
  annotationKey,
  isNewLayer,
  type PendingBatch,
  type PendingChange,
  type WaitingChange,
} from './pending-change.ts';
import type { PendingStorage } from './pending-storage.ts';

/** State of the queue. `count` is the number of annotations with changes that the server has not acknowledged. */
export type SaveState =
  | { readonly kind: 'saved' }
  | { readonly kind: 'saving'; readonly count: number }
  /** The server is unreachable or overloaded; the changes are stored in this browser. */
  | { readonly kind: 'offline'; readonly count: number }
  /** The server has rejected changes of one or more layers. The queue sends nothing for these layers until the user retries or discards. */
  | { readonly kind: 'rejected'; readonly count: number; readonly error: unknown }
  /**
   * All other changes are saved or being saved, but these are too large for a request. The queue keeps them until the user changes the
   * annotations again or discards the changes.
   */
  | { readonly kind: 'too-large'; readonly count: number; readonly changes: readonly PendingChange[] };

/** An annotation that this user and another user have changed at the same time. */
export interface Conflict {
  /** The change of this user. */
  readonly mine: PendingChange;
  /** The feature on the server, with `revision` in its properties; its geometry is null for a deleted annotation. */
  readonly theirs: unknown;
}

export interface QueueListener {
  /** Called when the server has acknowledged changes of a layer. @param revisions new revisions by annotation id */
  onApplied(layerId: string, revisions: Readonly<Record<string, number>>): void;
  /** Called when the server has created the user's first layer. @param placeholderId its previous id (`newLayerId`) */
  onLayerCreated(placeholderId: string, layer: AnnotationLayer): void;
  /** Called when a change that has waited (`WaitingChange`) is queued. */
  onResumed(change: PendingChange): void;
  /** Called when the user has discarded changes, which may be of several slides. */
  onDiscarded(changes: readonly PendingChange[]): void;
  /** Called when the save state or the conflicts have changed. */
  onChange(): void;
}

interface Dependencies {
  readonly storage: PendingStorage;
  /** Sends changes; never rejects. @param bytes estimated size of the changes */
  readonly send: (layerId: string, changes: AnnotationChange[], bytes: number) => Promise<ChangeOutcome>;
  readonly createLayer: (imageId: string) => Promise<AnnotationLayer>;
  /** Whether the owner of the changes is signed in now. */
  readonly isSignedIn: () => boolean;
}

/** Delay between a change and its sending, so that quick successive changes share a batch. */
const collectDelayMs = 300;
/** Delays before successive retries; the last delay repeats. */
const retryDelaysMs = [1000, 2000, 5000, 10_000, 30_000];
/** Maximum number of changes in one request: half of the number that the server accepts. */
const maxChangesPerBatch = 500;
/**
 * Maximum estimated size of the changes in one request, in bytes; a larger change is sent alone. The server accepts more, but a request
 * must arrive within 30 s: 4 MiB do so at 1.2 Mbit/s.
 */
const maxBytesPerBatch = 4 * 2 ** 20;
/** Estimated bytes of a position such as `[123456.78,123456.78],`. */
const bytesPerPosition = 24;
/** Estimated bytes of the operation, the ids and the base revision of a change. */
const bytesWithoutFeature = 200;

export class ChangeQueue {
  readonly #dependencies: Dependencies;
  /** Changes that are not sent yet, by `annotationKey`. */
  readonly #queued = new Map<string, PendingChange>();
  /** Changes of annotations that another closed tab has changed, too. */
  #waiting: readonly WaitingChange[] = [];
  /** The changes in `#queued` that are too large for a request, by `annotationKey`. */
  readonly #tooLarge = new Set<string>();
  /** Sent batches without a response, by layer id. */
  readonly #batches = new Map<string, PendingBatch>();
  /** Conflicts that the user has not resolved yet, by `annotationKey`. */
  readonly #conflicts = new Map<string, Conflict>();
  readonly #listeners = new Set<QueueListener>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSending = false;
  /** Maximum estimated size of a batch, in bytes; it decreases when the server answers that a batch is too large. */
  #maxBytesPerBatch = maxBytesPerBatch;
  /** Failed attempts since the server last applied a batch or reported conflicts. */
  #failures = 0;
  /** Errors with which the server has rejected changes, by layer id. */
  readonly #rejections = new Map<string, unknown>();
  /** Settles after the last write to the storage; each write waits for the previous write. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Loads the changes that were stored before a reload or in a closed tab, and sends them. */
  async start(): Promise<void> {
    const { changes, batches, waiting } = await this.#dependencies.storage
      .load()
      .catch(() => ({ changes: [], batches: [], waiting: [] })); // some private windows have no storage
    for (const batch of batches) this.#batches.set(batch.layerId, batch);
    for (const change of changes) this.#queued.set(annotationKey(change), change);
    this.#waiting = waiting;
    window.addEventListener('online', this.retry);
    if (this.#countPending() > 0) this.#schedule(0);
    this.#notify();
  }

  listen(listener: QueueListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Adds a change, which replaces a queued change of the same annotation. The base revision of the queued change stays, because the server
   * has not received the queued change yet.
   */
  add(change: PendingChange): void {
    const key = annotationKey(change);
    const conflict = this.#conflicts.get(key);
    const earlier = this.#queued.get(key);
    const base = earlier === undefined ? change.base : earlier.base;
    const next = { ...change, base };
    this.#tooLarge.delete(key); // the annotation may be smaller now
    if (conflict !== undefined) this.#conflicts.set(key, { ...conflict, mine: next });
    const isInBatch = this.#batches.get(change.layerId)?.changes.some(({ id }) => id === change.id) ?? false;
    if (next.feature === null && base === null && !isInBatch) {
      // The annotation was created and deleted before it was sent: the server does not have it.
      this.#queued.delete(key);
      this.#write((storage) => storage.removeChange(change));
    } else {
      this.#queued.set(key, next);
      this.#write((storage) => storage.saveChange(next));
    }
    this.#schedule(collectDelayMs);
    this.#notify();
  }

  /** Returns the latest pending change of each annotation of a slide, by `annotationKey`. */
  pendingOf(imageId: string): ReadonlyMap<string, PendingChange> {
    // A queued change is later than a change of the same annotation in a batch, and replaces it here.
    const pending = new Map<string, PendingChange>();
    for (const { changes } of this.#batches.values()) {
      for (const change of changes)
        if (change.imageId === imageId) pending.set(annotationKey(change), change);
    }
    for (const [key, change] of this.#queued) if (change.imageId === imageId) pending.set(key, change);
    return pending;
  }

  /** Whether the server has not acknowledged the latest change of an annotation. */
  isPending(layerId: string, id: string): boolean {
    if (this.#queued.has(annotationKey({ layerId, id }))) return true;
    return this.#batches.get(layerId)?.changes.some((change) => change.id === id) ?? false;
  }

  state(): SaveState {
    const count = this.#countPending();
    if (count === 0) return { kind: 'saved' };
    const [rejected] = this.#rejectedChanges();
    if (rejected !== undefined)
      return { kind: 'rejected', count, error: this.#rejections.get(rejected.layerId) };
    const tooLarge = this.#tooLargeChanges();
    if (tooLarge.length > 0) return { kind: 'too-large', count, changes: tooLarge };
    if (this.#failures > 0) return { kind: 'offline', count };
    return { kind: 'saving', count };
  }

  #rejectedChanges(): readonly PendingChange[] {
    return [...this.#queued.values()].filter(
      (change) => this.#rejections.has(change.layerId) && !this.#tooLarge.has(annotationKey(change)),
    );
  }

  #tooLargeChanges(): readonly PendingChange[] {
    return [...this.#tooLarge].flatMap((key) => this.#queued.get(key) ?? []);
  }

  conflicts(): readonly Conflict[] {
    return [...this.#conflicts.values()];
  }

  /** Sends failed and rejected changes again without delay. A bound function, so that it can be an event listener. */
  readonly retry = (): void => {
    this.#rejections.clear();
    this.#schedule(0);
    this.#notify();
  };

  /** Drops the changes that `state` reports: those of all layers whose changes the server has rejected, otherwise those that are too large. */
  discard(): void {
    const rejected = this.#rejectedChanges();
    const changes = rejected.length > 0 ? rejected : this.#tooLargeChanges();
    for (const change of changes) {
      const key = annotationKey(change);
      this.#queued.delete(key);
      this.#conflicts.delete(key);
      this.#tooLarge.delete(key);
      this.#write((storage) => storage.removeChange(change));
    }
    this.#rejections.clear();
    for (const listener of this.#listeners) listener.onDiscarded(changes);
    this.#schedule(0); // changes may have waited for the discarded ones
    this.#notify();
  }

  /**
   * Resolves a conflict.
   *
   * @param keep `mine` sends this user's version in place of the server's, `theirs` drops this user's version
   * @param revision of the version on the server; null when the server has none
   */
  resolve(conflict: Conflict, keep: 'mine' | 'theirs', revision: number | null): void {
    const key = annotationKey(conflict.mine);
    if (!this.#conflicts.delete(key)) return;
    const mine = { ...conflict.mine, base: revision };
    const areBothDeletions = mine.feature === null && isDeleted(conflict.theirs);
    if (keep === 'mine' && !areBothDeletions) {
      this.#queued.set(key, mine);
      this.#write((storage) => storage.saveChange(mine));
    } else {
      this.#queued.delete(key);
      this.#write((storage) => storage.removeChange(mine));
    }
    this.#schedule(0); // also sends a change that has waited for this one
    this.#notify();
  }

  #countPending(): number {
    const keys = new Set(this.#queued.keys());
    for (const { change } of this.#waiting) keys.add(annotationKey(change));
    for (const { changes } of this.#batches.values())
      for (const change of changes) keys.add(annotationKey(change));
    return keys.size;
  }

  /** Writes to the storage after all earlier writes. */
  #write(write: (storage: PendingStorage) => Promise<void>): void {
    // Some private windows have no storage. Changes are still sent there, but they do not survive a reload.
    this.#lastWrite = this.#lastWrite.then(() => write(this.#dependencies.storage)).catch(() => undefined);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener.onChange();
  }

  /** Sends the changes after a delay. If they are already scheduled, only a delay of 0 replaces the running timer. */
  #schedule(delayMs: number): void {
    if (this.#timer !== undefined) {
      if (delayMs > 0) return;
      clearTimeout(this.#timer);
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#sendAll();
    }, delayMs);
  }

  /** Sends batches one after the other until no batch is left or a batch cannot be sent. */
  async #sendAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      // Checked before each request: another account may have signed in meanwhile, and the request would be made in its name.
      while (this.#dependencies.isSignedIn()) {
        const batch = await this.#nextBatch();
        if (batch === null || !this.#dependencies.isSignedIn()) break;
        const { layerId, changes } = batch;
        const bytes = estimateBatchBytes(changes);
        const outcome = await this.#dependencies.send(layerId, changes.map(toApiChange), bytes);
        if (!this.#processOutcome(batch, outcome)) break;
        this.#notify();
      }
    } finally {
      this.#isSending = false;
      this.#notify();
    }
  }

  /** Returns the next batch to send; null when there is none, or when the layer of the changes cannot be created now. */
  async #nextBatch(): Promise<PendingBatch | null> {
    const [unansweredBatch] = this.#batches.values();
    if (unansweredBatch !== undefined) return unansweredBatch;
    this.#resumeWaiting();
    const sendable = [...this.#queued].flatMap(([key, change]) =>
      this.#conflicts.has(key) || this.#tooLarge.has(key) || this.#rejections.has(change.layerId)
        ? []
        : change,
    );
    const [firstChange] = sendable;
    if (firstChange === undefined) return null;
    const { layerId, imageId } = firstChange;
    if (isNewLayer(layerId)) return (await this.#createLayer(layerId, imageId)) ? this.#nextBatch() : null;
    const changes = this.#fittingBatch(sendable.filter((change) => change.layerId === layerId));
    if (changes.length === 1 && exceedsRequest(firstChange)) {
      // The server would close the connection before it has received the whole request, which looks like a lost connection.
      this.#tooLarge.add(annotationKey(firstChange));
      return this.#nextBatch();
    }
    const batch = { layerId, imageId, changes };
    this.#batches.set(layerId, batch);
    for (const change of changes) this.#queued.delete(annotationKey(change));
    this.#write((storage) => storage.startBatch(batch));
    await this.#lastWrite; // the batch must be stored before it is sent
    return batch;
  }

  /** Queues the changes that have waited for another change of the same annotation, if that change is no longer pending. */
  #resumeWaiting(): void {
    for (const waiting of this.#waiting) {
      const { change } = waiting;
      const key = annotationKey(change);
      if (this.#queued.has(key)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      this.#queued.set(key, change);
      this.#write((storage) => storage.resumeChange(waiting));
      for (const listener of this.#listeners) listener.onResumed(change);
    }
  }

  /** Returns the first changes, as many as one batch may contain; at least one, even if that change alone is too large. */
  #fittingBatch(changes: readonly PendingChange[]): readonly PendingChange[] {
    let count = 0;
    let bytes = 0;
    for (const change of changes.slice(0, maxChangesPerBatch)) {
      bytes += estimateBytes(change);
      if (count > 0 && bytes > this.#maxBytesPerBatch) break;
      count++;
    }
    return changes.slice(0, count);
  }

  /**
   * Creates the layer for a placeholder id and moves the queued changes to it.
   *
   * @returns false if the creation must be tried again later; true after the layer is created, or rejected by the server
   */
  async #createLayer(placeholder: string, imageId: string): Promise<boolean> {
    try {
      const layer = await this.#dependencies.createLayer(imageId);
      const changes = [...this.#queued.values()].filter(({ layerId }) => layerId === placeholder);
      for (const change of changes) {
        const moved = { ...change, layerId: layer.id };
        this.#queued.delete(annotationKey(change));
        this.#queued.set(annotationKey(moved), moved);
      }
      this.#write((storage) => storage.moveChanges(changes, layer.id));
      for (const listener of this.#listeners) listener.onLayerCreated(placeholder, layer);
      return true;
    } catch (error) {
      if (isTemporary(error)) {
        this.#scheduleRetry();
        return false;
      }
      this.#rejections.set(placeholder, error);
      return true;
    }
  }

  /** Processes the server's response to a batch. @returns whether the next batch can be sent now */
  #processOutcome(batch: PendingBatch, outcome: ChangeOutcome): boolean {
    switch (outcome.kind) {
      case 'applied':
        this.#failures = 0;
        this.#finishBatch(batch, (change) => {
          const revision = outcome.revisions[change.id];
          const later = this.#queued.get(annotationKey(change));
          return later === undefined ? null : { ...later, base: revision ?? later.base };
        });
        for (const listener of this.#listeners) listener.onApplied(batch.layerId, outcome.revisions);
        return true;
      case 'conflict':
        this.#failures = 0;
        for (const theirs of outcome.conflicts) {
          const mine = batch.changes.find(({ id }) => id === idOf(theirs));
          if (mine !== undefined) this.#conflicts.set(annotationKey(mine), { mine, theirs });
        }
        this.#requeue(batch);
        // The server has applied no change of the batch; the next batch contains the changes without a conflict. Without a
        // conflict that belongs to this batch, sending the batch again would have the same result.
        return batch.changes.some((change) => this.#conflicts.has(annotationKey(change)));
      case 'rejected':
        if (statusOf(outcome.error) !== 413) this.#rejections.set(batch.layerId, outcome.error);
        else if (batch.changes.length > 1) {
          // The batch is larger than the server, or a proxy before it, accepts.
          this.#maxBytesPerBatch = estimateBatchBytes(batch.changes) / 2;
        } else {
          // A later change of the annotation may be smaller.
          const keys = batch.changes.map(annotationKey).filter((key) => !this.#queued.has(key));
          for (const key of keys) this.#tooLarge.add(key);
        }
        this.#requeue(batch);
        return true; // other changes can be sent
      case 'signed-out':
        return false; // the batch stays; `queueOf` sends it when the user opens a slide after signing in again
      case 'unreachable':
        this.#scheduleRetry();
        return false;
    }
  }

  /** Queues the changes of a batch again. A later change of the same annotation replaces the sent change and gets its base revision. */
  #requeue(batch: PendingBatch): void {
    this.#finishBatch(batch, (change) => ({
      ...(this.#queued.get(annotationKey(change)) ?? change),
      base: change.base,
    }));
  }

  /**
   * Ends a batch after the response of the server.
   *
   * @param remainingOf returns the change of the same annotation that must still be sent; null when there is none
   */
  #finishBatch(batch: PendingBatch, remainingOf: (change: PendingChange) => PendingChange | null): void {
    const remaining = batch.changes.flatMap((change) => remainingOf(change) ?? []);
    this.#batches.delete(batch.layerId);
    for (const change of remaining) {
      const key = annotationKey(change);
      this.#queued.set(key, change);
      const conflict = this.#conflicts.get(key);
      if (conflict !== undefined) this.#conflicts.set(key, { ...conflict, mine: change });
    }
    this.#write((storage) => storage.endBatch(batch.layerId, remaining));
  }

  /** Schedules a retry, because the server is unreachable or overloaded. */
  #scheduleRetry(): void {
    const delay = retryDelaysMs[Math.min(this.#failures, retryDelaysMs.length - 1)] ?? 0;
    this.#failures++;
    this.#schedule(delay);
  }
}

/** Whether a retry may succeed. An error without a status (no response) counts as 503; 401 means an expired sign-in. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const status = statusOf(error) ?? 503;
  return status >= 500 || status === 429 || status === 401;
}

/** Returns the HTTP status of an error response; null for another error. */
function statusOf(error: unknown): number | null {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? error.status
    : null;
}

/**
 * Estimates the size of a change in a request, in bytes, without encoding its positions: a batch may contain millions of them.
 * A rounded position of an image of up to ten million pixels on a side has at most 24 bytes.
 */
function estimateBytes({ feature }: PendingChange): number {
  if (feature === null) return bytesWithoutFeature;
  const { geometry, nucleusGeometry, properties } = feature;
  const positions = countVertices(geometry) + (nucleusGeometry ? countVertices(nucleusGeometry) : 0);
  return bytesWithoutFeature + positions * bytesPerPosition + JSON.stringify(properties).length;
}

function estimateBatchBytes(changes: readonly PendingChange[]): number {
  return changes.reduce((sum, change) => sum + estimateBytes(change), 0);
}

/** Whether a change alone is larger than the largest request that the server accepts. */
function exceedsRequest(change: PendingChange): boolean {
  const maxBytes = changeAnnotations.maxBodyBytes;
  if (estimateBytes(change) <= maxBytes) return false;
  return new Blob([JSON.stringify({ changes: [toApiChange(change)] })]).size > maxBytes;
}

/** Converts a change to the format of the API. */
function toApiChange({ id, base, feature }: PendingChange): AnnotationChange {
  // The cast is needed: the encoded feature has readonly arrays, but the type of the contract has mutable arrays.
  if (feature !== null) {
    return { op: 'put', feature: feature as unknown as AnnotationFeature, base_revision: base };
  }
  // Without a base, the annotation was created in an earlier batch, which gave it revision 1.
  return { op: 'delete', id, base_revision: base ?? 1 };
}

function idOf(feature: unknown): string | null {
  return feature !== null && typeof feature === 'object' && 'id' in feature ? String(feature.id) : null;
}

/** Whether a feature from the server describes a deleted annotation, which has no geometry. */
function isDeleted(feature: unknown): boolean {
  return (
    feature === null || typeof feature !== 'object' || !('geometry' in feature) || feature.geometry === null
  );
}
