/** Builds the HTTP application; every route file is registered here by name. */
import { createServer } from 'node:http';
import helmet from '@fastify/helmet';
import { AppError, apiBase, catalogueFile, endpoints } from '@lamina/contract';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Config } from './config.ts';
import { checkAccess } from './http/access.ts';
import { guardConnections, keepAliveMs, serverOptions } from './http/connections.ts';
import { replyWithError } from './http/error-reply.ts';
import { countRefusal, noteAnswer, noteArrival } from './http/note-answer.ts';
import { noteRefusal } from './http/note-refusal.ts';
import { requestIdOf } from './http/request-id.ts';
import { pixelHeaders } from './http/send-bytes.ts';
import { createTileLane } from './http/tile-lane.ts';
import { accountRoutes } from './routes/account.ts';
import { auditRoutes } from './routes/audit.ts';
import { authRoutes } from './routes/auth.ts';
import { datasetRoutes } from './routes/datasets.ts';
import { documentationBase, documentationRoutes } from './routes/documentation.ts';
import { healthRoutes } from './routes/health.ts';
import { imageSessionRoutes } from './routes/image-sessions.ts';
import { imageRoutes } from './routes/images.ts';
import { slideManagementRoutes } from './routes/slide-management.ts';
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
    /** A route outside the API base that anyone may ask for: health, documentation, the web app. */
    readonly open?: true;
  }
}

const bodyLimitBytes = 64 * 1024;
const urlLimit = 4096;

export async function buildApp(services: Services): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = services.log;
  const { metrics, stopping } = services;
  const tileLane = createTileLane(services, keepAliveMs);
  const app: FastifyInstance = fastify({
    loggerInstance,
    // One line of our own per request, without its query.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    trustProxy: services.config.trustedProxies.length > 0 ? [...services.config.trustedProxies] : false,
    bodyLimit: bodyLimitBytes,
    serverFactory: (usual) =>
      createServer(serverOptions, (request, response) => {
        if (!tileLane.take(request, response, usual)) usual(request, response);
      }),
    return503OnClosing: false, // what still comes while connections end is answered
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
    genReqId: ({ headers }) => requestIdOf(headers),
  });
  const connections = guardConnections(app.server);
  metrics.watch({
    name: 'http_connections',
    help: 'Connections that are open.',
    type: 'gauge',
    aggregator: 'sum',
    read: connections.count,
  });
  // From then on Fastify answers everything, and each answer is the last one of its connection.
  stopping.addEventListener('abort', () => tileLane.close(), { once: true });
  app.addHook('onSend', (_, reply, payload, done) => {
    if (stopping.aborted) reply.header('Connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', async () => {
    tileLane.close();
    connections.windDown();
  });
  app.decorate('now', services.now);
  app.decorateRequest('credential', null);
  app.decorateRequest('sentBefore', null);

  // Before the access check, so that a refused answer carries these headers, too.
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
    strictTransportSecurity: services.config.publicUrl?.startsWith('https:') ? { maxAge: 31_536_000 } : false,
  });

  readJson(app);
  readCatalogueFiles(app);
  app.setErrorHandler((error, request, reply) => {
    countRefusal(error, request, reply, metrics);
    return replyWithError(error, request, reply);
  });
  app.setNotFoundHandler(replyNotFound);
  app.addHook('onRoute', requireDeclaration);
  app.addHook('onRequest', async (request, reply) => {
    noteArrival(request);
    reply.header('X-Request-Id', request.id);
    if (request.is404) return;
    const { endpoint } = request.routeOptions.config;
    if (endpoint === undefined) return;
    if (endpoint.access === 'image-session') reply.headers(pixelHeaders);
    checkSize(request);
    checkNothingTwice(request);
    try {
      request.credential = await checkAccess(endpoint, request, services);
    } catch (error) {
      noteRefusal(error, endpoint, request, services);
      throw error;
    }
  });
  app.addHook('onResponse', async (request, reply) => noteAnswer(request, reply, metrics));

  healthRoutes(app, services);
  authRoutes(app, services);
  accountRoutes(app, services);
  userRoutes(app, services);
  datasetRoutes(app, services);
  auditRoutes(app, services);
  imageSessionRoutes(app, services);
  await imageRoutes(app, services);
  slideManagementRoutes(app, services);
  await uploadRoutes(app, services);
  tileRoutes(app, services);
  await documentationRoutes(app);
  await webRoutes(app, services);
  return app;
}

/** Where the browser turns the code of an external sign-in into an identity token; nothing without a provider. */
function providerOrigin({ signIn: { external } }: Config): string[] {
  return external === null ? [] : [new URL(external.issuer).origin];
}

/** Elsewhere JSON is the only body there is; an empty one is none, and keys that would reach a prototype are dropped. */
function readJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('remove', 'remove');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parseJson(request, body as string, done);
  });
}

/** Taken where the contract asks for one, and nowhere else. */
function readCatalogueFiles(app: FastifyInstance): void {
  const { contentType } = catalogueFile;
  app.addContentTypeParser(contentType, { parseAs: 'buffer' }, (request, body, done) => {
    const isAsked = request.routeOptions.config.endpoint?.upload?.contentType === contentType;
    done(isAsked ? null : new AppError('unsupported_type'), body);
  });
}

/** A route below the API base that the contract does not declare stops the start. */
function requireDeclaration(route: { url: string; config?: { endpoint?: unknown; open?: true } }): void {
  if (route.url.startsWith(documentationBase)) return; // its routes are a library's
  if (route.config?.endpoint === undefined && route.config?.open !== true) {
    throw new Error(`The route ${route.url} has no endpoint in the contract and is not declared open.`);
  }
}

function checkSize(request: FastifyRequest): void {
  const { endpoint } = request.routeOptions.config;
  const limit = endpoint?.isStreamed ? Infinity : (endpoint?.upload?.maxBytes ?? bodyLimitBytes);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new AppError('too_large');
  if (request.url.length > urlLimit) throw new AppError('too_large');
}

function checkNothingTwice(request: FastifyRequest): void {
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    if (Array.isArray(value)) {
      const message = { tr: `${name}: birden çok kez gönderilmiş.`, en: `${name}: sent more than once.` };
      throw new AppError('invalid_request', { message, field: name });
    }
  }
}

/** The methods of each declared path, to tell an unknown path (404) from an unsupported method (405). */
const methodsByPath = Object.values(
  Object.groupBy(Object.values(endpoints), ({ path }) => path.replace(/:\w+/g, ':')),
).map((group = []) => ({
  pattern: new RegExp(`^${apiBase}${group[0]?.path.replace(/:\w+/g, '[^/]+').replaceAll('.', '\\.')}/?$`),
  methods: group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
}));

function replyNotFound(request: FastifyRequest, reply: Parameters<typeof replyWithError>[2]) {
  const path = request.url.split('?', 1)[0] ?? '';
  const known = methodsByPath.find(({ pattern }) => pattern.test(path));
  if (known === undefined || known.methods.includes(request.method)) {
    return replyWithError(new AppError('not_found'), request, reply);
  }
  reply.header('Allow', known.methods.join(', '));
  return replyWithError(new AppError('method_not_allowed'), request, reply);
}
