/** Connects the arrangement of the result layers (computed objects, masks and heatmaps) with the page's URL. */
import type { ResultLayer } from '@lamina/contract';
import { use, useEffect, useState } from 'react';
import { ArrangementMemoryContext } from './arrangement-memory.ts';
import {
  type Arrangement,
  completeArrangement,
  formatArrangement,
  parseArrangement,
  withoutTrailingDefaults,
} from './layer-choices.ts';

/** Delay after the last change before the URL is updated; browsers limit how often a page may change its URL. */
const urlUpdateDelayMs = 250;

/**
 * Returns the arrangement of the result layers (their order, visibility and style) and a function that replaces it. The hook reads
 * the first arrangement from the page's URL, and writes each new arrangement to the URL.
 */
export function useArrangement(
  imageId: string,
  layers: readonly ResultLayer[],
): readonly [arrangement: Arrangement, arrange: (arrangement: Arrangement) => void] {
  const memory = use(ArrangementMemoryContext);
  const [chosen, setChosen] = useState(() => parseArrangement(memory.read()));
  const arrangement = completeArrangement(layers, chosen); // one choice for each layer
  // Without layers (there are none, or their list is still loading), the URL stays unchanged. The text for the URL omits the choices
  // at the end that `completeArrangement` adds again.
  const urlText =
    layers.length === 0 ? null : formatArrangement(withoutTrailingDefaults(layers, arrangement));
  useEffect(() => {
    if (urlText === null) return;
    const timer = setTimeout(() => memory.write(imageId, urlText), urlUpdateDelayMs);
    return () => clearTimeout(timer);
  }, [memory, imageId, urlText]);
  return [arrangement, setChosen];
}
