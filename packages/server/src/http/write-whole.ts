/**
 * An answer in one write: status line, headers and body in one buffer that is used again and again.
 *
 * For a tile of 11 kB, `writeHead` and `end` cost as much as everything else that Node does for the request: each
 * header is checked and put together, the body gets memory of its own, and both go out as a list. This file writes to
 * the socket itself instead, and tells Node that the response is finished. That last part leans on how Node's server
 * works inside (lib/_http_server.js, resOnFinish): tile-lane.test.ts holds it.
 */
import type { ServerResponse } from 'node:http';

/** Larger bodies go the usual way: for them the share of the headers is small. */
const bufferBytes = 256 * 1024;
const nothing = new Uint8Array();

export interface WholeWriter {
  /**
   * Answers 200.
   *
   * @param variable header lines that differ from answer to answer, each with its line end; content length, date and
   *   connection are added
   * @returns false when this response has to go the usual way; nothing has been written then
   */
  write(response: ServerResponse, variable: string, body: Uint8Array): boolean;
}

/** @param fixed header lines that are the same in every answer: names and values, one after the other, ASCII */
export function createWholeWriter(fixed: readonly string[], keepAliveMs: number): WholeWriter {
  const lines = ['HTTP/1.1 200 OK\r\n'];
  for (let i = 0; i < fixed.length; i += 2) lines.push(`${fixed[i]}: ${fixed[i + 1]}\r\n`);
  lines.push(`Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`);
  const start = Buffer.from(lines.join(''), 'latin1');
  let buffer = newBuffer();
  let date = '';
  let dateSecond = 0;

  function newBuffer(): Buffer {
    const made = Buffer.allocUnsafeSlow(bufferBytes);
    start.copy(made);
    return made;
  }

  function dateNow(): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== dateSecond) {
      dateSecond = second;
      date = new Date(second * 1000).toUTCString();
    }
    return date;
  }

  return {
    write(response, variable, body) {
      const { socket } = response;
      // Null while an earlier answer of a pipelining client is still on its way.
      const isUsual = socket === null || socket.writableLength > 0 || !response.shouldKeepAlive;
      const rest = `${variable}Content-Length: ${body.byteLength}\r\nDate: ${dateNow()}\r\n\r\n`;
      const headBytes = start.length + rest.length;
      if (isUsual || headBytes + body.byteLength > bufferBytes) return false;

      buffer.write(rest, start.length, 'latin1');
      buffer.set(body, headBytes);
      socket.write(buffer.subarray(0, headBytes + body.byteLength));
      response.finished = true;
      if (socket.writableLength === 0) {
        response.emit('finish');
      } else {
        // The client is slow: the socket goes on reading from this buffer, and the answer is not finished yet.
        buffer = newBuffer();
        socket.write(nothing, () => response.emit('finish'));
      }
      return true;
    },
  };
}
