import { useEffect, useState } from 'react';

const lookAgainMs = 3000;

/** Any answer will do, also an error. */
async function isReachable(): Promise<boolean> {
  if (!navigator.onLine) return false;
  try {
    await fetch('/', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(lookAgainMs) });
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether the server can be reached; looks again every 3 s, and when the browser has a network again, for as long as it
 * cannot.
 *
 * @param onBack called when it can be reached after it could not
 */
export function useReachable(onBack: () => void): boolean {
  const [wasReachable, setReachable] = useState(navigator.onLine);
  useEffect(() => {
    let isOver = false;
    async function look() {
      const isNow = await isReachable();
      if (isOver) return;
      if (isNow && !wasReachable) onBack();
      else setReachable(isNow);
    }
    const onOnline = () => void look();
    onOnline();
    const timer = wasReachable ? undefined : setInterval(onOnline, lookAgainMs);
    window.addEventListener('online', onOnline);
    return () => {
      isOver = true;
      clearInterval(timer);
      window.removeEventListener('online', onOnline);
    };
  }, [wasReachable, onBack]);
  return wasReachable;
}
