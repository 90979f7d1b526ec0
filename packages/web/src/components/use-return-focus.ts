import { useEffect, useState } from 'react';

/**
 * Returns the focus to the element that had it before a dialog opened. When that element has left the page, the
 * screen gets the focus.
 */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      else document.querySelector('main')?.focus({ preventScroll: true });
    },
    [before],
  );
}
