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
 * Returns the result of `work`. The error BUSY (the render queue is full) is delayed by 1 to 3 s, or until a signal aborts; other errors
 * are not delayed.
 *
 * @param client its signal is read only for BUSY: each read creates a signal, which costs a tenth of the CPU time of a native tile
 * @param closing aborted when the server stops
 */
export async function delayRejection<T>(
  work: Promise<T>,
  client: { readonly signal: AbortSignal },
  closing: AbortSignal,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SlideError && error.code === 'BUSY')
      await delay(AbortSignal.any([client.signal, closing]));
    throw error;
  }
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
