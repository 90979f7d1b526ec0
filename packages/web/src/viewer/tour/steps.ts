/** The steps of a tour: the slides and views that a collection or a share link shows one after the other. */
import type { FieldOfView, QuestionInResponse } from '@lamina/contract';
import { asScanned, type Colour, type ColourAdjustment, isBackground } from '../colours/adjustment.ts';
import type { SlideField } from '../view-address.ts';

export interface TourStep {
  /** Position of the item in the collection, from 0; null for a link to a single slide, view or case. */
  readonly item: number | null;
  /** Null when the user may not view the slide. */
  readonly imageId: string | null;
  readonly title: string;
  readonly text: string | null; // shown beside the slide; null if there is none
  /** The field of view; null for the whole slide. */
  readonly field: FieldOfView | null;
  /** Colours of a saved view. The server does not check them; `coloursOf` parses them. */
  readonly colours: unknown;
  readonly question: QuestionInResponse | null; // null for a step without a question
}

/** Converts a field of the API to a field of the viewer. */
export function slideFieldOf({ x, y, zoom, rotation, mirrored }: FieldOfView): SlideField {
  return { x, y, zoom, rotation, isMirrored: mirrored };
}

/** Converts a field of the viewer to a field of the API. */
export function fieldOf({ x, y, zoom, rotation, isMirrored }: SlideField): FieldOfView {
  return { x, y, zoom, rotation, mirrored: isMirrored };
}

/**
 * Returns the index of the step that a presenter shows; -1 if the tour does not contain it. A collection item has
 * several steps when it is a case with several slides. A presenter identifies the first slide of an item by the item's
 * position in the collection, and the other slides by their image id.
 */
export function stepOfItem(steps: readonly TourStep[], item: number | string): number {
  const index = steps.findIndex((_, stepIndex) => itemOfStep(steps, stepIndex) === item);
  // For a viewer who may not see the first slide of a case, the second slide is the item's first step: `itemOfStep` then returns the
  // position of the item, but the presenter identifies the slide by its image id.
  return index === -1 ? steps.findIndex(({ imageId }) => imageId === item) : index;
}

/** Returns the value by which a presenter identifies a step, the inverse of `stepOfItem`; null when there is no such step. */
export function itemOfStep(steps: readonly TourStep[], index: number): number | string | null {
  const step = steps[index];
  if (step === undefined) return null;
  const isFirst = step.item !== null && steps.findIndex(({ item }) => item === step.item) === index;
  return isFirst ? step.item : step.imageId;
}

/** Colours of a saved view. The server stores them without checking them. */
export interface StoredColours {
  readonly profile: 'corrected' | 'scanned';
  readonly adjustment: ColourAdjustment;
}

/**
 * Parses the colours of a saved view. Without valid colours, the slide is shown without adjustment and corrected by its colour
 * profile.
 */
export function coloursOf(stored: unknown): StoredColours {
  const { profile, adjustment } = (stored ?? {}) as Partial<StoredColours>;
  const isValidAdjustment =
    typeof adjustment === 'object' &&
    adjustment !== null &&
    (['brightness', 'contrast', 'gamma', 'saturation'] as const).every(
      (name) => typeof adjustment[name] === 'number',
    ) &&
    isWhitePoint(adjustment.white ?? null);
  return {
    profile: profile === 'scanned' ? 'scanned' : 'corrected',
    adjustment: isValidAdjustment ? { ...asScanned, ...adjustment } : asScanned,
  };
}

/** Returns whether a stored value is a white point: null, or three numbers of a bright colour. */
function isWhitePoint(stored: unknown): boolean {
  if (stored === null) return true;
  if (!Array.isArray(stored) || stored.length !== 3) return false;
  return stored.every((channel) => typeof channel === 'number') && isBackground(stored as unknown as Colour);
}
