/**
 * Sends test requests to an HTTP server without a network. Fast paths (handlers that answer requests before Fastify
 * gets them) answer test requests, too.
 */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import inject from 'light-my-request';

/** The two request handlers of tiles, for `describe.each`: their names and the setting that selects each of them. */
export const tileAdapters = [
  { tileAdapter: 'the fast path', tileFastPath: true },
  { tileAdapter: 'the Fastify route', tileFastPath: false },
] as const;

export async function injectRequest(
  app: FastifyInstance,
  options: InjectOptions,
): Promise<LightMyRequestResponse> {
  await app.ready();
  return inject((request, response) => {
    // The fast paths answer requests for tiles (image_files) and DICOM frames. They would write to the injected socket,
    // which nothing reads. Without a socket they call `writeHead` and `end`, whose arguments light-my-request returns.
    if (/\/(?:image_files|frames)\//.test(request.url ?? '')) {
      Object.defineProperty(response, 'socket', { value: null, writable: true });
    }
    app.server.emit('request', request, response);
  }, options);
}
