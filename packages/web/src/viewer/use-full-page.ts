import { useCallback, useEffect, useState } from 'react';

/**
 * Returns whether the full-page mode is on, and a function that switches it. In this mode, the slide covers the page and, where
 * the browser allows it, the screen. The whole document goes full screen, not only the slide, so that toasts and tooltips stay
 * visible.
 */
export function useFullPage(): readonly [isFullPage: boolean, toggle: () => void] {
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
    // Some phones do not support full screen, and a browser may reject the request; the slide then only covers the page.
    document.documentElement.requestFullscreen?.().catch(() => undefined);
    return () => {
      document.removeEventListener('fullscreenchange', onFullscreenChange);
      document.removeEventListener('keydown', onKeyDown);
      if (document.fullscreenElement !== null) void document.exitFullscreen();
    };
  }, [isFullPage]);

  const toggle = useCallback(() => setFullPage((wasFullPage) => !wasFullPage), []);
  return [isFullPage, toggle];
}
