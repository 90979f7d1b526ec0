import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import type { CatalogueImage } from '../../api/images.ts';
import type { Half, OpenedView } from '../../viewer/link-views.ts';
import type { ViewedSlide } from '../../viewer/SlideViewer.tsx';
import { calibrationOf } from '../../viewer/scale.ts';
import type { SlideView } from '../../viewer/slide-view.ts';
import { correspondingField } from '../../viewer/synchronise.ts';
import { useLinkedViews } from '../../viewer/use-linked-views.ts';
import type { SlideField } from '../../viewer/view-address.ts';
import { useViewedSlide } from './use-viewed-slide.ts';
import type { ViewedImages } from './viewed-address.ts';

interface ComparedHalf {
  /** Null when nothing is chosen, or nothing of the catalogue. */
  readonly image: CatalogueImage | null;
  readonly slide: ViewedSlide | null;
  readonly onView: (view: SlideView | null) => void;
  /** That of the address; else, while the slides are linked, the one that corresponds to what the other shows. */
  readonly fieldAtFirst: () => SlideField | null;
}

interface Comparison {
  readonly halves: Readonly<Record<Half, ComparedHalf>>;
  /** The half that keys and the catalogue work on. */
  readonly active: Half;
  readonly activate: (half: Half) => void;
  readonly isLinked: boolean;
  readonly toggleLink: () => void;
}

/** One slide, or two that move together as long as they are linked. */
export function useComparison(
  viewed: ViewedImages,
  images: readonly CatalogueImage[],
  occasion: string,
): Comparison {
  const [activeHalf, setActiveHalf] = useState<Half>('first');
  const active = viewed.second === null ? 'first' : activeHalf;
  /** The slides move with the one that was touched last: known at once, before the page is drawn again. */
  const leader = useRef<Half>('first');
  const activate = useCallback((half: Half) => {
    leader.current = half;
    setActiveHalf(half);
  }, []);
  const [isLinked, setLinked] = useState(true);

  const first = useHalf(viewed.first?.imageId, images);
  const second = useHalf(viewed.second?.imageId, images);
  const halves = { first, second };

  const followAddress = useEffectEvent(() => {
    for (const half of ['first', 'second'] as const) {
      const field = viewed[half]?.field ?? null;
      if (field !== null) halves[half].opened?.view.moveTo(field);
    }
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the occasion is what it waits for
  useEffect(() => followAddress(), [occasion]);
  useLinkedViews(first.opened, second.opened, isLinked, leader, occasion);

  const fieldBeside = (half: Half): SlideField | null => {
    const other = halves[half === 'first' ? 'second' : 'first'];
    const { image, slide } = halves[half];
    const [size, otherSize] = [sizeOf(image), sizeOf(other.image)];
    const field = other.opened?.view.destination() ?? null;
    if (!isLinked || other.opened === null || field === null) return null;
    if (slide === null || size === null || otherSize === null) return null;
    return correspondingField(
      { field, calibration: other.opened.calibration, ...otherSize },
      { calibration: calibrationOf(slide.scale), ...size },
    );
  };
  const comparedHalf = (half: Half): ComparedHalf => ({
    image: halves[half].image,
    slide: halves[half].slide,
    onView: halves[half].onView,
    fieldAtFirst: () => viewed[half]?.field ?? fieldBeside(half),
  });
  return {
    halves: { first: comparedHalf('first'), second: comparedHalf('second') },
    active,
    activate,
    isLinked,
    toggleLink: () => setLinked(!isLinked),
  };
}

function useHalf(imageId: string | undefined, images: readonly CatalogueImage[]) {
  const image = images.find(({ id }) => id === imageId) ?? null;
  const slide = useViewedSlide(image);
  const [view, setView] = useState<SlideView | null>(null);
  const opened = useMemo<OpenedView | null>(
    () => (view === null || slide === null ? null : { view, calibration: calibrationOf(slide.scale) }),
    [view, slide],
  );
  return { image, slide, opened, onView: setView };
}

function sizeOf(image: CatalogueImage | null): { readonly width: number; readonly height: number } | null {
  if (image === null || image.width === null || image.height === null) return null;
  return { width: image.width, height: image.height };
}
