/** Sends responses that consist of bytes: Deep Zoom descriptors, thumbnails, tiles, downloads. */
import { Readable } from 'node:stream';
import type { Endpoint } from '@lamina/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag } from '../domain/if-none-match.ts';

/** Security headers of responses with pixels. They are constant because helmet's headers cost as much CPU time as sending a tile. */
export const pixelHeaders = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** Returns whether the endpoint sends pixels. Viewers call such endpoints often, so their responses get `pixelHeaders`. */
export function sendsPixels({ access, isTile }: Endpoint): boolean {
  return access === 'image-session' || isTile === true;
}

export interface Bytes {
  /** Null: the client has sent the ETag of the bytes, so it has them already. The response is then 304. */
  readonly bytes: Uint8Array | string | null;
  /** Content type. */
  readonly type: string;
  /** A strong ETag, with its quotes: two responses of one URL with equal ETags have equal bytes. */
  readonly etag: string;
  readonly cacheControl: string;
}

/** A response that is sent as a stream: a file that the browser saves (it may be larger than the memory), or an event stream. */
export interface Download {
  readonly stream: Readable;
  /** Content type. */
  readonly type: string;
  /** ASCII, without quotes. Null for an event stream, which the browser does not save. */
  readonly fileName: string | null;
}

export function sendDownload(reply: FastifyReply, { stream, type, fileName }: Download) {
  if (fileName !== null) reply.header('Content-Disposition', `attachment; filename="${fileName}"`);
  return reply.header('Cache-Control', 'no-store').type(type).send(stream);
}

export function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, type, etag, cacheControl }: Bytes,
) {
  reply.header('ETag', etag).header('Cache-Control', cacheControl);
  if (bytes === null || matchesEtag(etag, request.headers['if-none-match'])) {
    return sendUnchanged(request, reply);
  }
  return reply.type(type).send(bytes);
}

/** Sends the status 304. */
export function sendUnchanged(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // An empty stream instead of no body, because Fastify would add `Content-Length: 0` to the response to HEAD. RFC 9110 section 8.6
  // allows only the length that the response with status 200 would have.
  return reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined);
}
