/** Worker thread of hash-file.ts: posts the hash of one file. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { HashAnswer } from './hash-file.ts';

const bufferBytes = 1024 * 1024;

/** Hashes the file whose path is `workerData`, and flushes it to the disk. */
function computeHash(): HashAnswer {
  try {
    // Opened for writing too, because some systems flush only writable files.
    const file = fs.openSync(workerData as string, 'r+');
    try {
      const hash = createHash('sha256');
      const bytes = Buffer.alloc(bufferBytes);
      for (;;) {
        const count = fs.readSync(file, bytes);
        if (count === 0) break;
        hash.update(bytes.subarray(0, count));
      }
      fs.fsyncSync(file);
      return { sha256: hash.digest('hex') };
    } finally {
      fs.closeSync(file);
    }
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { message, code };
  }
}

parentPort?.postMessage(computeHash());
