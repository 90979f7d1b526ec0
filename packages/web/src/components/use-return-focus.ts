import { useEffect, useState } from 'react';

/** For a dialog that leaves the page when it is closed: what had the focus before it gets it back. */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (before instanceof HTMLElement) before.focus();
    },
    [before],
  );
}
