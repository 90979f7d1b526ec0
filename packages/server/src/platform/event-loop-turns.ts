/**
 * Returns a function whose promises are resolved in order, one in each turn of the event loop: long work in small steps, between
 * which requests that have arrived are answered.
 */
export function createTurns(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const release = () => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(release);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(release);
    });
}
