/**
 * Delays the refusal of a request that finds the render queue full.
 *
 * A client that floods the queue repeats a refused request at once. With 1,600 connections that do so, refusals keep the event
 * loop busy, and the tiles of all other viewers wait. A delayed refusal only costs a timer.
 */
import { SlideError } from '@lamina/slide';

/** Shortest delay of a refusal in milliseconds. */
export const minRefusalDelayMs = 1000;
/** Longest delay. Delays are random, so that requests refused at the same moment are not all repeated at the same moment. */
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
