/** Builds the HTTP application: the Fastify server, its hooks and parsers, and all routes. */
import { createServer } from 'node:http';
import helmet from '@fastify/helmet';
import {
  AppError,
  apiBase,
  catalogueFile,
  type Endpoint,
  endpoints,
  isPathParameter,
} from '@lamina/contract';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { addressMatcher } from './domain/address-list.ts';
import { checkAccess } from './http/access.ts';
import { countError, recordRequestStart, recordResponse } from './http/access-log.ts';
import { createBodyMemory } from './http/body-memory.ts';
import { keepAliveMs, limitConnections, processLimits, serverOptions } from './http/connections.ts';
import { allowOrigin, preflightRoutes } from './http/cors.ts';
import { replyWithError } from './http/error-reply.ts';
import { routedUrl } from './http/public-base.ts';
import { recordRefusal } from './http/refusal-audit.ts';
import { refusedTileOf } from './http/refused-tiles.ts';
import { requestIdOf } from './http/request-id.ts';
import { pixelHeaders, sendsPixels } from './http/send-bytes.ts';
import type { Config } from './platform/config.ts';
import { accountRoutes } from './routes/account.ts';
import { annotationRoutes } from './routes/annotations.ts';
import { apiTokenRoutes } from './routes/api-tokens.ts';
import { auditRoutes } from './routes/audit.ts';
import { authRoutes } from './routes/auth.ts';
import { caseRoutes } from './routes/cases.ts';
import { collectionRoutes } from './routes/collections.ts';
import { datasetRoutes } from './routes/datasets.ts';
import { dicomWebRoutes } from './routes/dicomweb.ts';
import { documentationBase, documentationRoutes } from './routes/documentation.ts';
import { createFrameFastPath } from './routes/frame-fast-path.ts';
import { healthRoutes } from './routes/health.ts';
import { iiifRoutes } from './routes/iiif.ts';
import { imageSessionRoutes } from './routes/image-sessions.ts';
import { imageRoutes } from './routes/images.ts';
import { originalRoutes } from './routes/originals.ts';
import { overlayRoutes } from './routes/overlays.ts';
import { resultLayerRoutes } from './routes/result-layers.ts';
import { shareLinkRoutes } from './routes/share-links.ts';
import { slideManagementRoutes } from './routes/slide-management.ts';
import { createTileFastPath } from './routes/tile-fast-path.ts';
import { tileRoutes } from './routes/tiles.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { userRoutes } from './routes/users.ts';
import { webRoutes } from './routes/web.ts';
import type { Services } from './services.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly now: () => Date;
  }
  interface FastifyContextConfig {
    /** Set for a route that needs no credential and is not in the contract: health, documentation, CORS preflight, web app. */
    readonly isPublic?: true;
  }
}

/** Maximum size of a request body, unless the contract declares another limit for the endpoint. */
const bodyLimitBytes = 64 * 1024;
const maxUrlLength = 4096; // characters

