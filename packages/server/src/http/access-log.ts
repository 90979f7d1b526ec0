/** Writes the access log, and counts responses and errors in the metrics. */
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
    /** Bytes that the connection had sent before this request; null without a connection, for a request that a test injects. */
    bytesSentBefore: number | null;
  }
}

/** Fields of a line of the access log. */
interface AccessLogLine {
  readonly method: string;
  /** Template of the URL. The URL itself may contain an image session, a credential that must not be logged. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** Bytes of headers and body that were sent over the connection. For a request that a test injects: bytes of the body. */
  readonly bytes: number;
  /** The account that sent the request; undefined for a request without a known account. */
  readonly uid: string | undefined;
  /** IP address of the client. */
  readonly address: string;
}

/** Logs one response. @param isPixels true for a response with pixels, which is logged only at the level `debug` when it succeeded */
export function logResponse(
  log: Pick<Logger, 'debug' | 'info'>,
  line: AccessLogLine,
  isPixels: boolean,
): void {
  const fields = { ...line, ms: Math.round(line.ms * 10) / 10 };
  log[isPixels && line.status < 400 ? 'debug' : 'info'](fields, 'request');
}

/** Stores how many bytes the connection has sent before this request. Called when the request arrives. */
export function recordRequestStart(request: FastifyRequest): void {
  request.bytesSentBefore = bytesSentOn(request.raw.socket);
}

/** Counts a response in the metrics and logs it. Called when it has been sent. */
export function recordResponse(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const route = request.routeOptions.url ?? 'unknown';
  const status = reply.statusCode;
  const refusedTile = refusedTileOf(request.raw);
  // `elapsedTime` does not include the time in which the fast path, a handler in front of Fastify, refused the request.
  const ms = refusedTile === undefined ? reply.elapsedTime : performance.now() - refusedTile.startedAt;
  metrics.request(request.method, route, status, ms);
  const { method, ip: address } = request;
  const line = { method, route, status, ms, bytes: bytesOf(request, reply), uid: uidOf(request), address };
  const endpoint = request.routeOptions.config?.endpoint;
  logResponse(request.log, line, endpoint !== undefined && sendsPixels(endpoint));
}

/** Counts an error in the metrics before its response is sent. */
export function countError(
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

/** Returns the account that sent the request; undefined if it is unknown. */
function uidOf({ credential }: FastifyRequest): string | undefined {
  if (!credential) return undefined;
  if ('user' in credential) return credential.user.uid;
  // The session of a share link has the uid of the account that created the link. Its visitor has no account.
  return credential.visitor === null ? credential.uid : undefined;
}

function bytesOf(request: FastifyRequest, reply: FastifyReply): number {
  const bytesSent = bytesSentOn(request.raw.socket);
  if (bytesSent !== null && request.bytesSentBefore !== null) return bytesSent - request.bytesSentBefore;
  return Number(reply.getHeader('content-length') ?? 0);
}

/** Returns the number of bytes that a connection has sent so far; null without a connection, for a request that a test injects. */
export function bytesSentOn(socket: object | null): number | null {
  const bytesWritten = (socket as { readonly bytesWritten?: unknown } | null)?.bytesWritten;
  return typeof bytesWritten === 'number' ? bytesWritten : null;
}
