/**
 * Tests that the two adapters of tiles/resolve-tile.ts, the fast path and the Fastify route, produce equal responses, log lines and
 * metrics for the same request; and the connections of the fast path. The file is long because all tests share one server.
 */
import http from 'node:http';
import net from 'node:net';
import { apiBase, deleteImageSession, getImageSessionStats, updateImage } from '@lamina/contract';
import { SlideError } from '@lamina/slide';
import { buildSvs } from '@lamina/slide/testing';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildApp } from '../app.ts';
import { FastPathRequest } from '../http/fast-path-request.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

/** 480 × 400 pixels in tiles of 128; native levels at downsample 1 and 4 are the Deep Zoom levels 9 and 7 of 0…9. */
const slideOptions = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const nativeTile = 'image_files/9/1_1.jpg';
const renderedTile = 'image_files/8/0_0.jpg';
/** Cropped to the edge of the image, so it is rendered. */
const edgeTile = 'image_files/9/3_3.jpg';

let server: SlideServer;
/** A second HTTP application over the same services, with TILE_FAST_PATH=off. */
let routeApp: FastifyInstance;
let ports: { readonly 'fast path': number; readonly 'Fastify route': number };
let imageId: string;
let token: string;
let session: string;
let agent: http.Agent;

const portOf = async (app: FastifyInstance) =>
  Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);

beforeAll(async () => {
  server = await slideServer({ isShared: true });
  const { services } = server;
  routeApp = await buildApp({ ...services, config: { ...services.config, tileFastPath: false } });
  ports = { 'fast path': await portOf(server.app), 'Fastify route': await portOf(routeApp) };
  await server.put('Tissue/a.svs', await buildSvs(slideOptions));
  await server.rescan();
  imageId = await server.idOf('a.svs');
});
beforeEach(async () => {
  agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  token = await server.fixtures.token(await server.fixtures.user());
  session = await server.sessionOf(token);
  // Opens the slide and renders the tiles that are not native.
  for (const tile of [nativeTile, renderedTile, edgeTile]) await send(pathOf(tile));
});
afterEach(() => {
  vi.restoreAllMocks();
  agent.destroy();
});
afterAll(async () => {
  await routeApp.close();
  await server.close();
});

type Adapter = keyof typeof ports;

interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** The fast path writes header names in title case, Fastify in lower case. */
  readonly writtenBy: 'fast path' | 'Fastify';
}

type RequestOptions = Pick<http.RequestOptions, 'method' | 'headers' | 'agent'> & {
  readonly payload?: string;
  readonly adapter?: Adapter;
};

const pathOf = (tile: string, query = `session=${session}`) =>
  `${apiBase}/image-catalog/proxy/${imageId}/${tile}?${query}`;

/** Sends a request over a kept-alive connection, as a browser does. */
function send(
  path: string,
  { payload, adapter = 'fast path', ...options }: RequestOptions = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = http.request({ agent, ...options, port: ports[adapter], path }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces),
          writtenBy: response.rawHeaders.includes('X-Request-Id') ? 'fast path' : 'Fastify',
        }),
      );
    });
    request.on('error', reject);
    request.end(payload);
  });
}

/** Counters that tiles change; gauges and durations are left out. */
async function counters(): Promise<Map<string, number>> {
  const names =
    /^(http_requests_total|http_request_seconds|tiles_total|tile_seconds|slide_errors_total|auth_failures_total)$/;
  const metrics = (await server.services.metrics.now()).filter(({ name }) => names.test(name));
  const counts = new Map<string, number>();
  for (const { name, values } of metrics) {
    for (const { labels, metricName = name, value } of values) {
      if (/_(sum|bucket)$/.test(metricName)) continue;
      const key = `${metricName} ${JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)))}`;
      counts.set(key, (counts.get(key) ?? 0) + value);
    }
  }
  return counts;
}

let requestNumber = 0;

