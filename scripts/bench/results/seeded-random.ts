/** Returns a generator of random numbers above 0 and below 1, the same in each run (Park and Miller's MINSTD). */
export function seededRandom(): () => number {
  let state = 7;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
