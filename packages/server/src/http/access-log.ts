/** Writes the access log and counts the metrics of each response. */
import { AppError, getTile } from '@lamina/contract';
import { SlideError } from '@lamina/slide';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.ts';
import { apiErrorOf, isClientGone } from './error-reply.ts';
import { refusedTileOf } from './refused-tiles.ts';
import { sendsPixels } from './send-bytes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes that the connection had sent before this request; null for an injected request without a connection. */
    sentBefore: number | null;
  }
}

/** Fields of a line of the access log. */
interface AccessLogLine {
  readonly method: string;
  /** The route's template and not the URL, which may contain an image session. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** Size of head and body as sent over the connection; for an injected request, only that of the body. */
  readonly bytes: number;
  readonly uid: string | undefined;
  readonly address: string;
}

/** Logs one response. @param isPixels true for responses with pixels; successful ones are logged only at the level `debug` */
export function logResponse(
  log: Pick<Logger, 'debug' | 'info'>,
  line: AccessLogLine,
  isPixels: boolean,
): void {
  const fields = { ...line, ms: Math.round(line.ms * 10) / 10 };
  log[isPixels && line.status < 400 ? 'debug' : 'info'](fields, 'request');
}

export function recordRequestStart(request: FastifyRequest): void {
  request.sentBefore = bytesSentOn(request.raw.socket);
}

export function recordResponse(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const route = request.routeOptions.url ?? 'unknown';
  const status = reply.statusCode;
  const refusedTile = refusedTileOf(request.raw);
  const ms = refusedTile === undefined ? reply.elapsedTime : performance.now() - refusedTile.startedAt;
  metrics.request(request.method, route, status, ms);
  const { method, ip: address } = request;
  const line = { method, route, status, ms, bytes: bytesOf(request, reply), uid: uidOf(request), address };
  const endpoint = request.routeOptions.config?.endpoint;
  logResponse(request.log, line, endpoint !== undefined && sendsPixels(endpoint));
}

/** Counts an error in the metrics before its response is sent. */
export function countRefusal(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  metrics: Metrics,
): void {
  if (isClientGone(error, reply)) return;
  const { code, status } = apiErrorOf(error);
  if (error instanceof SlideError) metrics.slideError(error.code.toLowerCase());
  if (error instanceof AppError && status === 401) metrics.authFailure(code);
  if (request.routeOptions.config?.endpoint === getTile) metrics.tileRefused(code);
}

function uidOf({ credential }: FastifyRequest): string | undefined {
  if (!credential) return undefined;
  if ('user' in credential) return credential.user.uid;
  return credential.visitor === null ? credential.uid : undefined; // a visitor's session names the account that created the share link, not the visitor
}

function bytesOf(request: FastifyRequest, reply: FastifyReply): number {
  const sent = bytesSentOn(request.raw.socket);
  if (sent !== null && request.sentBefore !== null) return sent - request.sentBefore;
  return Number(reply.getHeader('content-length') ?? 0);
}

/** Returns the bytes that the connection has sent so far; null for an injected request, whose socket does not count. */
export function bytesSentOn(socket: object | null): number | null {
  const sent = (socket as { readonly bytesWritten?: unknown } | null)?.bytesWritten;
  return typeof sent === 'number' ? sent : null;
}
