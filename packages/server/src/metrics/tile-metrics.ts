/**
 * Counters of tiles and of the responses of the fast path (the request handler in front of Fastify). They are plain
 * numbers and become Prometheus samples only when the metrics are read, because prom-client takes several microseconds per
 * observation, while sending a native tile (stored in the file) takes only about thirty microseconds in total.
 */
import { createDurations, type Durations } from './durations.ts';

/** Source of a tile in the metrics. `stored`: sent as in the slide file; `kept`: cached; `made`: newly rendered. */
export type TileSource = 'stored' | 'kept' | 'made';

export const tileSources = ['stored', 'kept', 'made', null] as const; // null: the client has the tile already (304)
export const fastPathMethods = ['GET', 'HEAD'] as const;
export const fastPathStatuses = [200, 304] as const;

type Method = (typeof fastPathMethods)[number];
type Status = (typeof fastPathStatuses)[number];

export interface TileMetrics {
  /** Counts a tile request without an error. @param source null when the client already has the tile (status 304) */
  add(source: TileSource | null, ms: number): void;
  /** Counts a response of the fast path; Fastify's hooks count all others. */
  addFastPathResponse(method: Method, status: Status, ms: number): void;
  durations(source: TileSource | null): Durations;
  fastPathDurations(): Durations;
  fastPathResponses(method: Method, status: Status): number;
}

export function createTileMetrics(): TileMetrics {
  const durations = {
    stored: createDurations(),
    kept: createDurations(),
    made: createDurations(),
    none: createDurations(),
  };
  const fastPath = createDurations();
  const responses = { GET: { 200: 0, 304: 0 }, HEAD: { 200: 0, 304: 0 } };
  return {
    add: (source, ms) => durations[source ?? 'none'].add(ms),
    addFastPathResponse(method, status, ms) {
      responses[method][status]++;
      fastPath.add(ms);
    },
    durations: (source) => durations[source ?? 'none'],
    fastPathDurations: () => fastPath,
    fastPathResponses: (method, status) => responses[method][status],
  };
}
