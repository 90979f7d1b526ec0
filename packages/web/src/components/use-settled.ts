import { useEffect, useState } from 'react';

/** Longer than the interval of a double click and than a person's reaction time to a change of the layout. */
const settleMs = 700;

/**
 * Returns whether the layout has been unchanged for 700 ms. Buttons with consequences are disabled until then: after a
 * change, a click may hit another button than intended.
 *
 * @param layout a value that changes with the layout
 */
export function useSettled(layout: string, { isSettledAtFirst = true } = {}): boolean {
  const [previousLayout, setPreviousLayout] = useState(layout);
  const [isSettled, setSettled] = useState(isSettledAtFirst);
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