// oxlint-disable-next-line lamina/max-own-lines -- registers plugins and routes in their order
export async function buildApp(services: Services): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = services.log;
  const { metrics, stopping } = services;
  // Handlers in front of Fastify that answer frequent requests for tiles and DICOM frames.
  const fastPaths = [createTileFastPath(services, keepAliveMs), createFrameFastPath(services, keepAliveMs)];
  const closeFastPaths = () => {
    for (const fastPath of fastPaths) fastPath.close();
  };
  const app: FastifyInstance = fastify({
    loggerInstance,
    // recordResponse writes the access log: one line per request, without the query, which may contain a credential.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    trustProxy: services.config.trustedProxies.length > 0 ? [...services.config.trustedProxies] : false,
    bodyLimit: bodyLimitBytes,
    rewriteUrl: routedUrl, // adds the API base to the short paths of IIIF and DICOMweb
    // Fastify handles the requests that no fast path handles.
    serverFactory: (fastifyHandler) =>
      createServer(serverOptions, (request, response) => {
        for (const fastPath of fastPaths) if (fastPath.tryHandle(request, response, fastifyHandler)) return;
        fastifyHandler(request, response);
      }),
    return503OnClosing: false, // requests that arrive during the shutdown are answered
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2048 }, // characters
    // A request that a fast path has refused keeps the id that the fast path gave it.
    genReqId: (request) => refusedTileOf(request)?.requestId ?? requestIdOf(request.headers),
    // Fastify calls this for a path that it cannot decode; neither hooks nor the error handler see the request.
    frameworkErrors: (error, request, reply) => {
      reply.header('X-Request-Id', request.id).header('X-Content-Type-Options', 'nosniff');
      void replyWithError(error, request, reply);
    },
  });
  const { connectionsPerAddress, trustedProxies } = services.config;
  const connections = limitConnections(app.server, {
    ...processLimits,
    maxPerAddress: connectionsPerAddress || Infinity, // 0: no limit
    // Loopback has no limit, because a reverse proxy on this machine connects for all clients. The limit would not stop an attacker on
    // this machine.
    isUnlimited: addressMatcher([...trustedProxies, 'loopback']),
    onLimit: (network) =>
      services.log.warn(
        { address: network, limit: connectionsPerAddress },
        'connection limit per address reached (setting CONNECTIONS_PER_ADDRESS); the new connection was closed. Logged at most once a minute',
      ),
  });
  metrics.watch({
    name: 'http_connections_rejected_total',
    help: 'Connections closed because their address had reached CONNECTIONS_PER_ADDRESS.',
    type: 'counter',
    aggregator: 'sum', // of all server processes
    read: connections.rejectedCount,
  });
  metrics.watch({
    name: 'http_connections',
    help: 'Open connections.',
    type: 'gauge',
    aggregator: 'sum',
    read: connections.openCount,
  });
  // After the shutdown has begun, the fast paths take no further requests, and each response closes its connection.
  stopping.addEventListener('abort', closeFastPaths, { once: true });
  app.addHook('onSend', (_, reply, payload, done) => {
    if (stopping.aborted) reply.header('Connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', async () => {
    closeFastPaths();
    connections.closeWhenIdle();
  });
  app.decorate('now', services.now);
  app.decorateRequest('credential', null); // set by the access check
  app.decorateRequest('bytesSentBefore', null); // bytes that the connection had sent before; for the access log

  // Helmet is registered before the access check, so that responses to rejected requests also get its headers.
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        baseUri: ["'none'"],
        connectSrc: ["'self'", ...providerOrigin(services.config)],
        fontSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        imgSrc: ["'self'", 'data:', 'blob:'],
        objectSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"], // the component library writes style elements
        workerSrc: ["'self'", 'blob:'],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    frameguard: { action: 'deny' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    // A year in seconds. Without HTTPS in PUBLIC_URL, browsers must not be told to use HTTPS.
    strictTransportSecurity: services.config.publicUrl?.startsWith('https:') ? { maxAge: 31_536_000 } : false,
  });

  acceptJson(app);
  acceptCatalogueFiles(app);
  app.setErrorHandler((error, request, reply) => {
    countError(error, request, reply, metrics);
    return replyWithError(error, request, reply);
  });
  app.setNotFoundHandler(replyNotFound);
  app.addHook('onRoute', requireDeclaration);
  const bodyMemory = createBodyMemory();
  app.addHook('onRequest', async (request, reply) => {
    recordRequestStart(request);
    reply.header('X-Request-Id', request.id);
    if (request.is404) return;
    const { endpoint } = request.routeOptions.config; // the declaration of the endpoint in the contract
    if (endpoint === undefined) return; // a public route such as health or the web app
    if (sendsPixels(endpoint)) reply.headers(pixelHeaders);
    allowOrigin(endpoint, request, reply, services.config.dicomwebOrigins);
    checkSize(request);
    rejectRepeatedParameters(request);
    try {
      request.credential = await checkAccess(endpoint, request, services);
    } catch (error) {
      recordRefusal(error, endpoint, request, services);
      throw error;
    }
    checkQueryEncoding(request);
    checkPathParameters(request);
    const { credential } = request;
    // Only accounts may send large bodies.
    if (credential !== null && 'user' in credential)
      bodyMemory.reserve(bodyBytesOf(endpoint, request), credential.user.uid, reply.raw);
  });
  app.addHook('onResponse', async (request, reply) => recordResponse(request, reply, metrics));

  healthRoutes(app, services);
  authRoutes(app, services);
  accountRoutes(app, services);
  apiTokenRoutes(app, services);
  userRoutes(app, services);
  datasetRoutes(app, services);
  caseRoutes(app, services);
  collectionRoutes(app, services);
  shareLinkRoutes(app, services);
  auditRoutes(app, services);
  imageSessionRoutes(app, services);
  await imageRoutes(app, services);
  await annotationRoutes(app, services);
  originalRoutes(app, services);
  await resultLayerRoutes(app, services);
  overlayRoutes(app, services);
  slideManagementRoutes(app, services);
  await uploadRoutes(app, services);
  tileRoutes(app, services);
  iiifRoutes(app, services);
  dicomWebRoutes(app, services);
  preflightRoutes(app, services.config.dicomwebOrigins);
  await documentationRoutes(app);
  await webRoutes(app, services);
  return app;
}

/** Returns the origin at which the browser exchanges the code of an external sign-in; empty without a provider. */
function providerOrigin({ signIn: { external } }: Config): string[] {
  return external === null ? [] : [new URL(external.issuer).origin];
}

