/**
 * Guards requests to object storage: limits concurrency, retries transient faults and stops requests while
 * the storage is down (circuit breaker).
 *
 * A slow or unreachable storage must cost a caller no more than a few seconds, and the process no memory. The
 * queue is bounded, and after several consecutive failures all requests fail immediately until a probe
 * succeeds.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { SlideError, type SlideErrorCode } from '../model/slide.ts';

/** Milliseconds, or counts. */
export interface StoreLimits {
  /** Concurrent requests. */
  readonly atOnce: number;
  /** Requests that may wait for their turn; further ones get BUSY. */
  readonly waiting: number;
  /** Retries after the first attempt. */
  readonly retries: number;
  /**
   * Backoff before the first retry; it doubles for each further one. Jitter reduces it to between half and
   * all of it.
   */
  readonly backoffMs: number;
  /** Time limit of one attempt, until its last byte. */
  readonly attemptMs: number;
  /** Time limit of all attempts together, waiting included. */
  readonly totalMs: number;
  /** Consecutive failed attempts that open the circuit. */
  readonly failures: number;
  /** Interval of the probes while the circuit is open. */
  readonly probeMs: number;
}

/** Reliability figure REL-10: two retries, 10 seconds in total, five failures, a probe every 5 seconds. */
export const storeLimits: StoreLimits = {
  atOnce: 32,
  waiting: 512,
  retries: 2,
  backoffMs: 200,
  attemptMs: 4000,
  totalMs: 10_000,
  failures: 5,
  probeMs: 5000,
};

/** A request without a response, or with an invalid one. */
export class StoreFault extends SlideError {
  /** A retry may succeed; the fault counts as a failure of the store. */
  readonly isPassing: boolean;

  constructor(code: SlideErrorCode, message: string, isPassing: boolean, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.isPassing = isPassing;
  }
}

type Overrides = Partial<Pick<StoreLimits, 'retries' | 'attemptMs' | 'totalMs'>>;

export interface StoreGuard {
  /**
   * @param attempt sends one request; transient StoreFaults, and errors that are no SlideError, are retried
   * @param asked overrides of the limits
   * @throws SlideError STORE_UNAVAILABLE, STORE_TIMEOUT, BUSY; errors of `attempt`; the signal's reason
   */
  ask<T>(
    attempt: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
    overrides?: Overrides,
  ): Promise<T>;
}

export function createStoreGuard(limits: StoreLimits): StoreGuard {
  const gate = createGate(limits);
  const circuit = createCircuit(limits);

  async function runAttempt<T>(
    attempt: (signal: AbortSignal) => Promise<T>,
    ms: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const timeout = new AbortController();
    const onTimeout = () =>
      timeout.abort(new StoreFault('STORE_TIMEOUT', 'The object store did not answer in time', true));
    const timer = setTimeout(onTimeout, ms);
    try {
      return await attempt(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal);
    } catch (error) {
      signal?.throwIfAborted();
      timeout.signal.throwIfAborted(); // any error caused by the abort is replaced by the timeout
      if (error instanceof SlideError) throw error;
      throw new StoreFault('STORE_UNAVAILABLE', 'The object store does not answer', true, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function ask<T>(
    attempt: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
    { retries, attemptMs, totalMs }: StoreLimits,
  ): Promise<T> {
    const endsAt = performance.now() + totalMs;
    circuit.check();
    await gate.enter(totalMs, signal);
    try {
      for (let tries = 0; ; tries++) {
        const isProbe = circuit.take();
        const leftMs = Math.max(1, endsAt - performance.now());
        try {
          const result = await runAttempt(attempt, Math.min(attemptMs, leftMs), signal);
          circuit.answered();
          return result;
        } catch (error) {
          if (signal?.aborted) {
            circuit.leave(isProbe);
            throw error;
          }
          if (!(error instanceof StoreFault && error.isPassing)) {
            circuit.answered(); // a definite error is a response too
            throw error;
          }
          circuit.failed();
          const pauseMs = limits.backoffMs * 2 ** tries * (0.5 + Math.random() / 2);
          if (tries >= retries || isProbe || performance.now() + pauseMs >= endsAt) throw error;
          await wait(pauseMs, undefined, signal && { signal });
        }
      }
    } finally {
      gate.leave();
    }
  }

  return { ask: (attempt, signal, overrides) => ask(attempt, signal, { ...limits, ...overrides }) };
}

/** Limits concurrent requests; further ones wait in order of arrival. */
function createGate({ atOnce, waiting: maxWaiting }: StoreLimits) {
  const waiting = new Set<() => void>();
  let inside = 0;

  return {
    /** @throws SlideError BUSY, STORE_TIMEOUT; the signal's reason */
    async enter(ms: number, signal: AbortSignal | undefined): Promise<void> {
      signal?.throwIfAborted();
      if (inside < atOnce) {
        inside++;
        return;
      }
      if (waiting.size >= maxWaiting) {
        throw new SlideError('BUSY', 'The queue of requests to the object store is full');
      }
      const turn = Promise.withResolvers<void>();
      const cancelTurn = (reason: unknown) => {
        waiting.delete(turn.resolve); // removed immediately, because a turn granted to an aborted request would be lost
        turn.reject(reason);
      };
      const onTimeout = () =>
        cancelTurn(new SlideError('STORE_TIMEOUT', 'The object store is too busy to answer in time'));
      const onAbort = () => cancelTurn(signal?.reason);
      const timer = setTimeout(onTimeout, ms);
      signal?.addEventListener('abort', onAbort);
      waiting.add(turn.resolve);
      try {
        await turn.promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
    },

    /** Passes the place to the request that has waited longest. */
    leave(): void {
      const [next] = waiting;
      if (next === undefined) {
        inside--;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}

/** Closed: all requests may be sent. Open: none, except one probe per interval. */
function createCircuit({ failures, probeMs }: StoreLimits) {
  let failed = 0;
  let probeAt = 0;
  let isProbing = false;

  const isOpen = () => failed >= failures;
  const openError = () =>
    new StoreFault(
      'STORE_UNAVAILABLE',
      'The object store failed repeatedly; no requests are sent until the next probe',
      false,
    );

  return {
    /** @throws SlideError STORE_UNAVAILABLE when the circuit is open and no probe is due */
    check(): void {
      if (isOpen() && (isProbing || performance.now() < probeAt)) throw openError();
    },
    /** @returns whether this attempt is the probe @throws SlideError the error of `check` */
    take(): boolean {
      this.check();
      isProbing = isOpen();
      return isProbing;
    },
    answered(): void {
      failed = 0;
      isProbing = false;
    },
    failed(): void {
      failed++;
      isProbing = false;
      if (isOpen()) probeAt = performance.now() + probeMs;
    },
    /** Ends an attempt that neither succeeded nor failed. */
    leave(wasProbe: boolean): void {
      if (wasProbe) isProbing = false;
    },
  };
}
