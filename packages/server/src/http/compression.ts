/** Compression of lists and of the web app. Pixels are not compressed again. */
import { constants } from 'node:zlib';
import type { FastifyCompressOptions } from '@fastify/compress';

export const compression: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  /** Bytes; smaller responses are not compressed. */
  threshold: 1024,
  // The highest quality takes a second for a script of the web app.
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
};

/**
 * For long responses that are made while they are sent. Quality 4 takes longer than reading 10,000 annotations, for two thirds
 * of the bytes. Each part goes out at once, so the reader begins before the last part is made.
 */
export const streamCompression: FastifyCompressOptions = {
  ...compression,
  brotliOptions: {
    flush: constants.BROTLI_OPERATION_FLUSH,
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
  },
  zlibOptions: { flush: constants.Z_SYNC_FLUSH, level: 1 },
};
