/**
 * The annotations of the open slide: layers, annotations, selection, and undo. Every change is applied here at once and given
 * to the queue, which sends it. Changes of other people arrive by `receiveLayer` and `receiveChanges`.
 *
 * Longer than other files: changes made here, loaded lists and events of others are merged in one set of annotations.
 */
import { type AnnotationFeature, encodeFeature, parseFeature } from '@lamina/annotations';
import type { AnnotationLayer } from '@lamina/contract';
import type { AnnotationsEvent, LayerEvent } from '../../api/annotations.ts';
import { type Annotation, annotationOf } from './annotation.ts';
import type { ChangeQueue, Conflict } from './change-queue.ts';
import { newLayerId, type PendingChange } from './pending-change.ts';
import { readInSlices } from './read-in-slices.ts';
import { RecentAuthors } from './recent-authors.ts';
import { type Edit, UndoHistory } from './undo-history.ts';

/** Called with the ids of annotations that changed; null: all may have changed. */
export type AnnotationListener = (ids: readonly string[] | null) => void;

/** Listeners are told of annotations that are being loaded this often. */
const loadedTellMs = 100;

/** A change of another person to an annotation whose own change is still to be acknowledged. */
interface DeferredChange {
  readonly change: AnnotationsEvent['changes'][number];
  readonly layerId: string;
  readonly authors: Readonly<Record<string, string>>;
}

export class AnnotationStore {
  readonly imageId: string;
  readonly queue: ChangeQueue;
  readonly #annotations = new Map<string, Annotation>();
  readonly #listeners = new Set<AnnotationListener>();
  readonly #stopListening: () => void;
  readonly #history = new UndoHistory();
  #layers: readonly AnnotationLayer[] = [];
  #activeLayerId: string;
  #selection: ReadonlySet<string> = new Set();
  #hiddenLayers: ReadonlySet<string> = new Set();
  #hiddenClasses: ReadonlySet<string | null> = new Set();
  #failedLayers: ReadonlySet<string> = new Set();
  /** Version of each layer when its annotations were loaded. */
  readonly #loadedLayers = new Map<string, number>();
  readonly #loadingLayers = new Map<string, Promise<void>>();
  /** Ends the loading of layers. */
  readonly #end = new AbortController();
  readonly #deferred = new Map<string, DeferredChange>();
  readonly #recentAuthors = new RecentAuthors(() => this.#tell([]));
  #uid = '';
  #isLive = false;
  /** Revisions of annotations that were deleted here, the base for putting them again. */
  readonly #deletedRevisions = new Map<string, number>();
  readonly #createdLayers = new Map<string, string>();
  /** Increments with every change, for `useSyncExternalStore`. */
  version = 0;

