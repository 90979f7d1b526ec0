import { type AreaGeometry, isArea } from '@lamina/annotations';
import { useState, useSyncExternalStore } from 'react';
import { type Annotation, classNameOf } from '../annotations/annotation.ts';
import type { AnnotationStore } from '../annotations/annotation-store.ts';
import { texts } from './texts.ts';

/** An annotation in which objects can be counted. */
export interface CountedArea {
  readonly id: string;
  readonly label: string;
  readonly geometry: AreaGeometry;
}

export interface Areas {
  readonly areas: readonly CountedArea[];
  /** Null: the field of view. */
  readonly chosen: CountedArea | null;
  /** @param id null: the field of view */
  choose(id: string | null): void;
}

/** A selected annotation is in the list in addition. */
const mostListed = 200;
const noStore = () => () => undefined;

/** Returns the outlined areas among the annotations. A selected annotation is chosen until the person chooses another. */
export function useAreas(store: AnnotationStore | null): Areas {
  useSyncExternalStore(store?.listen ?? noStore, () => store?.version ?? 0);
  const [id, choose] = useState<string | null>(null);
  const [selectedBefore, setSelectedBefore] = useState<string | null>(null);
  const all = (store?.all() ?? []).flatMap((annotation, place) => areaOf(annotation, place));
  const selected = store?.selection.size === 1 ? (store.selected()[0]?.id ?? null) : null;
  if (selected !== selectedBefore) {
    setSelectedBefore(selected);
    if (all.some((area) => area.id === selected)) choose(selected);
  }
  const chosen = all.find((area) => area.id === id) ?? null;
  const areas = all.slice(0, mostListed);
  return { areas: chosen === null || areas.includes(chosen) ? areas : [...areas, chosen], chosen, choose };
}

function areaOf({ id, feature }: Annotation, place: number): readonly CountedArea[] {
  const { geometry, properties } = feature;
  if (!isArea(geometry)) return [];
  const label = properties.name ?? classNameOf(feature) ?? texts.annotation;
  return [{ id, label: `${place + 1}. ${label}`, geometry }];
}
