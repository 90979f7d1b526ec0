/** The worker thread that annotation-files.ts starts for each file: decompresses, parses and validates it. */
import { parentPort, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { importAnnotations } from '@lamina/annotations';
import { maxAnnotationFileBytes } from '@lamina/contract';
import type { ImportTask, ImportTaskResult } from './annotation-files.ts';
import { toStorable } from './parse-feature.ts';

function importFile({ file, options }: ImportTask): ImportTaskResult {
  let bytes = file;
  const isGzip = file[0] === 0x1f && file[1] === 0x8b; // the bytes ID1 and ID2 (RFC 1952, section 2.3.1)
  if (isGzip) {
    try {
      bytes = gunzipSync(file, { maxOutputLength: maxAnnotationFileBytes });
    } catch (error) {
      const isTooLarge = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
      return { ok: false, error: isTooLarge ? 'too_large' : 'not_gzip' };
    }
  }
  const result = importAnnotations(bytes, options);
  return result.ok ? { ...result, features: result.features.map(toStorable) } : result;
}

parentPort?.postMessage(importFile(workerData as ImportTask));
