import http from 'node:http';
import net from 'node:net';
import { apiBase, deleteImageSession, getImageSessionStats, updateImage } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

/** 480 × 400 pixels, tiles of 128, stored at 1 and at 1/4: Deep Zoom levels 9 and 7 of 0…9. */
const plan = { width: 480, height: 400, tileSize: 128, downsamples: [1, 4] } as const;
const stored = 'image_files/9/1_1.jpg';
const made = 'image_files/8/0_0.jpg';

let server: SlideServer;
let port: number;
let imageId: string;
let token: string;
let session: string;
let agent: http.Agent;

beforeAll(async () => {
  server = await slideServer({ isShared: true, config: { logLevel: 'info' } });
  const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
  port = Number(new URL(address).port);
  await server.put('Tissue/a.svs', await buildSvs(plan));
  await server.rescan();
  imageId = await server.idOf('a.svs');
});
beforeEach(async () => {
  agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  token = await server.given.token(await server.given.user());
  session = await server.sessionOf(token);
  // Opens the slide, makes the tile, and has the session looked up.
  for (const tile of [stored, made]) await ask(pathOf(tile));
});
afterEach(() => agent.destroy());
afterAll(() => server.close());

interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** The lane writes the names of headers in capitals, Fastify in small letters. */
  readonly way: 'lane' | 'usual';
}

type Asked = Pick<http.RequestOptions, 'method' | 'headers' | 'agent'> & { readonly payload?: string };

const pathOf = (tile: string, query = `session=${session}`) =>
  `${apiBase}/image-catalog/proxy/${imageId}/${tile}?${query}`;

/** Over one connection that is kept, as a browser does. */
function ask(path: string, { payload, ...asked }: Asked = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = http.request({ agent, ...asked, port, path }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces),
          way: response.rawHeaders.includes('X-Request-Id') ? 'lane' : 'usual',
        }),
      );
    });
    request.on('error', reject);
    request.end(payload);
  });
}

/** What differs from answer to answer, or is the connection's. */
const passing = new Set(['date', 'connection', 'keep-alive', 'x-request-id', 'transfer-encoding']);

function lasting(headers: http.IncomingHttpHeaders): http.IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !passing.has(name)));
}

/** The same asked of the routes, which the lane stands in front of. */
async function askTheRoutes(path: string, { method = 'GET', headers, payload }: Asked = {}) {
  const answer = await server.app.inject({
    method: method as 'GET',
    url: path,
    headers: headers as http.OutgoingHttpHeaders,
    ...(payload !== undefined && { payload }),
  });
  return {
    status: answer.statusCode,
    headers: answer.headers as http.IncomingHttpHeaders,
    body: answer.rawPayload,
  };
}

function withoutRequestId(body: Buffer): string {
  return body.toString('latin1').replace(/"requestId":"[^"]*"/, '');
}

async function expectSameAnswer(path: string, asked: Asked, way: Reply['way']): Promise<Reply> {
  const [reply, usual] = [await ask(path, asked), await askTheRoutes(path, asked)];
  expect(reply.way).toBe(way);
  expect(reply.status).toBe(usual.status);
  expect(lasting(reply.headers)).toEqual(lasting(usual.headers));
  expect(withoutRequestId(reply.body)).toBe(withoutRequestId(usual.body));
  return reply;
}

describe('the fast lane of tiles answers as the routes do', () => {
  it.each([
    ['a stored tile', stored],
    ['a stored tile under the other ending', 'image_files/9/0_0.jpeg'],
    ['a made tile', made],
  ])('%s', async (_, tile) => {
    await ask(pathOf(tile));
    const reply = await expectSameAnswer(pathOf(tile), {}, 'lane');
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      connection: 'keep-alive',
      'keep-alive': 'timeout=72',
      date: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
      'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
    });
  });

  it('HEAD', async () => {
    const reply = await expectSameAnswer(pathOf(stored), { method: 'HEAD' }, 'lane');
    expect([reply.status, reply.body.length]).toEqual([200, 0]);
  });

  it('to whoever has the tile already', async () => {
    const { headers } = await ask(pathOf(stored));
    const again = { headers: { 'if-none-match': `${headers.etag}` } };
    const reply = await expectSameAnswer(pathOf(stored), again, 'lane');
    expect(reply.status).toBe(304);
  });

  it('to whoever has another one', async () => {
    const reply = await expectSameAnswer(pathOf(stored), { headers: { 'if-none-match': '"x"' } }, 'lane');
    expect(reply.status).toBe(200);
  });

  it('with the request id that came along', async () => {
    const headers = { 'x-request-id': 'given-by-a-proxy' };
    expect((await ask(pathOf(stored), { headers })).headers['x-request-id']).toBe('given-by-a-proxy');
    const hostile = { 'x-request-id': 'a b' };
    expect((await ask(pathOf(stored), { headers: hostile })).headers['x-request-id']).toMatch(
      /^[\da-f-]{36}$/,
    );
  });

  it('and says how long the tile may be kept', async () => {
    server.clock.advance(1_000_000);
    await ask(pathOf(stored)); // the session is looked up again
    const { headers, way } = await ask(pathOf(stored));
    expect([headers['cache-control'], way]).toEqual(['private, max-age=2600', 'lane']);
  });
});

