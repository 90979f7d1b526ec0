/**
 * Returns the current time for everything that expires, such as sign-ins, image sessions, rate-limit blocks and links.
 *
 * The clock follows the system clock, but never runs backwards. When the system clock is set back, it continues from the
 * monotonic clock, so that nothing expires later or earlier than it should; it follows the system clock again once that
 * has caught up or the program restarts. It follows a forward jump at once, because after sleep it really is later.
 */
import type { Logger } from 'pino';

/** Steps backwards below this are ignored: they are usual corrections by a time server. */
const toleratedMs = 1000;

interface ClockDependencies {
  readonly log: Logger;
  /** Milliseconds since 1970 by the system clock. */
  readonly systemClock?: () => number;
  /** Milliseconds of the monotonic clock. */
  readonly monotonic?: () => number;
}

export function createClock({
  log,
  systemClock = () => Date.now(),
  monotonic = () => performance.now(),
}: ClockDependencies): () => Date {
  /** The last reading of both clocks at which they agreed. */
  let reference = { system: systemClock(), monotonic: monotonic() };
  let isSetBack = false;

  return () => {
    const systemMs = systemClock();
    const monotonicMs = monotonic();
    const expected = reference.system + (monotonicMs - reference.monotonic);
    const behindMs = expected - systemMs;
    if (behindMs <= toleratedMs) {
      if (isSetBack) log.info('system clock is no longer behind; times follow it again');
      isSetBack = false;
      reference = { system: systemMs, monotonic: monotonicMs };
      return new Date(systemMs);
    }
    if (!isSetBack)
      log.error(
        { behindMs: Math.round(behindMs) },
        'system clock set back; times continue from the monotonic clock until the system clock has caught up',
      );
    isSetBack = true;
    return new Date(expected);
  };
}

/**
 * Largest clock skew between servers. A time stamp further ahead was written before the clock was set back and the
 * program restarted, so that its age is unknown.
 */
const clockSkewMs = 60_000;

export function isFromTheFuture(at: Date, now: Date): boolean {
  return at.getTime() > now.getTime() + clockSkewMs;
}
