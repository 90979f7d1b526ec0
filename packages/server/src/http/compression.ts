/** Settings for the compression of lists and of the web app. Pixels are already compressed. */
import { constants } from 'node:zlib';
import type { FastifyCompressOptions } from '@fastify/compress';

export const compression: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  /** Bytes; smaller responses are not compressed. */
  threshold: 1024,
  // The quality is from 0 to 11. With 11, compressing a script of the web app would take a second.
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
};

/**
 * Settings for long responses that are created while they are sent. They use quality 1: quality 4 would save a third of the bytes, but
 * compressing 10,000 annotations would take longer than reading them. Each part is flushed at once, so that the client can process
 * it before the last part exists.
 */
export const streamCompression: FastifyCompressOptions = {
  ...compression,
  brotliOptions: {
    flush: constants.BROTLI_OPERATION_FLUSH,
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
  },
  zlibOptions: { flush: constants.Z_SYNC_FLUSH, level: 1 },
};
