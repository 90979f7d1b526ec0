/** A kept connection that asks for one thing after the other. A client of its own, since Node's costs more than the servers it measures. */
import { connect } from 'node:net';

/** Ends an answer that does not say its length. Source: RFC 9112 section 7.1. */
const lastChunk = Buffer.from('0\r\n\r\n');
const nothing = Buffer.alloc(0);
/** What is read is looked at before anything else is, so that all connections share it: memory for each piece would have a client pause to collect it, and be measured as a slow server. */
const room = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * @param port on loopback
 * @param onAnswer told status (0 when the connection ended before it), bytes of the body, and milliseconds
 * @param bytesPerSecond reads no faster than this, as over a slow line; null as fast as it comes
 */
export function openConnection({ port, onAnswer, bytesPerSecond = null }) {
  let socket = null;
  let asked = 0;
  let isWaiting = false;
  let head = null;
  let status = 0;
  let length = 0;
  let received = 0;
  let isClosing = false;
  let tail = nothing;

  function dial() {
    const fresh = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: room,
        /** @returns false to read no further for now */
        callback: (count, buffer) => {
          read(buffer.subarray(0, count));
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

  function read(bytes) {
    let body = bytes;
    if (length < 0) {
      if (head !== null) body = Buffer.concat([head, bytes]);
      const end = body.indexOf('\r\n\r\n');
      if (end < 0) {
        head = Buffer.from(body);
        return;
      }
      const text = body.latin1Slice(0, end + 2);
      status = Number(text.slice(9, 12));
      const told = /\r\ncontent-length: *(\d+)/i.exec(text);
      length = told ? Number(told[1]) : status === 304 ? 0 : Number.POSITIVE_INFINITY;
      isClosing = /\r\nconnection: *close/i.test(text);
      body = body.subarray(end + 4);
    }
    received += body.length;
    if (length === Number.POSITIVE_INFINITY) tail = Buffer.concat([tail, body.subarray(-lastChunk.length)]);
    if (received >= length || tail.subarray(-lastChunk.length).equals(lastChunk)) settle(status);
  }

  function settle(answered) {
    isWaiting = false;
    if (isClosing) hangUp();
    onAnswer(answered, received, performance.now() - asked);
  }

  function hangUp() {
    const old = socket;
    socket = null;
    old?.destroy();
  }

  return {
    /** @param request bytes of a whole GET request, by `requestOf` */
    ask(request) {
      head = null;
      status = 0;
      length = -1;
      received = 0;
      isClosing = false;
      tail = nothing;
      isWaiting = true;
      asked = performance.now();
      socket ??= dial();
      socket.write(request);
    },
    close: hangUp,
  };
}

export function requestOf(path) {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n`);
}

/** One request on a connection of its own. @returns milliseconds until the whole answer is there; null unless it is a good one */
export function timeOf(port, path) {
  return new Promise((resolve) => {
    const connection = openConnection({
      port,
      onAnswer: (status, _, ms) => {
        connection.close();
        resolve(status === 200 ? ms : null);
      },
    });
    connection.ask(requestOf(path));
  });
}
