/**
 * The program's log: one JSON object per line, on standard error.
 *
 * When the reader of the log is slow or stuck, or the disk of the log is full, lines are queued in memory up to a limit;
 * further lines are dropped and counted. Logging never blocks a request.
 */
import fs from 'node:fs';
import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';

export interface Log {
  readonly log: Logger;
  /** Number of dropped lines. */
  lostLines(): number;
}

interface LogOptions {
  readonly level: Config['logLevel'];
  readonly fd?: number; // default: standard error
  /** Maximum size of all queued lines. Default: 4 MiB. */
  readonly maxQueuedBytes?: number;
}

const standardError = 2;
const defaultMaxQueuedBytes = 4 * 1024 * 1024;
/** Maximum size of one write. The pipe to the program that reads a container's log usually has space for four such writes. */
const maxChunkBytes = 16 * 1024;
const retryDelayMs = 100;
/** Number of failed writes after which an exiting process drops the remaining lines. */
const maxFailuresAtExit = 5;

export function createLog(options: LogOptions): Log {
  const { level, fd = standardError, maxQueuedBytes = defaultMaxQueuedBytes } = options;
  // Accessing process.stderr makes Node set the pipe to non-blocking. Otherwise each stuck write would occupy one of the
  // few threads that read tiles from files, and delay the exit of the process.
  if (fd === standardError) void process.stderr;

  const queue: Buffer[] = [];
  let queuedBytes = 0;
  let lostCount = 0;
  let isWriting = false;

  /** Removes lines of at most 16 KiB in total from the queue and returns them; a longer line is returned alone. */
  function takeChunk(): Buffer {
    let bytes = 0;
    let count = 0;
    for (const line of queue) {
      if (count > 0 && bytes + line.byteLength > maxChunkBytes) break;
      bytes += line.byteLength;
      count++;
    }
    return Buffer.concat(queue.splice(0, count));
  }

  function writeNext(): void {
    const chunk = takeChunk();
    isWriting = true;
    fs.write(fd, chunk, (error, written) => {
      isWriting = false;
      const unwritten = error === null ? chunk.subarray(written) : chunk;
      queuedBytes -= chunk.byteLength - unwritten.byteLength;
      if (unwritten.byteLength > 0) queue.unshift(unwritten);
      if (error !== null) setTimeout(writeIfIdle, retryDelayMs).unref();
      else writeIfIdle();
    });
  }

  function writeIfIdle(): void {
    if (!isWriting && queue.length > 0) writeNext();
  }

  function write(text: string): void {
    const line = Buffer.from(text);
    if (queuedBytes + line.byteLength > maxQueuedBytes) {
      lostCount++;
      return;
    }
    const wasEmpty = queue.length === 0;
    queue.push(line);
    queuedBytes += line.byteLength;
    // If the queue was not empty, a write is running, or the timer of a failed write will retry it.
    if (wasEmpty) writeIfIdle();
  }

  process.once('exit', () => {
    for (let failures = 0; queue.length > 0 && failures < maxFailuresAtExit; ) {
      const chunk = takeChunk();
      try {
        const unwritten = chunk.subarray(fs.writeSync(fd, chunk));
        if (unwritten.byteLength > 0) queue.unshift(unwritten);
      } catch {
        queue.unshift(chunk);
        // Blocks the thread for the delay, because timers no longer run while the process exits.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryDelayMs);
        failures++;
      }
    }
  });

  return {
    log: pino(
      { level, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: fieldsOfError } },
      { write },
    ),
    lostLines: () => lostCount,
  };
}

/** Returns the fields of an error, except the URL of Node's error `Invalid URL`, which may contain an image session or another secret. */
function fieldsOfError(error: Error): object {
  const { input: _, ...fields } = pino.stdSerializers.err(error);
  return fields;
}
