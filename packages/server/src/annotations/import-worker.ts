/** The worker thread of annotation-files.ts: decompresses, parses and validates a file. */
import { parentPort, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { importAnnotations } from '@lamina/annotations';
import { maxAnnotationFileBytes } from '@lamina/contract';
import type { ImportAnswer, ImportTask } from './annotation-files.ts';
import { storable } from './parse-feature.ts';

function answer({ file, options }: ImportTask): ImportAnswer {
  let bytes = file;
  if (file[0] === 0x1f && file[1] === 0x8b) {
    try {
      bytes = gunzipSync(file, { maxOutputLength: maxAnnotationFileBytes });
    } catch (error) {
      const isLarge = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
      return { ok: false, error: isLarge ? 'too_large' : 'not_gzip' };
    }
  }
  const result = importAnnotations(bytes, options);
  return result.ok ? { ...result, features: result.features.map(storable) } : result;
}

parentPort?.postMessage(answer(workerData as ImportTask));
