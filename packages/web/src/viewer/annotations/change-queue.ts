/**
 * Sends changes of annotations to the server, in order and without losing one: a change is stored before it is sent, and
 * removed when the server has acknowledged it.
 *
 * A batch whose answer is missing is sent again unchanged, because the server recognises it as the same. Meanwhile further
 * changes of the same annotation are collected; they get the revision of the acknowledged batch as their base.
 */
import type { AnnotationChange, AnnotationFeature, AnnotationLayer } from '@lamina/contract';
import type { ChangeOutcome } from '../../api/annotations.ts';
import { isNewLayer, type PendingBatch, type PendingChange } from './pending-change.ts';
import type { PendingStorage } from './pending-storage.ts';

export type SaveState =
  | { readonly kind: 'saved' }
  | { readonly kind: 'saving'; readonly count: number }
  /** The changes are kept on this computer. */
  | { readonly kind: 'offline'; readonly count: number }
  | { readonly kind: 'rejected'; readonly count: number; readonly error: unknown };

/** An annotation that another person changed at the same time. */
export interface Conflict {
  readonly id: string;
  readonly mine: PendingChange;
  /** The feature on the server, with `revision` in its properties; its geometry is null when it was deleted. */
  readonly theirs: unknown;
}

export interface QueueListener {
  /** The server has acknowledged changes. */
  onApplied(revisions: Readonly<Record<string, number>>): void;
  onLayerCreated(newLayerId: string, layer: AnnotationLayer): void;
  /** The state or the conflicts have changed. */
  onChange(): void;
}

interface Dependencies {
  readonly storage: PendingStorage;
  readonly send: (layerId: string, changes: AnnotationChange[]) => Promise<ChangeOutcome>;
  readonly createLayer: (imageId: string) => Promise<AnnotationLayer>;
  /** Whether the owner of the changes is signed in now. */
  readonly isSignedIn: () => boolean;
}

/** Delay after a change, so that several quick changes are one batch. */
const collectMs = 300;
const retryMs = [1000, 2000, 5000, 10_000, 30_000];
const changesPerBatch = 500;

