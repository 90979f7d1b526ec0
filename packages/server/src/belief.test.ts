import { describe, expect, it } from 'vitest';
import { createBelief } from './belief.ts';

/** A database that answers or not, and a clock that is told. */
function world() {
  let at = 0;
  const belief = createBelief(() => at);
  return {
    belief,
    holds: (answeredAt: number) => belief.holds(answeredAt, at),
    advance: (ms: number) => {
      at += ms;
    },
    answers: () => belief.ask(async () => 'an answer'),
    fails: () => belief.ask(() => Promise.reject(new Error('down'))).catch(() => 'failed'),
  };
}

describe('what the database has answered', () => {
  it('is believed for a second', () => {
    const { holds, advance } = world();
    advance(999);
    expect(holds(0)).toBe(true);
    advance(1);
    expect(holds(0)).toBe(false);
  });

  it('is believed for half a minute while it does not answer', async () => {
    const { holds, advance, fails } = world();
    advance(29_999);
    await fails();
    expect(holds(0)).toBe(true);
    advance(1);
    expect(holds(0)).toBe(false);
  });

  it('is believed no longer as soon as it answers again', async () => {
    const { holds, advance, fails, answers } = world();
    advance(20_000);
    await fails();
    await answers();
    expect(holds(0)).toBe(false);
  });

  it('is not believed when nobody has asked for a second: the database may be back', async () => {
    const { holds, advance, fails } = world();
    await fails();
    advance(1000);
    expect(holds(0)).toBe(false);
  });

  it('is believed while the next failure takes its time to come', async () => {
    const { belief, holds, advance, fails } = world();
    await fails();
    const slow = Promise.withResolvers<string>();
    const asking = belief.ask(() => slow.promise);
    advance(10_000);
    expect(holds(0)).toBe(true);
    slow.resolve('back');
    await asking;
    expect(holds(0)).toBe(false);
  });

  it('is old when the clock is set back', () => {
    const { holds, advance } = world();
    advance(-5000);
    expect(holds(0)).toBe(false);
  });
});
