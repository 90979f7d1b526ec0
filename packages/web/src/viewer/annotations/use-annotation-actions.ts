import {
  type AnnotationFeature,
  createUuid,
  encodeFeature,
  fillHoles,
  isArea,
  separateParts,
  simplifyGeometry,
} from '@lamina/annotations';
import { useMemo } from 'react';
import { copyText } from '../../browser/copy-text.ts';
import { zoomOf } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import { readFeature } from './annotation.ts';
import { copyOf } from './drafts.ts';
import { texts } from './texts.ts';
import type { SlideAnnotations } from './use-annotations.ts';

/** Distance of a duplicate from its original to the right and down, in CSS pixels. */
const duplicateOffset = 20;
/** Fraction of the view's width or height that an annotation fills after `zoomTo`. */
const zoomToFraction = 0.6;

export interface AnnotationActions {
  readonly undo: () => void;
  readonly redo: () => void;
  /** Removes the last point of the draft, the chosen vertex or the selected annotations, as `DrawingSession.remove` does. */
  readonly remove: () => void;
  readonly duplicate: () => void;
  readonly merge: () => void;
  /** Subtracts the other selected areas from the area that was selected first. */
  readonly subtract: () => void;
  readonly fillHoles: () => void;
  readonly simplify: () => void;
  readonly split: () => void;
  readonly setLocked: (isLocked: boolean) => void;
  readonly copy: () => void;
  /** Adds the annotations of a GeoJSON text to the active layer. */
  readonly paste: (text: string) => void;
  /** Moves and zooms the view to an annotation. */
  readonly zoomTo: (id: string) => void;
}

/** Returns the editing actions of the toolbar, menus and keys. @param announce makes screen readers read a message */
export function useAnnotationActions(
  { store, session }: SlideAnnotations,
  view: SlideView,
  announce: (text: string) => void,
): AnnotationActions {
  return useMemo(() => {
    const zoom = () => {
      const placement = view.placement();
      return placement === null ? 1 : zoomOf(placement);
    };
    return {
      undo: () => store.undo(),
      redo: () => store.redo(),
      remove: () => {
        const countBefore = store.selection.size;
        session.remove();
        const removedCount = countBefore - store.selection.size;
        if (removedCount > 0) announce(texts.removed(removedCount));
      },
      duplicate: () => session.duplicateSelected(duplicateOffset / zoom()),
      merge: () => session.combineSelected('merge'),
      subtract: () => session.combineSelected('subtract'),
      fillHoles: () =>
        session.changeSelected((geometry) => (isArea(geometry) ? fillHoles(geometry) : geometry)),
      // A tolerance of one CSS pixel makes no visible difference at the current zoom.
      simplify: () => session.changeSelected((geometry) => simplifyGeometry(geometry, 1 / zoom())),
      split: () => splitSelected(store),
      setLocked: (isLocked) => {
        // Not `canEdit`, which excludes locked annotations: this action also unlocks.
        const changed = store.selected().filter(({ layerId }) => store.canDrawOn(layerId));
        store.change(changed.map(({ id, feature }) => ({ id, feature: withLock(feature, isLocked) })));
      },
      copy: () => {
        const features = store.selected().map(({ feature }) => encodeFeature(feature));
        const text = JSON.stringify({ type: 'FeatureCollection', features });
        void copyText(text).then((isCopied) =>
          announce(isCopied ? texts.copied(features.length) : texts.copyFailed),
        );
      },
      paste: (text) => {
        const features = store.canDrawOn(store.activeLayerId)
          ? featuresOf(text).map((feature) => copyOf(feature)) // unlocked, with rounded positions
          : [];
        store.change(features.map((feature) => ({ id: feature.id, feature })));
        if (features.length > 0) store.select(features.map(({ id }) => id));
        announce(features.length > 0 ? texts.pasted(features.length) : texts.nothingToPaste);
      },
      zoomTo: (id) => {
        const bounds = store.find(id)?.bounds;
        const field = view.destination();
        if (bounds === undefined || field === null) return;
        const { width, height } = view.size();
        // A side counts as at least one image pixel: the bounds of a point have no extent.
        const fittingZoom =
          zoomToFraction *
          Math.min(
            width / Math.max(1, bounds.maxX - bounds.minX),
            height / Math.max(1, bounds.maxY - bounds.minY),
          );
        const x = (bounds.minX + bounds.maxX) / 2;
        const y = (bounds.minY + bounds.maxY) / 2;
        const maxZoom = 1; // one CSS pixel per image pixel
        view.moveTo({ ...field, x, y, zoom: Math.min(maxZoom, fittingZoom) }); // with the same rotation and mirroring
      },
    };
  }, [store, session, view, announce]);
}

/** Makes each separate part of the selected areas an annotation of its own; the first part keeps the id. */
function splitSelected(store: SlideAnnotations['store']): void {
  const changes = store
    .selected()
    .filter((annotation) => store.canEdit(annotation))
    .flatMap(({ feature, layerId }) => {
      if (feature.geometry.type !== 'MultiPolygon') return [];
      return separateParts(feature.geometry).map((geometry, index) => {
        const id = index === 0 ? feature.id : createUuid();
        return { id, feature: { ...feature, id, geometry }, layerId };
      });
    });
  if (changes.length === 0) return; // keeps the selection
  store.change(changes);
  store.select(changes.map(({ id }) => id));
}

function withLock(feature: AnnotationFeature, isLocked: boolean): AnnotationFeature {
  const { isLocked: _before, ...properties } = feature.properties;
  return { ...feature, properties: { ...properties, ...(isLocked && { isLocked: true as const }) } };
}

/** Returns the valid features of a GeoJSON text (a collection, an array or a single feature), each with a new id. */
function featuresOf(text: string): readonly AnnotationFeature[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const list = value !== null && typeof value === 'object' && 'features' in value ? value.features : value;
  const candidates: readonly unknown[] = Array.isArray(list) ? list : [list];
  return candidates.flatMap((candidate) => {
    if (candidate === null || typeof candidate !== 'object') return [];
    // The new id also makes a feature without an id valid.
    return readFeature({ ...candidate, id: createUuid() }) ?? [];
  });
}
