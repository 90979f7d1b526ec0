/** An HTTP proxy in front of a real object store that injects faults of networks and stores. */
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A fault of one request. */
export type Fault =
  /** Responds with this error status instead of forwarding the request. */
  | { readonly kind: 'status'; readonly status: number }
  /** Redirects to another URL. */
  | { readonly kind: 'redirect'; readonly to: string }
  /** Resets the connection before a response. */
  | { readonly kind: 'reset' }
  /** Never responds. */
  | { readonly kind: 'stall' }
  /** Declares the whole body, but closes the connection after the first half. */
  | { readonly kind: 'half-body' }
  /** Sends the first half of the body as a complete response: its Content-Length is the length of that half. */
  | { readonly kind: 'short-body' }
  /** Sends the whole object instead of the requested range. */
  | { readonly kind: 'whole' }
  /** Sends the body in pieces of this many bytes, one every 100 ms. */
  | { readonly kind: 'slow'; readonly bytes: number }
  /** Declares a range that differs from the requested one. */
  | { readonly kind: 'wrong-range' }
  /** Returns another ETag. */
  | { readonly kind: 'other-etag' }
  /** Marks the ETag as weak, as a compressing proxy does; clients must accept it. */
  | { readonly kind: 'weak-etag' };

export interface FaultProxy {
  readonly endpoint: string;
  /** Sets the faults of the next requests, one for each request. Later requests get the fault of `failAlways`. */
  fail(faults: readonly Fault[]): void;
  /** Sets the fault of all requests for which `fail` sets none; null, the default, forwards them unchanged. */
  failAlways(fault: Fault | null): void;
  /** Method and path of each received request, oldest first, e.g. `GET /bucket/a.svs`. */
  readonly requests: readonly string[];
  /** Bytes of response bodies sent to clients, without those of the kinds `half-body` and `slow`. */
  readonly sentBytes: number;
  close(): Promise<void>;
}

interface ProxyResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/**
 * Starts a proxy. It forwards requests with their signature and with their `Host`, which is part of the signature.
 *
 * @param target URL of the object store
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let nextFaults: Fault[] = [];
  let defaultFault: Fault | null = null;
  let sentBytes = 0;
  const requests: string[] = [];
  const sockets = new Set<Socket>();

  async function forward(request: IncomingMessage, { withRange = true } = {}): Promise<ProxyResponse> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const headers = { ...request.headers };
    if (!withRange) delete headers.range;
    const { hostname, port } = new URL(target);
    const forwarded = http.request({ hostname, port, method: request.method, path: request.url, headers });
    forwarded.on('error', () => {}); // `once` below throws an error that occurs before the response; this listener ignores later errors
    forwarded.end(Buffer.concat(pieces));
    const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
    const responsePieces: Buffer[] = [];
    for await (const piece of response) responsePieces.push(piece as Buffer);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers as Record<string, string>,
      body: Buffer.concat(responsePieces),
    };
  }

  /** Sends a response in pieces, so that `sentBytes` shows how much was sent before the client aborted the response. */
  async function send(response: ServerResponse, { status, headers, body }: ProxyResponse): Promise<void> {
    response.writeHead(status, headers);
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    await pipeline(Readable.from(cutAndCount(body)), response);
  }

  function* cutAndCount(body: Buffer): Generator<Buffer> {
    const pieceBytes = 16 * 1024;
    for (let at = 0; at < body.length; at += pieceBytes) {
      const piece = body.subarray(at, at + pieceBytes);
      sentBytes += piece.length;
      yield piece;
    }
  }

  // oxlint-disable-next-line lamina/max-own-lines -- one case for each kind of fault
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    const fault = nextFaults.shift() ?? defaultFault;
    switch (fault?.kind) {
      case undefined:
        return send(response, await forward(request));
      case 'status':
        request.resume(); // discards the body
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
        const { status, headers, body } = await forward(request);
        response.writeHead(status, headers);
        response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
        return;
      }
      case 'short-body': {
        const { status, headers, body } = await forward(request);
        const half = body.subarray(0, body.length / 2);
        return send(response, {
          status,
          headers: { ...headers, 'content-length': String(half.length) },
          body: half,
        });
      }
      case 'whole':
        return send(response, await forward(request, { withRange: false }));
      case 'slow': {
        const { status, headers, body } = await forward(request);
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
        const { status, headers, body } = await forward(request);
        const range = (headers['content-range'] ?? '').replace(/\d+-\d+/, '1-2');
        return send(response, { status, headers: { ...headers, 'content-range': range }, body });
      }
      case 'weak-etag': {
        const { status, headers, body } = await forward(request);
        return send(response, { status, headers: { ...headers, etag: `W/${headers.etag}` }, body });
      }
      case 'other-etag': {
        const { status, headers, body } = await forward(request);
        return send(response, { status, headers: { ...headers, etag: '"another"' }, body });
      }
    }
  }

  const server = http.createServer((request, response) => {
    // `handle` fails when the client or the store has closed its connection.
    handle(request, response).catch(() => request.socket.destroy());
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
      nextFaults = [...faults];
    },
    failAlways(fault) {
      defaultFault = fault;
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
