/**
 * Writes a response with a single socket write: status line, headers and body are in one buffer, which is reused.
 *
 * For a tile of 11 kB, `writeHead` and `end` cost as much as everything else that Node does for the request: Node checks and
 * joins each header and writes a list of buffers. A new buffer for each body costs as much again, because half a gigabyte of
 * them per second keeps the garbage collector busy. So a tile is read into the buffer that is sent, the headers are put
 * before it, and this file writes to the socket and tells Node that the response is finished. The last part depends on
 * internals of Node's server (lib/_http_server.js, resOnFinish): routes/tile-adapters.test.ts tests it.
 */
import type { ServerResponse } from 'node:http';
import type { Allocate } from '@lamina/slide';

/** Larger bodies are written with Node's own methods, whose cost is small compared to the body. */
const maxBodyBytes = 256 * 1024;
/** Space for the headers before the body. */
const headBytesReserved = 2048;
/** Maximum number of responses that wait for the end of the event loop turn; more would not fit into the CPU cache. */
const maxPending = 32;
/** Number of reused buffers. More are in use at a time only when many clients are slow. */
const maxPooled = maxPending;
const noBytes = new Uint8Array();
const noTextAround = { before: '', after: '' };

/** Memory of one response, owned by its request until it is released. */
export interface ResponseBuffer {
  /** Null until it is allocated. */
  memory: Buffer | null;
  /** Allocates memory for the body; a further call first releases the memory. A body that is too large gets new memory. */
  readonly allocate: Allocate;
}

interface PendingResponse {
  readonly response: ServerResponse;
  readonly bytes: Uint8Array;
  readonly buffer: ResponseBuffer;
}

export interface ResponseWriter {
  acquireBuffer(): ResponseBuffer;
  /** Returns the memory of a buffer to the pool when nothing writes or reads it any longer. */
  releaseBuffer(buffer: ResponseBuffer): void;
  /**
   * Writes a response with status 200 at the end of this turn of the event loop, and releases the buffer as soon as it is sent.
   *
   * @param variableHeaders header lines of this response, each with CRLF; Content-Length, Date and Connection are added
   * @param body copied into the buffer unless the buffer allocated it
   * @param around text before and after the body, ASCII
   * @returns false when Node's own methods have to write this response; nothing has been written or released then
   */
  write(
    response: ServerResponse,
    variableHeaders: string,
    body: Uint8Array,
    buffer: ResponseBuffer,
    around?: { readonly before: string; readonly after: string },
  ): boolean;
}

/**
 * The function is long because all functions inside share the pool.
 *
 * @param fixedHeaders headers of every response: alternating names and values, ASCII
 */
export function createResponseWriter(fixedHeaders: readonly string[], keepAliveMs: number): ResponseWriter {
  const lines = ['HTTP/1.1 200 OK\r\n'];
  for (let i = 0; i < fixedHeaders.length; i += 2)
    lines.push(`${fixedHeaders[i]}: ${fixedHeaders[i + 1]}\r\n`);
  lines.push(`Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`);
  const fixedHead = Buffer.from(lines.join(''), 'latin1');
  const pooledBytes = headBytesReserved + maxBodyBytes;
  const pool: Buffer[] = Array.from({ length: maxPooled }, () => Buffer.allocUnsafeSlow(pooledBytes));
  let date = '';
  let dateSecond = 0;

  /** Takes memory from the pool. If it is empty, allocates only the needed size, because there may be hundreds of slow clients. */
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
   * for the text after the body.
   */
  function memoryWith(body: Uint8Array, bytesAfter: number, buffer: ResponseBuffer): Buffer | null {
    if (buffer.memory?.buffer === body.buffer) {
      const bodyEnd = body.byteOffset + body.byteLength + bytesAfter;
      return bodyEnd <= buffer.memory.byteLength ? buffer.memory : null;
    }
    releaseBuffer(buffer);
    buffer.memory = takeMemory(body.byteLength + bytesAfter);
    buffer.memory.set(body, headBytesReserved);
    return buffer.memory;
  }

  let pending: PendingResponse[] = [];

  /** Sends responses in groups, because waking the waiting clients one by one would cost more than sending. */
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
    else socket.write(noBytes, done);
  }

  return {
    acquireBuffer,
    releaseBuffer,

    write(response, variableHeaders, body, buffer, { before, after } = noTextAround) {
      const { socket } = response;
      // The socket is null while an earlier response to a pipelining client is being sent.
      const needsNode = socket === null || socket.writableLength > 0 || !response.shouldKeepAlive;
      const bodyBytes = before.length + body.byteLength + after.length;
      const variableHead = `${variableHeaders}Content-Length: ${bodyBytes}\r\nDate: ${dateNow()}\r\n\r\n${before}`;
      const headBytes = fixedHead.length + variableHead.length;
      if (needsNode || headBytes > headBytesReserved || bodyBytes > maxBodyBytes) return false;

      const memory = memoryWith(body, after.length, buffer);
      if (memory === null) return false;
      const bodyOffset = body.buffer === memory.buffer ? body.byteOffset : headBytesReserved;
      const headOffset = bodyOffset - headBytes;
      memory.set(fixedHead, headOffset);
      memory.write(variableHead, headOffset + fixedHead.length, 'latin1');
      const bodyEnd = bodyOffset + body.byteLength;
      if (after !== '') memory.write(after, bodyEnd, 'latin1');
      sendSoon({ response, bytes: memory.subarray(headOffset, bodyEnd + after.length), buffer });
      return true;
    },
  };
}
