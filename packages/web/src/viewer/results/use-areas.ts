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

export interface Areas {
  readonly areas: readonly CountedArea[];
  /** The area in which objects are counted; null: the field of view. */
  readonly chosen: CountedArea | null;
  /** Chooses an area by its id; null chooses the field of view. */
  choose(id: string | null): void;
}

/** Maximum number of listed areas; a chosen area beyond this number is added to the list. */
const maxListedAreas = 200;
/** Subscribes to nothing, while there is no store. */
const listenToNothing = () => () => undefined;

/** Returns the annotations that are areas, and the chosen one. Selecting an annotation on the slide also chooses its area. */
export function useAreas(store: AnnotationStore | null): Areas {
  useSyncExternalStore(store?.listen ?? listenToNothing, () => store?.version ?? 0);
  const [chosenId, choose] = useState<string | null>(null);
  const [previouslySelected, setPreviouslySelected] = useState<string | null>(null);
  const allAreas = (store?.all() ?? []).flatMap(
    (annotation, index) => countedAreaOf(annotation, index) ?? [],
  );
  const selected = store?.selection.size === 1 ? (store.selected()[0]?.id ?? null) : null;
  // Set during rendering: React renders again at once with the new choice.
  if (selected !== previouslySelected) {
    setPreviouslySelected(selected);
    if (allAreas.some((area) => area.id === selected)) choose(selected);
  }
  const chosen = allAreas.find((area) => area.id === chosenId) ?? null;
  const areas = allAreas.slice(0, maxListedAreas);
  return { areas: chosen === null || areas.includes(chosen) ? areas : [...areas, chosen], chosen, choose };
}

/** Returns null for an annotation that is no area. */
function countedAreaOf({ id, feature }: Annotation, index: number): CountedArea | null {
  const { geometry, properties } = feature;
  if (!isArea(geometry)) return null;
  const name = properties.name ?? classNameOf(feature) ?? texts.annotation;
  return { id, label: `${index + 1}. ${name}`, geometry };
}
