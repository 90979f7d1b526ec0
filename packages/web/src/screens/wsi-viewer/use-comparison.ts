import type { Image } from '@lamina/contract';
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { registrationOf, useCases } from '../../api/cases.ts';
import { useImage } from '../../api/catalogue.ts';
import type { Half, OpenedView } from '../../viewer/link-views.ts';
import { type Affine, inverseOf, registeredField } from '../../viewer/registered-field.ts';
import { calibrationOf } from '../../viewer/scale.ts';
import type { SlideView } from '../../viewer/slide-view.ts';
import { correspondingField } from '../../viewer/synchronise.ts';
import { useLinkedViews } from '../../viewer/use-linked-views.ts';
import { useViewedSlide } from '../../viewer/use-viewed-slide.ts';
import type { SlideField } from '../../viewer/view-address.ts';
import type { ViewedSlide } from '../../viewer/viewed-slide.ts';
import type { ViewedImages } from './viewed-address.ts';

/** One half of the viewer with its slide. */
interface ComparedHalf {
  /** Null when no image is selected, while it loads, and when the user's catalogue does not contain it. */
  readonly image: Image | null;
  /** Whether `image` is null because the selected image is being loaded. */
  readonly isLoading: boolean;
  /** Whether the user's catalogue does not contain the selected image. */
  readonly isUnknown: boolean;
  /** What the viewer needs to open the image; null when there is nothing to open. */
  readonly slide: ViewedSlide | null;
  /** Null before the slide is open. */
  readonly view: SlideView | null;
  /** Called with the view once the slide is open, and with null when it is closed. */
  readonly onView: (view: SlideView | null) => void;
  /**
   * Returns the field (visible part of the slide) to show first: the field in the URL; if the URL has none and the
   * slides are linked, the field that corresponds to the field of the other slide. Null shows the whole slide.
   */
  readonly initialField: () => SlideField | null;
  /**
   * Whether the URL has no field for this half, and there is no registration (alignment by pairs of points) with a slide in
   * the other half. `initialField` then returns null or an estimate, which may show only glass without tissue.
   */
  readonly isInitialFieldEstimated: boolean;
}

interface Comparison {
  readonly halves: Readonly<Record<Half, ComparedHalf>>;
  /** The half to which keyboard input and the catalogue apply. */
  readonly activeHalf: Half;
  /** Must be called when the user begins to use a half. */
  readonly activate: (half: Half) => void;
  /** Whether each slide follows the movements of the other slide. */
  readonly isLinked: boolean;
  readonly toggleLink: () => void;
}

/**
 * Manages one viewed slide, or two compared slides that move together while they are linked. The two slides are in the halves of the
 * viewer: `first` on the left, `second` on the right.
 *
 * @param historyStep changes when the user goes back or forward in the browser history: the views then move to the fields in the URL
 */
export function useComparison(viewed: ViewedImages, historyStep: string): Comparison {
  const [lastActiveHalf, setLastActiveHalf] = useState<Half>('first');
  const activeHalf = viewed.second === null ? 'first' : lastActiveHalf;
  /** The half that the user used last; the other half follows it. A ref, because a movement reads it before the next rendering. */
  const leader = useRef<Half>('first');
  const [isLinked, setLinked] = useState(true);

  const first = useHalf(viewed.first?.imageId ?? null);
  const second = useHalf(viewed.second?.imageId ?? null);
  const halves = { first, second };

  const moveViewsToUrl = useEffectEvent(() => {
    for (const half of ['first', 'second'] as const) {
      const field = viewed[half]?.field ?? null;
      if (field !== null) halves[half].opened?.view.moveTo(field);
    }
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only after a step in the browser history
  useEffect(() => moveViewsToUrl(), [historyStep]);
  const registration = useRegistration(
    viewed.first?.imageId ?? null,
    viewed.second?.imageId ?? null,
    first.image?.dataset_name ?? null,
  );
  const completeMovement = useLinkedViews(
    first.opened,
    second.opened,
    isLinked,
    leader,
    historyStep, // a new value links the views again, because they have moved to the fields in the URL
    registration,
  );
  const activate = useCallback(
    (half: Half) => {
      if (half !== leader.current) completeMovement(); // ends a running movement, which is required before the leader changes
      leader.current = half;
      setLastActiveHalf(half);
    },
    [completeMovement],
  );

  /**
   * Returns the field that corresponds to the field of the other half; null when the slides are not linked or the other slide is not open.
   * For slides that are not registered, also null when this slide cannot be opened or a size is unknown.
   */
  const linkedFieldOf = (half: Half): SlideField | null => {
    const other = halves[half === 'first' ? 'second' : 'first'];
    const { image, slide } = halves[half];
    const [size, otherSize] = [sizeOf(image), sizeOf(other.image)];
    const field = other.opened?.view.destination() ?? null;
    if (!isLinked || other.opened === null || field === null) return null;
    // `registration` maps the first slide to the second; `toThisHalf` maps the other slide to the slide of this half.
    const toThisHalf = registration === null || half === 'second' ? registration : inverseOf(registration);
    if (toThisHalf !== null) return registeredField(toThisHalf, field);
    // Without a registration, the field is estimated: at the same magnification and distance from the middle of the slide.
    if (slide === null || size === null || otherSize === null) return null;
    return correspondingField(
      { field, calibration: other.opened.calibration, ...otherSize },
      { calibration: calibrationOf(slide.scale), ...size },
    );
  };
  const comparedHalf = (half: Half): ComparedHalf => ({
    image: halves[half].image,
    isLoading: halves[half].isLoading,
    isUnknown: halves[half].isUnknown,
    slide: halves[half].slide,
    view: halves[half].view,
    onView: halves[half].onView,
    initialField: () => viewed[half]?.field ?? linkedFieldOf(half),
    isInitialFieldEstimated: (viewed[half]?.field ?? null) === null && registration === null,
  });
  return {
    halves: { first: comparedHalf('first'), second: comparedHalf('second') },
    activeHalf,
    activate,
    isLinked,
    toggleLink: () => setLinked(!isLinked),
  };
}

/**
 * Returns the registration of two slides, the transform from pixels of the first slide to pixels of the second slide. Null when no case
 * contains a registration of these slides.
 */
function useRegistration(
  firstId: string | null,
  secondId: string | null,
  dataset: string | null,
): Affine | null {
  const cases = useCases({ dataset, isEnabled: firstId !== null && secondId !== null });
  return useMemo(() => {
    const registration = registrationOf(cases.data ?? [], firstId, secondId);
    if (registration === null) return null;
    return registration.from === firstId ? registration.matrix : inverseOf(registration.matrix);
  }, [cases.data, firstId, secondId]);
}

/** Loads the image of a half, and keeps its view once the slide is open. */
function useHalf(imageId: string | null) {
  const { image, isLoading, isUnknown } = useImage(imageId);
  const slide = useViewedSlide(image);
  const [view, setView] = useState<SlideView | null>(null);
  const opened = useMemo<OpenedView | null>(
    () => (view === null || slide === null ? null : { view, calibration: calibrationOf(slide.scale) }),
    [view, slide],
  );
  return { image, isLoading, isUnknown, slide, view, opened, onView: setView };
}

/** Returns the size in pixels at full resolution; null while it is unknown. */
function sizeOf(image: Image | null): { readonly width: number; readonly height: number } | null {
  if (image === null || image.width === null || image.height === null) return null;
  return { width: image.width, height: image.height };
}
