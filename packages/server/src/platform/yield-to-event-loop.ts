/** Lets long computations yield to the event loop, which handles requests in between. */
import { setImmediate } from 'node:timers/promises';

/** Minimum time between two yields; about as long as rendering a tile. */
const yieldEveryMs = 10;

/** Returns a function to await between the steps of a computation; it yields at most every 10 ms. */
export function createYielder(): () => Promise<void> {
  let lastYieldAt = performance.now();
  return async () => {
    if (performance.now() - lastYieldAt < yieldEveryMs) return;
    await setImmediate();
    lastYieldAt = performance.now();
  };
}
