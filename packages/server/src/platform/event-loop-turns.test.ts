import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurns } from './event-loop-turns.ts';

it('createTurns › runs one step in each turn of the event loop, in the order of the calls', async () => {
  const turn = createTurns();
  const steps: string[] = [];
  async function work(name: string, count: number) {
    for (let step = 1; step <= count; step++) {
      await turn();
      steps.push(name + step);
    }
  }
  const all = Promise.all([work('a', 2), work('b', 2)]);
  const perTurn: number[] = [];
  while (steps.length < 4) {
    await setImmediate();
    perTurn.push(steps.length);
  }
  await all;
  expect(steps).toEqual(['a1', 'b1', 'a2', 'b2']);
  expect(perTurn.every((count, index) => count - (perTurn[index - 1] ?? 0) <= 1)).toBe(true);
});
