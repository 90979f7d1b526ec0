/** Stands before a real object store and lets what passes go wrong, as networks and stores do. */
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export type Fault =
  /** Refuses with this status, as a store does. */
  | { readonly kind: 'status'; readonly status: number }
  /** Leads elsewhere. */
  | { readonly kind: 'redirect'; readonly to: string }
  /** Breaks the connection before an answer. */
  | { readonly kind: 'reset' }
  /** Never answers. */
  | { readonly kind: 'stall' }
  /** Answers, and breaks the connection after half of the bytes. */
  | { readonly kind: 'half-body' }
  /** Answers fewer bytes, and says that these are all. */
  | { readonly kind: 'short-body' }
  /** Sends the whole object instead of the part. */
  | { readonly kind: 'whole' }
  /** So many bytes every tenth of a second. */
  | { readonly kind: 'slow'; readonly bytes: number }
  /** Says that it sends another part than was asked for. */
  | { readonly kind: 'wrong-range' }
  /** Says that it is another object. */
  | { readonly kind: 'other-etag' }
  /** No fault: what a proxy that may pack bytes makes of an ETag. */
  | { readonly kind: 'weak-etag' };

export interface FaultProxy {
  readonly endpoint: string;
  /** What happens to requests from now on, one fault after the other; after the last, everything passes. */
  fail(faults: readonly Fault[]): void;
  /** The same fault for each request, until it is said otherwise; null: everything passes. */
  failAlways(fault: Fault | null): void;
  /** Requests that have come, by method and path, oldest first. */
  readonly requests: readonly string[];
  /** Bytes of bodies that were sent on. */
  readonly sentBytes: number;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** @param target where the store is; a request is passed on as it was signed, with its own `Host` */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let next: Fault[] = [];
  let always: Fault | null = null;
  let sentBytes = 0;
  const requests: string[] = [];
  const sockets = new Set<Socket>();

  async function pass(request: IncomingMessage, changes: { range?: null } = {}): Promise<Answer> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const headers = { ...request.headers };
    if (changes.range === null) delete headers.range;
    const { hostname, port } = new URL(target);
    const passed = http.request({ hostname, port, method: request.method, path: request.url, headers });
    passed.on('error', () => {}); // before an answer it is told below; after one, nothing is missing
    passed.end(Buffer.concat(pieces));
    const [response] = (await once(passed, 'response')) as [IncomingMessage];
    const answered: Buffer[] = [];
    for await (const piece of response) answered.push(piece as Buffer);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers as Record<string, string>,
      body: Buffer.concat(answered),
    };
  }

  /** In pieces, so that whoever has heard enough can stop it. */
  async function send(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
    response.writeHead(status, headers);
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    await pipeline(Readable.from(counted(body)), response);
  }

  function* counted(body: Buffer): Generator<Buffer> {
    const pieceBytes = 16 * 1024;
    for (let at = 0; at < body.length; at += pieceBytes) {
      const piece = body.subarray(at, at + pieceBytes);
      sentBytes += piece.length;
      yield piece;
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    const fault = next.shift() ?? always;
    switch (fault?.kind) {
      case undefined:
        return send(response, await pass(request));
      case 'status':
        request.resume();
        return send(response, {
          status: fault.status,
          headers: { 'content-type': 'application/xml' },
          body: Buffer.from('<Error><Code>Fault</Code></Error>'),
        });
      case 'redirect':
        request.resume();
        return send(response, { status: 302, headers: { location: fault.to }, body: Buffer.alloc(0) });
      case 'reset':
        request.socket.resetAndDestroy();
        return;
      case 'stall':
        request.resume();
        return;
      case 'half-body': {
        const { status, headers, body } = await pass(request);
        response.writeHead(status, headers);
        response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
        return;
      }
      case 'short-body': {
        const { status, headers, body } = await pass(request);
        const less = body.subarray(0, body.length / 2);
        return send(response, {
          status,
          headers: { ...headers, 'content-length': String(less.length) },
          body: less,
        });
      }
      case 'whole':
        return send(response, await pass(request, { range: null }));
      case 'slow': {
        const { status, headers, body } = await pass(request);
        response.writeHead(status, headers);
        let at = 0;
        const timer = setInterval(() => {
          response.write(body.subarray(at, at + fault.bytes));
          at += fault.bytes;
          if (at >= body.length) response.end();
        }, 100);
        response.once('close', () => clearInterval(timer));
        return;
      }
      case 'wrong-range': {
        const { status, headers, body } = await pass(request);
        const range = (headers['content-range'] ?? '').replace(/\d+-\d+/, '1-2');
        return send(response, { status, headers: { ...headers, 'content-range': range }, body });
      }
      case 'weak-etag': {
        const { status, headers, body } = await pass(request);
        return send(response, { status, headers: { ...headers, etag: `W/${headers.etag}` }, body });
      }
      case 'other-etag': {
        const { status, headers, body } = await pass(request);
        return send(response, { status, headers: { ...headers, etag: '"another"' }, body });
      }
    }
  }

  const server = http.createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail(faults) {
      next = [...faults];
    },
    failAlways(fault) {
      always = fault;
    },
    requests,
    get sentBytes() {
      return sentBytes;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
