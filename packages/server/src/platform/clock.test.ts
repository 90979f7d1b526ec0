import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createClock, isFromTheFuture } from './clock.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 4, 1, 9);

/** Creates a clock on a simulated system clock and monotonic clock. `setBy` changes only the system clock. */
function simulatedClock() {
  let [systemMs, monotonicMs] = [start, 0];
  const logged: string[] = [];
  const now = createClock({
    log: pino({}, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) }),
    systemClock: () => systemMs,
    monotonic: () => monotonicMs,
  });
  return {
    hoursSinceStart: () => (now().getTime() - start) / hour,
    logged,
    advance(ms: number) {
      systemMs += ms;
      monotonicMs += ms;
    },
    setBy(ms: number) {
      systemMs += ms;
    },
  };
}

describe('createClock (server time that is not set back with the system clock)', () => {
  it('returns the time of the system clock while the clock is not changed', () => {
    const { hoursSinceStart, advance } = simulatedClock();
    advance(2 * hour);
    expect(hoursSinceStart()).toBe(2);
  });

  it('continues from the monotonic clock when the system clock is set back by 24 hours', () => {
    const { hoursSinceStart, advance, setBy, logged } = simulatedClock();
    advance(hour);
    setBy(-24 * hour);
    expect(hoursSinceStart()).toBe(1);
    advance(hour);
    expect(hoursSinceStart()).toBe(2);
    expect(logged).toEqual([expect.stringContaining('system clock was set back')]);
  });

  it('follows the system clock again after it was set back and has caught up with the server time', () => {
    const { hoursSinceStart, setBy, logged } = simulatedClock();
    setBy(-24 * hour);
    hoursSinceStart();
    setBy(25 * hour);
    expect(hoursSinceStart()).toBe(1);
    expect(logged.at(-1)).toContain('timestamps follow the system clock again');
  });

  it('returns the new time at once when the system clock jumps forward, as after sleep mode', () => {
    const { hoursSinceStart, setBy } = simulatedClock();
    setBy(24 * hour);
    expect(hoursSinceStart()).toBe(24);
  });

  it('returns the corrected time when a time server sets the system clock back by less than a second', () => {
    const { hoursSinceStart, setBy, logged } = simulatedClock();
    setBy(-900);
    expect(hoursSinceStart()).toBeCloseTo(-900 / hour, 9);
    expect(logged).toEqual([]);
  });
});

describe('isFromTheFuture (whether a stored time stamp is later than the current time)', () => {
  it.each([
    ['exactly a minute ahead (clock skew)', false, 60_000],
    ['more than a minute ahead', true, 60_001],
    ['in the past', false, -hour],
  ])('returns $1 for a time stamp that is $0', (_, expected, aheadMs) => {
    expect(isFromTheFuture(new Date(start + aheadMs), new Date(start))).toBe(expected);
  });
});
