import { useEffect, useState } from 'react';

/** Interval between two checks, and time limit of one check. */
const checkIntervalMs = 3000;

/** Returns whether the server responds; an error response counts, too. */
async function doesServerRespond(): Promise<boolean> {
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
 * @param onReachableAgain called instead of returning true after a failure, because the caller reloads the page
 */
export function useReachable(onReachableAgain: () => void): boolean {
  const [isReachable, setReachable] = useState(navigator.onLine); // only whether there is a network, until the first check has ended
  useEffect(() => {
    let isCancelled = false;
    async function check() {
      const isReachableNow = await doesServerRespond();
      if (isCancelled) return;
      if (isReachableNow && !isReachable) onReachableAgain();
      else setReachable(isReachableNow);
    }
    const startCheck = () => void check();
    startCheck();
    const timer = isReachable ? undefined : setInterval(startCheck, checkIntervalMs);
    window.addEventListener('online', startCheck);
    return () => {
      isCancelled = true;
      clearInterval(timer);
      window.removeEventListener('online', startCheck);
    };
  }, [isReachable, onReachableAgain]);
  return isReachable;
}
