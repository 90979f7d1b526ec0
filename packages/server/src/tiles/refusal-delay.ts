/**
 * The delay of refusals because of a full render queue.
 *
 * A client that floods the queue repeats a refused request at once. 1,600 connections that do so keep the event loop busy
 * with refusals, and the tiles of everyone else wait for it. A refusal that waits costs a timer.
 */
import { SlideError } from '@lamina/slide';

/** Shortest delay of a refusal in milliseconds. */
export const minRefusalDelayMs = 1000;
/** Longest delay. The delays differ, so that the refused requests of one moment are not repeated at one moment. */
export const maxRefusalDelayMs = 3000;

/**
 * Returns the result of `work`. Delays its error when the error is BUSY, until the delay is over or `signalOf()` aborts.
 *
 * @param signalOf called for a refusal only, because a signal for each tile would cost more than the tile
 */
export function delayRefusal<T>(work: Promise<T>, signalOf: () => AbortSignal): Promise<T> {
  return work.catch(async (error: unknown) => {
    if (error instanceof SlideError && error.code === 'BUSY') await delay(signalOf());
    throw error;
  });
}

function delay(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const ms = minRefusalDelayMs + Math.random() * (maxRefusalDelayMs - minRefusalDelayMs);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = () => {
    clearTimeout(timer);
    resolve();
  };
  signal.addEventListener('abort', stop, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', stop));
}
