/**
 * Requests for tiles and frames that a fast path has refused and passed on to Fastify, so that every error is answered, logged, counted
 * and audited in one place. The decision travels with the request: Fastify does not decide again.
 */
import type { IncomingMessage } from 'node:http';
import type { ImageSession } from '../domain/image-session.ts';
import type { Caller } from './caller.ts';

export interface RefusedTile {
  readonly requestId: string;
  /** When the fast path received the request, by `performance.now()`. */
  readonly startedAt: number;
  /** Null: access was refused. */
  readonly session: ImageSession | null;
  readonly error: unknown;
  /** The account of the API token, for the logs; undefined where there is none or it is not known. */
  readonly caller?: Caller | undefined;
}

const refusedTiles = new WeakMap<IncomingMessage, RefusedTile>();

export function markRefused(request: IncomingMessage, refused: RefusedTile): void {
  refusedTiles.set(request, refused);
}

export function refusedTileOf(request: IncomingMessage): RefusedTile | undefined {
  return refusedTiles.get(request);
}
