import type { Requester } from '@lamina/slide';
import { type ImageSession, requesterOf } from '../domain/image-session.ts';
import type { TileClient } from './render-source.ts';

/**
 * The client of a request with an image session (the credential for pixels). Its `signal` is a getter, so that the
 * signal of the request is only created when it is needed. It is a class, because creating an object literal with a
 * getter for each tile would take longer than the rest of the request.
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
