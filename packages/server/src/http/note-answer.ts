/** What is told of every answer: a line of the log, and counts. */
import { AppError, getTile } from '@lamina/contract';
import { SlideError } from '@lamina/slide';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../metrics/metrics.ts';
import { hasLeft, refusalOf } from './error-reply.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes that had gone over the connection before this request was answered; null: no connection of its own. */
    sentBefore: number | null;
  }
}

export function noteArrival(request: FastifyRequest): void {
  request.sentBefore = sentSoFar(request);
}

export function noteAnswer(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const route = request.routeOptions.url ?? 'unknown';
  const status = reply.statusCode;
  metrics.request(request.method, route, status, reply.elapsedTime);
  // The route's template, never the address: that may carry an image session.
  const line = {
    method: request.method,
    route,
    status,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    bytes: bytesOf(request, reply),
    uid: uidOf(request),
    address: request.ip,
  };
  // Good answers with pixels come by the hundred for each person; they are counted, not told one by one.
  const isPixels = request.routeOptions.config?.endpoint?.access === 'image-session';
  request.log[isPixels && status < 400 ? 'debug' : 'info'](line, 'request');
}

/** Before a refusal or a fault is answered. */
export function countRefusal(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  metrics: Metrics,
): void {
  if (hasLeft(error, reply)) return;
  const { code, status } = refusalOf(error);
  if (error instanceof SlideError) metrics.slideError(error.code.toLowerCase());
  if (error instanceof AppError && status === 401) metrics.authFailure(code);
  if (request.routeOptions.config?.endpoint === getTile) metrics.tileRefused(code);
}

function uidOf({ credential }: FastifyRequest): string | undefined {
  if (!credential) return undefined;
  return 'user' in credential ? credential.user.uid : credential.uid;
}

/** Head and body, as they went over the connection; of a request that came without one, the body alone. */
function bytesOf(request: FastifyRequest, reply: FastifyReply): number {
  const sent = sentSoFar(request);
  if (sent !== null && request.sentBefore !== null) return sent - request.sentBefore;
  return Number(reply.getHeader('content-length') ?? 0);
}

function sentSoFar({ raw }: FastifyRequest): number | null {
  // A request that a test puts in by hand has no socket that counts.
  const sent = (raw.socket as { bytesWritten?: unknown } | null)?.bytesWritten;
  return typeof sent === 'number' ? sent : null;
}
