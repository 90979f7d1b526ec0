/**
 * Tests that the two adapters of dicomweb/resolve-frames.ts, the fast path and the Fastify route, produce equal responses, log lines,
 * metrics and audit events for the same request.
 */
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { apiBase, updateDataset, updateImage } from '@lamina/contract';
import { SlideError } from '@lamina/slide';
import { buildSvs } from '@lamina/slide/testing';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../app.ts';
import { uidOf } from '../dicomweb/uids.ts';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

const slideOptions = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const viewerOrigin = 'https://viewer.example';
const anySyntax = 'multipart/related; type="application/octet-stream"; transfer-syntax=*';

let server: SlideServer;
/** A second HTTP application over the same services, with TILE_FAST_PATH=off. */
let routeApp: FastifyInstance;
let ports: { readonly 'fast path': number; readonly 'Fastify route': number };
let agent: http.Agent;
/** Bearer token of a member whose image session is open. */
let signInToken: string;
/** API token of the same account. */
let apiToken: string;
let instance: string;
let hiddenInstance: string;

const portOf = async (app: FastifyInstance) =>
  Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);

function instanceOf(imageId: string): string {
  return `/dicom-web/studies/${uidOf(imageId, 'study')}/series/${uidOf(imageId, 'series')}/instances/${uidOf(imageId, 0)}`;
}

beforeAll(async () => {
  server = await slideServer({ isShared: true, config: { dicomwebOrigins: new Set([viewerOrigin]) } });
  const { services, as, fixtures } = server;
  routeApp = await buildApp({ ...services, config: { ...services.config, tileFastPath: false } });
  ports = { 'fast path': await portOf(server.app), 'Fastify route': await portOf(routeApp) };
  await server.put('Tissue/a.svs', await buildSvs(slideOptions));
  await server.put('Tissue/hidden.svs', await buildSvs(slideOptions));
  await server.put('Other/b.svs', await buildSvs(slideOptions));
  await server.rescan();
  instance = instanceOf(await server.idOf('a.svs'));
  const hidden = await server.idOf('hidden.svs');
  hiddenInstance = instanceOf(hidden);
  const admin = await fixtures.admin();
  await as(admin).call(updateImage, { params: { imageId: hidden }, body: { hidden: true } });
});
beforeEach(async () => {
  agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const member = await server.fixtures.user();
  signInToken = await server.fixtures.token(member);
  apiToken = (await server.fixtures.apiToken(member, { scopes: ['slides:read'] })).token;
  // The first request of each token opens its image session and the slide.
  for (const token of [signInToken, apiToken]) await send(`${instance}/frames/1`, withToken(token));
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

interface Options {
  readonly method?: string;
  readonly headers: http.OutgoingHttpHeaders;
}

const withToken = (token: string, headers: http.OutgoingHttpHeaders = {}): Options => ({
  headers: { authorization: `Bearer ${token}`, accept: anySyntax, ...headers },
});

interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** The fast path writes header names in title case, Fastify in lower case. */
  readonly writtenBy: 'fast path' | 'Fastify';
}

function send(path: string, options: Options, adapter: Adapter = 'fast path'): Promise<Reply> {
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
    request.end();
  });
}

/** Returns the number of responses to requests for frames by method and status, from the metrics. */
async function countResponses(): Promise<ReadonlyMap<string, number>> {
  const metrics = await server.services.metrics.now();
  const found = metrics.find(({ name }) => name === 'http_requests_total');
  return new Map(
    (found?.values ?? [])
      .filter(({ labels }) => String(labels.route).endsWith('/frames/:frames'))
      .map(({ labels, value }) => [`${labels.method} ${labels.status}`, value]),
  );
}

/** Sends a request, and returns all its effects: response, line of the access log, changed counters, and rejection in the audit log. */
async function observe(path: string, options: Options, adapter: Adapter) {
  const requestId = randomUUID();
  const before = await countResponses();
  const recordCalls = vi.spyOn(server.services.audit, 'recordSeparately').mockClear();
  const reply = await send(
    path,
    { ...options, headers: { ...options.headers, 'x-request-id': requestId } },
    adapter,
  );
  const { 'x-request-id': answeredId, date: _, ...headers } = reply.headers;
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1] ?? 'none';
  const lines = () =>
    server
      .logged()
      .split('\n')
      .filter((text) => text.includes(`"requestId":"${requestId}"`))
      .map((text) => JSON.parse(text) as Record<string, unknown>);
  const logLine = await vi.waitFor(() => {
    const found = lines().find(({ msg }) => msg === 'request');
    expect(found).toBeDefined();
    return found ?? {};
  });
  await server.services.background.idle();
  const refusals = recordCalls.mock.calls.map(([{ origin, ...entry }]) => ({
    ...entry,
    address: origin?.address,
  }));
  const after = await countResponses();
  const { time: _time, ms: _ms, requestId: _id, ...logged } = logLine;
  return {
    reply,
    facts: {
      status: reply.status,
      headers: JSON.parse(JSON.stringify(headers).replaceAll(boundary, 'boundary')) as unknown,
      body: reply.body.toString('latin1').replaceAll(boundary, 'boundary').replaceAll(requestId, ''),
      hasItsRequestId: answeredId === requestId,
      logged,
      refusals,
      counted: [...after].flatMap(([name, value]) => {
        const change = value - (before.get(name) ?? 0);
        return change === 0 ? [] : [`${name} +${change}`];
      }),
    },
  };
}

