import { useEffect, useState } from 'react';

/** Longest delay, because a busy page may never be idle. */
const maxDelayMs = 500;

/**
 * Delays a value until the browser is idle. Used for content that may be rendered after the tiles of a slide that is being opened.
 *
 * @returns the previous value until the browser is idle; a null value, and the value of the first rendering, without a delay
 */
export function useWhenIdle<T>(value: T | null): T | null {
  const [delayedValue, setDelayedValue] = useState(value);
  useEffect(() => {
    const update = () => setDelayedValue(value);
    // Safari does not support requestIdleCallback.
    if (value === null || window.requestIdleCallback === undefined) return update();
    const handle = requestIdleCallback(update, { timeout: maxDelayMs });
    return () => cancelIdleCallback(handle);
  }, [value]);
  return value === null ? null : delayedValue;
}