describe('what administrators hide', () => {
  const hide = async (hidden: boolean) =>
    server.as(await server.given.admin()).call(updateImage, { params: { imageId }, body: { hidden } });

  it('the lane gives to administrators alone, at once', async () => {
    const ofAdmin = `session=${await server.sessionOf(await server.given.admin())}`;
    await hide(true);
    try {
      const { status } = await expectSameAnswer(pathOf(stored), {}, 'usual');
      expect(status).toBe(404);
      await ask(pathOf(stored, ofAdmin)); // opens the slide again
      expect((await expectSameAnswer(pathOf(stored, ofAdmin), {}, 'lane')).status).toBe(200);
      expect((await ask(pathOf(stored))).status).toBe(404);
    } finally {
      await hide(false);
    }
    await ask(pathOf(stored));
    expect((await expectSameAnswer(pathOf(stored), {}, 'lane')).status).toBe(200);
  });
});

describe('the fast lane leaves to the routes', () => {
  const rows: readonly (readonly [what: string, request: () => [string, Asked] | [string], number])[] = [
    ['no session', () => [pathOf(stored, '')], 401],
    ['an empty session', () => [pathOf(stored, 'session=')], 401],
    ['an unknown session', () => [pathOf(stored, `session=${'A'.repeat(43)}`)], 401],
    ['a session with something after it', () => [pathOf(stored, `session=${session}x`)], 401],
    ['a session sent twice', () => [pathOf(stored, `session=${session}&session=${session}`)], 400],
    ['a further parameter', () => [pathOf(stored, `session=${session}&v=1`)], 200],
    ['a parameter sent twice', () => [pathOf(stored, `session=${session}&v=1&v=1`)], 400],
    [
      'an encoded session',
      () => [pathOf(stored, `session=${session.startsWith('A') ? '%42' : '%41'}${session.slice(1)}`)],
      401,
    ],
    ['a token', () => [pathOf(stored), { headers: { authorization: `Bearer ${token}` } }], 200],
    ['a bad token', () => [pathOf(stored), { headers: { authorization: 'Bearer bad' } }], 401],
    ['an empty token', () => [pathOf(stored), { headers: { authorization: '' } }], 401],
    [
      'a body',
      () => [
        pathOf(stored),
        { payload: '{}', headers: { 'content-type': 'application/json', 'content-length': 2 } },
      ],
      200,
    ],
    ['another method', () => [pathOf(stored), { method: 'DELETE' }], 405],
    ['a trailing slash', () => [pathOf(`${stored}/`)], 200],
    ['another spelling of the address', () => [pathOf('image_files/9/1%5F1.jpg')], 200],
    ['a tile that is not there', () => [pathOf('image_files/9/9_9.jpg')], 404],
    ['a tile of a level that is not there', () => [pathOf('image_files/10/0_0.jpg')], 404],
    ['a number with a leading zero', () => [pathOf('image_files/09/1_1.jpg')], 404],
    ['a number beyond all', () => [pathOf(`image_files/9/${'9'.repeat(30)}_1.jpg`)], 404],
    ['another format', () => [pathOf('image_files/9/1_1.png')], 404],
    ['an image in capitals', () => [pathOf(stored).replace(imageId, imageId.toUpperCase())], 404],
    [
      'an unknown image',
      () => [pathOf(stored).replace(imageId, '00000000-0000-4000-8000-000000000000')],
      404,
    ],
    ['the descriptor', () => [pathOf('image.dzi')], 200],
    ['the thumbnail', () => [pathOf('thumbnail.jpg')], 200],
  ];

  it.each(rows)('%s', async (_, request, status) => {
    const [path, asked = {}] = request();
    expect((await expectSameAnswer(path, asked, 'usual')).status).toBe(status);
  });

  it('a tile that has to be made, and takes it when it was', async () => {
    await server.put('Tissue/b.svs', await buildSvs({ ...plan, width: 470 }));
    await server.rescan();
    const path = pathOf(made).replace(imageId, await server.idOf('b.svs'));
    const [first, second] = [await ask(path), await ask(path)];
    expect([first.way, second.way]).toEqual(['usual', 'lane']);
    expect(second.body.equals(first.body)).toBe(true);
  });

  it('everything when a cookie has to be looked at, or every answer is told in the log', async () => {
    for (const config of [
      { imageSessionCookie: 'strict', logLevel: 'info' },
      { logLevel: 'debug' },
    ] as const) {
      const other = await slideServer({ config });
      const address = await other.app.listen({ host: '127.0.0.1', port: 0 });
      await other.put('Tissue/a.svs', await buildSvs(plan));
      await other.rescan();
      const id = await other.idOf('a.svs');
      const theirs = await other.sessionOf(await other.given.user());
      const path = `${apiBase}/image-catalog/proxy/${id}/${stored}?session=${theirs}`;
      const there = { port: Number(new URL(address).port), headers: { cookie: `image_session=${theirs}` } };
      for (let i = 0; i < 2; i++) {
        const names = await new Promise<string[]>((resolve, reject) => {
          http
            .get({ ...there, path }, (response) => {
              response
                .resume()
                .on('end', () => resolve([String(response.statusCode), ...response.rawHeaders]));
            })
            .on('error', reject);
        });
        expect(names[0]).toBe('200');
        expect(names).toContain('x-request-id');
      }
    }
  });
});

