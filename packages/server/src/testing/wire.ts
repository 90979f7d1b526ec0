/** Requests pixels over the network, as an image element does, so that fast paths answer as in production. */
import { apiBase } from '@lamina/contract';
import type { SlideServer } from './slide-server.ts';

export interface Pixels {
  readonly status: number;
  /** Error code of a refused request; null for a successful response. */
  readonly code: string | null;
  readonly retryAfter: string | null;
  readonly etag: string | null;
  readonly bytes: Buffer;
}

export type AskPixels = (address: string, session: string) => Promise<Pixels>;

/** Starts to listen. @returns a function that requests pixels by their URL below `image-catalog/proxy/` */
export async function overTheWire({ app }: Pick<SlideServer, 'app'>): Promise<AskPixels> {
  const server = app.server.listening
    ? addressOf(app.server.address())
    : await app.listen({ host: '127.0.0.1', port: 0 });
  return async (address, session) => {
    const answer = await fetch(`${server}${apiBase}/image-catalog/proxy/${address}?session=${session}`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: answer.status,
      code: isJson ? (JSON.parse(bytes.toString()) as { code: string }).code : null,
      retryAfter: answer.headers.get('retry-after'),
      etag: answer.headers.get('etag'),
      bytes,
    };
  };
}

function addressOf(bound: ReturnType<SlideServer['app']['server']['address']>): string {
  if (bound === null || typeof bound === 'string') throw new Error('the server listens at no port');
  return `http://127.0.0.1:${bound.port}`;
}
