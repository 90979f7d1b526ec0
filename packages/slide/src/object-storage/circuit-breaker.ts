/**
 * A guard of requests to object storage: it limits concurrency, retries after transient faults, and stops requests while the
 * storage is down (circuit breaker).
 *
 * While the storage is slow or unreachable, a caller waits at most `totalMs`, and the number of waiting requests is
 * bounded. After `failuresToOpen` consecutive failures all requests fail immediately until a probe request succeeds.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { SlideError, type SlideErrorCode } from '../model/slide.ts';

/** Limits of requests; a name ending in `Ms` is in milliseconds, all others are counts. */
export interface StoreLimits {
  /** Maximum number of concurrent requests. */
  readonly maxConcurrent: number;
  /** Maximum number of requests that wait while `maxConcurrent` requests are running; further requests fail with BUSY. */
  readonly maxWaiting: number;
  /** Retries after the first attempt. */
  readonly retries: number;
  /** Pause before the first retry. It doubles for each further retry; a random factor between 0.5 and 1 is applied (jitter). */
  readonly backoffMs: number;
  /** Time limit of one attempt, including its response body. */
  readonly attemptMs: number;
  /** Time limit of all attempts together, including the time in the queue and the pauses before retries. */
  readonly totalMs: number;
  /** Number of consecutive failed attempts that opens the circuit. */
  readonly failuresToOpen: number;
  /** Interval of the probes while the circuit is open. */
  readonly probeMs: number;
}

/** The defaults. `retries`, `totalMs`, `failuresToOpen` and `probeMs` are specified by REL-10 (docs/requirements.md). */
export const storeLimits: StoreLimits = {
  maxConcurrent: 32,
  maxWaiting: 512,
  retries: 2,
  backoffMs: 200,
  attemptMs: 4000,
  totalMs: 10_000,
  failuresToOpen: 5,
  probeMs: 5000,
};

/** The error of a request that got no response, an error response or an invalid response, or that was not sent (open circuit). */
export class StoreFault extends SlideError {
  /** Whether a retry may succeed. Only transient faults count as failures that open the circuit. */
  readonly isTransient: boolean;

  constructor(code: SlideErrorCode, message: string, isTransient: boolean, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.isTransient = isTransient;
  }
}

/** Limits that a single request may override. */
type Overrides = Partial<Pick<StoreLimits, 'retries' | 'attemptMs' | 'totalMs'>>;

