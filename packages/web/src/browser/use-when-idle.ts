import { useEffect, useState } from 'react';

/** Longest delay: a busy page may never be idle. */
const maxDelayMs = 500;

/**
 * Delays a value until the browser is idle, for content that may be rendered later, so that the tiles of a slide that is being
 * opened are drawn first.
 *
 * @returns the previous value until the browser is idle; a null value is returned at once
 */
export function useWhenIdle<T>(value: T | null): T | null {
  const [shown, setShown] = useState(value);
  useEffect(() => {
    const show = () => setShown(value);
    // Safari does not support requestIdleCallback.
    if (value === null || window.requestIdleCallback === undefined) return show();
    const handle = requestIdleCallback(show, { timeout: maxDelayMs });
    return () => cancelIdleCallback(handle);
  }, [value]);
  return value === null ? null : shown;
}
