/** Cooperative yielding: long computations let the event loop handle requests in between. */
import { setImmediate } from 'node:timers/promises';

/** Longest time without yielding; about as long as rendering a tile. */
const longestMs = 10;

/** Returns a function to await between steps of the computation; it yields at most every 10 ms. */
export function createYielder(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < longestMs) return;
    await setImmediate();
    since = performance.now();
  };
}
