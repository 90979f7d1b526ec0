import { useEffect, useState } from 'react';

/** Longer than a double click, and long enough for a user to notice that buttons have moved. */
const settleMs = 700;

/**
 * Returns whether the layout has been unchanged for 700 ms. Until then, buttons with consequences are disabled, because a click may
 * hit a button that has just moved under the pointer.
 *
 * @param layout a string that changes whenever buttons move or appear; a constant when only the first rendering matters
 * @param options `isInitiallySettled: false` also disables the buttons for the first 700 ms
 */
export function useSettled(layout: string, { isInitiallySettled = true } = {}): boolean {
  const [previousLayout, setPreviousLayout] = useState(layout);
  const [isSettled, setSettled] = useState(isInitiallySettled);
  // The state is set during rendering, not in an effect, so that the buttons are disabled before the new layout is shown.
  if (layout !== previousLayout) {
    setPreviousLayout(layout);
    setSettled(false);
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the layout restarts the timer
  useEffect(() => {
    if (isSettled) return;
    const timer = setTimeout(() => setSettled(true), settleMs);
    return () => clearTimeout(timer);
  }, [isSettled, previousLayout]);
  return isSettled && layout === previousLayout;
}
