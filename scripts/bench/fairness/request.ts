/** One HTTP request to the product, with the time until the complete response. */
import { type Agent, request as startRequest } from 'node:http';

export interface RequestOptions {
  readonly port: number;
  readonly path: string;
  /** Sent as JSON with POST; without it the request is a GET. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Client address, sent in X-Forwarded-For as by a trusted reverse proxy. */
  readonly clientAddress?: string;
  /** Opens and keeps the connections; without it, Node's default agent does so. */
  readonly agent?: Agent | undefined;
}

export interface MeasuredResponse {
  /** 0 when there was no response. */
  readonly status: number;
  /** Milliseconds until the complete response. */
  readonly ms: number;
  readonly body: string;
}

/** Sends a request. Never rejects: without a response, the status is 0. */
export function request({
  port,
  path,
  body,
  clientAddress,
  agent,
}: RequestOptions): Promise<MeasuredResponse> {
  const startedAt = performance.now();
  const text = body && JSON.stringify(body);
  const { promise, resolve } = Promise.withResolvers<MeasuredResponse>();
  const settle = (status: number, responseBody: string) =>
    resolve({ status, ms: performance.now() - startedAt, body: responseBody });
  const outgoing = startRequest(
    {
      host: '127.0.0.1',
      port,
      path,
      method: text === undefined ? 'GET' : 'POST',
      headers: {
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
        ...(clientAddress !== undefined && { 'x-forwarded-for': clientAddress }),
      },
      agent,
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => settle(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
      response.on('error', () => settle(0, ''));
    },
  );
  outgoing.on('error', () => settle(0, ''));
  outgoing.end(text);
  return promise;
}
