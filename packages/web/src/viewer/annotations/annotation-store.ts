/**
 * The annotations of the open slide: layers, annotations, selection and undo history. The store applies every change of
 * the user immediately and adds it to the change queue, which sends it to the server. Changes of other users arrive as
 * server events through `receiveLayer` and `receiveChanges`. A revision counts the changes of an annotation on the
 * server; the base revision of a change is the revision to which it applies. A user's first layer on a slide
 * is created when its first annotation is saved. Until then, the layer has a placeholder (`newLayerId`) as its id.
 *
 * This file is longer than others, because the store merges this user's changes, loaded layers and the events about
 * changes of other users into one set of annotations.
 */
import { type AnnotationFeature, encodeFeature } from '@lamina/annotations';
import type { AnnotationLayer } from '@lamina/contract';
import type { AnnotationsEvent, LayerEvent } from '../../api/annotations.ts';
import { type Annotation, annotationOf, classNameOf, readFeature } from './annotation.ts';
import type { ChangeQueue, Conflict } from './change-queue.ts';
import { annotationKey, newLayerId, type PendingChange } from './pending-change.ts';
import { readAnnotationsInSlices } from './read-in-slices.ts';
import { RecentAuthors } from './recent-authors.ts';
import { type Edit, UndoHistory } from './undo-history.ts';

/** Called with the ids of changed annotations: null if all may have changed, empty if only other state has changed. */
export type AnnotationListener = (ids: readonly string[] | null) => void;

/** While a layer is being loaded, the store notifies its listeners at most once per interval. */
const loadNotifyIntervalMs = 100;

/**
 * A change by this user. It applies to the annotation `id` of the store, or creates an annotation when `id` is absent.
 * A null `feature` deletes the annotation.
 */
export interface UserChange {
  readonly id?: string;
  readonly feature: AnnotationFeature | null;
  /** Layer of a new annotation; the active layer when it is absent. */
  readonly layerId?: string;
}

/** Another user's change. It waits until the server acknowledges this user's change of the same annotation. */
interface DeferredChange {
  readonly change: AnnotationsEvent['changes'][number];
  readonly layerId: string;
  /** Display names by account id. */
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
  #hiddenClasses: ReadonlySet<string | null> = new Set(); // null stands for annotations without a class
  #failedLayers: ReadonlySet<string> = new Set(); // ids of the layers whose annotations could not be loaded
  /** Version of each layer when its annotations were loaded, by layer id. */
  readonly #loadedVersions = new Map<string, number>();
  /** The running loads by layer id. Each promise settles when the annotations of the layer are loaded. */
  readonly #loadingLayers = new Map<string, Promise<void>>();
  /** Aborts the loading of layers when the store is closed. */
  readonly #abortController = new AbortController();
  /** Changes of other users to apply later, by `Annotation.id`. */
  readonly #deferred = new Map<string, DeferredChange>();
  readonly #recentAuthors = new RecentAuthors(() => this.#notify([]));
  /** Id of the user's account; empty before the layers are set. */
  #uid = '';
  #isLive = false;
  /** Last revision of each deleted annotation, by `Annotation.id`. An undo that creates the annotation again uses it as base revision. */
  readonly #deletedRevisions = new Map<string, number>();
  /** Ids of created layers, by the placeholder id (`newLayerId`) that their first annotations had as layer id. */
  readonly #createdLayers = new Map<string, string>();
  /**
   * By layer id: the layer id that `Annotation.id` contains, where the two ids differ. The annotations of a created layer keep the
   * placeholder in `Annotation.id`, so that a selection, a draft and typed text survive the creation of the layer.
   */
  readonly #layersInIds = new Map<string, string>();
  /** Increments with every change: React's `useSyncExternalStore` compares it. */
  version = 0;

