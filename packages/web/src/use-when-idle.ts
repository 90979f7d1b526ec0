import { useEffect, useState } from 'react';

/** A page that never rests draws it all the same. */
const atLatestMs = 500;

/**
 * A value for what may be drawn a little later: as soon as the browser has nothing better to do. While a slide is being
 * opened, every moment is for its tiles.
 *
 * @returns the value of before until then; null at once
 */
export function useWhenIdle<T>(value: T | null): T | null {
  const [shown, setShown] = useState(value);
  useEffect(() => {
    const show = () => setShown(value);
    // Safari has no such thing.
    if (value === null || window.requestIdleCallback === undefined) return show();
    const asked = requestIdleCallback(show, { timeout: atLatestMs });
    return () => cancelIdleCallback(asked);
  }, [value]);
  return value === null ? null : shown;
}
