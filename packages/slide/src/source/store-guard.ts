/**
 * How the object store is asked: by few at a time, again after a passing fault, and not at all while it is down.
 *
 * A store that is slow or gone must cost nobody more than a few seconds, and the program no memory: what has to wait is
 * bounded, and after some failures in a row everything fails at once until a probe gets through.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { SlideError, type SlideErrorCode } from '../slide.ts';

/** Milliseconds, or counts. */
export interface StoreLimits {
  /** Requests under way at a time. */
  readonly atOnce: number;
  /** Requests that may wait for their turn; one more is refused with BUSY. */
  readonly waiting: number;
  /** After the first attempt. */
  readonly retries: number;
  /** Before the first retry, twice as much before the next; what is waited is between half of it and all of it. */
  readonly backoffMs: number;
  /** Of one attempt, until its last byte. */
  readonly attemptMs: number;
  /** Of all attempts together, waiting included. */
  readonly totalMs: number;
  /** Failed attempts in a row after which nothing is asked any more. */
  readonly failures: number;
  /** After so long one request may look whether the store is back. */
  readonly probeMs: number;
}

/** Reliability figure R10: two retries, ten seconds in all, five failures, a probe every five seconds. */
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

/** A request that brought no answer, or a wrong one. */
export class StoreFault extends SlideError {
  /** Trying again may help, and it says something about the store as a whole. */
  readonly isPassing: boolean;

  constructor(code: SlideErrorCode, message: string, isPassing: boolean, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.isPassing = isPassing;
  }
}

type Asked = Partial<Pick<StoreLimits, 'retries' | 'attemptMs' | 'totalMs'>>;

export interface StoreGuard {
  /**
   * @param attempt one request; a StoreFault that is passing, and any error that is no SlideError, may be tried again
   * @param asked where it differs from the limits
   * @throws SlideError STORE_UNAVAILABLE, STORE_TIMEOUT, BUSY, what `attempt` throws; the signal's reason
   */
  ask<T>(attempt: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal, asked?: Asked): Promise<T>;
}

export function createStoreGuard(limits: StoreLimits): StoreGuard {
  const gate = createGate(limits);
  const circuit = createCircuit(limits);

  async function once<T>(
    attempt: (signal: AbortSignal) => Promise<T>,
    ms: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const ending = new AbortController();
    const tooLong = () =>
      ending.abort(new StoreFault('STORE_TIMEOUT', 'The object store did not answer in time', true));
    const timer = setTimeout(tooLong, ms);
    try {
      return await attempt(signal ? AbortSignal.any([signal, ending.signal]) : ending.signal);
    } catch (error) {
      signal?.throwIfAborted();
      ending.signal.throwIfAborted(); // whatever came of being interrupted
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
          const answer = await once(attempt, Math.min(attemptMs, leftMs), signal);
          circuit.answered();
          return answer;
        } catch (error) {
          if (signal?.aborted) {
            circuit.leave(isProbe);
            throw error;
          }
          if (!(error instanceof StoreFault && error.isPassing)) {
            circuit.answered(); // a refusal is an answer, too
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

  return { ask: (attempt, signal, asked) => ask(attempt, signal, { ...limits, ...asked }) };
}

/** Lets so many in at a time; the others wait in the order they came. */
function createGate({ atOnce, waiting: mostWaiting }: StoreLimits) {
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
      if (waiting.size >= mostWaiting) {
        throw new SlideError('BUSY', 'Too many requests wait for the object store');
      }
      const turn = Promise.withResolvers<void>();
      const giveUp = (reason: unknown) => {
        waiting.delete(turn.resolve); // at once: a turn that is given to nobody would be lost
        turn.reject(reason);
      };
      const tooLong = () =>
        giveUp(new SlideError('STORE_TIMEOUT', 'The object store is too busy to answer in time'));
      const left = () => giveUp(signal?.reason);
      const timer = setTimeout(tooLong, ms);
      signal?.addEventListener('abort', left);
      waiting.add(turn.resolve);
      try {
        await turn.promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', left);
      }
    },

    /** Whoever waits longest goes in instead. */
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

/** Closed: everyone may ask. Open: nobody, but for one probe now and then. */
function createCircuit({ failures, probeMs }: StoreLimits) {
  let failed = 0;
  let probeAt = 0;
  let isProbing = false;

  const isOpen = () => failed >= failures;
  const refusal = () =>
    new StoreFault('STORE_UNAVAILABLE', 'The object store has not answered lately and is left alone', false);

  return {
    /** @throws SlideError STORE_UNAVAILABLE when asking would be refused */
    check(): void {
      if (isOpen() && (isProbing || performance.now() < probeAt)) throw refusal();
    },
    /** @returns whether this one is the probe. @throws SlideError as `check` does */
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
    /** Without an answer and without a failure. */
    leave(wasProbe: boolean): void {
      if (wasProbe) isProbing = false;
    },
  };
}
