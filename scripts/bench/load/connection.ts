/** A keep-alive HTTP connection for load tests. Node's HTTP client would use more CPU time than the measured servers. */
import { connect, type Socket } from 'node:net';

/** The last bytes of a chunked response, which has no Content-Length. Source: RFC 9112 section 7.1. */
const lastChunk = Buffer.from('0\r\n\r\n');
const empty: Buffer = Buffer.alloc(0);
/**
 * The read buffer of all connections; received bytes are parsed before the next ones are read. With new buffers, pauses of the client
 * for garbage collection would be measured as slow responses.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

export interface Connection {
  /** Sends a request (the result of `requestOf`). The response to the previous request must have arrived. */
  send(request: Buffer): void;
  close(): void;
}

export interface ConnectionOptions {
  /** TCP port on the loopback interface. */
  readonly port: number;
  /**
   * Called for each request with the status of the response, the number of bytes of its body (of a chunked body with the chunk
   * headers), and the milliseconds since the request. Status 0: the connection ended before the response was complete.
   */
  readonly onResponse: (status: number, bytes: number, ms: number) => void;
  /** Reading speed that simulates a slow network; null for no limit. */
  readonly bytesPerSecond?: number | null;
}

/** Creates a connection. It connects with the first request, and again after the server has closed the connection. */
export function openConnection({ port, onResponse, bytesPerSecond = null }: ConnectionOptions): Connection {
  let socket: Socket | null = null;
  let sentAt = 0;
  /** Whether a response is outstanding. */
  let isWaiting = false;
  /** The beginning of an incomplete response head. */
  let partialHead: Buffer | null = null;
  let status = 0;
  /** Length of the body: -1 before the head is complete, infinite for a chunked body. */
  let bodyLength = 0;
  /** Received bytes of the body. */
  let received = 0;
  /** Whether the response has announced that the server closes the connection after it. */
  let isClosing = false;
  /** The last received bytes of a chunked body. */
  let tail = empty;

  function openSocketToServer(): Socket {
    const newSocket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: readBuffer,
        /** @returns false to pause reading */
        callback: (count) => {
          parseResponse(readBuffer.subarray(0, count));
          if (bytesPerSecond === null) return true;
          setTimeout(() => newSocket.resume(), (count / bytesPerSecond) * 1000);
          return false;
        },
      },
    });
    newSocket.on('error', () => {}); // the event 'close' follows
    newSocket.on('close', () => {
      if (socket !== newSocket) return; // `close` has ended this socket
      socket = null;
      if (isWaiting) finishResponse(0);
    });
    return newSocket;
  }

  function parseResponse(bytes: Buffer): void {
    let body = bytes;
    if (bodyLength < 0) {
      if (partialHead !== null) body = Buffer.concat([partialHead, bytes]);
      const end = body.indexOf('\r\n\r\n');
      if (end < 0) {
        partialHead = Buffer.from(body);
        return;
      }
      const head = body.toString('latin1', 0, end + 2);
      status = Number(head.slice(9, 12)); // after "HTTP/1.1 "
      const declaredLength = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      // A response without Content-Length is chunked, except one with status 304, which has no body.
      const lengthWithoutHeader = status === 304 ? 0 : Number.POSITIVE_INFINITY;
      bodyLength = declaredLength === undefined ? lengthWithoutHeader : Number(declaredLength);
      isClosing = /\r\nconnection: *close/i.test(head);
      body = body.subarray(end + 4);
    }
    received += body.length;
    if (bodyLength === Number.POSITIVE_INFINITY)
      tail = Buffer.concat([tail, body.subarray(-lastChunk.length)]);
    if (received >= bodyLength || tail.subarray(-lastChunk.length).equals(lastChunk)) finishResponse(status);
  }

  function finishResponse(finalStatus: number): void {
    isWaiting = false;
    if (isClosing) close();
    onResponse(finalStatus, received, performance.now() - sentAt);
  }

  function close(): void {
    const openSocket = socket;
    socket = null;
    openSocket?.destroy();
  }

  return {
    send(request) {
      partialHead = null;
      status = 0;
      bodyLength = -1;
      received = 0;
      isClosing = false;
      tail = empty;
      isWaiting = true;
      sentAt = performance.now();
      socket ??= openSocketToServer();
      socket.write(request);
    },
    close,
  };
}

/** Returns the bytes of a GET request. */
export function requestOf(path: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const allHeaders = { Host: '127.0.0.1', Connection: 'keep-alive', ...headers };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/** Sends one GET request on a new connection. @returns milliseconds until the complete response; null unless its status is 200 */
export function measureResponseTime(port: number, path: string): Promise<number | null> {
  return new Promise((resolve) => {
    const connection = openConnection({
      port,
      onResponse: (status, _, ms) => {
        connection.close();
        resolve(status === 200 ? ms : null);
      },
    });
    connection.send(requestOf(path));
  });
}
