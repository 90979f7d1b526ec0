/** The steps of a tour: the slides and views that a collection or a share link shows one after the other. */
import type { Field, ShownQuestion } from '@lamina/contract';
import { asScanned, type ColourAdjustment } from '../colours/adjustment.ts';
import type { SlideField } from '../view-address.ts';

export interface TourStep {
  /** Position in the collection; null for a link of a single slide, view or case. */
  readonly item: number | null;
  /** Null when the person may not view the slide. */
  readonly imageId: string | null;
  readonly title: string;
  readonly text: string | null;
  /** Null for the whole slide. */
  readonly field: Field | null;
  /** As `storedColours` wrote them. */
  readonly colours: unknown;
  readonly question: ShownQuestion | null;
}

export function slideFieldOf({ x, y, zoom, rotation, mirrored }: Field): SlideField {
  return { x, y, zoom, rotation, isMirrored: mirrored };
}

export function fieldOf({ x, y, zoom, rotation, isMirrored }: SlideField): Field {
  return { x, y, zoom, rotation, mirrored: isMirrored };
}

/**
 * Returns the step that a presenter names: a position in the collection, or the id of a slide for the further slides of a
 * case. -1 without such a step.
 */
export function stepOfItem(steps: readonly TourStep[], item: number | string): number {
  return steps.findIndex((step) => (typeof item === 'number' ? step.item === item : step.imageId === item));
}

/** Returns how a presenter names a step for `stepOfItem`. */
export function itemOfStep(steps: readonly TourStep[], place: number): number | string | null {
  const step = steps[place];
  if (step === undefined) return null;
  const isFirst = step.item !== null && steps.findIndex(({ item }) => item === step.item) === place;
  return isFirst ? step.item : step.imageId;
}

/** Colours of a saved view, as the server stores them without reading them. */
export interface StoredColours {
  readonly profile: 'corrected' | 'scanned';
  readonly adjustment: ColourAdjustment;
}

/** Returns the colours of a saved view; as scanned and corrected when it has none that this version understands. */
export function coloursOf(stored: unknown): StoredColours {
  const { profile, adjustment } = (stored ?? {}) as Partial<StoredColours>;
  const isUnderstood =
    typeof adjustment === 'object' &&
    adjustment !== null &&
    (['brightness', 'contrast', 'gamma', 'saturation'] as const).every(
      (name) => typeof adjustment[name] === 'number',
    );
  return {
    profile: profile === 'scanned' ? 'scanned' : 'corrected',
    adjustment: isUnderstood ? { ...asScanned, ...adjustment } : asScanned,
  };
}
