import {
  type AnnotationFeature,
  exportAnnotations,
  fillHoles,
  importAnnotations,
  isArea,
  separateParts,
  simplifyGeometry,
} from '@lamina/annotations';
import { useMemo } from 'react';
import { toast } from 'react-toastify';
import { copyText } from '../../browser/copy-text.ts';
import { zoomOf } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';
import { changesOfPieces, copiesOf } from './drafts.ts';
import { texts } from './texts.ts';
import type { SlideAnnotations } from './use-annotations.ts';

/** Distance of a duplicate from its original to the right and down, in CSS pixels. */
const duplicateOffset = 20;
/** Fraction of the view's width or height that an annotation fills after `zoomTo`. */
const zoomToFraction = 0.6;

export interface AnnotationActions {
  readonly undo: () => void;
  readonly redo: () => void;
  /** Removes the last point of the draft (unfinished shape), or else the chosen vertex, or else the selected annotations. */
  readonly remove: () => void;
  readonly duplicate: () => void;
  readonly merge: () => void;
  /** Subtracts the other selected areas from the area that was selected first. */
  readonly subtract: () => void;
  readonly fillHoles: () => void;
  readonly simplify: () => void;
  readonly split: () => void;
  readonly setLocked: (isLocked: boolean) => void;
  /** Copies the selected annotations as GeoJSON of QuPath. */
  readonly copy: () => void;
  /** Adds the annotations in a text, such as GeoJSON or another format of the import, to the active layer. Reports invalid annotations. */
  readonly paste: (text: string) => void;
  /** Moves and zooms the view to an annotation. */
  readonly zoomTo: (id: string) => void;
}

/** Returns the editing actions of the toolbar, menus and keys. @param announce makes screen readers read a message about a success */
export function useAnnotationActions(
  { store, session }: SlideAnnotations,
  view: SlideView,
  announce: (text: string) => void,
): AnnotationActions {
  return useMemo(() => {
    /** Returns the zoom in CSS pixels per image pixel; 1 before the slide is open. */
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
        const removedCount = countBefore - store.selection.size; // removed annotations are no longer selected
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
        // `canEdit` cannot be used here: it excludes locked annotations, and this action also unlocks.
        const changed = store.selected().filter(({ layerId }) => store.canDrawOn(layerId));
        store.change(changed.map(({ id, feature }) => ({ id, feature: withLock(feature, isLocked) })));
      },
      copy: () => {
        const features = store.selected().map(({ feature }) => feature);
        const { chunks } = exportAnnotations(features, { format: 'qupath', pixelSize: null }); // GeoJSON is in pixels
        void copyText([...chunks].join('')).then((isCopied) => {
          if (isCopied) announce(texts.copied(features.length));
          else toast.error(texts.copyFailed);
        });
      },
      paste: (text) => {
        if (!store.canDrawOn(store.activeLayerId)) {
          toast.error(texts.readOnly);
          return;
        }
        const result = importAnnotations(text, { format: 'auto', extent: view.imageSize() });
        const features = result.ok ? copiesOf(result.features) : []; // unlocked, with rounded positions
        const rejectedCount = result.ok ? result.rejectedCount : 0;
        if (rejectedCount > 0) toast.error(texts.notPasted(rejectedCount));
        else if (features.length === 0) toast.error(texts.nothingToPaste);
        if (features.length === 0) return;
        store.select(store.change(features.map((feature) => ({ feature }))));
        announce(texts.pasted(features.length));
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
    .flatMap((annotation) => {
      const { geometry } = annotation.feature;
      return geometry.type === 'MultiPolygon' ? changesOfPieces(annotation, separateParts(geometry)) : [];
    });
  if (changes.length > 0) store.select(store.change(changes)); // otherwise keeps the selection
}

function withLock(feature: AnnotationFeature, isLocked: boolean): AnnotationFeature {
  const { isLocked: _before, ...properties } = feature.properties;
  return { ...feature, properties: { ...properties, ...(isLocked && { isLocked: true as const }) } };
}
