/** Long work on the thread that answers requests stops every so often, for as long as others have something to do. */
import { setImmediate } from 'node:timers/promises';

/** Nobody waits longer for it; a tile takes about as long. */
const longestMs = 10;

/** @returns to be awaited between any two steps of the work; mostly does nothing */
export function createGiveWay(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < longestMs) return;
    await setImmediate();
    since = performance.now();
  };
}