  constructor(imageId: string, queue: ChangeQueue) {
    this.imageId = imageId;
    this.queue = queue;
    this.#activeLayerId = newLayerId(imageId);
    this.#stopListening = queue.listen({
      onApplied: (layerId, revisions) => this.#acknowledge(layerId, revisions),
      onLayerCreated: (placeholder, layer) => this.#adoptLayer(placeholder, layer),
      onResumed: (change) => this.#showResumed(change),
      onDiscarded: (changes) => this.#dropDiscarded(changes),
      onChange: () => this.#notify([]),
    });
  }

  /** Stops requests, timers and notifications when the slide is closed. */
  close(): void {
    this.#abortController.abort();
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

  /** Id of the layer that receives new annotations; a placeholder (`newLayerId`) while this user has no layer. */
  get activeLayerId(): string {
    return this.#activeLayerId;
  }

  /** Id of this user's own layer, which receives the first annotation; a placeholder (`newLayerId`) while there is none. */
  get ownLayerId(): string {
    const ownLayer = this.#layers.find(({ owner, rights }) => owner === this.#uid && rights.annotate);
    return ownLayer?.id ?? newLayerId(this.imageId);
  }

  /** Ids of the selected annotations; each change of the selection creates a new set. */
  get selection(): ReadonlySet<string> {
    return this.#selection;
  }

  get canUndo(): boolean {
    return this.#history.canUndo;
  }

  get canRedo(): boolean {
    return this.#history.canRedo;
  }

  get failedLayers(): ReadonlySet<string> {
    return this.#failedLayers;
  }

  /** Whether the event stream is connected, so that changes of other users arrive. */
  get isLive(): boolean {
    return this.#isLive;
  }

  setLive(isLive: boolean): void {
    this.#isLive = isLive;
    this.#notify([]);
  }

  /** Initials of the other users who have just changed annotations, by the id of the annotation. */
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
    return !this.#hiddenLayers.has(layerId) && !this.#hiddenClasses.has(classNameOf(feature));
  }

  isLayerHidden(layerId: string): boolean {
    return this.#hiddenLayers.has(layerId);
  }

  isClassHidden(name: string | null): boolean {
    return this.#hiddenClasses.has(name);
  }

  /** Hides or shows a layer. Hidden annotations are deselected. */
  toggleLayer(layerId: string): void {
    this.#hiddenLayers = toggled(this.#hiddenLayers, layerId);
    this.#deselectHidden();
    this.#notify(null);
  }

  /** Hides or shows a class. Hidden annotations are deselected. @param name null for annotations without a class */
  toggleClass(name: string | null): void {
    this.#hiddenClasses = toggled(this.#hiddenClasses, name);
    this.#deselectHidden();
    this.#notify(null);
  }

  canEdit({ layerId, feature }: Annotation): boolean {
    return this.canDrawOn(layerId) && feature.properties.isLocked !== true;
  }

  /** Whether the user may add annotations to a layer; true for the placeholder of a layer that is not created yet. */
  canDrawOn(layerId: string): boolean {
    const layer = this.#layers.find(({ id }) => id === layerId);
    return layer === undefined ? layerId === newLayerId(this.imageId) : layer.rights.annotate;
  }

  chooseLayer(layerId: string): void {
    this.#activeLayerId = layerId;
    this.#notify([]);
  }

  select(ids: Iterable<string>): void {
    const before = this.#selection;
    this.#selection = new Set(ids);
    this.#notify([...before, ...this.#selection]);
  }

  /** Replaces the layers with the current layers on the server, and loads the annotations of each layer that is not loaded yet. */
  async setLayers(layers: readonly AnnotationLayer[], uid: string): Promise<void> {
    this.#uid = uid;
    this.#replaceLayers(layers);
    this.#applyPending();
    this.#notify(null);
    const layersToLoad = layers.filter(({ id }) => !this.#loadedVersions.has(id));
    await Promise.all(layersToLoad.map(({ id }) => this.#loadingLayers.get(id) ?? this.#loadLayer(id)));
  }

  /** Reloads each layer whose loaded version is older than on the server; skips layers not loaded yet. @param layers from the server */
  async reloadOutdatedLayers(layers: readonly AnnotationLayer[]): Promise<void> {
    const outdated = layers.filter(({ id, version }) => (this.#loadedVersions.get(id) ?? version) < version);
    await Promise.all(outdated.map(({ id }) => this.#loadLayer(id)));
  }

  /** Adds or updates a layer from a server event; loads the annotations of a layer that is not loaded yet. */
  receiveLayer(layer: LayerEvent['layer']): void {
    // An event contains no counts per class, so a known layer keeps its counts; `counts` is undefined for a new layer.
    const counts = this.#layers.find(({ id }) => id === layer.id)?.counts;
    const updated: AnnotationLayer = { ...layer, counts: counts ?? [] };
    this.#layers =
      counts === undefined
        ? [...this.#layers, updated]
        : this.#layers.map((known) => (known.id === layer.id ? updated : known));
    if (!this.#loadedVersions.has(layer.id) && !this.#loadingLayers.has(layer.id))
      void this.#loadLayer(layer.id);
    this.#notify([]);
  }

  /** Removes a layer that was deleted, or that the user may not read any more. */
  removeLayer(layerId: string): void {
    this.#replaceLayers(this.#layers.filter(({ id }) => id !== layerId));
    this.#notify(null);
  }

  /**
   * Applies changes from a server event. A change waits while the server has not acknowledged this user's change of the
   * same annotation.
   */
  receiveChanges(event: AnnotationsEvent): void {
    const { layer_id: layerId, reload, changes, authors } = event;
    if (!this.#layers.some(({ id }) => id === layerId)) return;
    // The server sets `reload` when the changes are too many for an event.
    if (reload) {
      void this.#loadLayer(layerId);
      return;
    }
    for (const change of changes) {
      const { id } = change.op === 'put' ? change.feature : change;
      this.#deferred.set(this.#idOf(layerId, id), { change, layerId, authors });
    }
    this.#applyDeferred();
  }

  /** Adds a layer that this user has created and makes it the active one. */
  addLayer(layer: AnnotationLayer): void {
    this.#loadedVersions.set(layer.id, layer.version); // counts as loaded: a new layer has no annotations
    if (!this.#layers.some(({ id }) => id === layer.id)) this.#layers = [...this.#layers, layer];
    this.chooseLayer(layer.id);
  }

  /** Replaces a layer whose name or settings this user has changed. */
  updateLayer(layer: AnnotationLayer): void {
    this.#layers = this.#layers.map((known) => (known.id === layer.id ? layer : known));
    this.#notify([]);
  }

  /**
   * Applies changes as one undo step. Ignores changes of annotations that do not exist any more.
   *
   * @returns the ids of the changed annotations, in the order of the changes
   */
  change(changes: readonly UserChange[]): readonly string[] {
    const edits = changes.flatMap(({ id, feature, layerId = this.#activeLayerId }): Edit | [] => {
      if (id === undefined)
        return feature === null ? [] : { id: feature.id, layerId, before: null, after: feature };
      const stored = this.#annotations.get(id);
      if (stored === undefined) return [];
      return { id: stored.feature.id, layerId: stored.layerId, before: stored.feature, after: feature };
    });
    if (edits.length === 0) return [];
    this.#history.add(edits);
    return this.#apply(edits.map(({ id, layerId, after }) => ({ id, layerId, feature: after })));
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

  /** The first unresolved conflict of this slide; undefined if there is none. The queue of the account also holds those of other slides. */
  get conflict(): Conflict | undefined {
    return this.queue.conflicts().find(({ mine }) => mine.imageId === this.imageId);
  }

  /** Resolves a conflict between this user's version of an annotation and the server's. @param keep the chosen version */
  resolve(conflict: Conflict, keep: 'mine' | 'theirs'): void {
    const { theirs, mine } = conflict;
    if (mine.imageId !== this.imageId) return; // the annotation belongs to another slide
    const id = this.#idOf(mine.layerId, mine.id);
    const theirFeature = readFeature(theirs);
    const revision = revisionOf(theirs);
    if (keep === 'theirs' && theirFeature !== null)
      this.#storeOwnVersion(theirFeature, mine.layerId, revision);
    else if (keep === 'theirs') this.#annotations.delete(id); // `readFeature` returns null for a feature that was deleted
    this.#removeFromHistory([id]);
    this.queue.resolve(conflict, keep, revision);
    this.#notify([id]);
    this.#applyDeferred();
  }

  /**
   * Drops the unsent changes of the layers whose changes the server has rejected, and loads all annotations again.
   *
   * @param layers the current layers on the server
   */
  async discard(layers: readonly AnnotationLayer[], uid: string): Promise<void> {
    this.queue.discard();
    this.#loadedVersions.clear();
    this.#loadingLayers.clear();
    await this.setLayers(layers, uid);
  }

  /** Shows a change of a closed tab that is sent only now, because another closed tab has changed the annotation, too. */
  #showResumed(change: PendingChange): void {
    if (change.imageId !== this.imageId) return;
    this.#applyPendingChange(change);
    const id = this.#idOf(change.layerId, change.id);
    this.#removeFromHistory([id]);
    this.#notify([id]);
  }

  /** Removes discarded changes of this slide, which the other half of a comparison may have discarded; reloads the slide's annotations. */
  #dropDiscarded(changes: readonly PendingChange[]): void {
    const ids = changes
      .filter(({ imageId }) => imageId === this.imageId)
      .map(({ layerId, id }) => this.#idOf(layerId, id));
    if (ids.length === 0) return;
    for (const id of ids) {
      this.#annotations.delete(id);
      this.#deletedRevisions.delete(id); // otherwise, loading would ignore an annotation whose deletion is dropped
    }
    this.#removeFromHistory(ids);
    this.#loadedVersions.clear();
    this.#loadingLayers.clear();
    void this.setLayers(this.#layers, this.#uid);
  }

  /** Returns the `Annotation.id` of an annotation. @param featureId id of the annotation on the server */
  #idOf(layerId: string, featureId: string): string {
    return annotationKey({ layerId: this.#layersInIds.get(layerId) ?? layerId, id: featureId });
  }

  /** Applies changes of this user to the store and adds them to the queue. @returns the ids of the annotations in the store */
  #apply(
    changes: readonly {
      readonly id: string; // on the server
      readonly layerId: string;
      readonly feature: AnnotationFeature | null; // null deletes the annotation
    }[],
  ): readonly string[] {
    const ids: string[] = [];
    for (const { id: featureId, layerId: requestedLayerId, feature } of changes) {
      const id = this.#idOf(requestedLayerId, featureId);
      ids.push(id);
      const stored = this.#annotations.get(id);
      const layerId = this.#createdLayers.get(requestedLayerId) ?? requestedLayerId;
      const baseRevision = stored?.revision ?? this.#deletedRevisions.get(id) ?? null; // null: the server has no revision
      if (feature === null) {
        this.#annotations.delete(id);
        if (baseRevision !== null) this.#deletedRevisions.set(id, baseRevision);
      } else this.#storeOwnVersion(feature, layerId, baseRevision);
      const encoded = feature === null ? null : encodeFeature(feature);
      this.queue.add({ id: featureId, layerId, imageId: this.imageId, base: baseRevision, feature: encoded });
    }
    this.#dropMissingFromSelection();
    this.#notify(ids);
    return ids;
  }

  /** Removes annotations from the selection that do not exist any more. */
  #dropMissingFromSelection(): void {
    this.#keepSelected(this.selected());
  }

  #deselectHidden(): void {
    this.#keepSelected(this.selected().filter((annotation) => this.isVisible(annotation)));
  }

  /** Deselects all other annotations. @param kept selected annotations */
  #keepSelected(kept: readonly Annotation[]): void {
    if (kept.length < this.#selection.size) this.#selection = new Set(kept.map(({ id }) => id));
  }

  /**
   * Removes the user's edits of these annotations from the undo history. Versions of the server have replaced the annotations, so undoing
   * such an edit would also undo changes of other users. Deselects the annotations that are deleted on the server.
   */
  #removeFromHistory(ids: Iterable<string>): void {
    const replacedIds = new Set(ids);
    this.#history.removeEdits(({ id, layerId }) => replacedIds.has(this.#idOf(layerId, id)));
    this.#dropMissingFromSelection();
  }

  /** Stores an annotation that this user has changed, or whose server version this user has chosen in a conflict. */
  #storeOwnVersion(feature: AnnotationFeature, layerId: string, revision: number | null): void {
    this.#store({ feature, layerId, revision, author: null, changedAt: Date.now() });
  }

  #store(fields: Parameters<typeof annotationOf>[0]): void {
    const id = this.#idOf(fields.layerId, fields.feature.id);
    this.#annotations.set(id, { ...annotationOf(fields), id });
  }

  #loadLayer(layerId: string): Promise<void> {
    const loading = this.#fetchAndMerge(layerId).finally(() => this.#loadingLayers.delete(layerId));
    this.#loadingLayers.set(layerId, loading);
    return loading;
  }

  /** Loads the annotations of a layer in time slices and merges them with the annotations in the store. */
  async #fetchAndMerge(layerId: string): Promise<void> {
    const { signal } = this.#abortController;
    let hasFailed = false;
    /** The annotations of the layer that the server has acknowledged before this request. */
    const acknowledgedBefore = this.all().filter(
      (annotation) => annotation.layerId === layerId && annotation.revision !== null,
    );
    const idsOnServer = new Set<string>();
    let idsToNotify: string[] = [];
    /** The part of `idsToNotify` without a pending change at the time of loading: the loaded version is another user's change. */
    let idsOfOthers: string[] = [];
    let notifiedAt = 0; // time of the last notification, as `performance.now()` returns it
    const notifyLoaded = () => {
      this.#applyPending(); // loaded annotations may have replaced changes that are not sent yet
      const pending = this.#idsOfPending();
      this.#removeFromHistory(idsOfOthers.filter((id) => !pending.has(id)));
      this.#notify([...idsToNotify, ...pending]);
      idsToNotify = [];
      idsOfOthers = [];
      notifiedAt = performance.now();
    };
    try {
      const version = await readAnnotationsInSlices(layerId, signal, (featureJson, authors) => {
        if (!this.#layers.some((layer) => layer.id === layerId)) return; // the layer was removed meanwhile
        const featureId = String((featureJson as { readonly id?: unknown }).id);
        const id = this.#idOf(layerId, featureId);
        idsOnServer.add(featureId);
        if (this.#storeIfNewer(featureJson, layerId, authors)) {
          idsToNotify.push(id);
          // With a pending change, the loaded version may be this user's change, which may be acknowledged before the next notification.
          if (!this.queue.isPending(layerId, featureId)) idsOfOthers.push(id);
        }
        const isNotifyDue = performance.now() - notifiedAt > loadNotifyIntervalMs;
        if (idsToNotify.length > 0 && isNotifyDue) notifyLoaded();
      });
      // Annotations that the server no longer lists were deleted, unless they have changed since the request.
      for (const { id, feature, revision } of acknowledgedBefore) {
        const isUnchanged = this.#annotations.get(id)?.revision === revision;
        const isPending = this.queue.isPending(layerId, feature.id);
        if (!isUnchanged || idsOnServer.has(feature.id) || isPending) continue;
        this.#annotations.delete(id);
        idsToNotify.push(id);
        idsOfOthers.push(id);
      }
      this.#loadedVersions.set(layerId, version);
    } catch {
      if (signal.aborted) return;
      hasFailed = true;
    }
    const failedLayers = new Set(this.#failedLayers); // copied only now: layers loading at the same time also replace the set
    if (hasFailed) failedLayers.add(layerId);
    else failedLayers.delete(layerId);
    this.#failedLayers = failedLayers;
    notifyLoaded();
  }

  /** Stores an annotation from the server unless the stored revision is the same or newer. @returns whether the annotation was stored */
  #storeIfNewer(featureJson: unknown, layerId: string, authors: Readonly<Record<string, string>>): boolean {
    const feature = readFeature(featureJson);
    if (feature === null) return false;
    const revision = revisionOf(featureJson);
    const id = this.#idOf(layerId, feature.id);
    const storedRevision = this.#annotations.get(id)?.revision ?? this.#deletedRevisions.get(id) ?? 0;
    if (revision !== null && revision <= storedRevision) return false;
    const { properties: serverFields } = featureJson as {
      readonly properties: Readonly<Record<string, unknown>>;
    };
    const author = authors[String(serverFields.updated_by)] ?? null; // null for an account without a display name
    const changedAt = Date.parse(String(serverFields.updated_at));
    this.#store({ feature, layerId, revision, author, changedAt });
    return true;
  }

  /** Applies the deferred changes of annotations that no longer have an unacknowledged change. */
  #applyDeferred(): void {
    const changed: string[] = [];
    const pending = this.#idsOfPending();
    for (const [id, deferred] of this.#deferred) {
      if (pending.has(id)) continue;
      this.#deferred.delete(id);
      if (this.#applyEvent(deferred)) changed.push(id);
    }
    if (changed.length === 0) return;
    this.#removeFromHistory(changed);
    this.#notify(changed);
  }

  /** Applies a change from an event if its revision is newer than the stored one. @returns whether anything changed */
  #applyEvent({ change, layerId, authors }: DeferredChange): boolean {
    if (change.op === 'delete') {
      const id = this.#idOf(layerId, change.id);
      const storedRevision = this.#annotations.get(id)?.revision ?? 0;
      if (storedRevision >= change.revision) return false;
      this.#deletedRevisions.set(id, change.revision);
      return this.#annotations.delete(id);
    }
    if (!this.#storeIfNewer(change.feature, layerId, authors)) return false;
    const { properties } = change.feature as { readonly properties?: { readonly updated_by?: unknown } };
    const uid = String(properties?.updated_by);
    const displayName = authors[uid];
    if (uid !== this.#uid && displayName !== undefined)
      this.#recentAuthors.show(this.#idOf(layerId, change.feature.id), displayName);
    return true;
  }

  /** Replaces the layers, removes the annotations and undo steps of missing layers, and chooses an active layer that exists. */
  #replaceLayers(layers: readonly AnnotationLayer[]): void {
    const layerIds = new Set(layers.map(({ id }) => id));
    const removedLayerIds = new Set(this.#layers.flatMap(({ id }) => (layerIds.has(id) ? [] : id)));
    this.#layers = layers;
    if (!layerIds.has(this.#activeLayerId)) this.#activeLayerId = this.ownLayerId;
    for (const { id, layerId } of this.all()) if (removedLayerIds.has(layerId)) this.#annotations.delete(id);
    this.#history.removeEdits(({ layerId }) =>
      removedLayerIds.has(this.#createdLayers.get(layerId) ?? layerId),
    );
    for (const [placeholder, id] of this.#createdLayers)
      if (removedLayerIds.has(id)) this.#createdLayers.delete(placeholder);
    for (const [id, idInIds] of this.#layersInIds)
      if (removedLayerIds.has(id) || removedLayerIds.has(idInIds)) this.#layersInIds.delete(id);
    this.#dropMissingFromSelection();
    for (const id of removedLayerIds) this.#loadedVersions.delete(id);
  }

  /** Applies the changes that the server has not acknowledged; some may have been made before the page was reloaded. */
  #applyPending(): void {
    for (const change of this.queue.pendingOf(this.imageId).values()) this.#applyPendingChange(change);
  }

  #applyPendingChange({ id, layerId, feature, base }: PendingChange): void {
    if (feature === null) {
      this.#annotations.delete(this.#idOf(layerId, id));
      return;
    }
    const pendingFeature = readFeature(feature);
    if (pendingFeature !== null) this.#storeOwnVersion(pendingFeature, layerId, base);
  }

  /** Returns the ids of the annotations with changes that the server has not acknowledged. */
  #idsOfPending(): ReadonlySet<string> {
    const pending = [...this.queue.pendingOf(this.imageId).values()];
    return new Set(pending.map(({ layerId, id }) => this.#idOf(layerId, id)));
  }

  /** Stores the new revisions of annotations after the server has acknowledged changes in their layer. */
  #acknowledge(layerId: string, revisions: Readonly<Record<string, number>>): void {
    const revisionsById = new Map(
      Object.entries(revisions).map(([featureId, revision]) => [this.#idOf(layerId, featureId), revision]),
    );
    for (const [id, revision] of revisionsById) {
      const annotation = this.#annotations.get(id);
      if (annotation !== undefined) this.#annotations.set(id, { ...annotation, revision });
      else this.#deletedRevisions.set(id, revision);
    }
    this.#notify([...revisionsById.keys()]);
    this.#applyDeferred();
  }

  /** Replaces the placeholder id of a layer with the id of the created layer, or of the user's layer that another tab has created. */
  #adoptLayer(placeholder: string, layer: AnnotationLayer): void {
    if (placeholder !== newLayerId(this.imageId)) return; // a layer of another slide, whose changes the same queue sends
    this.#createdLayers.set(placeholder, layer.id);
    this.#loadedVersions.set(layer.id, layer.version);
    if (!this.#layers.some(({ id }) => id === layer.id)) this.#layers = [...this.#layers, layer];
    if (this.#activeLayerId === placeholder) this.#activeLayerId = layer.id;
    // If the store already has annotations of this layer, their ids stay, and the ids of the placeholder's annotations change.
    if (this.all().some(({ layerId }) => layerId === layer.id)) this.#layersInIds.set(placeholder, layer.id);
    else this.#layersInIds.set(layer.id, placeholder);
    for (const annotation of this.all()) {
      if (annotation.layerId !== placeholder) continue;
      this.#annotations.delete(annotation.id);
      this.#store({ ...annotation, layerId: layer.id });
    }
    this.#dropMissingFromSelection();
    this.#notify(null);
  }

  /** Calls all listeners. @param ids as in `AnnotationListener` */
  #notify(ids: readonly string[] | null): void {
    this.version++;
    for (const listener of this.#listeners) listener(ids);
  }
}

/** Returns the revision in the properties of a feature from the server; null if there is none. */
function revisionOf(feature: unknown): number | null {
  const { properties } = feature as { readonly properties?: { readonly revision?: unknown } };
  return typeof properties?.revision === 'number' ? properties.revision : null;
}

/** Returns a copy of the set in which the member is removed if the set contains it, and added if not. */
function toggled<T>(set: ReadonlySet<T>, member: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(member)) next.add(member);
  return next;
}