/** Accepts JSON bodies; the parser removes the keys `__proto__` and `constructor`. An empty body of any type counts as no body. */
function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('remove', 'remove');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '')
      done(null, undefined); // the default parser would reject it
    else void parseJson(request, body as string, done);
  });
  app.addContentTypeParser('*', (request, _, done) => {
    if (request.headers['content-length'] === '0') done(null, undefined);
    else done(new AppError('unsupported_type'));
  });
}

/** Adds the body type of catalogue files (CSV). Endpoints that do not declare it reject such a body. */
function acceptCatalogueFiles(app: FastifyInstance): void {
  const { contentType } = catalogueFile;
  app.addContentTypeParser(contentType, { parseAs: 'buffer' }, (request, body, done) => {
    const isAccepted = request.routeOptions.config.endpoint?.upload?.contentType === contentType;
    done(isAccepted ? null : new AppError('unsupported_type'), body);
  });
}

/** Checks that a route is declared in the contract or as public. @throws Error, which stops the start of the server */
function requireDeclaration(route: { url: string; config?: { endpoint?: unknown; isPublic?: true } }): void {
  if (route.url.startsWith(documentationBase)) return; // registered by a library
  if (route.config?.endpoint === undefined && route.config?.isPublic !== true) {
    throw new Error(`The route ${route.url} has no endpoint in the contract and is not declared public.`);
  }
}

function maxBodyBytesOf(endpoint: Endpoint | undefined): number {
  return endpoint?.upload?.maxBytes ?? endpoint?.maxBodyBytes ?? bodyLimitBytes;
}

/** Returns the size of the body that will be in memory, at most; 0 for a body that is never completely in memory. */
function bodyBytesOf(endpoint: Endpoint, { headers }: FastifyRequest): number {
  if (endpoint.isStreamed) return 0;
  return headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0)
    : maxBodyBytesOf(endpoint);
}

/** Rejects a body that is too large according to Content-Length, and a URL that is too long. @throws AppError too_large */
function checkSize(request: FastifyRequest): void {
  const { endpoint } = request.routeOptions.config;
  const limit = endpoint?.isStreamed ? Infinity : maxBodyBytesOf(endpoint);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new AppError('too_large');
  if (request.url.length > maxUrlLength) throw new AppError('too_large');
}

/** Rejects a query with invalid percent-encoding, which the query parser would leave undecoded. @throws AppError invalid_request */
function checkQueryEncoding({ url }: FastifyRequest): void {
  const start = url.indexOf('?');
  if (start === -1 || !url.includes('%', start)) return;
  try {
    decodeURIComponent(url.slice(start));
  } catch (cause) {
    throw new AppError('invalid_request', { cause });
  }
}

/** Rejects a malformed id without a database query. @throws AppError not_found, as for an unknown id */
function checkPathParameters(request: FastifyRequest): void {
  for (const [name, value] of Object.entries(request.params as Record<string, string>)) {
    if (!isPathParameter(name, value)) throw new AppError('not_found');
  }
}

/** Rejects query parameters that occur more than once; only `includefield` of DICOMweb may be repeated. */
function rejectRepeatedParameters(request: FastifyRequest): void {
  const { endpoint } = request.routeOptions.config;
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    if (Array.isArray(value) && !(name === 'includefield' && endpoint?.cors === 'dicomweb-origins')) {
      throw new AppError('invalid_request', { reason: 'parameter_repeated', field: name });
    }
  }
}

/** Endpoints by path. Paths that differ only in the names of their parameters are one path. */
const endpointsByPath = Object.groupBy(Object.values(endpoints), ({ path }) => path.replace(/:\w+/g, ':'));

/** The methods that the contract declares for each path. They distinguish an unknown path (404) from an unsupported method (405). */
const methodsByPath = Object.values(endpointsByPath).map((group = []) => ({
  pattern: new RegExp(
    `^${apiBase}${group[0]?.path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.+')}/?$`,
  ),
  methods: group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
}));

/** Replies 405 if the contract declares the path, but not with the method of the request, and 404 otherwise. */
function replyNotFound(request: FastifyRequest, reply: Parameters<typeof replyWithError>[2]) {
  const path = request.url.split('?', 1)[0] ?? '';
  // A path may match several patterns: /share-links/open also matches /share-links/{id}.
  const allowedMethods = methodsByPath.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []));
  // A declared method can get here too: the path matches a pattern, but no route, for example because a parameter is too long.
  if (allowedMethods.length === 0 || allowedMethods.includes(request.method)) {
    return replyWithError(new AppError('not_found'), request, reply);
  }
  reply.header('Allow', [...new Set(allowedMethods)].join(', '));
  return replyWithError(new AppError('method_not_allowed'), request, reply);
}
