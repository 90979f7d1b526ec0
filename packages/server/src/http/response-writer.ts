/**
 * A writer that sends each response with a single socket write: status line, headers and body are in one buffer, which is reused.
 *
 * For a tile of 11 kB, `writeHead` and `end` cost as much CPU time as everything else that Node does for the request:
 * Node checks and joins each header and writes a list of buffers. A new buffer for each body would cost the same CPU
 * time once more, because the garbage collector would have to free half a gigabyte per second. So a tile is read into
 * a reused buffer, the headers are put before the tile, and the writer sends the buffer to the socket. It then emits
 * `finish` on the response, with which Node's HTTP server continues. This step depends on internals of Node
 * (lib/_http_server.js, resOnFinish); routes/tile-adapters.test.ts tests it.
 */
import type { ServerResponse } from 'node:http';
import type { BufferAllocator } from '@lamina/slide';

/** Larger bodies are written with Node's own methods, whose cost is small compared to the body. */
const maxBodyBytes = 256 * 1024;
/** Bytes at the start of each buffer for status line and headers. They end directly before the body. */
const headBytesReserved = 2048;
/** Maximum number of responses that are sent together. With more, their buffers would not fit into the CPU cache. */
const maxPending = 32;
/** Number of reused buffers. More are in use at a time only when many clients are slow. */
const maxPooled = maxPending;
const noBytes = new Uint8Array();
/** The text before and after the body of a response without a multipart body. */
const noTextAround = { before: '', after: '' };

/** Memory for one response. It belongs to one request until `releaseBuffer` takes it back. */
export interface ResponseBuffer {
  /** Head and body of the response; null until memory is allocated, and after it has been released. */
  memory: Buffer | null;
  /**
   * Returns memory for the body, after the space for the headers; a further call releases the earlier memory first. A body of more
   * than 256 kB gets separate memory that is not reused.
   */
  readonly allocate: BufferAllocator;
}

interface PendingResponse {
  readonly response: ServerResponse;
  readonly bytes: Uint8Array;
  readonly buffer: ResponseBuffer;
}

export interface ResponseWriter {
  acquireBuffer(): ResponseBuffer;
  /** Returns the memory to the pool. The caller ensures that nothing reads or writes this memory any longer. */
  releaseBuffer(buffer: ResponseBuffer): void;
  /**
   * Writes a response with status 200 at the end of this turn of the event loop, and releases the buffer when it is sent.
   *
   * @param variableHeaders header lines of this response, each with CRLF at its end; Content-Length, Date and Connection are added
   * @param body copied into the buffer unless the buffer allocated it
   * @param around text before and after the body, ASCII
   * @returns false when the caller has to write the response with Node's own methods; the buffer is not released then
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
 * @param keepAliveMs sent in the header Keep-Alive
 */
export function createResponseWriter(fixedHeaders: readonly string[], keepAliveMs: number): ResponseWriter {
  const lines = ['HTTP/1.1 200 OK\r\n'];
  for (let i = 0; i < fixedHeaders.length; i += 2)
    lines.push(`${fixedHeaders[i]}: ${fixedHeaders[i + 1]}\r\n`);
  lines.push(`Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`);
  const fixedHead = Buffer.from(lines.join(''), 'latin1');
  const pooledBufferBytes = headBytesReserved + maxBodyBytes;
  const pool: Buffer[] = [];
  let pooledBufferCount = 0; // in the pool and in use
  let date = ''; // value of the header Date
  let dateSecond = 0; // its time, in seconds since the epoch

  /**
   * Takes memory from the pool, whose buffers are allocated on first use. When all buffers are in use, allocates memory of only the
   * needed size, because hundreds of clients may be slow.
   */
  function takeMemory(bodyBytes: number): Buffer {
    const reused = pool.pop();
    if (reused !== undefined) return reused;
    if (pooledBufferCount === maxPooled) return Buffer.allocUnsafeSlow(headBytesReserved + bodyBytes);
    pooledBufferCount++;
    return Buffer.allocUnsafeSlow(pooledBufferBytes);
  }

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
    // Memory of another size was allocated while the pool was empty, and is left to the garbage collector.
    if (buffer.memory?.byteLength === pooledBufferBytes && pool.length < maxPooled) pool.push(buffer.memory);
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
   * Returns the buffer's memory with the body, which is copied unless the buffer allocated it.
   *
   * @param bytesAfter length of the text after the body
   * @returns null when there is no space for this text
   */
  function memoryWith(body: Uint8Array, bytesAfter: number, buffer: ResponseBuffer): Buffer | null {
    if (buffer.memory?.buffer === body.buffer) {
      const contentEnd = body.byteOffset + body.byteLength + bytesAfter;
      return contentEnd <= buffer.memory.byteLength ? buffer.memory : null;
    }
    releaseBuffer(buffer);
    buffer.memory = takeMemory(body.byteLength + bytesAfter);
    buffer.memory.set(body, headBytesReserved);
    return buffer.memory;
  }

  let pending: PendingResponse[] = [];

  /** Sends the responses of one event loop turn together: waking each waiting client separately would cost more than sending. */
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
    response.finished = true; // Node's `end()` would set this, but it is not called
    const onSent = () => {
      releaseBuffer(buffer);
      response.emit('finish');
    };
    // With a slow client, bytes remain in the queue of the socket, which refers to this memory. The callback of an empty write runs
    // when these bytes have been sent.
    if (socket.writableLength === 0) onSent();
    else socket.write(noBytes, onSent);
  }

  return {
    acquireBuffer,
    releaseBuffer,

    write(response, variableHeaders, body, buffer, { before, after } = noTextAround) {
      const { socket } = response;
      // The socket is null while an earlier response to a client that pipelines requests is being sent. Its queue contains bytes if
      // the client is slow. A response that closes the connection needs another header than the fixed `Connection: keep-alive`.
      const needsNode = socket === null || socket.writableLength > 0 || !response.shouldKeepAlive;
      const bodyBytes = before.length + body.byteLength + after.length; // `before` and `after` are ASCII
      const variableHead = `${variableHeaders}Content-Length: ${bodyBytes}\r\nDate: ${dateNow()}\r\n\r\n${before}`;
      const headBytes = fixedHead.length + variableHead.length;
      if (needsNode || headBytes > headBytesReserved || bodyBytes > maxBodyBytes) return false;

      const memory = memoryWith(body, after.length, buffer);
      if (memory === null) return false;
      // `byteOffset` counts from the start of `memory`, which owns its whole ArrayBuffer (allocUnsafeSlow).
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
