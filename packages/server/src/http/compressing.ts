/** How answers are compressed where that is worth it: lists and the web app, never pixels. */
import { constants } from 'node:zlib';
import type { FastifyCompressOptions } from '@fastify/compress';

export const compressing: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  /** Bytes; below this the saving is not worth the work. */
  threshold: 1024,
  // The highest quality takes a second for a script.
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
};
