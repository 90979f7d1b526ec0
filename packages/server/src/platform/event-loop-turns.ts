/**
 * Returns a function to await between the steps of long work. Its promises resolve in the order of the calls, one in each
 * turn of the event loop, so that requests are answered between two steps.
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
