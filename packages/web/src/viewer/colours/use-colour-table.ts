import { useEffect, useState } from 'react';
import { onPossibleReconnect } from '../../browser/on-possible-reconnect.ts';
import type { FetchPixels } from '../pixels.ts';
import { type ColourProfile, type ColourTable, loadColourTable } from './colour-table.ts';

/** Time after which a table that could not be loaded is requested again. */
const retryAfterMs = 10_000;

interface LoadedColourTable {
  /** Null until the table is loaded. */
  readonly table: ColourTable | null;
  /** Whether the table could not be loaded. Stays true while the request is repeated. */
  readonly hasFailed: boolean;
}

/**
 * Loads the colour table of a slide, which corrects the scanner's colours. Repeats a failed request after 10 s, and as soon as the
 * network is available again or the page becomes visible.
 *
 * @param profile the ICC profile as the descriptor describes it; null loads nothing, but a table that is loaded already stays
 * @param url URL of the colour table
 */
export function useColourTable(
  profile: ColourProfile | null,
  url: string,
  fetchPixels: FetchPixels,
): LoadedColourTable {
  const [table, setTable] = useState<ColourTable | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const size = profile?.tableSize ?? null;
  useEffect(() => {
    if (size === null) return;
    const abortController = new AbortController();
    const { signal } = abortController;
    /** Undefined while a request is running, and when the table is loaded. */
    let retryTimer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      retryTimer = undefined;
      // A renewal of the image session needs no action. Null counts as a failure: the size of the table is not the one in the descriptor.
      const loaded = await loadColourTable(fetchPixels, url, size, { signal, onRenewing: () => {} }).catch(
        () => null,
      );
      if (signal.aborted) return;
      setFailed(loaded === null);
      if (loaded === null) retryTimer = setTimeout(() => void load(), retryAfterMs);
      else setTable(loaded);
    };
    const retryNow = () => {
      if (retryTimer === undefined) return;
      clearTimeout(retryTimer);
      void load();
    };
    void load();
    const stopListening = onPossibleReconnect(retryNow);
    return () => {
      stopListening();
      clearTimeout(retryTimer);
      abortController.abort();
    };
  }, [size, url, fetchPixels]);
  return { table, hasFailed: hasFailed && table === null };
}
