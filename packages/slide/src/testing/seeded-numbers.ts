/**
 * Returns a generator of pseudo-random integers. The same seed always gives the same integers.
 *
 * Source: the linear congruential generator of Numerical Recipes (1992), chapter 7.1.
 *
 * @returns a function that returns an integer from 0 to `limit - 1`; `limit` is at most 65,536
 */
export function seededNumbers(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(((state >>> 16) * limit) / 65_536);
  };
}
