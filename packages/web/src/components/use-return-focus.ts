import { useEffect, useState } from 'react';

/**
 * For dialogs: when the dialog closes, returns the focus to the element that had it before. When that element is no longer in the
 * page, `main` gets the focus.
 */
export function useReturnFocus(): void {
  const [focusedBefore] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (focusedBefore instanceof HTMLElement && focusedBefore.isConnected) focusedBefore.focus();
      else document.querySelector('main')?.focus({ preventScroll: true });
    },
    [focusedBefore],
  );
}
