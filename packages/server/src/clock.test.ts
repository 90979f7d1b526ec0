import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createClock, isFromTheFuture } from './clock.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 4, 1, 9);

/** A computer whose clock can be set, and whose sleep only its clock notices. */
function computer() {
  let [clock, steady] = [start, 0];
  const lines: string[] = [];
  const now = createClock({
    log: pino({}, { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) }),
    computer: () => clock,
    steady: () => steady,
  });
  return {
    hoursSinceStart: () => (now().getTime() - start) / hour,
    logged: lines,
    pass(ms: number) {
      clock += ms;
      steady += ms;
    },
    set(ms: number) {
      clock += ms;
    },
  };
}

describe('the clock', () => {
  it('is that of the computer', () => {
    const { hoursSinceStart, pass } = computer();
    pass(2 * hour);
    expect(hoursSinceStart()).toBe(2);
  });

  it('goes on when that of the computer is set back', () => {
    const { hoursSinceStart, pass, set, logged } = computer();
    pass(hour);
    set(-24 * hour);
    expect(hoursSinceStart()).toBe(1);
    pass(hour);
    expect(hoursSinceStart()).toBe(2);
    expect(logged).toEqual(['the clock of this computer was set back']);
  });

  it('follows again when the other has caught up', () => {
    const { hoursSinceStart, set, logged } = computer();
    set(-24 * hour);
    hoursSinceStart();
    set(25 * hour);
    expect(hoursSinceStart()).toBe(1);
    expect(logged.at(-1)).toBe('the clock of this computer has caught up');
  });

  it('follows forwards at once: after a sleep, much has ended', () => {
    const { hoursSinceStart, set } = computer();
    set(24 * hour);
    expect(hoursSinceStart()).toBe(24);
  });

  it('follows what a time server corrects', () => {
    const { hoursSinceStart, set, logged } = computer();
    set(-900);
    expect(hoursSinceStart()).toBeCloseTo(-900 / hour, 9);
    expect(logged).toEqual([]);
  });
});

describe('a moment', () => {
  it.each([
    ['a minute ahead, as another computer may be', 60_000, false],
    ['further ahead', 60_001, true],
    ['past', -hour, false],
  ])('that is %s is from the future or not', (_, aheadMs, isAhead) => {
    expect(isFromTheFuture(new Date(start + aheadMs), new Date(start))).toBe(isAhead);
  });
});