/** Sends a request, and returns all its effects: response, line of the access log, and changed counters. */
async function observe(path: string, { headers, ...options }: RequestOptions, adapter: Adapter) {
  requestNumber++;
  const requestId = `adapter-test-${String(requestNumber).padStart(4, '0')}`; // all ids are equally long, because the log contains the number of sent bytes
  const before = await counters();
  const sent = { ...(headers as http.OutgoingHttpHeaders), 'x-request-id': requestId };
  const reply = await send(path, { ...options, headers: sent, adapter });
  const { 'x-request-id': answeredId, date: _, ...comparableHeaders } = reply.headers;
  const logLine = await vi.waitFor(() => {
    const found = server
      .logged()
      .split('\n')
      .find((text) => text.includes(`"requestId":"${requestId}"`) && text.includes('"msg":"request"'));
    expect(found).toBeDefined();
    return JSON.parse(found ?? '') as Record<string, unknown>;
  });
  const after = await counters();
  const { time: _time, ms: _ms, requestId: _id, ...logged } = logLine;
  return {
    reply,
    facts: {
      status: reply.status,
      headers: comparableHeaders,
      body: reply.body.toString('latin1').replaceAll(requestId, ''),
      hasItsRequestId: answeredId === requestId,
      logged,
      counted: [...after].flatMap(([name, value]) => {
        const change = value - (before.get(name) ?? 0);
        return change === 0 ? [] : [`${name} +${change}`];
      }),
    },
  };
}

/** Sends the request to both adapters and expects equal responses, log lines and metrics. */
async function expectEqualResponses(path: string, options: RequestOptions = {}): Promise<Reply> {
  const fast = await observe(path, options, 'fast path');
  const route = await observe(path, options, 'Fastify route');
  expect(fast.facts).toEqual(route.facts);
  expect(fast.facts.hasItsRequestId).toBe(true);
  expect(route.reply.writtenBy).toBe('Fastify');
  return fast.reply;
}

interface Case {
  readonly path: () => string;
  readonly options?: () => RequestOptions | Promise<RequestOptions>;
  readonly status: number;
}

const unknownImage = '00000000-0000-4000-8000-000000000000';

