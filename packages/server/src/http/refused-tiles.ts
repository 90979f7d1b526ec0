/**
 * Stores the error with which a fast path (a request handler in front of Fastify) has refused a request for a tile or a
 * DICOM frame before it passed the request to Fastify. The Fastify route throws this error instead of deciding again,
 * so that Fastify answers, logs, counts and audits every error.
 */
import type { IncomingMessage } from 'node:http';
import type { ImageSession } from '../domain/image-session.ts';
import type { Caller } from './caller.ts';

export interface RefusedTile {
  readonly requestId: string;
  /** When the fast path received the request, by `performance.now()`. */
  readonly startedAt: number;
  /** The image session (credential for pixels) of the request; null when the fast path refused access. */
  readonly session: ImageSession | null;
  readonly error: unknown;
  /** The account of the API token, for the logs; undefined without an API token or with an unknown one. */
  readonly caller?: Caller | undefined;
}

const refusedTiles = new WeakMap<IncomingMessage, RefusedTile>();

export function markRefused(request: IncomingMessage, refused: RefusedTile): void {
  refusedTiles.set(request, refused);
}

/** Returns what `markRefused` has stored for the request; undefined if no fast path has refused it. */
export function refusedTileOf(request: IncomingMessage): RefusedTile | undefined {
  return refusedTiles.get(request);
}
