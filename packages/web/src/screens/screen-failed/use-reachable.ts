import { useEffect, useState } from 'react';
import { doesServerRespond } from '../../browser/server-responds.ts';

/** Interval between two checks, and the time limit of one check. */
const checkIntervalMs = 3000;

/**
 * Returns whether the server can be reached. While it cannot, the hook checks again every 3 s, and immediately when the
 * browser reports that the network is back.
 *
 * @param onReachableAgain called when a check succeeds after the hook has returned false. It reloads the page, so the hook keeps returning
 *   false. When it is null, the hook returns true instead.
 */
export function useReachable(onReachableAgain: (() => void) | null): boolean {
  // Until the first check ends, the hook returns whether the browser has a network.
  const [isReachable, setReachable] = useState(navigator.onLine);
  useEffect(() => {
    let isCancelled = false;
    async function check() {
      const isReachableNow = await doesServerRespond(checkIntervalMs);
      if (isCancelled) return;
      if (isReachableNow && !isReachable && onReachableAgain !== null) onReachableAgain();
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
