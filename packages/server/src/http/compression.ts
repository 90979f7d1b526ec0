/** Settings for the compression of lists and of the web app. Pixels are already compressed. */
import { constants } from 'node:zlib';
import type { FastifyCompressOptions } from '@fastify/compress';

export const compression: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  /** Bytes; smaller responses are not compressed. */
  threshold: 1024,
  // The highest quality (11) takes a second for a script of the web app.
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
};

/**
 * Settings for long responses that are created while they are sent. Quality 1 is used because compressing 10,000 annotations with
 * quality 4 takes longer than reading them, although it saves a third of the bytes. Each part is flushed at once, so the client
 * can start before the last part exists.
 */
export const streamCompression: FastifyCompressOptions = {
  ...compression,
  brotliOptions: {
    flush: constants.BROTLI_OPERATION_FLUSH,
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
  },
  zlibOptions: { flush: constants.Z_SYNC_FLUSH, level: 1 },
};
