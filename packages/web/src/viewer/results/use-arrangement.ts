import type { ResultLayer } from '@lamina/contract';
import { use, useEffect, useState } from 'react';
import { ArrangementMemoryContext } from './arrangement-memory.ts';
import {
  type Arrangement,
  choicesOf,
  formatArrangement,
  parseArrangement,
  shortened,
} from './layer-choices.ts';

/** The address is written when nothing has changed for this long: browsers limit how often it may change. */
const settledMs = 250;

/** The arrangement of the layers, read from the memory at first and written to it after each change. */
export function useArrangement(
  imageId: string,
  layers: readonly ResultLayer[],
): readonly [Arrangement, (arrangement: Arrangement) => void] {
  const memory = use(ArrangementMemoryContext);
  const [chosen, setChosen] = useState(() => parseArrangement(memory.read()));
  const arrangement = choicesOf(layers, chosen);
  // While the list is loading, nothing is known about the layers.
  const text = layers.length === 0 ? null : formatArrangement(shortened(layers, arrangement));
  useEffect(() => {
    if (text === null) return;
    const timer = setTimeout(() => memory.write(imageId, text), settledMs);
    return () => clearTimeout(timer);
  }, [memory, imageId, text]);
  return [arrangement, setChosen];
}