async function expectEqualResponses(path: string, options: Options): Promise<Reply> {
  const fast = await observe(path, options, 'fast path');
  const route = await observe(path, options, 'Fastify route');
  expect(fast.facts).toEqual(route.facts);
  expect(fast.facts.hasItsRequestId).toBe(true);
  expect(route.reply.writtenBy).toBe('Fastify');
  return fast.reply;
}

interface Case {
  readonly path?: () => string;
  readonly options: () => Options | Promise<Options>;
  readonly status: number;
}

const framePath = () => `${instance}/frames/2`;

describe('a DICOMweb frame request, sent with the fast path (which bypasses Fastify) on and off', () => {
  const fastPathCases: Readonly<Record<string, Case>> = {
    'the bearer token of a sign-in': { options: () => withToken(signInToken), status: 200 },
    'an API token': { options: () => withToken(apiToken), status: 200 },
    'a path that begins with /api/v1': {
      path: () => apiBase + framePath(),
      options: () => withToken(apiToken),
      status: 200,
    },
    'an Accept header for a single frame without multipart': {
      options: () => withToken(apiToken, { accept: 'application/octet-stream; transfer-syntax=*' }),
      status: 200,
    },
    'Accept: image/jpeg': {
      options: () => withToken(apiToken, { accept: 'image/jpeg' }),
      status: 200,
    },
    'Accept: */*': {
      options: () => withToken(apiToken, { accept: '*/*' }),
      status: 200,
    },
  };
  const errorCases: Readonly<Record<string, Case>> = {
    'a frame number beyond the last one': {
      path: () => `${instance}/frames/17`,
      options: () => withToken(apiToken),
      status: 404,
    },
    'the frame number 0': {
      path: () => `${instance}/frames/0`,
      options: () => withToken(apiToken),
      status: 400,
    },
    'an unknown study': {
      path: () => framePath().replace(/studies\/[\d.]+/, 'studies/2.25.1'),
      options: () => withToken(signInToken),
      status: 404,
    },
    'an unknown series': {
      path: () => framePath().replace(/series\/[\d.]+/, 'series/2.25.1'),
      options: () => withToken(signInToken),
      status: 404,
    },
    'an unknown instance': {
      path: () => framePath().replace(/instances\/[\d.]+/, 'instances/2.25.1'),
      options: () => withToken(signInToken),
      status: 404,
    },
    'the path of a hidden slide': {
      path: () => `${hiddenInstance}/frames/1`,
      options: () => withToken(apiToken),
      status: 404,
    },
    'Accept: image/png, which the server does not offer': {
      options: () => withToken(apiToken, { accept: 'image/png' }),
      status: 406,
    },
    'an unknown API token': { options: () => withToken(`lam_${'A'.repeat(43)}`), status: 401 },
    'an Authorization header of the scheme Basic': {
      options: () => ({ headers: { authorization: 'Basic eDp5' } }),
      status: 401,
    },
    'an API token without the required scope': {
      options: async () =>
        withToken(
          (await server.fixtures.apiToken(await server.fixtures.user(), { scopes: ['annotations:write'] }))
            .token,
        ),
      status: 403,
    },
    'an API token for another dataset': {
      options: async () =>
        withToken(
          (await server.fixtures.apiToken(await server.fixtures.user(), { datasets: ['Other'] })).token,
        ),
      status: 404,
    },
    'an API token of an account that is not active': {
      options: async () => {
        const pending = await server.fixtures.user({ status: 'pending' });
        return withToken((await server.fixtures.apiToken(pending)).token);
      },
      status: 401,
    },
    'Accept-Language: tr and a frame number beyond the last one': {
      path: () => `${instance}/frames/99`,
      options: () => withToken(apiToken, { 'accept-language': 'tr' }),
      status: 404,
    },
  };
  const fastifyCases: Readonly<Record<string, Case>> = {
    'no token': { options: () => ({ headers: {} }), status: 401 },
    'an Origin header that the settings allow': {
      options: () => withToken(apiToken, { origin: viewerOrigin }),
      status: 200,
    },
    'an Origin header that the settings do not allow': {
      options: () => withToken(apiToken, { origin: 'https://else.example' }),
      status: 200,
    },
    'several frame numbers': {
      path: () => `${instance}/frames/1,2`,
      options: () => withToken(apiToken),
      status: 200,
    },
    'a query parameter': {
      path: () => `${framePath()}?v=1`,
      options: () => withToken(apiToken),
      status: 200,
    },
    'a query parameter named session': {
      path: () => `${framePath()}?session=${'A'.repeat(43)}`,
      options: () => withToken(signInToken),
      status: 200,
    },
    'a trailing slash': { path: () => `${framePath()}/`, options: () => withToken(apiToken), status: 200 },
    'the method HEAD': { options: () => ({ ...withToken(apiToken), method: 'HEAD' }), status: 200 },
    'If-None-Match with an ETag that no frame has': {
      options: () => withToken(apiToken, { 'if-none-match': '"x"' }),
      status: 200,
    },
    'an unknown bearer token': { options: () => withToken('A'.repeat(43)), status: 401 },
  };

  const rowsOf = (cases: Readonly<Record<string, Case>>) =>
    Object.entries(cases).map(([name, requestCase]) => [requestCase.status, name, requestCase] as const);

  it.each(rowsOf(fastPathCases))(
    'gets equal responses with status %s when it has %s; the fast path answers it',
    async (_, __, requestCase) => {
      const reply = await expectEqualResponses(
        (requestCase.path ?? framePath)(),
        await requestCase.options(),
      );
      expect([reply.status, reply.writtenBy]).toEqual([requestCase.status, 'fast path']);
      expect(reply.headers.vary).toBe('Origin, Accept');
    },
  );

  it.each(rowsOf(errorCases))(
    'gets the same error with status %s when it has %s; the fast path passes it to Fastify',
    async (_, __, requestCase) => {
      const reply = await expectEqualResponses(
        (requestCase.path ?? framePath)(),
        await requestCase.options(),
      );
      expect([reply.status, reply.writtenBy]).toEqual([requestCase.status, 'Fastify']);
    },
  );

  it.each(rowsOf(fastifyCases))(
    'gets equal responses with status %s when it has %s; the fast path passes it to Fastify',
    async (_, __, requestCase) => {
      const reply = await expectEqualResponses(
        (requestCase.path ?? framePath)(),
        await requestCase.options(),
      );
      expect([reply.status, reply.writtenBy]).toEqual([requestCase.status, 'Fastify']);
    },
  );

  it.each([
    ['the storage does not answer', new SlideError('STORE_UNAVAILABLE', 'No answer.'), 503],
    ['the file is missing', new SlideError('FILE_MISSING', 'The file is missing.'), 404],
    ['an unexpected error occurs', new Error('unexpected'), 500],
  ])('gets the same error with status $2 when %s', async (_, error, status) => {
    vi.spyOn(server.services.slides, 'nativeLevelTile').mockRejectedValue(error);
    expect((await expectEqualResponses(framePath(), withToken(apiToken))).status).toBe(status);
  });

  it('gets the same error with status 503 when the audit event of the image opening cannot be written', async () => {
    vi.spyOn(server.services.imageOpenings, 'isRecorded').mockReturnValue(false);
    vi.spyOn(server.services.imageOpenings, 'record').mockRejectedValue(
      Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' }),
    );
    expect((await expectEqualResponses(framePath(), withToken(signInToken))).status).toBe(503);
  });
});

it('the first DICOMweb frame request of a sign-in is answered by Fastify, the second by the fast path (which bypasses Fastify)', async () => {
  const token = await server.fixtures.token(await server.fixtures.user());
  const first = await send(framePath(), withToken(token));
  const second = await send(framePath(), withToken(token));
  expect([first.status, first.writtenBy, second.status, second.writtenBy]).toEqual([
    200,
    'Fastify',
    200,
    'fast path',
  ]);
});

it('a DICOMweb frame request gets 404 as soon as the dataset becomes restricted and the account has no grant', async () => {
  const other = instanceOf(await server.idOf('b.svs'));
  expect((await send(`${other}/frames/1`, withToken(apiToken))).writtenBy).toBe('fast path');
  const admin = await server.fixtures.admin();
  await server.as(admin).call(updateDataset, { body: { dataset: 'Other', access: 'restricted' } });
  for (const token of [apiToken, signInToken])
    expect((await send(`${other}/frames/1`, withToken(token))).status).toBe(404);
});
