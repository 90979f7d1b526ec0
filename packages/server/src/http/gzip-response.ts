/** Sends content that is stored as gzip: unchanged to clients that accept gzip, decompressed to others. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';

const gunzipBytes = promisify(gunzip);

/**
 * Returns the gzip bytes if the client accepts them, otherwise the decompressed bytes, with the ETag of the returned bytes. Sets
 * the headers of the encoding.
 *
 * @param gzip compressed bytes of the response
 * @param etag strong ETag of the decompressed bytes; the ETag of the gzip bytes differs (RFC 9110 section 8.8.3.3)
 */
export async function chooseEncoding(
  reply: FastifyReply,
  { gzip, etag }: { readonly gzip: Uint8Array; readonly etag: string },
): Promise<{ readonly bytes: Uint8Array; readonly etag: string }> {
  reply.header('Vary', 'Accept-Encoding');
  // Matches `gzip` and `gzip;q=0.5`, but not `gzip;q=0`, which means "not acceptable" (RFC 9110 section 12.4.2).
  const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(
    reply.request.headers['accept-encoding']?.toString() ?? '',
  );
  if (!acceptsGzip) return { bytes: await gunzipBytes(gzip), etag };
  reply.header('Content-Encoding', 'gzip');
  return { bytes: gzip, etag: `${etag.slice(0, -1)}-gzip"` }; // the suffix precedes the closing quote of the ETag
}
