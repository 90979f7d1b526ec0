/** Returns a generator of random numbers from 0 to 1 that are the same in each run. */
export function seededRandom(): () => number {
  let seed = 7;
  return () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
}
