/**
 * Writer of responses in one socket write: status line, headers and body are in one buffer that is reused.
 *
 * For a tile of 11 kB, `writeHead` and `end` cost as much as everything else that Node does for the request: Node checks and
 * joins each header and writes a list of buffers. A new buffer for each body costs as much again, because half a gigabyte of
 * them per second keeps the garbage collector busy. So a tile is read into the buffer that is sent, the headers are put
 * before it, and this file writes to the socket and tells Node that the response is finished. The last part depends on
 * internals of Node's server (lib/_http_server.js, resOnFinish): routes/tile-adapters.test.ts tests it.
 */
import type { ServerResponse } from 'node:http';
import type { Allocate } from '@lamina/slide';

/** Node's own methods write larger bodies: their share in the cost is small there. */
const maxBodyBytes = 256 * 1024;
/** Space for the headers before the body. */
const headBytesReserved = 2048;
/** Maximum number of responses that wait for the end of the event loop turn; more would not fit into the CPU cache. */
const maxPending = 32;
/** Number of reused buffers. More are in use at a time only when many clients are slow. */
const maxPooled = maxPending;
const nothing = new Uint8Array();
const nothingAround = { before: '', after: '' };

/** Memory of one response, owned by its request until it is released. */
export interface ResponseBuffer {
  /** Null until it is allocated. */
  memory: Buffer | null;
  /** May be called again, which releases the memory before. A body that is too large gets memory of its own. */
  readonly allocate: Allocate;
}

interface PendingResponse {
  readonly response: ServerResponse;
  readonly bytes: Uint8Array;
  readonly buffer: ResponseBuffer;
}

export interface ResponseWriter {
  acquireBuffer(): ResponseBuffer;
  /** Returns the memory of a buffer that is neither written nor read any longer. */
  releaseBuffer(buffer: ResponseBuffer): void;
  /**
   * Writes a 200 at the end of this turn of the event loop, and releases the buffer as soon as it is sent.
   *
   * @param variable header lines of this response, each with CRLF; Content-Length, Date and Connection are added
   * @param body copied into the buffer unless the buffer allocated it
   * @param around text before and after the body, ASCII
   * @returns false when Node's own methods have to write this response; nothing has been written or released then
   */
  write(
    response: ServerResponse,
    variable: string,
    body: Uint8Array,
    buffer: ResponseBuffer,
    around?: { readonly before: string; readonly after: string },
  ): boolean;
}

/**
 * One closure of more than 60 lines: all functions share the pool.
 *
 * @param fixed headers of every response: names and values by turns, ASCII
 */
export function createResponseWriter(fixed: readonly string[], keepAliveMs: number): ResponseWriter {
  const lines = ['HTTP/1.1 200 OK\r\n'];
  for (let i = 0; i < fixed.length; i += 2) lines.push(`${fixed[i]}: ${fixed[i + 1]}\r\n`);
  lines.push(`Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`);
  const start = Buffer.from(lines.join(''), 'latin1');
  const pooledBytes = headBytesReserved + maxBodyBytes;
  const pool: Buffer[] = Array.from({ length: maxPooled }, () => Buffer.allocUnsafeSlow(pooledBytes));
  let date = '';
  let dateSecond = 0;

  /** When the pool is empty, allocates only what is needed: there may be hundreds of slow clients. */
  const takeMemory = (bodyBytes: number): Buffer =>
    pool.pop() ?? Buffer.allocUnsafeSlow(headBytesReserved + bodyBytes);

  function acquireBuffer(): ResponseBuffer {
    const buffer: ResponseBuffer = {
      memory: null,
      allocate(byteCount) {
        releaseBuffer(buffer);
        if (byteCount > maxBodyBytes) return new Uint8Array(byteCount);
        buffer.memory = takeMemory(byteCount);
        return buffer.memory.subarray(headBytesReserved, headBytesReserved + byteCount);
      },
    };
    return buffer;
  }

  function releaseBuffer(buffer: ResponseBuffer): void {
    if (buffer.memory?.byteLength === pooledBytes && pool.length < maxPooled) pool.push(buffer.memory);
    buffer.memory = null;
  }

  function dateNow(): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== dateSecond) {
      dateSecond = second;
      date = new Date(second * 1000).toUTCString();
    }
    return date;
  }

  /**
   * Returns the buffer's memory with the body, which is copied unless the buffer allocated it. Null when there is no space
   * for what follows the body.
   */
  function memoryWith(body: Uint8Array, bytesAfter: number, buffer: ResponseBuffer): Buffer | null {
    if (buffer.memory?.buffer === body.buffer) {
      const end = body.byteOffset + body.byteLength + bytesAfter;
      return end <= buffer.memory.byteLength ? buffer.memory : null;
    }
    releaseBuffer(buffer);
    buffer.memory = takeMemory(body.byteLength + bytesAfter);
    buffer.memory.set(body, headBytesReserved);
    return buffer.memory;
  }

  let pending: PendingResponse[] = [];

  /** Single writes would wake the waiting clients one by one, which costs more than sending. */
  function sendSoon(response: PendingResponse): void {
    pending.push(response);
    if (pending.length === maxPending) sendPending();
    else if (pending.length === 1) setImmediate(sendPending);
  }

  function sendPending(): void {
    const responses = pending;
    pending = [];
    for (const response of responses) send(response);
  }

  function send({ response, bytes, buffer }: PendingResponse): void {
    const { socket } = response;
    if (socket === null || socket.destroyed) {
      releaseBuffer(buffer);
      return;
    }
    socket.write(bytes);
    response.finished = true;
    const done = () => {
      releaseBuffer(buffer);
      response.emit('finish');
    };
    // For a slow client, the socket still reads from this memory, and the response is not finished yet.
    if (socket.writableLength === 0) done();
    else socket.write(nothing, done);
  }

  return {
    acquireBuffer,
    releaseBuffer,

    write(response, variable, body, buffer, { before, after } = nothingAround) {
      const { socket } = response;
      // The socket is null while an earlier response to a pipelining client is being sent.
      const isForNode = socket === null || socket.writableLength > 0 || !response.shouldKeepAlive;
      const bodyBytes = before.length + body.byteLength + after.length;
      const rest = `${variable}Content-Length: ${bodyBytes}\r\nDate: ${dateNow()}\r\n\r\n${before}`;
      const headBytes = start.length + rest.length;
      if (isForNode || headBytes > headBytesReserved || bodyBytes > maxBodyBytes) return false;

      const memory = memoryWith(body, after.length, buffer);
      if (memory === null) return false;
      const bodyAt = body.buffer === memory.buffer ? body.byteOffset : headBytesReserved;
      const startAt = bodyAt - headBytes;
      memory.set(start, startAt);
      memory.write(rest, startAt + start.length, 'latin1');
      const end = bodyAt + body.byteLength;
      if (after !== '') memory.write(after, end, 'latin1');
      sendSoon({ response, bytes: memory.subarray(startAt, end + after.length), buffer });
      return true;
    },
  };
}
