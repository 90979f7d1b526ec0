import { useEffect, useState } from 'react';

/** Longer than the interval between the clicks of a double click, and than the time in which a person notices that buttons have moved. */
const settleMs = 700;

/**
 * Returns whether the layout has been unchanged for 700 ms. Buttons with consequences are disabled until then: after a
 * change, a click may hit another button than intended.
 *
 * @param layout a string that changes whenever buttons move or appear; a constant when only the first rendering matters
 * @param options `isInitiallySettled: false` disables the buttons for the first 700 ms, too
 */
export function useSettled(layout: string, { isInitiallySettled = true } = {}): boolean {
  const [previousLayout, setPreviousLayout] = useState(layout);
  const [isSettled, setSettled] = useState(isInitiallySettled);
  // Set during rendering instead of in an effect: the buttons must be disabled before the new layout is shown.
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
