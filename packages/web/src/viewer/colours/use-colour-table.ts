import { useEffect, useState } from 'react';
import type { FetchPixels } from '../pixels.ts';
import { type ColourProfile, type ColourTable, loadColourTable } from './colour-table.ts';

/** Returns the colour table of a slide when it is loaded. @param profile null: nothing is loaded */
export function useColourTable(
  profile: ColourProfile | null,
  address: string,
  fetchPixels: FetchPixels,
): ColourTable | null {
  const [table, setTable] = useState<ColourTable | null>(null);
  const size = profile?.tableSize ?? null;
  useEffect(() => {
    if (size === null) return;
    const end = new AbortController();
    const request = { signal: end.signal, onRenewing: () => {} };
    loadColourTable(fetchPixels, address, size, request).then(
      (loaded) => setTable(loaded),
      () => undefined, // the colours stay as scanned
    );
    return () => end.abort();
  }, [size, address, fetchPixels]);
  return table;
}
