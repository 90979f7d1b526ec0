/** Allows web apps of other origins to call the endpoints that declare it (CORS: Fetch Standard, section 3.2). */
import { apiBase, type Endpoint } from '@lamina/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Origins that may read DICOMweb responses, for example `https://viewer.example`. */
type AllowedOrigins = ReadonlySet<string>;

const preflightSeconds = 3600;

/** Adds CORS headers to the response; none for an origin that may not read it. */
export function allowOrigin(
  { cors }: Pick<Endpoint, 'cors'>,
  request: FastifyRequest,
  reply: FastifyReply,
  dicomwebOrigins: AllowedOrigins,
): void {
  if (cors === undefined) return;
  const { origin } = request.headers;
  if (cors === 'any') {
    reply.header('Access-Control-Allow-Origin', '*');
  } else {
    reply.header('Vary', 'Origin');
    if (origin === undefined || !dicomwebOrigins.has(origin)) return;
    reply.header('Access-Control-Allow-Origin', origin);
  }
  // Without this header, browsers hide the response from elements of other sites, such as `img`.
  reply.header('Cross-Origin-Resource-Policy', 'cross-origin');
  reply.header('Access-Control-Expose-Headers', 'Content-Type, ETag, Retry-After, X-Request-Id');
}

/** Answers preflight requests, which have no credentials. The response does not depend on the rest of the path. */
export function preflightRoutes(app: FastifyInstance, dicomwebOrigins: AllowedOrigins): void {
  const protocols = [
    ['iiif', 'any'],
    ['dicom-web', 'dicomweb-origins'],
  ] as const;
  for (const [path, cors] of protocols) {
    app.options(`${apiBase}/${path}/*`, { config: { isPublic: true } }, (request, reply) => {
      allowOrigin({ cors }, request, reply, dicomwebOrigins);
      reply.header('Access-Control-Allow-Methods', 'GET, HEAD');
      reply.header('Access-Control-Allow-Headers', 'Authorization, Accept, If-None-Match');
      reply.header('Access-Control-Max-Age', preflightSeconds);
      return reply.code(204).send();
    });
  }
}