  constructor(imageId: string, queue: ChangeQueue) {
    this.imageId = imageId;
    this.queue = queue;
    this.#activeLayerId = newLayerId(imageId);
    this.#stopListening = queue.listen({
      onApplied: (revisions) => this.#acknowledge(revisions),
      onLayerCreated: (placeholder, layer) => this.#adoptLayer(placeholder, layer),
      onChange: () => this.#tell([]),
    });
  }

  close(): void {
    this.#end.abort();
    this.#stopListening();
    this.#listeners.clear();
    this.#recentAuthors.close();
  }

  readonly listen = (listener: AnnotationListener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get layers(): readonly AnnotationLayer[] {
    return this.#layers;
  }

  /** The layer that receives new annotations; perhaps one that is created with the first of them. */
  get activeLayerId(): string {
    return this.#activeLayerId;
  }

  get selection(): ReadonlySet<string> {
    return this.#selection;
  }

  get canUndo(): boolean {
    return this.#history.canUndo;
  }

  get canRedo(): boolean {
    return this.#history.canRedo;
  }

  /** Layers whose annotations could not be loaded. */
  get failedLayers(): ReadonlySet<string> {
    return this.#failedLayers;
  }

  /** Whether changes of other people arrive. */
  get isLive(): boolean {
    return this.#isLive;
  }

  setLive(isLive: boolean): void {
    this.#isLive = isLive;
    this.#tell([]);
  }

  /** Initials of other authors by the annotation that they changed a moment ago. */
  get recentAuthors(): ReadonlyMap<string, string> {
    return this.#recentAuthors.all;
  }

  all(): readonly Annotation[] {
    return [...this.#annotations.values()];
  }

  find(id: string): Annotation | undefined {
    return this.#annotations.get(id);
  }

  selected(): readonly Annotation[] {
    return [...this.#selection].flatMap((id) => this.#annotations.get(id) ?? []);
  }

  isVisible({ layerId, feature }: Annotation): boolean {
    return (
      !this.#hiddenLayers.has(layerId) &&
      !this.#hiddenClasses.has(feature.properties.classification?.names.join(': ') ?? null)
    );
  }

  isLayerHidden(layerId: string): boolean {
    return this.#hiddenLayers.has(layerId);
  }

  isClassHidden(name: string | null): boolean {
    return this.#hiddenClasses.has(name);
  }

  toggleLayer(layerId: string): void {
    this.#hiddenLayers = toggled(this.#hiddenLayers, layerId);
    this.#tell(null);
  }

  toggleClass(name: string | null): void {
    this.#hiddenClasses = toggled(this.#hiddenClasses, name);
    this.#tell(null);
  }

  /** Whether the person may change an annotation now. */
  canEdit({ layerId, feature }: Annotation): boolean {
    return this.canDrawOn(layerId) && feature.properties.isLocked !== true;
  }

  canDrawOn(layerId: string): boolean {
    const layer = this.#layers.find(({ id }) => id === layerId);
    return layer === undefined ? layerId === newLayerId(this.imageId) : layer.rights.annotate;
  }

  chooseLayer(layerId: string): void {
    this.#activeLayerId = layerId;
    this.#tell([]);
  }

  select(ids: Iterable<string>): void {
    const before = this.#selection;
    this.#selection = new Set(ids);
    this.#tell([...before, ...this.#selection]);
  }

  /** Takes the layers as the server has them, and loads the annotations of those that have changed. */
  async setLayers(layers: readonly AnnotationLayer[], uid: string): Promise<void> {
    this.#uid = uid;
    this.#replaceLayers(layers);
    this.#applyPending();
    this.#tell(null);
    const stale = layers.filter(({ id }) => !this.#loadedLayers.has(id));
    await Promise.all(stale.map(({ id }) => this.#loadingLayers.get(id) ?? this.#loadLayer(id)));
  }

  /** Loads the annotations of layers that have changed since they were loaded. */
  async reloadOlderLayers(layers: readonly AnnotationLayer[]): Promise<void> {
    const older = layers.filter(({ id, version }) => (this.#loadedLayers.get(id) ?? version) < version);
    await Promise.all(older.map(({ id }) => this.#loadLayer(id)));
  }

  /** Takes a layer from an event; the annotations of an unknown one are loaded. */
  receiveLayer(layer: LayerEvent['layer']): void {
    const counts = this.#layers.find(({ id }) => id === layer.id)?.counts;
    const described: AnnotationLayer = { ...layer, counts: counts ?? [] };
    this.#layers =
      counts === undefined
        ? [...this.#layers, described]
        : this.#layers.map((each) => (each.id === layer.id ? described : each));
    if (!this.#loadedLayers.has(layer.id) && !this.#loadingLayers.has(layer.id))
      void this.#loadLayer(layer.id);
    this.#tell([]);
  }

  /** Removes a layer that was deleted, or that the person may not read any more. */
  removeLayer(layerId: string): void {
    this.#replaceLayers(this.#layers.filter(({ id }) => id !== layerId));
    this.#tell(null);
  }

  /** Takes changes from an event; those of annotations with unacknowledged changes wait. */
  receiveChanges(event: AnnotationsEvent): void {
    const { layer_id: layerId, reload, changes, authors } = event;
    if (!this.#layers.some(({ id }) => id === layerId)) return;
    if (reload) {
      void this.#loadLayer(layerId);
      return;
    }
    for (const change of changes) {
      this.#deferred.set(change.op === 'put' ? change.feature.id : change.id, { change, layerId, authors });
    }
    this.#applyDeferred();
  }

  /** Adds a layer that was created here, and draws on it from now on. */
  addLayer(layer: AnnotationLayer): void {
    this.#loadedLayers.set(layer.id, layer.version);
    if (!this.#layers.some(({ id }) => id === layer.id)) this.#layers = [...this.#layers, layer];
    this.chooseLayer(layer.id);
  }

  updateLayer(layer: AnnotationLayer): void {
    this.#layers = this.#layers.map((each) => (each.id === layer.id ? layer : each));
    this.#tell([]);
  }

  /** Applies changes as one step that can be undone. `feature` null deletes; a new annotation goes to the active layer. */
  change(changes: readonly { readonly id: string; readonly feature: AnnotationFeature | null }[]): void {
    const edits = changes.map(({ id, feature }): Edit => {
      const before = this.#annotations.get(id);
      return {
        id,
        layerId: before?.layerId ?? this.#activeLayerId,
        before: before?.feature ?? null,
        after: feature,
      };
    });
    if (edits.length === 0) return;
    this.#history.add(edits);
    this.#apply(edits.map(({ id, layerId, after }) => ({ id, layerId, feature: after })));
  }

  undo(): void {
    const step = this.#history.undo();
    if (step.length > 0)
      this.#apply(step.map(({ id, layerId, before }) => ({ id, layerId, feature: before })));
  }

  redo(): void {
    const step = this.#history.redo();
    if (step.length > 0) this.#apply(step.map(({ id, layerId, after }) => ({ id, layerId, feature: after })));
  }

  /** Ends a conflict with the version that the person has chosen. */
  resolve({ id, theirs, mine }: Conflict, keep: 'mine' | 'theirs'): void {
    const parsed = parseFeature(theirs, { extent: null });
    const revision = revisionOf(theirs);
    if (keep === 'theirs' && parsed.ok) {
      const before = this.#annotations.get(id);
      this.#put(parsed.feature, before?.layerId ?? mine.layerId, revision);
    } else if (keep === 'theirs') this.#annotations.delete(id);
    this.queue.resolve(id, keep, revision);
    this.#tell([id]);
    this.#applyDeferred();
  }

  /** Gives up what the server rejected, and reads the layers again. */
  async discard(layers: readonly AnnotationLayer[], uid: string): Promise<void> {
    this.queue.discard();
    this.#annotations.clear();
    this.#layers = [];
    this.#loadedLayers.clear();
    this.#loadingLayers.clear();
    this.#history.clear();
    await this.setLayers(layers, uid);
  }

  #apply(
    changes: readonly {
      readonly id: string;
      readonly layerId: string;
      readonly feature: AnnotationFeature | null;
    }[],
  ) {
    for (const { id, layerId: wanted, feature } of changes) {
      const before = this.#annotations.get(id);
      const layerId = before?.layerId ?? this.#currentLayer(wanted);
      const base = before?.revision ?? this.#deletedRevisions.get(id) ?? null;
      if (feature === null) {
        this.#annotations.delete(id);
        if (base !== null) this.#deletedRevisions.set(id, base);
      } else this.#put(feature, layerId, base);
      const encoded = feature === null ? null : encodeFeature(feature);
      this.queue.add({ id, layerId, imageId: this.imageId, base, feature: encoded });
    }
    this.#selection = new Set([...this.#selection].filter((id) => this.#annotations.has(id)));
    this.#tell(changes.map(({ id }) => id));
  }

  /** A layer that was created since an undone step stands in for its placeholder. */
  #currentLayer(layerId: string): string {
    return this.#createdLayers.get(layerId) ?? layerId;
  }

  #put(feature: AnnotationFeature, layerId: string, revision: number | null): void {
    this.#annotations.set(
      feature.id,
      annotationOf({ feature, layerId, revision, author: null, changedAt: Date.now() }),
    );
  }

  #loadLayer(layerId: string): Promise<void> {
    const loading = this.#readLayer(layerId).finally(() => this.#loadingLayers.delete(layerId));
    this.#loadingLayers.set(layerId, loading);
    return loading;
  }

  async #readLayer(layerId: string): Promise<void> {
    const { signal } = this.#end;
    const failed = new Set(this.#failedLayers);
    const before = this.all().filter((each) => each.layerId === layerId && each.revision !== null);
    const listed = new Set<unknown>();
    let untold: string[] = [];
    let toldAt = 0;
    const tell = () => {
      this.#applyPending();
      this.#tell([...untold, ...this.queue.pendingOf(this.imageId).keys()]);
      untold = [];
      toldAt = performance.now();
    };
    try {
      const version = await readInSlices(layerId, signal, (value, authors) => {
        if (!this.#layers.some((layer) => layer.id === layerId)) return; // removed meanwhile
        const { id } = value as { readonly id?: unknown };
        listed.add(id);
        if (this.#take(value, layerId, authors)) untold.push(String(id));
        if (untold.length > 0 && performance.now() - toldAt > loadedTellMs) tell();
      });
      for (const { id, revision } of before) {
        const isSame = this.#annotations.get(id)?.revision === revision;
        if (!isSame || listed.has(id) || this.queue.isPending(id)) continue;
        this.#annotations.delete(id);
        untold.push(id);
      }
      this.#loadedLayers.set(layerId, version);
      failed.delete(layerId);
    } catch {
      if (signal.aborted) return;
      failed.add(layerId);
    }
    this.#failedLayers = failed;
    tell();
  }

  /** Takes an annotation of the server, unless a later revision of it is known. @returns whether it was new */
  #take(value: unknown, layerId: string, authors: Readonly<Record<string, string>>): boolean {
    const parsed = parseFeature(value, { extent: null });
    if (!parsed.ok) return false;
    const { feature } = parsed;
    const revision = revisionOf(value);
    const known = this.#annotations.get(feature.id)?.revision ?? this.#deletedRevisions.get(feature.id) ?? 0;
    if (revision !== null && revision <= known) return false;
    const { properties: record } = value as { readonly properties: Readonly<Record<string, unknown>> };
    const author = authors[String(record.updated_by)] ?? null;
    const changedAt = Date.parse(String(record.updated_at));
    this.#annotations.set(feature.id, annotationOf({ feature, layerId, revision, author, changedAt }));
    return true;
  }

  /** Applies the events of annotations that have no unacknowledged change any more. */
  #applyDeferred(): void {
    const changed: string[] = [];
    for (const [id, deferred] of this.#deferred) {
      if (this.queue.isPending(id)) continue;
      this.#deferred.delete(id);
      if (this.#applyEvent(deferred)) changed.push(id);
    }
    if (changed.length === 0) return;
    this.#history.forget(changed);
    this.#selection = new Set([...this.#selection].filter((id) => this.#annotations.has(id)));
    this.#tell(changed);
  }

  /** @returns whether the change was unknown */
  #applyEvent({ change, layerId, authors }: DeferredChange): boolean {
    if (change.op === 'delete') {
      const known = this.#annotations.get(change.id);
      if ((known?.revision ?? 0) >= change.revision) return false;
      this.#deletedRevisions.set(change.id, change.revision);
      return this.#annotations.delete(change.id);
    }
    if (!this.#take(change.feature, layerId, authors)) return false;
    const { properties } = change.feature as { readonly properties?: { readonly updated_by?: unknown } };
    const uid = String(properties?.updated_by);
    const displayName = authors[uid];
    if (uid !== this.#uid && displayName !== undefined)
      this.#recentAuthors.show(change.feature.id, displayName);
    return true;
  }

  #replaceLayers(layers: readonly AnnotationLayer[]): void {
    const here = new Set(layers.map(({ id }) => id));
    const gone = new Set(this.#layers.flatMap(({ id }) => (here.has(id) ? [] : id)));
    this.#layers = layers;
    if (!here.has(this.#activeLayerId)) {
      const own = layers.find(({ owner, rights }) => owner === this.#uid && rights.annotate);
      this.#activeLayerId = own?.id ?? newLayerId(this.imageId);
    }
    for (const { id, layerId } of this.all()) if (gone.has(layerId)) this.#annotations.delete(id);
    this.#selection = new Set([...this.#selection].filter((id) => this.#annotations.has(id)));
    for (const id of gone) this.#loadedLayers.delete(id);
  }

  /** Shows changes of earlier pages that the server has not acknowledged. */
  #applyPending(): void {
    for (const change of this.queue.pendingOf(this.imageId).values()) this.#showPending(change);
  }

  #showPending({ id, layerId, feature, base }: PendingChange): void {
    if (feature === null) {
      this.#annotations.delete(id);
      return;
    }
    const parsed = parseFeature(feature, { extent: null });
    if (parsed.ok) this.#put(parsed.feature, layerId, base);
  }

  #acknowledge(revisions: Readonly<Record<string, number>>): void {
    for (const [id, revision] of Object.entries(revisions)) {
      const annotation = this.#annotations.get(id);
      if (annotation !== undefined) this.#annotations.set(id, { ...annotation, revision });
      else this.#deletedRevisions.set(id, revision);
    }
    this.#tell(Object.keys(revisions));
    this.#applyDeferred();
  }

  #adoptLayer(placeholder: string, layer: AnnotationLayer): void {
    if (placeholder !== newLayerId(this.imageId)) return;
    this.#createdLayers.set(placeholder, layer.id);
    this.#loadedLayers.set(layer.id, layer.version);
    if (!this.#layers.some(({ id }) => id === layer.id)) this.#layers = [...this.#layers, layer];
    if (this.#activeLayerId === placeholder) this.#activeLayerId = layer.id;
    for (const annotation of this.#annotations.values()) {
      if (annotation.layerId !== placeholder) continue;
      this.#annotations.set(annotation.id, { ...annotation, layerId: layer.id });
    }
    this.#tell(null);
  }

  #tell(ids: readonly string[] | null): void {
    this.version++;
    for (const listener of this.#listeners) listener(ids);
  }
}

function revisionOf(feature: unknown): number | null {
  const { properties } = feature as { readonly properties?: { readonly revision?: unknown } };
  return typeof properties?.revision === 'number' ? properties.revision : null;
}

function toggled<T>(set: ReadonlySet<T>, member: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(member)) next.add(member);
  return next;
}
