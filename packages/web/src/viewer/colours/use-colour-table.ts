import { useEffect, useState } from 'react';
import type { FetchPixels } from '../pixels.ts';
import { type ColourProfile, type ColourTable, loadColourTable } from './colour-table.ts';

/**
 * Returns the colour table of a slide, which corrects the scanner's colours; null until it is loaded or if loading
 * fails.
 *
 * @param profile the ICC profile as the descriptor describes it; null loads nothing, but a table that is loaded already stays
 * @param url URL of the colour table
 */
export function useColourTable(
  profile: ColourProfile | null,
  url: string,
  fetchPixels: FetchPixels,
): ColourTable | null {
  const [table, setTable] = useState<ColourTable | null>(null);
  const size = profile?.tableSize ?? null;
  useEffect(() => {
    if (size === null) return;
    const abortController = new AbortController();
    const request = { signal: abortController.signal, onRenewing: () => {} }; // a new image session needs no action
    loadColourTable(fetchPixels, url, size, request).then(
      (loaded) => setTable(loaded),
      () => undefined, // without a table the slide keeps the colours as scanned
    );
    return () => abortController.abort();
  }, [size, url, fetchPixels]);
  return table;
}
