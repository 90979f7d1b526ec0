import { useCallback, useEffect, useState } from 'react';

/**
 * Whether the slide covers the page, and with it the screen where the browser allows it, and how to change
 * that. The whole document goes full screen, not the slide alone: what is drawn elsewhere in the page
 * (toasts, tooltips) stays visible.
 */
export function useFullPage(): readonly [boolean, () => void] {
  const [isFullPage, setFullPage] = useState(false);

  useEffect(() => {
    if (!isFullPage) return;
    const leave = () => setFullPage(false);
    const onFullscreenChange = () => {
      if (document.fullscreenElement === null) leave();
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape') leave();
    };
    document.addEventListener('fullscreenchange', onFullscreenChange);
    document.addEventListener('keydown', onKeyDown);
    // Telephones offer no full screen, and a browser may refuse it: covering the page remains.
    document.documentElement.requestFullscreen?.().catch(() => undefined);
    return () => {
      document.removeEventListener('fullscreenchange', onFullscreenChange);
      document.removeEventListener('keydown', onKeyDown);
      if (document.fullscreenElement !== null) void document.exitFullscreen();
    };
  }, [isFullPage]);

  const toggle = useCallback(() => setFullPage((is) => !is), []);
  return [isFullPage, toggle];
}
