/**
 * The program's log: one JSON object per line, on standard error.
 *
 * When the reader is slow or stuck, or its disk is full, lines queue in memory up to a limit; further lines are dropped
 * and counted. Logging never blocks a request.
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
  readonly fd?: number;
  /** Limit of queued lines. */
  readonly maxQueuedBytes?: number;
}

const standardError = 2;
const defaultMaxQueuedBytes = 4 * 1024 * 1024;
/** Largest single write; the pipe to a container's log reader holds four times as much. */
const maxChunkBytes = 16 * 1024;
const retryDelayMs = 100;
/** Attempts to write the queued lines when the process exits. */
const exitAttempts = 5;

export function createLog(options: LogOptions): Log {
  const { level, fd = standardError, maxQueuedBytes = defaultMaxQueuedBytes } = options;
  // Reading process.stderr makes Node set the pipe to non-blocking. Otherwise each stuck write would occupy one of the few
  // threads that read tiles from files, and delay the exit of the process.
  if (fd === standardError) void process.stderr;

  const queue: Buffer[] = [];
  let queuedBytes = 0;
  let lost = 0;
  let isWriting = false;

  function nextChunk(): Buffer {
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
    const chunk = nextChunk();
    isWriting = true;
    fs.write(fd, chunk, (error, written) => {
      isWriting = false;
      const rest = error === null ? chunk.subarray(written) : chunk;
      queuedBytes -= chunk.byteLength - rest.byteLength;
      if (rest.byteLength > 0) queue.unshift(rest);
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
      lost++;
      return;
    }
    const wasIdle = queue.length === 0;
    queue.push(line);
    queuedBytes += line.byteLength;
    // A failed write is retried by its timer.
    if (wasIdle) writeIfIdle();
  }

  process.once('exit', () => {
    for (let attempts = 0; queue.length > 0 && attempts < exitAttempts; ) {
      const chunk = nextChunk();
      try {
        const rest = chunk.subarray(fs.writeSync(fd, chunk));
        if (rest.byteLength > 0) queue.unshift(rest);
      } catch {
        queue.unshift(chunk);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryDelayMs);
        attempts++;
      }
    }
  });

  return {
    log: pino({ level, timestamp: pino.stdTimeFunctions.isoTime }, { write }),
    lostLines: () => lost,
  };
}