describe('a session in the fast lane', () => {
  it('is refused from the moment it is revoked', async () => {
    expect((await ask(pathOf(stored))).way).toBe('lane');
    await server.as(token).call(deleteImageSession, { params: { sessionId: session } });
    const reply = await ask(pathOf(stored));
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('ImageSession error="session_invalid"');
  });

  it('ends with its time', async () => {
    server.clock.advance(3_600_000);
    expect((await ask(pathOf(stored))).status).toBe(401);
  });

  it('that nobody has used for a while is looked up again on the way', async () => {
    const other = await server.sessionOf(await server.given.user());
    server.clock.advance(5000);
    await ask(pathOf(stored, `session=${other}`)); // the image is looked up again
    expect(await ask(pathOf(stored))).toMatchObject({ status: 200, way: 'lane' });
  });

  it('is refused after a while when another process has ended it', async () => {
    const other = await server.sessionOf(await server.given.user());
    await server.services.db.deleteFrom('image_sessions').where('prefix', '=', session.slice(0, 8)).execute();
    server.clock.advance(5000);
    await ask(pathOf(stored, `session=${other}`));
    expect((await ask(pathOf(stored))).status).toBe(401);
  });

  it('has every request counted once, whichever way it went', async () => {
    const count = async () => {
      const { sessions } = (await server.as(token).call(getImageSessionStats)).body;
      return sessions[0]?.request_count ?? 0;
    };
    const before = await count();
    const replies = [
      await ask(pathOf(stored)),
      await ask(pathOf(stored), { method: 'HEAD' }),
      await ask(pathOf(made)),
      await ask(pathOf(stored, `session=${session}&v=1`)),
      await ask(pathOf('image_files/9/9_9.jpg')),
    ];
    expect(replies.map(({ way }) => way)).toEqual(['lane', 'lane', 'lane', 'usual', 'usual']);
    expect(await count()).toBe(before + replies.length);
  });
});

