/**
 * Delays the rejection of a request that finds the render queue full.
 *
 * A client that floods the queue may repeat each rejected request at once. With 1,600 such connections, the event loop would be busy
 * with rejections, and the tiles of all other viewers would wait. Delaying a rejection costs only a timer.
 */
import { SlideError } from '@lamina/slide';

/** Shortest delay of a rejection in milliseconds. */
export const minRejectionDelayMs = 1000;
/** Longest delay in milliseconds. Delays are random, so that clients whose requests are rejected together do not retry together. */
export const maxRejectionDelayMs = 3000;

/**
 * Returns the result of `work`. The error BUSY (the render queue is full) is delayed by 1 to 3 s, or until the signal aborts;
 * other errors are not delayed.
 *
 * @param signalOf returns the signal; called only for BUSY, because creating a signal for each tile would cost more than the tile
 */
export function delayRejection<T>(work: Promise<T>, signalOf: () => AbortSignal): Promise<T> {
  return work.catch(async (error: unknown) => {
    if (error instanceof SlideError && error.code === 'BUSY') await delay(signalOf());
    throw error;
  });
}

function delay(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const ms = minRejectionDelayMs + Math.random() * (maxRejectionDelayMs - minRejectionDelayMs);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => {
    clearTimeout(timer);
    resolve();
  };
  signal.addEventListener('abort', stop, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', stop));
}
