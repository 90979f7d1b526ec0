/** Reproducible pseudo-random numbers: the same seed gives the same numbers on every machine. */

/** Returns the next number, from 0 inclusive to 1 exclusive. */
export type Random = () => number;

/** Creates a generator. Source: mulberry32 (T. Ettinger, 2017, public domain). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a copy of the list in random order (Fisher-Yates shuffle). */
export function shuffled<Item>(list: readonly Item[], random: Random): Item[] {
  const items = [...list];
  for (let last = items.length - 1; last > 0; last -= 1) {
    const chosenIndex = Math.floor(random() * (last + 1));
    [items[last], items[chosenIndex]] = [items[chosenIndex] as Item, items[last] as Item];
  }
  return items;
}
