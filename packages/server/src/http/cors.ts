/** Allows web apps of other origins to call endpoints that declare `cors` (CORS: Fetch Standard, section 3.2). */
import { apiBase, type Endpoint } from '@lamina/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Origins of other web apps that may read DICOMweb responses, for example `https://viewer.example` (setting DICOMWEB_ORIGINS). */
type AllowedOrigins = ReadonlySet<string>;

/** Time for which a browser may cache the response to a preflight request. */
const preflightCacheSeconds = 3600;

/** Adds the CORS headers that let the origin of the request read the response, if the endpoint allows this origin. */
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
  // Helmet (the plugin for security headers) sets `same-origin`, with which browsers do not show the response in an `img` of other sites.
  reply.header('Cross-Origin-Resource-Policy', 'cross-origin');
  reply.header(
    'Access-Control-Expose-Headers',
    'Content-Type, ETag, Link, Retry-After, Warning, X-Request-Id',
  );
}

/** Answers preflight requests (OPTIONS), which have no credentials. All paths of a protocol get the same response. */
export function preflightRoutes(app: FastifyInstance, dicomwebOrigins: AllowedOrigins): void {
  const protocols = [
    ['iiif', 'any'],
    ['dicom-web', 'dicomweb-origins'],
  ] as const;
  for (const [path, cors] of protocols) {
    // `isPublic`: the route needs no credential and is not in the contract.
    app.options(`${apiBase}/${path}/*`, { config: { isPublic: true } }, (request, reply) => {
      allowOrigin({ cors }, request, reply, dicomwebOrigins);
      reply.header('Access-Control-Allow-Methods', 'GET, HEAD');
      reply.header('Access-Control-Allow-Headers', 'Authorization, Accept, If-None-Match');
      reply.header('Access-Control-Max-Age', preflightCacheSeconds);
      return reply.code(204).send();
    });
  }
}
