/**
 * The clock by which sign-ins, image sessions (credentials of viewers), rate-limit blocks, links and the like expire.
 *
 * It follows the system clock, but never runs backwards. When the system clock is set back, times continue from the
 * monotonic clock until the system clock has caught up or the program restarts, so nothing expires too early or too
 * late. The clock follows a forward jump at once, because such a jump is usually correct: the machine was asleep.
 */
import type { Logger } from 'pino';

/** The clock follows backward steps of up to this size, because time servers regularly make such corrections. */
const toleratedMs = 1000;

interface ClockDependencies {
  readonly log: Logger;
  /** Milliseconds since 1970 by the system clock. */
  readonly systemClock?: () => number;
  /** Milliseconds of the monotonic clock. */
  readonly monotonic?: () => number;
}

/** Creates the clock. @returns a function that returns the current time */
export function createClock({
  log,
  systemClock = () => Date.now(),
  monotonic = () => performance.now(),
}: ClockDependencies): () => Date {
  /** The last readings of both clocks, in milliseconds, at which the system clock was not set back. */
  let reference = { system: systemClock(), monotonic: monotonic() };
  let isSetBack = false;

  return () => {
    const systemMs = systemClock();
    const monotonicMs = monotonic();
    const expectedMs = reference.system + (monotonicMs - reference.monotonic);
    const behindMs = expectedMs - systemMs;
    if (behindMs <= toleratedMs) {
      if (isSetBack)
        log.info(
          { durationMs: Math.round(monotonicMs - reference.monotonic) },
          'system clock, which had been set back, has caught up after `durationMs` milliseconds; timestamps follow the system clock again',
        );
      isSetBack = false;
      reference = { system: systemMs, monotonic: monotonicMs };
      return new Date(systemMs);
    }
    if (!isSetBack)
      log.error(
        { behindMs: Math.round(behindMs) },
        'system clock was set back by `behindMs` milliseconds (check the time synchronisation); timestamps follow the monotonic clock until the system clock has caught up',
      );
    isSetBack = true;
    return new Date(expectedMs);
  };
}

/**
 * Maximum clock skew between servers. A time stamp that is further ahead of the current time was written before the system clock
 * was set back and the program restarted, so its age is unknown.
 */
const clockSkewMs = 60_000;

/** Returns whether a time stamp is more than a minute ahead of the current time. */
export function isFromTheFuture(timestamp: Date, now: Date): boolean {
  return timestamp.getTime() > now.getTime() + clockSkewMs;
}
