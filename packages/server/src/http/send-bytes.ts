/** Answers with bytes: a descriptor, a thumbnail, a tile. */
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What protects pixels in the browser. Fixed, because working all headers out anew costs as much as a tile. */
export const pixelHeaders = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** A browser keeps pixels as long as it may ask for them, an hour at most. */
export const mostSecondsKept = 3600;

export interface Bytes {
  readonly bytes: Uint8Array | string;
  /** Content type. */
  readonly type: string;
  /** Strong, quotes included; the same address answers with the same tag only for the same bytes. */
  readonly etag: string;
  /** How long the browser, and nobody else, may keep it. */
  readonly maxAgeSeconds: number;
}

/** A file to be kept, which may be larger than memory. */
export interface Download {
  readonly stream: Readable;
  /** Content type. */
  readonly type: string;
  /** ASCII, without quotes. */
  readonly fileName: string;
}

export function sendDownload(reply: FastifyReply, { stream, type, fileName }: Download) {
  return reply
    .header('Cache-Control', 'no-store')
    .header('Content-Disposition', `attachment; filename="${fileName}"`)
    .type(type)
    .send(stream);
}

export function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, type, etag, maxAgeSeconds }: Bytes,
) {
  reply.header('ETag', etag).header('Cache-Control', `private, max-age=${maxAgeSeconds}`);
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type(type).send(bytes);
}
