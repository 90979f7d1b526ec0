/** Requests that enter the server where those of the network do: at its HTTP server, in front of the fast paths and Fastify. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import inject from 'light-my-request';

/** The adapters that answer tiles and frames (tiles/resolve-tile.ts, dicomweb/resolve-frames.ts), by the setting that selects them. */
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
    // The injected socket goes nowhere. Without a socket, a fast path writes with `writeHead` and `end`, which are recorded.
    if (/\/(?:image_files|frames)\//.test(request.url ?? '')) {
      Object.defineProperty(response, 'socket', { value: null, writable: true });
    }
    app.server.emit('request', request, response);
  }, options);
}
