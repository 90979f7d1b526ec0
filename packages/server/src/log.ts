/**
 * The program's log: one JSON object a line, to the standard error output.
 *
 * Whoever reads it may be slow, stuck or gone, and the disk behind it full: then lines wait, up to a limit, further ones
 * are lost and counted, and no request ever notices.
 */
import fs from 'node:fs';
import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';

export interface Log {
  readonly log: Logger;
  /** Lines that nobody will ever read. */
  lostLines(): number;
}

interface Plan {
  readonly level: Config['logLevel'];
  readonly fd?: number;
  /** Lines that wait take this much at most. */
  readonly mostWaitingBytes?: number;
}

const standardError = 2;
const usualWaitingBytes = 4 * 1024 * 1024;
/** Written at once; the pipe to a container's log reader holds four times as much. */
const mostPieceBytes = 16 * 1024;
const tryAgainMs = 100;
/** What still waits when the process ends gets so many tries. */
const lastTries = 5;

export function createLog({ level, fd = standardError, mostWaitingBytes = usualWaitingBytes }: Plan): Log {
  // Node opens a pipe so that a write to it returns at once, also when nobody reads: else each write that is stuck would
  // take one of the few threads that read tiles from files, and hold up the end of the process.
  if (fd === standardError) void process.stderr;

  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let isWriting = false;

  function nextPiece(): Buffer {
    let bytes = 0;
    let count = 0;
    for (const line of waiting) {
      if (count > 0 && bytes + line.byteLength > mostPieceBytes) break;
      bytes += line.byteLength;
      count++;
    }
    return Buffer.concat(waiting.splice(0, count));
  }

  function writeNext(): void {
    const piece = nextPiece();
    isWriting = true;
    fs.write(fd, piece, (error, written) => {
      isWriting = false;
      const rest = error === null ? piece.subarray(written) : piece;
      waitingBytes -= piece.byteLength - rest.byteLength;
      if (rest.byteLength > 0) waiting.unshift(rest);
      if (error !== null) setTimeout(writeIfIdle, tryAgainMs).unref();
      else writeIfIdle();
    });
  }

  function writeIfIdle(): void {
    if (!isWriting && waiting.length > 0) writeNext();
  }

  function write(text: string): void {
    const line = Buffer.from(text);
    if (waitingBytes + line.byteLength > mostWaitingBytes) {
      lost++;
      return;
    }
    const wasIdle = waiting.length === 0;
    waiting.push(line);
    waitingBytes += line.byteLength;
    // What could not be written before is tried again by itself.
    if (wasIdle) writeIfIdle();
  }

  process.once('exit', () => {
    for (let tries = 0; waiting.length > 0 && tries < lastTries; ) {
      const piece = nextPiece();
      try {
        const rest = piece.subarray(fs.writeSync(fd, piece));
        if (rest.byteLength > 0) waiting.unshift(rest);
      } catch {
        waiting.unshift(piece);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, tryAgainMs);
        tries++;
      }
    }
  });

  return {
    log: pino({ level, timestamp: pino.stdTimeFunctions.isoTime }, { write }),
    lostLines: () => lost,
  };
}