export interface StoreGuard {
  /**
   * Runs a request under all limits.
   *
   * @param attempt sends one request; it is retried after a transient StoreFault and after any error that is not a SlideError
   * @param overrides limits that differ for this request
   * @throws SlideError STORE_UNAVAILABLE, STORE_TIMEOUT, BUSY; errors of `attempt`; the signal's reason
   */
  run<T>(
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
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const timeout = new AbortController();
    const isTransient = true;
    const onTimeout = () =>
      timeout.abort(new StoreFault('STORE_TIMEOUT', 'The object store did not respond in time', isTransient));
    const timer = setTimeout(onTimeout, timeoutMs);
    try {
      return await attempt(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal);
    } catch (error) {
      signal?.throwIfAborted();
      timeout.signal.throwIfAborted(); // throws the timeout error instead of the error that the abort has caused
      if (error instanceof SlideError) throw error;
      throw new StoreFault('STORE_UNAVAILABLE', 'The object store does not respond', isTransient, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function run<T>(
    attempt: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
    { retries, attemptMs, totalMs }: StoreLimits,
  ): Promise<T> {
    const deadline = performance.now() + totalMs;
    circuit.throwIfOpen();
    await gate.enter(totalMs, signal);
    try {
      for (let failedAttempts = 0; ; failedAttempts++) {
        const sent = circuit.startAttempt();
        const remainingMs = Math.max(1, deadline - performance.now());
        try {
          const result = await runAttempt(attempt, Math.min(attemptMs, remainingMs), signal);
          circuit.recordResponse(sent);
          return result;
        } catch (error) {
          if (signal?.aborted) {
            circuit.recordAbort(sent);
            throw error;
          }
          if (!(error instanceof StoreFault && error.isTransient)) {
            circuit.recordResponse(sent); // An error such as FILE_MISSING is also a response: the store works.
            throw error;
          }
          circuit.recordFailure(sent);
          const pauseMs = limits.backoffMs * 2 ** failedAttempts * (0.5 + Math.random() / 2);
          // A probe is not retried: the next probe follows after `probeMs`.
          if (failedAttempts >= retries || sent.isProbe || performance.now() + pauseMs >= deadline)
            throw error;
          // Node's own error has the signal's reason only as its cause.
          await wait(pauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
        }
      }
    } finally {
      gate.leave();
    }
  }

  return { run: (attempt, signal, overrides) => run(attempt, signal, { ...limits, ...overrides }) };
}

/** Limits concurrent requests; further requests wait in order of arrival. */
function createGate({ maxConcurrent, maxWaiting }: StoreLimits) {
  /** For each waiting request, the function that lets it start, in order of arrival. */
  const waiting = new Set<() => void>();
  let running = 0;

  return {
    /** Waits until the request may be sent, at most `maxMs`. @throws SlideError BUSY, STORE_TIMEOUT; the signal's reason */
    async enter(maxMs: number, signal: AbortSignal | undefined): Promise<void> {
      signal?.throwIfAborted();
      if (running < maxConcurrent) {
        running++;
        return;
      }
      if (waiting.size >= maxWaiting) {
        throw new SlideError('BUSY', 'The queue of requests to the object store is full');
      }
      const turn = Promise.withResolvers<void>();
      const cancelTurn = (reason: unknown) => {
        waiting.delete(turn.resolve); // Otherwise `leave` could let this request start, which no longer waits.
        turn.reject(reason);
      };
      const onTimeout = () =>
        cancelTurn(
          new SlideError(
            'STORE_TIMEOUT',
            'The request waited too long for other requests to the object store',
          ),
        );
      const onAbort = () => cancelTurn(signal?.reason);
      const timer = setTimeout(onTimeout, maxMs);
      signal?.addEventListener('abort', onAbort);
      waiting.add(turn.resolve);
      try {
        await turn.promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
    },

    /** Ends a request, and lets the request start that has waited longest. */
    leave(): void {
      const [next] = waiting;
      if (next === undefined) {
        running--;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}

/** An attempt to send a request. */
interface SentAttempt {
  readonly isProbe: boolean;
  /** How often the circuit had opened or closed when the attempt was sent. */
  readonly stateChanges: number;
}

/**
 * While the circuit is closed, all requests are sent. While it is open, only one probe per `probeMs` is sent, and only the probe closes it:
 * late results of attempts that were sent before the last change of state are ignored.
 */
function createCircuit({ failuresToOpen, probeMs }: StoreLimits) {
  let failureCount = 0;
  let isOpen = false;
  /** Number of times that the circuit has opened or closed. */
  let stateChanges = 0;
  /** Earliest time of the next probe, by `performance.now()`. */
  let probeAt = 0;
  let isProbing = false;

  const isLate = (attempt: SentAttempt) => attempt.stateChanges !== stateChanges;
  const openError = () =>
    new StoreFault(
      'STORE_UNAVAILABLE',
      'The object store failed repeatedly; no requests are sent until the next probe',
      false, // not transient: an immediate retry would fail too
    );

  /** Opens or closes the circuit, and ends a running probe. */
  function setOpen(value: boolean): void {
    if (isOpen !== value) stateChanges++;
    isOpen = value;
    isProbing = false;
  }

  return {
    /** Fails fast. @throws SlideError STORE_UNAVAILABLE when the circuit is open and no probe is due */
    throwIfOpen(): void {
      if (isOpen && (isProbing || performance.now() < probeAt)) throw openError();
    },
    /** Must be called before each attempt. @throws SlideError as `throwIfOpen` */
    startAttempt(): SentAttempt {
      this.throwIfOpen();
      isProbing = isOpen;
      return { isProbe: isProbing, stateChanges };
    },
    /** Closes the circuit. */
    recordResponse(attempt: SentAttempt): void {
      if (isLate(attempt)) return;
      failureCount = 0;
      setOpen(false);
    },
    recordFailure(attempt: SentAttempt): void {
      if (isLate(attempt)) return;
      failureCount++;
      if (failureCount < failuresToOpen) return;
      setOpen(true); // after a failed probe, the circuit was open already
      probeAt = performance.now() + probeMs;
    },
    /** Ends an attempt that its caller aborted. The attempt counts neither as a response nor as a failure. */
    recordAbort(attempt: SentAttempt): void {
      if (attempt.isProbe) isProbing = false;
    },
  };
}