describe('a tile request, sent with the fast path (which bypasses Fastify) on and off', () => {
  const fastPathCases: Readonly<Record<string, Case>> = {
    'the path of a native tile': { path: () => pathOf(nativeTile), status: 200 },
    'the file name ending jpeg': { path: () => pathOf('image_files/9/0_0.jpeg'), status: 200 },
    'the path of a cropped tile at the edge': { path: () => pathOf(edgeTile), status: 200 },
    'the path of a rendered tile in the cache': { path: () => pathOf(renderedTile), status: 200 },
    'the method HEAD': { path: () => pathOf(nativeTile), options: () => ({ method: 'HEAD' }), status: 200 },
    'If-None-Match with the ETag of the tile': {
      path: () => pathOf(nativeTile),
      options: async () => ({ headers: { 'if-none-match': await tagOf(nativeTile) } }),
      status: 304,
    },
    'HEAD and If-None-Match with the ETag of the tile': {
      path: () => pathOf(nativeTile),
      options: async () => ({ method: 'HEAD', headers: { 'if-none-match': await tagOf(nativeTile) } }),
      status: 304,
    },
    'If-None-Match with a list that contains the ETag of the tile as a weak tag': {
      path: () => pathOf(nativeTile),
      options: async () => ({ headers: { 'if-none-match': `"x", W/${await tagOf(nativeTile)}` } }),
      status: 304,
    },
    'If-None-Match with an ETag that no tile has': {
      path: () => pathOf(nativeTile),
      options: () => ({ headers: { 'if-none-match': '"x"' } }),
      status: 200,
    },
    'a Range header, which the server ignores': {
      path: () => pathOf(nativeTile),
      options: () => ({ headers: { range: 'bytes=0-9' } }),
      status: 200,
    },
    'a bearer token of the account of the session': {
      path: () => pathOf(nativeTile),
      options: () => ({ headers: { authorization: `Bearer ${token}` } }),
      status: 200,
    },
  };
  const errorCases: Readonly<Record<string, Case>> = {
    'no session parameter': { path: () => pathOf(nativeTile).split('?', 1)[0] ?? '', status: 401 },
    'an empty session parameter': { path: () => pathOf(nativeTile, 'session='), status: 401 },
    'an unknown image session': { path: () => pathOf(nativeTile, `session=${'A'.repeat(43)}`), status: 401 },
    'a session id that is too long': { path: () => pathOf(nativeTile, `session=${session}x`), status: 401 },
    'an invalid bearer token': {
      path: () => pathOf(nativeTile),
      options: () => ({ headers: { authorization: 'Bearer bad' } }),
      status: 401,
    },
    'an empty Authorization header': {
      path: () => pathOf(nativeTile),
      options: () => ({ headers: { authorization: '' } }),
      status: 401,
    },
    'a bearer token of another account': {
      path: () => pathOf(nativeTile),
      options: async () => ({
        headers: { authorization: `Bearer ${await server.fixtures.token(await server.fixtures.user())}` },
      }),
      status: 401,
    },
    'a column and row outside the level': { path: () => pathOf('image_files/9/9_9.jpg'), status: 404 },
    'a level outside the slide': { path: () => pathOf('image_files/10/0_0.jpg'), status: 404 },
    'a level with a leading zero': { path: () => pathOf('image_files/09/1_1.jpg'), status: 404 },
    'a negative level': { path: () => pathOf('image_files/-1/1_1.jpg'), status: 404 },
    'the level ".."': { path: () => pathOf('image_files/../1_1.jpg'), status: 404 },
    'a column of 30 digits': { path: () => pathOf(`image_files/9/${'9'.repeat(30)}_1.jpg`), status: 404 },
    'the file name ending png': { path: () => pathOf('image_files/9/1_1.png'), status: 404 },
    'an image id in capitals': {
      path: () => pathOf(nativeTile).replace(imageId, imageId.toUpperCase()),
      status: 404,
    },
    'an unknown image id': { path: () => pathOf(nativeTile).replace(imageId, unknownImage), status: 404 },
    'an image id of 36 hyphens': {
      path: () => pathOf(nativeTile).replace(imageId, '-'.repeat(36)),
      status: 404,
    },
    'Accept-Language: en and a column and row outside the level': {
      path: () => pathOf('image_files/9/9_9.jpg'),
      options: () => ({ headers: { 'accept-language': 'en' } }),
      status: 404,
    },
  };
  const fastifyCases: Readonly<Record<string, Case>> = {
    'a query parameter in addition to the session': {
      path: () => pathOf(nativeTile, `session=${session}&v=1`),
      status: 200,
    },
    'an additional query parameter that is sent twice': {
      path: () => pathOf(nativeTile, `session=${session}&v=1&v=1`),
      status: 400,
    },
    'a session parameter that is sent twice': {
      path: () => pathOf(nativeTile, `session=${session}&session=${session}`),
      status: 400,
    },
    'a percent-encoded session id that is unknown': {
      path: () => pathOf(nativeTile, `session=${session.startsWith('A') ? '%42' : '%41'}${session.slice(1)}`),
      status: 401,
    },
    'a percent-encoded file name': { path: () => pathOf('image_files/9/1%5F1.jpg'), status: 200 },
    'a trailing slash': { path: () => pathOf(`${nativeTile}/`), status: 200 },
    'a request body': {
      path: () => pathOf(nativeTile),
      options: () => ({
        payload: '{}',
        headers: { 'content-type': 'application/json', 'content-length': 2 },
      }),
      status: 200,
    },
    'the method DELETE': {
      path: () => pathOf(nativeTile),
      options: () => ({ method: 'DELETE' }),
      status: 405,
    },
    'the path of the descriptor': { path: () => pathOf('image.dzi'), status: 200 },
    'the path of the thumbnail': { path: () => pathOf('thumbnail.jpg'), status: 200 },
  };

  const tagOf = async (tile: string) => `${(await send(pathOf(tile))).headers.etag}`;

  const rowsOf = (cases: Readonly<Record<string, Case>>) =>
    Object.entries(cases).map(([name, requestCase]) => [requestCase.status, name, requestCase] as const);

  it.each(rowsOf(fastPathCases))(
    'gets equal responses with status %s when it has %s; the fast path answers it',
    async (_, __, { path, options, status }) => {
      const reply = await expectEqualResponses(path(), await options?.());
      expect([reply.status, reply.writtenBy]).toEqual([status, 'fast path']);
      expect(reply.headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=72' });
      expect(reply.headers.date).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    },
  );

  it.each(rowsOf(errorCases))(
    'gets the same error with status %s when it has %s; the fast path passes it to Fastify',
    async (_, __, { path, options, status }) => {
      const reply = await expectEqualResponses(path(), await options?.());
      expect([reply.status, reply.writtenBy]).toEqual([status, 'Fastify']);
    },
  );

  it.each(rowsOf(fastifyCases))(
    'gets equal responses with status %s when it has %s; the fast path passes it to Fastify',
    async (_, __, { path, options, status }) => {
      const reply = await expectEqualResponses(path(), await options?.());
      expect([reply.status, reply.writtenBy]).toEqual([status, 'Fastify']);
    },
  );

  it.each([
    ['the render queue is full', new SlideError('BUSY', 'The render queue is full.'), 503],
    ['the storage does not answer', new SlideError('STORE_UNAVAILABLE', 'No answer.'), 503],
    ['the storage answers too late', new SlideError('STORE_TIMEOUT', 'No answer in time.'), 504],
    ['the tile cannot be decoded', new SlideError('DECODE_FAILED', 'The tile is malformed.'), 502],
    ['the file is missing', new SlideError('FILE_MISSING', 'The file is missing.'), 404],
    ['an unexpected error occurs', new Error('unexpected'), 500],
  ])('gets the same error with status $2 when %s', async (_, error, status) => {
    vi.spyOn(server.services.slides, 'tile').mockRejectedValue(error);
    expect((await expectEqualResponses(pathOf(nativeTile))).status).toBe(status);
  });

  it('gets the same error with status 503 when the audit event of the image opening cannot be written', async () => {
    vi.spyOn(server.services.imageOpenings, 'isRecorded').mockReturnValue(false);
    vi.spyOn(server.services.imageOpenings, 'record').mockRejectedValue(
      Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' }),
    );
    const { status, headers } = await expectEqualResponses(pathOf(nativeTile));
    expect([status, headers['retry-after']]).toEqual([503, '2']);
  });

  it('gets the same error with status 503 when the image session (credential for tiles) cannot be read from the database', async () => {
    vi.spyOn(server.services.imageSessions, 'resolve').mockRejectedValue(
      Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
    );
    expect((await expectEqualResponses(pathOf(nativeTile))).status).toBe(503);
  });
});

describe('a tile response of the fast path (which bypasses Fastify)', () => {
  it('has the request id of the X-Request-Id header, or a new one when that is malformed', async () => {
    const headers = { 'x-request-id': 'given-by-a-proxy' };
    expect((await send(pathOf(nativeTile), { headers })).headers['x-request-id']).toBe('given-by-a-proxy');
    const malformed = { 'x-request-id': 'a b' };
    expect((await send(pathOf(nativeTile), { headers: malformed })).headers['x-request-id']).toMatch(
      /^[\da-f-]{36}$/,
    );
  });

  it('allows the browser to cache the tile until the image session (credential for tiles) ends', async () => {
    server.clock.advance(1_000_000);
    const { headers, writtenBy } = await send(pathOf(nativeTile));
    expect([headers['cache-control'], writtenBy]).toEqual(['private, max-age=2600', 'fast path']);
  });

  it('contains a rendered tile when the file does not store the tile, with equal bytes for a second request', async () => {
    await server.put('Tissue/b.svs', await buildSvs({ ...slideOptions, width: 470 }));
    await server.rescan();
    const path = pathOf(renderedTile).replace(imageId, await server.idOf('b.svs'));
    const [first, second] = [await send(path), await send(path)];
    expect([first, second]).toMatchObject([
      { status: 200, writtenBy: 'fast path' },
      { status: 200, writtenBy: 'fast path' },
    ]);
    expect(second.body.equals(first.body)).toBe(true);
  });

  it('of a native tile (stored in the file) is sent without creating an AbortSignal, which would cost CPU time', async () => {
    const readSignal = vi.spyOn(FastPathRequest.prototype, 'signal', 'get');
    expect(await send(pathOf(nativeTile))).toMatchObject({ status: 200, writtenBy: 'fast path' });
    expect(readSignal).not.toHaveBeenCalled();
  });

  it('is logged at the debug level with the client address that a trusted proxy sends in X-Forwarded-For', async () => {
    const proxied = await slideServer({ config: { trustedProxies: ['loopback'] } });
    await proxied.put('Tissue/a.svs', await buildSvs(slideOptions));
    await proxied.rescan();
    const user = await proxied.fixtures.user();
    const path = `${await proxied.idOf('a.svs')}/${nativeTile}`;
    const headers = { 'x-forwarded-for': '192.0.2.1, 198.51.100.7' };
    expect((await proxied.pixels(path, await proxied.sessionOf(user), { headers })).statusCode).toBe(200);
    const logLine = proxied
      .logged()
      .split('\n')
      .find((text) => text.includes('image_files') && text.includes('"msg":"request"'));
    expect(JSON.parse(logLine ?? '')).toMatchObject({
      level: 20,
      status: 200,
      uid: user.uid,
      address: '198.51.100.7',
    });
  });
});

describe('the fast path of tile requests (which bypasses Fastify) with IMAGE_SESSION_COOKIE=strict', () => {
  it('returns 401 without the cookie of the image session (credential for tiles), and 200 with it, even beside the cookie of another session', async () => {
    const strict = await slideServer({ config: { imageSessionCookie: 'strict' } });
    await strict.put('Tissue/a.svs', await buildSvs(slideOptions));
    await strict.rescan();
    const path = `${await strict.idOf('a.svs')}/${nativeTile}`;
    const user = await strict.fixtures.user();
    // Two tabs of a browser, which sends the cookies of both sessions.
    const sessions = [await strict.sessionOf(user), await strict.sessionOf(user)];
    const cookies = Object.fromEntries(sessions.map((id) => [`image_session_${id.slice(0, 8)}`, id]));
    for (const session of sessions) {
      expect((await strict.pixels(path, session)).statusCode).toBe(401);
      expect((await strict.pixels(path, session, { cookies })).statusCode).toBe(200);
    }
  });
});

describe('tiles of a slide that an administrator has hidden', () => {
  it('are served to administrators and get 404 for other accounts at once, with the fast path (which bypasses Fastify) on and off', async () => {
    const hide = async (hidden: boolean) =>
      server.as(await server.fixtures.admin()).call(updateImage, { params: { imageId }, body: { hidden } });
    const ofAdmin = `session=${await server.sessionOf(await server.fixtures.admin())}`;
    await hide(true);
    try {
      expect((await expectEqualResponses(pathOf(nativeTile))).status).toBe(404);
      await send(pathOf(nativeTile, ofAdmin)); // writes the audit event of the opening, so that the next request does not
      expect((await expectEqualResponses(pathOf(nativeTile, ofAdmin))).status).toBe(200);
      expect((await send(pathOf(nativeTile))).status).toBe(404);
    } finally {
      await hide(false);
    }
    expect((await expectEqualResponses(pathOf(nativeTile))).status).toBe(200);
  });
});

describe('the image session (credential for tiles) of a request to the fast path (which bypasses Fastify)', () => {
  it('is rejected with 401 as soon as it is revoked', async () => {
    expect((await send(pathOf(nativeTile))).writtenBy).toBe('fast path');
    await server.as(token).call(deleteImageSession, { params: { sessionId: session } });
    const reply = await send(pathOf(nativeTile));
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('ImageSession error="session_invalid"');
  });

  it('is rejected with 401 after its lifetime of an hour', async () => {
    server.clock.advance(3_600_000);
    expect((await send(pathOf(nativeTile))).status).toBe(401);
  });

  it('is accepted after 5 s without a request, when the server has to read it from the database again', async () => {
    server.clock.advance(5000);
    expect(await send(pathOf(nativeTile))).toMatchObject({ status: 200, writtenBy: 'fast path' });
  });

  it('is rejected with 401 in a request 5 s after another process has deleted it from the database', async () => {
    await server.services.db.deleteFrom('image_sessions').where('prefix', '=', session.slice(0, 8)).execute();
    server.clock.advance(5000);
    expect((await send(pathOf(nativeTile))).status).toBe(401);
  });

  it('counts each request once in its request count, whether the fast path or Fastify answers', async () => {
    const count = async () => {
      const { sessions } = (await server.as(token).call(getImageSessionStats)).body;
      return sessions[0]?.request_count ?? 0;
    };
    const before = await count();
    const replies = [
      await send(pathOf(nativeTile)),
      await send(pathOf(nativeTile), { method: 'HEAD' }),
      await send(pathOf(renderedTile)),
      await send(pathOf(nativeTile, `session=${session}&v=1`)),
      await send(pathOf('image_files/9/9_9.jpg')),
      await send(pathOf(nativeTile), { adapter: 'Fastify route' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404, 200]);
    expect(await count()).toBe(before + replies.length);
  });
});

/** Returns the bodies of the responses of a connection, in their order. */
function bodiesIn(bytes: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at) + 4;
    const head = bytes.toString('latin1', at, end);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    bodies.push(bytes.subarray(end, end + length));
    at = end + length;
  }
  return bodies;
}

