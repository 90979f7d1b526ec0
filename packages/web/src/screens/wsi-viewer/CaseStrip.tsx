import { type CaseSlide, type Image, may } from '@lamina/contract';
import { Button } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';
import { useAuth } from '../../api/auth-state.ts';
import { useCases } from '../../api/cases.ts';
import type { Half } from '../../viewer/link-views.ts';
import type { SlideView } from '../../viewer/slide-view.ts';
import { useKeys } from '../../viewer/use-keys.ts';
import classes from './CaseStrip.module.css';
import { RegisterSlides } from './RegisterSlides.tsx';
import { Thumbnail } from './Thumbnail.tsx';
import { texts } from './texts.ts';

export interface CaseStripProps {
  /** The viewed slide. */
  readonly image: Image;
  /** Id of the image session (the credential for loading pixels); null while there is none. */
  readonly session: string | null;
  readonly onSelect: (imageId: string) => void;
  readonly onThumbnailFailed: () => void;
  /** The two slides that are open side by side, and the handles to their views; null unless two slides are open. */
  readonly comparedSlides: {
    readonly imageIds: Readonly<Record<Half, string>>;
    readonly views: Readonly<Record<Half, SlideView>>;
  } | null;
  /** Called with true when the user starts to register the slides (align them by pairs of points), and with false at the end. */
  readonly onRegisteringChange: (isRegistering: boolean) => void;
}

/**
 * The strip below the viewer: the slides of the viewed slide's case, in the order of the case. Page Up and Page Down open the previous
 * and the next slide. Renders nothing for a slide without a case, and for a case with one slide.
 */
export function CaseStrip(props: CaseStripProps) {
  const { image, session, onSelect, onThumbnailFailed, comparedSlides, onRegisteringChange } = props;
  const { user } = useAuth();
  /** The pair of slides that the user is registering, as in `pair` below; null while the user registers none. */
  const [pairToRegister, setPairToRegister] = useState<string | null>(null);
  const cases = useCases({ dataset: image.dataset_name, isEnabled: image.dataset_name !== null });
  const slideCase = cases.data?.find(({ slides }) => slides.some((slide) => slide.image_id === image.id));
  const slides = slideCase?.slides ?? [];
  const selectedIndex = slides.findIndex((slide) => slide.image_id === image.id);
  const openNeighbour = (offset: 1 | -1) => {
    const neighbour = slides[selectedIndex + offset];
    if (neighbour !== undefined) onSelect(neighbour.image_id);
  };
  useKeys(slides.length > 1 ? { PageDown: () => openNeighbour(1), PageUp: () => openNeighbour(-1) } : noKeys);
  /** Whether both compared slides belong to this case, and the user has the permission that the API requires. */
  const canRegister =
    user !== null &&
    may(user, 'sharing.own') &&
    comparedSlides !== null &&
    Object.values(comparedSlides.imageIds).every((id) => slides.some((slide) => slide.image_id === id));
  /** The ids of both compared slides; null when they cannot be registered. */
  const pair = canRegister ? Object.values(comparedSlides.imageIds).join() : null;
  // Set during rendering: the registration ends when the comparison is closed or shows other slides.
  if (pairToRegister !== null && pairToRegister !== pair) setPairToRegister(null);
  const isRegistering = pairToRegister !== null && pairToRegister === pair;
  const reportRegistering = useEffectEvent(onRegisteringChange);
  useEffect(() => {
    if (!isRegistering) return;
    reportRegistering(true);
    return () => reportRegistering(false);
  }, [isRegistering]);
  if (slideCase === undefined || slides.length < 2) return null;
  if (isRegistering && canRegister) {
    return (
      <RegisterSlides
        key={pair} // another pair of slides gets a new component, without placed points
        slideCase={slideCase}
        {...comparedSlides}
        onClose={() => setPairToRegister(null)}
      />
    );
  }
  return (
    <nav className={classes.strip} aria-label={texts.caseSlides(slideCase.name)}>
      <span className={classes.name} title={slideCase.description ?? undefined}>
        {slideCase.name}
      </span>
      <ol className={classes.slides}>
        {slides.map((slide, index) => (
          <li key={slide.image_id}>
            <button
              type="button"
              className={classes.slide}
              aria-current={slide.image_id === image.id ? 'true' : undefined}
              title={slide.note ?? undefined}
              onClick={() => onSelect(slide.image_id)}
            >
              <Thumbnail imageId={slide.image_id} session={session} onFailed={onThumbnailFailed} />
              <span>{labelOf(slide, index)}</span>
            </button>
          </li>
        ))}
      </ol>
      {canRegister && (
        <Button size="xs" variant="default" onClick={() => setPairToRegister(pair)}>
          {texts.register}
        </Button>
      )}
    </nav>
  );
}

const noKeys = {};

/** Returns block and stain, for example 'A1 · Ki-67'; the number of the slide in its case when both are missing. */
function labelOf({ stain, block }: CaseSlide, index: number): string {
  return [block, stain].filter(Boolean).join(' · ') || `${index + 1}`;
}
