import { useEffect, useEffectEvent, useState } from 'react';
import type { SlideView } from '../slide-view.ts';
import { texts } from '../texts.ts';
import { isBackground } from './adjustment.ts';
import type { SlideColours } from './use-colours.ts';

export interface WhiteBalance {
  /** Whether the next click on the slide sets the white point. */
  readonly isPicking: boolean;
  readonly pick: (isPicking: boolean) => void;
}

/** Sets the white point by a click on empty glass. @param onNews called with what screen readers announce */
export function useWhiteBalance(
  view: SlideView,
  { adjustment, change }: SlideColours,
  onNews: (news: string) => void,
): WhiteBalance {
  const [isPicking, pick] = useState(false);
  const take = useEffectEvent((x: number, y: number) => {
    const white = view.colourAt({ x, y });
    if (white === null) return;
    if (!isBackground(white)) {
      onNews(texts.whiteBalanceTooDark);
      return;
    }
    change({ ...adjustment, white });
    onNews(texts.whiteBalanceSet);
    pick(false);
  });
  useEffect(() => {
    if (!isPicking) return;
    view.lendPointer({
      onPress: () => {},
      onMove: () => {},
      onRelease: ({ x, y }) => take(x, y),
      onPinch: () => {},
    });
    return () => view.lendPointer(null);
  }, [view, isPicking]);
  return { isPicking, pick };
}
