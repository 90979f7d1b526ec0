import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurns } from './event-loop-turns.ts';

it('createTurns (pauses for long work) lets at most one waiting call continue in each turn of the event loop, in the order of the calls', async () => {
  const nextTurn = createTurns();
  const steps: string[] = [];
  async function runSteps(name: string, count: number) {
    for (let step = 1; step <= count; step++) {
      await nextTurn();
      steps.push(name + step);
    }
  }
  const all = Promise.all([runSteps('a', 2), runSteps('b', 2)]);
  const doneAfterTurn: number[] = [];
  while (steps.length < 4) {
    await setImmediate();
    doneAfterTurn.push(steps.length);
  }
  await all;
  expect(steps).toEqual(['a1', 'b1', 'a2', 'b2']);
  expect(doneAfterTurn.every((count, index) => count - (doneAfterTurn[index - 1] ?? 0) <= 1)).toBe(true);
});
