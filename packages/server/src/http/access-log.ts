/** Access log and metrics of each response. */
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
  /** Head and body as sent over the connection; for an injected request, the body alone. */
  readonly bytes: number;
  readonly uid: string | undefined;
  readonly address: string;
}

/** @param isPixels successful responses with pixels are counted in the metrics, and logged at the debug level only */
export function logResponse(
  log: Pick<Logger, 'debug' | 'info'>,
  line: AccessLogLine,
  isPixels: boolean,
): void {
  const rounded = { ...line, ms: Math.round(line.ms * 10) / 10 };
  log[isPixels && line.status < 400 ? 'debug' : 'info'](rounded, 'request');
}

export function recordRequestStart(request: FastifyRequest): void {
  request.sentBefore = bytesSentOn(request.raw.socket);
}

export function recordResponse(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const route = request.routeOptions.url ?? 'unknown';
  const status = reply.statusCode;
  const refused = refusedTileOf(request.raw);
  const ms = refused === undefined ? reply.elapsedTime : performance.now() - refused.startedAt;
  metrics.request(request.method, route, status, ms);
  const { method, ip: address } = request;
  const line = { method, route, status, ms, bytes: bytesOf(request, reply), uid: uidOf(request), address };
  const endpoint = request.routeOptions.config?.endpoint;
  logResponse(request.log, line, endpoint !== undefined && sendsPixels(endpoint));
}

/** Counts a refusal or a failure before it is answered. */
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
  return credential.visitor === null ? credential.uid : undefined; // a visitor is not the maker of the link
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