export class ChangeQueue {
  readonly #dependencies: Dependencies;
  readonly #queued = new Map<string, PendingChange>();
  /** By layer. */
  readonly #batches = new Map<string, PendingBatch>();
  readonly #conflicts = new Map<string, Conflict>();
  readonly #listeners = new Set<QueueListener>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSending = false;
  #failures = 0;
  #rejection: { readonly error: unknown } | null = null;
  /** Writes to the storage, in order. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Loads the changes of earlier pages and sends them. */
  async start(): Promise<void> {
    const { changes, batches } = await this.#dependencies.storage
      .load()
      .catch(() => ({ changes: [], batches: [] }));
    for (const batch of batches) this.#batches.set(batch.layerId, batch);
    for (const change of changes) if (!this.#queued.has(change.id)) this.#queued.set(change.id, change);
    window.addEventListener('online', this.retry);
    if (changes.length > 0 || batches.length > 0) this.#schedule(0);
    this.#tell();
  }

  /** @returns a function that unsubscribes */
  listen(listener: QueueListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Adds a change in place of an earlier one of the same annotation. `base` counts only when there is none. */
  add(change: PendingChange): void {
    const conflict = this.#conflicts.get(change.id);
    const earlier = this.#queued.get(change.id);
    const base = earlier ? earlier.base : change.base;
    const next = { ...change, base };
    if (conflict !== undefined) this.#conflicts.set(change.id, { ...conflict, mine: next });
    const isInBatch = this.#batches.get(change.layerId)?.changes.some(({ id }) => id === change.id) ?? false;
    if (next.feature === null && base === null && !isInBatch) {
      // The server has never heard of this annotation.
      this.#queued.delete(change.id);
      this.#write((storage) => storage.removeChange(change.id));
    } else {
      this.#queued.set(change.id, next);
      this.#write((storage) => storage.saveChange(next));
    }
    this.#schedule(collectMs);
    this.#tell();
  }

  /** Returns the latest pending change of each annotation of a slide. */
  pendingOf(imageId: string): ReadonlyMap<string, PendingChange> {
    const pending = new Map<string, PendingChange>();
    for (const { changes } of this.#batches.values()) {
      for (const change of changes) if (change.imageId === imageId) pending.set(change.id, change);
    }
    for (const change of this.#queued.values()) {
      if (change.imageId === imageId) pending.set(change.id, change);
    }
    return pending;
  }

  /** Whether the server has not acknowledged the latest change of an annotation. */
  isPending(id: string): boolean {
    if (this.#queued.has(id)) return true;
    return [...this.#batches.values()].some(({ changes }) => changes.some((change) => change.id === id));
  }

  state(): SaveState {
    const count = this.#count();
    if (count === 0) return { kind: 'saved' };
    if (this.#rejection !== null) return { kind: 'rejected', count, error: this.#rejection.error };
    if (this.#failures > 0) return { kind: 'offline', count };
    return { kind: 'saving', count };
  }

  conflicts(): readonly Conflict[] {
    return [...this.#conflicts.values()];
  }

  /** Sends now what failed before. */
  readonly retry = (): void => {
    this.#rejection = null;
    this.#schedule(0);
    this.#tell();
  };

  /** Gives up the changes that the server rejected. @returns their annotations */
  discard(): readonly string[] {
    const ids = [...this.#queued.keys()];
    for (const id of ids) this.#write((storage) => storage.removeChange(id));
    this.#queued.clear();
    this.#conflicts.clear();
    this.#rejection = null;
    this.#tell();
    return ids;
  }

  /** @param keep 'mine' sends the own version over the other one. @param revision of the other version */
  resolve(id: string, keep: 'mine' | 'theirs', revision: number | null): void {
    const conflict = this.#conflicts.get(id);
    if (conflict === undefined) return;
    this.#conflicts.delete(id);
    const mine = { ...conflict.mine, base: revision };
    if (keep === 'mine' && !(mine.feature === null && isGone(conflict.theirs))) {
      this.#queued.set(id, mine);
      this.#write((storage) => storage.saveChange(mine));
      this.#schedule(0);
    } else {
      this.#queued.delete(id);
      this.#write((storage) => storage.removeChange(id));
    }
    this.#tell();
  }

  #count(): number {
    const ids = new Set(this.#queued.keys());
    for (const { changes } of this.#batches.values()) for (const { id } of changes) ids.add(id);
    return ids.size;
  }

  #write(write: (storage: PendingStorage) => Promise<void>): void {
    // A browser that refuses storage still sends the changes.
    this.#written = this.#written.then(() => write(this.#dependencies.storage)).catch(() => undefined);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener.onChange();
  }

  #schedule(delayMs: number): void {
    if (this.#rejection !== null) return;
    if (this.#timer !== undefined) {
      if (delayMs > 0) return;
      clearTimeout(this.#timer);
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#sendAll();
    }, delayMs);
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending || !this.#dependencies.isSignedIn()) return;
    this.#isSending = true;
    try {
      for (let batch = await this.#nextBatch(); batch !== null; batch = await this.#nextBatch()) {
        const outcome = await this.#dependencies.send(batch.layerId, batch.changes.map(toWire));
        if (!this.#settle(batch, outcome)) break;
        this.#tell();
      }
    } finally {
      this.#isSending = false;
      this.#tell();
    }
  }

  /** Returns the next batch; null when there is none, or a layer could not be created. */
  async #nextBatch(): Promise<PendingBatch | null> {
    const [unanswered] = this.#batches.values();
    if (unanswered !== undefined) return unanswered;
    const first = [...this.#queued.values()].find(({ id }) => !this.#conflicts.has(id));
    if (first === undefined) return null;
    const { layerId, imageId } = first;
    if (isNewLayer(layerId)) return (await this.#createLayer(layerId, imageId)) ? this.#nextBatch() : null;
    const changes = [...this.#queued.values()]
      .filter((change) => change.layerId === layerId && !this.#conflicts.has(change.id))
      .slice(0, changesPerBatch);
    const batch = { layerId, imageId, changes };
    this.#batches.set(layerId, batch);
    for (const { id } of changes) this.#queued.delete(id);
    this.#write((storage) => storage.startBatch(batch));
    await this.#written;
    return batch;
  }

  async #createLayer(placeholder: string, imageId: string): Promise<boolean> {
    try {
      const layer = await this.#dependencies.createLayer(imageId);
      for (const change of [...this.#queued.values()]) {
        if (change.layerId !== placeholder) continue;
        const moved = { ...change, layerId: layer.id };
        this.#queued.set(change.id, moved);
        this.#write((storage) => storage.saveChange(moved));
      }
      for (const listener of this.#listeners) listener.onLayerCreated(placeholder, layer);
      return true;
    } catch (error) {
      this.#postpone(error);
      return false;
    }
  }

  /** @returns whether the next batch can be sent now */
  #settle(batch: PendingBatch, outcome: ChangeOutcome): boolean {
    switch (outcome.kind) {
      case 'applied':
        this.#failures = 0;
        this.#finish(batch, (change) => {
          const revision = outcome.revisions[change.id];
          const later = this.#queued.get(change.id);
          return later === undefined ? null : { ...later, base: revision ?? later.base };
        });
        for (const listener of this.#listeners) listener.onApplied(outcome.revisions);
        return true;
      case 'conflict':
        this.#failures = 0;
        for (const theirs of outcome.conflicts) {
          const mine = batch.changes.find(({ id }) => id === idOf(theirs));
          if (mine !== undefined) this.#conflicts.set(mine.id, { id: mine.id, mine, theirs });
        }
        this.#takeBack(batch);
        return batch.changes.some(({ id }) => this.#conflicts.has(id));
      case 'rejected':
        this.#rejection = { error: outcome.error };
        this.#takeBack(batch);
        return false;
      case 'signed-out':
        return false;
      case 'unreachable':
        this.#postpone(null);
        return false;
    }
  }

  /** Puts the changes of a batch back into the queue; a later change of the same annotation stays, with the base of the batch. */
  #takeBack(batch: PendingBatch): void {
    this.#finish(batch, (change) => ({ ...(this.#queued.get(change.id) ?? change), base: change.base }));
  }

  #finish(batch: PendingBatch, remaining: (change: PendingChange) => PendingChange | null): void {
    const left = batch.changes.flatMap((change) => remaining(change) ?? []);
    this.#batches.delete(batch.layerId);
    for (const change of left) {
      this.#queued.set(change.id, change);
      const conflict = this.#conflicts.get(change.id);
      if (conflict !== undefined) this.#conflicts.set(change.id, { ...conflict, mine: change });
    }
    this.#write((storage) => storage.endBatch(batch.layerId, left));
  }

  #postpone(error: unknown): void {
    const delay = retryMs[Math.min(this.#failures, retryMs.length - 1)] ?? 0;
    this.#failures++;
    if (error !== null && !isTemporary(error)) this.#rejection = { error };
    else this.#schedule(delay);
  }
}

/** Whether a later attempt may succeed: there was no answer, or the server is overloaded. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const status = 'status' in error && typeof error.status === 'number' ? error.status : 503;
  return status >= 500 || status === 429 || status === 401;
}

function toWire({ id, base, feature }: PendingChange): AnnotationChange {
  // The encoded feature has readonly arrays, which the type of the contract does not mention.
  if (feature !== null) {
    return { op: 'put', feature: feature as unknown as AnnotationFeature, base_revision: base };
  }
  return { op: 'delete', id, base_revision: base ?? 1 };
}

function idOf(feature: unknown): string | null {
  return feature !== null && typeof feature === 'object' && 'id' in feature ? String(feature.id) : null;
}

/** Whether the server says that an annotation was deleted. */
function isGone(feature: unknown): boolean {
  return (
    feature === null || typeof feature !== 'object' || !('geometry' in feature) || feature.geometry === null
  );
}
