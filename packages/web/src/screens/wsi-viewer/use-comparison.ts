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

interface ComparedHalf {
  /** Null when no image is selected, while it loads, and when the person's catalogue does not contain it. */
  readonly image: Image | null;
  /** Whether the person's catalogue does not contain the selected image. */
  readonly isUnknown: boolean;
  readonly slide: ViewedSlide | null;
  /** Null before the slide is open. */
  readonly view: SlideView | null;
  readonly onView: (view: SlideView | null) => void;
  /** Returns the field to show first: the one in the URL, or, while the slides are linked, the one that corresponds to the field of the other slide. Null shows the whole slide. */
  readonly initialField: () => SlideField | null;
  /** Whether `initialField` only estimates the field, because the slides are not registered: the field may show blank glass. */
  readonly isInitialFieldEstimated: boolean;
}

interface Comparison {
  readonly halves: Readonly<Record<Half, ComparedHalf>>;
  /** The half to which keyboard input and the catalogue apply. */
  readonly active: Half;
  readonly activate: (half: Half) => void;
  readonly isLinked: boolean;
  readonly toggleLink: () => void;
}

/**
 * Manages one viewed slide, or two compared slides that move together while they are linked. The two slides are in the halves of the
 * viewer: `first` on the left, `second` on the right.
 *
 * @param historyStep changes when the person goes back or forward in the history: the views then move to the fields in the URL
 */
export function useComparison(viewed: ViewedImages, historyStep: string): Comparison {
  const [activeHalf, setActiveHalf] = useState<Half>('first');
  const active = viewed.second === null ? 'first' : activeHalf;
  /** The half that the person used last, which the other half follows. A ref, because a movement reads it before the next rendering. */
  const leader = useRef<Half>('first');
  const [isLinked, setLinked] = useState(true);

  const first = useHalf(viewed.first?.imageId ?? null);
  const second = useHalf(viewed.second?.imageId ?? null);
  const halves = { first, second };

  const followUrl = useEffectEvent(() => {
    for (const half of ['first', 'second'] as const) {
      const field = viewed[half]?.field ?? null;
      if (field !== null) halves[half].opened?.view.moveTo(field);
    }
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only when the historyStep changes
  useEffect(() => followUrl(), [historyStep]);
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
    historyStep,
    registration,
  );
  const activate = useCallback(
    (half: Half) => {
      if (half !== leader.current) completeMovement(); // required before the leader changes
      leader.current = half;
      setActiveHalf(half);
    },
    [completeMovement],
  );

  /** Returns the field that corresponds to the field of the other half; null when the slides are not linked or the other one is not open. */
  const fieldBesideOther = (half: Half): SlideField | null => {
    const other = halves[half === 'first' ? 'second' : 'first'];
    const { image, slide } = halves[half];
    const [size, otherSize] = [sizeOf(image), sizeOf(other.image)];
    const field = other.opened?.view.destination() ?? null;
    if (!isLinked || other.opened === null || field === null) return null;
    // From the other slide to this one; `registration` leads from the first slide to the second.
    const transform = registration === null || half === 'second' ? registration : inverseOf(registration);
    if (transform !== null) return registeredField(transform, field);
    if (slide === null || size === null || otherSize === null) return null;
    return correspondingField(
      { field, calibration: other.opened.calibration, ...otherSize },
      { calibration: calibrationOf(slide.scale), ...size },
    );
  };
  const comparedHalf = (half: Half): ComparedHalf => ({
    image: halves[half].image,
    isUnknown: halves[half].isUnknown,
    slide: halves[half].slide,
    view: halves[half].view,
    onView: halves[half].onView,
    initialField: () => viewed[half]?.field ?? fieldBesideOther(half),
    isInitialFieldEstimated: (viewed[half]?.field ?? registration) === null,
  });
  return {
    halves: { first: comparedHalf('first'), second: comparedHalf('second') },
    active,
    activate,
    isLinked,
    toggleLink: () => setLinked(!isLinked),
  };
}

/** Returns the transform from the pixels of the first slide to those of the second; null when no case contains their registration. */
function useRegistration(first: string | null, second: string | null, dataset: string | null): Affine | null {
  const cases = useCases({ dataset, isEnabled: first !== null && second !== null });
  return useMemo(() => {
    const registration = registrationOf(cases.data ?? [], first, second);
    if (registration === null) return null;
    return registration.from === first ? registration.matrix : inverseOf(registration.matrix);
  }, [cases.data, first, second]);
}

/** Loads the image of a half, and holds its view once the slide is open. */
function useHalf(imageId: string | null) {
  const { image, isUnknown } = useImage(imageId);
  const slide = useViewedSlide(image);
  const [view, setView] = useState<SlideView | null>(null);
  const opened = useMemo<OpenedView | null>(
    () => (view === null || slide === null ? null : { view, calibration: calibrationOf(slide.scale) }),
    [view, slide],
  );
  return { image, isUnknown, slide, view, opened, onView: setView };
}

function sizeOf(image: Image | null): { readonly width: number; readonly height: number } | null {
  if (image === null || image.width === null || image.height === null) return null;
  return { width: image.width, height: image.height };
}
