/** Client that requests pixels from a test server over the network, so that the fast paths (handlers in front of Fastify) answer. */
import { apiBase } from '@lamina/contract';
import type { SlideServer } from './slide-server.ts';

export interface Pixels {
  readonly status: number;
  /** Error code of a rejected request; null for a successful response. */
  readonly code: string | null;
  readonly retryAfter: string | null;
  readonly etag: string | null;
  readonly bytes: Buffer;
}

/** Sends a GET request. @param url URL below `image-catalog/proxy/` @param session id of an image session */
export type RequestPixels = (url: string, session: string) => Promise<Pixels>;

/** Makes the server listen on a port, unless it already does. @returns a function that requests pixels from it */
export async function startPixelClient({ app }: Pick<SlideServer, 'app'>): Promise<RequestPixels> {
  const origin = app.server.listening
    ? originOf(app.server.address())
    : await app.listen({ host: '127.0.0.1', port: 0 });
  return async (url, session) => {
    const response = await fetch(`${origin}${apiBase}/image-catalog/proxy/${url}?session=${session}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      code: isJson ? (JSON.parse(bytes.toString()) as { code: string }).code : null,
      retryAfter: response.headers.get('retry-after'),
      etag: response.headers.get('etag'),
      bytes,
    };
  };
}

function originOf(address: ReturnType<SlideServer['app']['server']['address']>): string {
  if (address === null || typeof address === 'string') throw new Error('the server listens at no port');
  return `http://127.0.0.1:${address.port}`;
}