/** Returns everything that the server sends until it closes the connection. */
async function everythingFrom(socket: net.Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

const requestFor = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: here\r\n${headers}\r\n`;

describe('an HTTP connection to the fast path of tile requests (which bypasses Fastify)', () => {
  const tiles = ['image_files/9/0_0.jpg', 'image_files/9/1_1.jpg', 'image_files/9/2_2.jpg', renderedTile];
  const bodiesOf = (paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => (await send(path, { adapter: 'Fastify route' })).body));

  it('is kept alive and used for the next 20 tile requests', async () => {
    for (let i = 0; i < 20; i++) expect((await send(pathOf(nativeTile))).writtenBy).toBe('fast path');
    const sockets = Object.values(agent.freeSockets).flat();
    expect(sockets).toHaveLength(1);
  });

  it('is closed after the response to a request with Connection: close', async () => {
    const socket = net.connect(ports['fast path'], '127.0.0.1');
    socket.write(requestFor(pathOf(nativeTile), 'Connection: close\r\n'));
    expect(bodiesIn(await everythingFrom(socket))).toEqual(await bodiesOf([pathOf(nativeTile)]));
  });

  it('receives the responses to pipelined requests in order, also when Fastify answers some of them', async () => {
    const paths = Array.from({ length: 40 }, (_, i) => {
      const tile = pathOf(tiles[i % tiles.length] ?? nativeTile);
      return i % 5 === 4 ? `${tile}&v=1` : tile;
    });
    const socket = net.connect(ports['fast path'], '127.0.0.1');
    socket.write(
      paths.map((path) => requestFor(path)).join('') +
        requestFor(pathOf(nativeTile), 'Connection: close\r\n'),
    );
    const expected = await bodiesOf([...paths, pathOf(nativeTile)]);
    expect(bodiesIn(await everythingFrom(socket))).toEqual(expected);
  });

  it('receives the right bytes of 3,000 tiles when its client reads slowly and other clients are answered meanwhile', async () => {
    const count = 3000; // some megabytes, more than the buffers of a connection hold
    const paths = Array.from({ length: count }, (_, i) => pathOf(tiles[i % tiles.length] ?? nativeTile));
    const expected = await bodiesOf(tiles.map((tile) => pathOf(tile)));
    const slow = net.connect({ port: ports['fast path'], host: '127.0.0.1' });
    slow.pause();
    slow.write(
      paths.map((path) => requestFor(path)).join('') +
        requestFor(pathOf(nativeTile), 'Connection: close\r\n'),
    );
    for (let i = 0; i < 50; i++) await send(pathOf(nativeTile));
    const bodies = bodiesIn(await everythingFrom(slow));
    expect(bodies).toHaveLength(count + 1);
    const wrongBodies = bodies.slice(0, count).filter((body, i) => !expected[i % tiles.length]?.equals(body));
    expect(wrongBodies).toHaveLength(0);
  });

  it('receives only its own tiles while 24 connections share the response buffers', async () => {
    const expected = await bodiesOf(tiles.map((tile) => pathOf(tile)));
    const manyConnections = new http.Agent({ keepAlive: true, maxSockets: 24 });
    onTestFinished(() => manyConnections.destroy());
    const replies = await Promise.all(
      Array.from({ length: 600 }, (_, i) =>
        send(pathOf(tiles[i % tiles.length] ?? nativeTile), { agent: manyConnections }),
      ),
    );
    const wrongBodies = replies.filter(({ body }, i) => !expected[i % tiles.length]?.equals(body));
    expect(wrongBodies).toHaveLength(0);
  });

  it('does not affect other connections and logs no error when its client resets it', async () => {
    const loggedBefore = server.logged().length;
    for (let i = 0; i < 20; i++) {
      const socket = net.connect(ports['fast path'], '127.0.0.1');
      socket.write(requestFor(pathOf(nativeTile)).repeat(10));
      socket.once('data', () => socket.resetAndDestroy());
      await new Promise((resolve) => socket.once('close', resolve));
    }
    expect((await send(pathOf(nativeTile))).status).toBe(200);
    expect(server.logged().slice(loggedBefore)).not.toMatch(/"level":[56]0/);
  });
});

describe('a server that is stopping', () => {
  it('answers a tile request that arrives during the stop, and then closes the connection', async () => {
    const stopping = await slideServer();
    const connected = Promise.withResolvers<net.Socket>();
    stopping.app.server.once('connection', connected.resolve);
    const address = await stopping.app.listen({ host: '127.0.0.1', port: 0 });
    await stopping.put('Tissue/a.svs', await buildSvs(slideOptions));
    await stopping.rescan();
    const ownSession = await stopping.sessionOf(await stopping.fixtures.user());
    const path = `${apiBase}/image-catalog/proxy/${await stopping.idOf('a.svs')}/${nativeTile}?session=${ownSession}`;
    const request = requestFor(path);
    const socket = net.connect(Number(new URL(address).port), '127.0.0.1').setEncoding('latin1');
    const nextChunk = () => new Promise<string>((resolve) => socket.once('data', resolve));
    const peer = await connected.promise;
    for (let i = 1; i <= 2; i++) {
      socket.write(request);
      expect(await nextChunk()).toMatch(/^HTTP\/1\.1 200/);
    }
    // The first half of a request has arrived when the server stops.
    socket.write(request.slice(0, 20));
    await vi.waitFor(() => expect(peer.bytesRead).toBe(2 * request.length + 20));
    const closed = stopping.app.close();
    socket.write(request.slice(20));
    expect(await nextChunk()).toMatch(/\r\nconnection: close\r\n/i);
    await closed;
  });
});
