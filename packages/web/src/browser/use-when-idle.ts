import { useEffect, useState } from 'react';

/** On a busy page the value is rendered after this time. */
const atLatestMs = 500;

/**
 * Delays a value until the browser is idle, for content that may be rendered later. While a slide is being
 * opened, its tiles come first.
 *
 * @returns the previous value until then; null immediately
 */
export function useWhenIdle<T>(value: T | null): T | null {
  const [shown, setShown] = useState(value);
  useEffect(() => {
    const show = () => setShown(value);
    // Safari does not support requestIdleCallback.
    if (value === null || window.requestIdleCallback === undefined) return show();
    const handle = requestIdleCallback(show, { timeout: atLatestMs });
    return () => cancelIdleCallback(handle);
  }, [value]);
  return value === null ? null : shown;
}
