import { useEffect, useState } from 'react';

/** Interval between two checks, and time limit of one check. */
const checkIntervalMs = 3000;

/** Returns whether the server responds; an error response counts, too. */
async function isReachable(): Promise<boolean> {
  if (!navigator.onLine) return false;
  try {
    await fetch('/', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(checkIntervalMs) });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns whether the server can be reached. While it cannot, checks again every 3 s, and at once when the browser reports
 * that the network is back.
 *
 * @param onBack called when the server can be reached again
 */
export function useReachable(onBack: () => void): boolean {
  const [wasReachable, setReachable] = useState(navigator.onLine);
  useEffect(() => {
    let isCancelled = false;
    async function check() {
      const isReachableNow = await isReachable();
      if (isCancelled) return;
      if (isReachableNow && !wasReachable) onBack();
      else setReachable(isReachableNow);
    }
    const startCheck = () => void check();
    startCheck();
    const timer = wasReachable ? undefined : setInterval(startCheck, checkIntervalMs);
    window.addEventListener('online', startCheck);
    return () => {
      isCancelled = true;
      clearInterval(timer);
      window.removeEventListener('online', startCheck);
    };
  }, [wasReachable, onBack]);
  return wasReachable;
}
