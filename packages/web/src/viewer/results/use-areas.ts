/** The annotations of a slide inside which the panel of result layers can count objects, such as detected cells. */
import { type AreaGeometry, isArea } from '@lamina/annotations';
import { useState, useSyncExternalStore } from 'react';
import { type Annotation, classNameOf } from '../annotations/annotation.ts';
import type { AnnotationStore } from '../annotations/annotation-store.ts';
import { texts } from './texts.ts';

/** An annotation inside which objects can be counted. */
export interface CountedArea {
  readonly id: string;
  readonly label: string;
  readonly geometry: AreaGeometry;
}

/** The areas of a slide, and the chosen area. */
export interface Areas {
  /** The areas in the order of the list. */
  readonly listed: readonly CountedArea[];
  /** The area in which objects are counted; null: the field of view. */
  readonly chosen: CountedArea | null;
  /** Chooses an area by its id; null chooses the field of view. */
  choose(id: string | null): void;
}

/** Maximum number of listed areas; a chosen area beyond this number is added to the list. */
const maxListedAreas = 200;
/** Replaces `listen` of the store while the annotations are not loaded. */
const listenToNothing = () => () => undefined;

/**
 * Returns the annotations that are areas, and the chosen area, in which the panel counts the objects of result layers.
 * When the user selects an area on the slide, it becomes the chosen area.
 *
 * @param store the annotations of the slide; null while they are not loaded
 */
export function useAreas(store: AnnotationStore | null): Areas {
  // Renders again after each change of the annotations or of the selection.
  useSyncExternalStore(store?.listen ?? listenToNothing, () => store?.version ?? 0);
  const [chosenId, choose] = useState<string | null>(null); // null: the field of view
  const [previouslySelectedId, setPreviouslySelectedId] = useState<string | null>(null);
  const allAreas = (store?.all() ?? []).flatMap(
    (annotation, index) => countedAreaOf(annotation, index) ?? [],
  );
  const selectedId = store?.selection.size === 1 ? (store.selected()[0]?.id ?? null) : null;
  // The state is set during rendering, so that React renders again immediately with the new choice.
  if (selectedId !== previouslySelectedId) {
    setPreviouslySelectedId(selectedId);
    if (allAreas.some((area) => area.id === selectedId)) choose(selectedId);
  }
  const chosen = allAreas.find((area) => area.id === chosenId) ?? null;
  const areas = allAreas.slice(0, maxListedAreas);
  return { listed: chosen === null || areas.includes(chosen) ? areas : [...areas, chosen], chosen, choose };
}

/**
 * Returns the area of an annotation; null when its geometry is a point or a line.
 *
 * @param index of the annotation in the store, from 0; the label shows a number from 1
 */
function countedAreaOf({ id, feature }: Annotation, index: number): CountedArea | null {
  const { geometry, properties } = feature;
  if (!isArea(geometry)) return null;
  const name = properties.name ?? classNameOf(feature) ?? texts.annotation;
  return { id, label: `${index + 1}. ${name}`, geometry };
}