/** Whole answers of a connection, in their order. */
function answersIn(bytes: Buffer): Buffer[] {
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

/** Everything the server sends until it closes the connection. */
async function everythingFrom(socket: net.Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

const requestFor = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: here\r\n${headers}\r\n`;

describe('a connection through the fast lane', () => {
  const tiles = ['image_files/9/0_0.jpg', 'image_files/9/1_1.jpg', 'image_files/9/2_2.jpg', made];
  const bodiesOf = (paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => (await askTheRoutes(path)).body));

  it('is kept for the next request', async () => {
    for (let i = 0; i < 20; i++) expect((await ask(pathOf(stored))).way).toBe('lane');
    const sockets = Object.values(agent.freeSockets).flat();
    expect(sockets).toHaveLength(1);
  });

  it('is closed when the client asks for that', async () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.write(requestFor(pathOf(stored), 'Connection: close\r\n'));
    expect(answersIn(await everythingFrom(socket))).toEqual(await bodiesOf([pathOf(stored)]));
  });

  it('answers requests that come all at once in their order, whoever answers each', async () => {
    const paths = Array.from({ length: 40 }, (_, i) => {
      const tile = pathOf(tiles[i % tiles.length] ?? stored);
      return i % 5 === 4 ? `${tile}&v=1` : tile;
    });
    const socket = net.connect(port, '127.0.0.1');
    socket.write(
      paths.map((path) => requestFor(path)).join('') + requestFor(pathOf(stored), 'Connection: close\r\n'),
    );
    const expected = await bodiesOf([...paths, pathOf(stored)]);
    expect(answersIn(await everythingFrom(socket))).toEqual(expected);
  });

  it('gives a client that reads slowly every byte of its own, whatever others are sent meanwhile', async () => {
    const count = 3000; // some megabytes, more than the buffers of a connection hold
    const paths = Array.from({ length: count }, (_, i) => pathOf(tiles[i % tiles.length] ?? stored));
    const expected = await bodiesOf(tiles.map((tile) => pathOf(tile)));
    const slow = net.connect({ port, host: '127.0.0.1' });
    slow.pause();
    slow.write(
      paths.map((path) => requestFor(path)).join('') + requestFor(pathOf(stored), 'Connection: close\r\n'),
    );
    for (let i = 0; i < 50; i++) await ask(pathOf(stored));
    const bodies = answersIn(await everythingFrom(slow));
    expect(bodies).toHaveLength(count + 1);
    const wrong = bodies.slice(0, count).filter((body, i) => !expected[i % tiles.length]?.equals(body));
    expect(wrong).toHaveLength(0);
  });

  it('among many gets its own tiles, though all are sent from the same memory', async () => {
    const expected = await bodiesOf(tiles.map((tile) => pathOf(tile)));
    const crowd = new http.Agent({ keepAlive: true, maxSockets: 24 });
    onTestFinished(() => crowd.destroy());
    const replies = await Promise.all(
      Array.from({ length: 600 }, (_, i) => ask(pathOf(tiles[i % tiles.length] ?? stored), { agent: crowd })),
    );
    const wrong = replies.filter(({ body }, i) => !expected[i % tiles.length]?.equals(body));
    expect(wrong).toHaveLength(0);
  });

  it('that breaks disturbs no other', async () => {
    for (let i = 0; i < 20; i++) {
      const socket = net.connect(port, '127.0.0.1');
      socket.write(requestFor(pathOf(stored)).repeat(10));
      socket.once('data', () => socket.resetAndDestroy());
      await new Promise((resolve) => socket.once('close', resolve));
    }
    expect((await ask(pathOf(stored))).status).toBe(200);
    expect(server.logged()).not.toMatch(/"level":[56]0/);
  });
});

describe('a server that ends', () => {
  it('answers by the usual way alone what comes over connections that are still open', async () => {
    const ending = await slideServer({ config: { logLevel: 'info' } });
    const connected = Promise.withResolvers<net.Socket>();
    ending.app.server.once('connection', connected.resolve);
    const address = await ending.app.listen({ host: '127.0.0.1', port: 0 });
    await ending.put('Tissue/a.svs', await buildSvs(plan));
    await ending.rescan();
    const theirs = await ending.sessionOf(await ending.given.user());
    const path = `${apiBase}/image-catalog/proxy/${await ending.idOf('a.svs')}/${stored}?session=${theirs}`;
    const request = requestFor(path);
    const socket = net.connect(Number(new URL(address).port), '127.0.0.1').setEncoding('latin1');
    const next = () => new Promise<string>((resolve) => socket.once('data', resolve));
    const peer = await connected.promise;
    for (let i = 1; i <= 2; i++) {
      socket.write(request);
      expect(await next()).toMatch(/^HTTP\/1\.1 200/);
    }
    // A half request is under way when the end comes.
    socket.write(request.slice(0, 20));
    await vi.waitFor(() => expect(peer.bytesRead).toBe(2 * request.length + 20));
    const closed = ending.app.close();
    socket.write(request.slice(20));
    expect(await next()).toMatch(/\r\nconnection: close\r\n/i);
    await closed;
  });
});
