/** Decides whether the page warns that the picture of the slide is incomplete. */
import { useEffect, useState } from 'react';
import { useOnline } from '../browser/use-online.ts';
import type { Incompleteness } from './PictureNotes.tsx';
import type { PixelFailure } from './pixels.ts';
import type { Sharpness } from './sharpness.ts';

/** The page reports that tiles are still loading only after this time, because most tiles arrive earlier. */
const slowMs = 4000;

interface ViewState {
  readonly sharpness: Sharpness;
  /** Cause of the last failed tile; null when no tile has failed. */
  readonly lastFailure: PixelFailure | null;
  /** Whether the page already shows that the slide is being opened. */
  readonly isProgressShown: boolean;
  /** Whether the page already shows an error in place of the slide. */
  readonly isErrorShown: boolean;
}

/**
 * Returns why the view is not sharp, for a warning over the slide; null while the view is sharp, and while another message of the page
 * already gives the reason. After a tile has failed, the warning stays during all retries, until every visible tile is drawn.
 */
export function useIncompleteness(view: ViewState): Incompleteness | null {
  const { sharpness, lastFailure } = view;
  const isOnline = useOnline();
  const [hasFailed, setFailed] = useState(false); // whether a tile has failed since the view was last sharp
  // Set during rendering: React renders again immediately, before the page shows a result with the old value.
  if (sharpness === 'incomplete' && !hasFailed) setFailed(true);
  if (sharpness === 'sharp' && hasFailed) setFailed(false);

  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (sharpness !== 'loading') return;
    const timer = setTimeout(() => setSlow(true), slowMs);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [sharpness]);

  if (sharpness === 'sharp' || view.isErrorShown) return null;
  if (!isOnline) return 'offline';
  if (sharpness === 'incomplete' || hasFailed) {
    return lastFailure?.kind === 'other' ? 'unreachable' : 'failed'; // `other` is usually a network error
  }
  return isSlow && !view.isProgressShown ? 'slow' : null;
}
