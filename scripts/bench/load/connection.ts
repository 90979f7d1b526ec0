/** A keep-alive HTTP connection for load tests. Node's own client would take more CPU time than the servers it measures. */
import { connect, type Socket } from 'node:net';

/** Ends a response without Content-Length. Source: RFC 9112 section 7.1. */
const lastChunk = Buffer.from('0\r\n\r\n');
const empty: Buffer = Buffer.alloc(0);
/**
 * Read buffer of all connections: each piece is parsed before the next is read. A buffer for each piece would cause
 * garbage-collection pauses of the client, which would be measured as a slow server.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

export interface Connection {
  /** Sends a request; the response to the last one must have arrived. `request` is the result of `requestOf`. */
  send(request: Buffer): void;
  close(): void;
}

export interface ConnectionOptions {
  /** On loopback. */
  readonly port: number;
  /** Called for each response: status (0 when the connection ended before it), bytes of the body, milliseconds. */
  readonly onResponse: (status: number, bytes: number, ms: number) => void;
  /** Simulates a slow network; null reads without a limit. */
  readonly bytesPerSecond?: number | null;
}

/** Connects when the first request is sent, and again when the server has closed the connection. */
export function openConnection({ port, onResponse, bytesPerSecond = null }: ConnectionOptions): Connection {
  let socket: Socket | null = null;
  let sentAt = 0;
  let isWaiting = false;
  let head: Buffer | null = null;
  let status = 0;
  let length = 0;
  let received = 0;
  let isClosing = false;
  let tail = empty;

  function dial(): Socket {
    const fresh = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: readBuffer,
        /** @returns false to pause reading */
        callback: (count) => {
          read(readBuffer.subarray(0, count));
          if (bytesPerSecond === null) return true;
          setTimeout(() => fresh.resume(), (count / bytesPerSecond) * 1000);
          return false;
        },
      },
    });
    fresh.on('error', () => {}); // 'close' follows
    fresh.on('close', () => {
      if (socket !== fresh) return;
      socket = null;
      if (isWaiting) settle(0);
    });
    return fresh;
  }

  function read(bytes: Buffer): void {
    let body = bytes;
    if (length < 0) {
      if (head !== null) body = Buffer.concat([head, bytes]);
      const end = body.indexOf('\r\n\r\n');
      if (end < 0) {
        head = Buffer.from(body);
        return;
      }
      const text = body.toString('latin1', 0, end + 2);
      status = Number(text.slice(9, 12));
      const declared = /\r\ncontent-length: *(\d+)/i.exec(text);
      length = declared ? Number(declared[1]) : status === 304 ? 0 : Number.POSITIVE_INFINITY;
      isClosing = /\r\nconnection: *close/i.test(text);
      body = body.subarray(end + 4);
    }
    received += body.length;
    if (length === Number.POSITIVE_INFINITY) tail = Buffer.concat([tail, body.subarray(-lastChunk.length)]);
    if (received >= length || tail.subarray(-lastChunk.length).equals(lastChunk)) settle(status);
  }

  function settle(finalStatus: number): void {
    isWaiting = false;
    if (isClosing) close();
    onResponse(finalStatus, received, performance.now() - sentAt);
  }

  function close(): void {
    const old = socket;
    socket = null;
    old?.destroy();
  }

  return {
    send(request) {
      head = null;
      status = 0;
      length = -1;
      received = 0;
      isClosing = false;
      tail = empty;
      isWaiting = true;
      sentAt = performance.now();
      socket ??= dial();
      socket.write(request);
    },
    close,
  };
}

/** Returns the bytes of a GET request. */
export function requestOf(path: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const all = { Host: '127.0.0.1', Connection: 'keep-alive', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/** Sends one request on a new connection. @returns milliseconds until the complete response; null unless its status is 200 */
export function timeOf(port: number, path: string): Promise<number | null> {
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
