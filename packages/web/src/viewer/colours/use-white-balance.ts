import { useEffect, useEffectEvent, useState } from 'react';
import type { SlideView } from '../slide-view.ts';
import { texts } from '../texts.ts';
import { isBackground } from './adjustment.ts';
import type { SlideColours } from './use-colours.ts';

export interface WhiteBalance {
  /** Whether the next click on the slide sets the white point. */
  readonly isPicking: boolean;
  /** Whether the last click was on a place that is too dark for a white point, such as tissue. */
  readonly isTooDark: boolean;
  /** Starts or cancels the choice of the white point. */
  readonly setPicking: (isPicking: boolean) => void;
}

/**
 * Lets the user set the white point, the colour that is displayed as white, by a click on empty glass.
 *
 * @param announce called with a message for screen readers
 */
export function useWhiteBalance(
  view: SlideView,
  { adjustment, change }: SlideColours,
  announce: (text: string) => void,
): WhiteBalance {
  const [isPicking, setPicking] = useState(false);
  const [isTooDark, setTooDark] = useState(false);
  const setWhitePoint = useEffectEvent((x: number, y: number) => {
    const white = view.colourAt({ x, y });
    if (white === null) return; // the click was outside the slide or at its edge
    setTooDark(!isBackground(white));
    if (!isBackground(white)) {
      announce(texts.whiteBalanceTooDark);
      return;
    }
    change({ ...adjustment, white });
    announce(texts.whiteBalanceSet);
    setPicking(false);
  });
  useEffect(() => {
    if (!isPicking) return;
    // Borrows the pointer: if a measuring tool is chosen, this tool gets the pointer back afterwards.
    return view.borrowPointer({
      onPress: () => {},
      onMove: () => {},
      onRelease: ({ x, y }) => setWhitePoint(x, y),
      onCancel: () => {},
    });
  }, [view, isPicking]);
  return {
    isPicking,
    isTooDark,
    setPicking: (newIsPicking) => {
      setTooDark(false);
      setPicking(newIsPicking);
    },
  };
}
