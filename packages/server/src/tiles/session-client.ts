import type { Requester } from '@lamina/slide';
import { type ImageSession, requesterOf } from '../domain/image-session.ts';
import type { TileClient } from './render-source.ts';

/**
 * The client of a request with an image session. It reads the request's signal only when it is needed. This is a class because
 * creating an object literal with a getter for each tile would take longer than everything else that a tile needs.
 */
export class SessionClient implements TileClient {
  readonly requester: Requester;
  readonly #request: Pick<TileClient, 'signal'>;

  constructor(session: ImageSession, request: Pick<TileClient, 'signal'>) {
    this.requester = requesterOf(session);
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }
}
