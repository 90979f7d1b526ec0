import { useEffect, useState } from 'react';

/**
 * For a dialog that leaves the page when it is closed: what had the focus before it gets it back. What has left the page
 * meanwhile cannot have it; then the screen has.
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
