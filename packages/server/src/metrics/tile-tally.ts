/** What the fast lane of tiles counts: a few plain numbers a tile, put into metrics when somebody asks for those. */
import { createDurations, type Durations } from './durations.ts';

/** Where the bytes of a tile come from: the file as they are, a cache of made ones, or made just now. */
export type TileSource = 'stored' | 'kept' | 'made';

export interface TileTally {
  /** @param source null: the asker had the tile, and nothing was read */
  add(source: 'stored' | 'kept' | null, method: 'GET' | 'HEAD', ms: number): void;
  /** Of answers with that source; null: of those without bytes, 304. */
  durations(source: 'stored' | 'kept' | null): Durations;
  /** How many of them were asked for by HEAD. */
  heads(source: 'stored' | 'kept' | null): number;
}

export function createTileTally(): TileTally {
  const stored = createDurations();
  const kept = createDurations();
  const known = createDurations();
  const heads = { stored: 0, kept: 0, known: 0 };
  const durations = (source: 'stored' | 'kept' | null) =>
    source === 'stored' ? stored : source === 'kept' ? kept : known;
  return {
    add(source, method, ms) {
      durations(source).add(ms);
      if (method === 'HEAD') heads[source ?? 'known']++;
    },
    durations,
    heads: (source) => heads[source ?? 'known'],
  };
}
