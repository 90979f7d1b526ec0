/**
 * What time it is, for everything that ends by itself: sign-ins, image sessions, blocks, links.
 *
 * The computer's clock, but never backwards. When somebody sets that back, this one goes on from where it was, so that
 * nothing lasts longer than it was given, and nobody is thrown out; it follows again once the other has caught up, or
 * the program is started anew. Set forward, it is followed at once: a computer that slept has to know how long.
 */
import type { Logger } from 'pino';

/** As much as time servers correct while a program runs. */
const toleratedMs = 1000;

interface Ground {
  readonly log: Logger;
  /** Milliseconds since 1970, as the computer says. */
  readonly computer?: () => number;
  /** Milliseconds of a clock that nobody sets. */
  readonly steady?: () => number;
}

export function createClock({
  log,
  computer = () => Date.now(),
  steady = () => performance.now(),
}: Ground): () => Date {
  /** A moment by both clocks. */
  let known = { computer: computer(), steady: steady() };
  let isSetBack = false;

  return () => {
    const said = computer();
    const at = steady();
    const expected = known.computer + (at - known.steady);
    const behindMs = expected - said;
    if (behindMs <= toleratedMs) {
      if (isSetBack) log.info('the clock of this computer has caught up');
      isSetBack = false;
      known = { computer: said, steady: at };
      return new Date(said);
    }
    if (!isSetBack) log.error({ behindMs: Math.round(behindMs) }, 'the clock of this computer was set back');
    isSetBack = true;
    return new Date(expected);
  };
}

/**
 * Clocks of several computers differ by so much at most. What claims to be from later than that was made before the
 * clock was set back and the program started anew, and nobody knows how old it is.
 */
const agreementMs = 60_000;

export function isFromTheFuture(at: Date, now: Date): boolean {
  return at.getTime() > now.getTime() + agreementMs;
}
