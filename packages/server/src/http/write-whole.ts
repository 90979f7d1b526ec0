/**
 * An answer in one write: status line, headers and body in one piece of memory that is used again and again.
 *
 * For a tile of 11 kB, `writeHead` and `end` cost as much as everything else that Node does for the request: each
 * header is checked and put together, and both go out as a list. A body in memory of its own costs as much again: half
 * a gigabyte of them a second keeps the collector of garbage busy. So a tile is read to where it is sent from, the
 * headers are put before it, and this file writes to the socket itself and tells Node that the response is finished.
 * That last part leans on how Node's server works inside (lib/_http_server.js, resOnFinish): tile-lane.test.ts holds it.
 */
import type { ServerResponse } from 'node:http';
import type { Allocate } from '@lamina/slide';

/** Larger bodies go the usual way: for them the share of all this is small. */
const mostBodyBytes = 256 * 1024;
/** For the headers, before the body. */
const headRoom = 2048;
/** Answers that wait for the end of the turn; more would not stay near the processor until they are sent. */
const mostDue = 32;
/** Of the memory that is used again; more is in use at a time only when many clients are slow. */
const mostKept = mostDue;
const nothing = new Uint8Array();

/** For one answer, of one request alone until it is given back. */
export interface AnswerRoom {
  /** Null until a body is put there. */
  memory: Buffer | null;
  /** Again: what was there before is given up. A body that is too large gets memory of its own. */
  readonly allocate: Allocate;
}

interface DueAnswer {
  readonly response: ServerResponse;
  readonly bytes: Uint8Array;
  readonly room: AnswerRoom;
}

export interface WholeWriter {
  takeRoom(): AnswerRoom;
  /** For a room that nobody writes to or reads from any more. */
  giveBack(room: AnswerRoom): void;
  /**
   * Answers 200 at the end of this turn of the event loop, and gives the room back as soon as it is sent.
   *
   * @param variable header lines that differ from answer to answer, each with its line end; content length, date and
   *   connection are added
   * @param body best where the room allocated it, else it is copied there
   * @returns false when this response has to go the usual way; nothing has been written, nothing given back then
   */
  write(response: ServerResponse, variable: string, body: Uint8Array, room: AnswerRoom): boolean;
}

/** @param fixed header lines that are the same in every answer: names and values, one after the other, ASCII */
export function createWholeWriter(fixed: readonly string[], keepAliveMs: number): WholeWriter {
  const lines = ['HTTP/1.1 200 OK\r\n'];
  for (let i = 0; i < fixed.length; i += 2) lines.push(`${fixed[i]}: ${fixed[i + 1]}\r\n`);
  lines.push(`Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`);
  const start = Buffer.from(lines.join(''), 'latin1');
  const wholeRoom = headRoom + mostBodyBytes;
  const kept: Buffer[] = Array.from({ length: mostKept }, () => Buffer.allocUnsafeSlow(wholeRoom));
  let date = '';
  let dateSecond = 0;

  /** Where none is kept, no more than is needed: those who are slow may be hundreds. */
  const takeMemory = (bodyBytes: number): Buffer =>
    kept.pop() ?? Buffer.allocUnsafeSlow(headRoom + bodyBytes);

  function takeRoom(): AnswerRoom {
    const room: AnswerRoom = {
      memory: null,
      allocate(byteCount) {
        giveBack(room);
        if (byteCount > mostBodyBytes) return new Uint8Array(byteCount);
        room.memory = takeMemory(byteCount);
        return room.memory.subarray(headRoom, headRoom + byteCount);
      },
    };
    return room;
  }

  function giveBack(room: AnswerRoom): void {
    if (room.memory?.byteLength === wholeRoom && kept.length < mostKept) kept.push(room.memory);
    room.memory = null;
  }

  function dateNow(): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== dateSecond) {
      dateSecond = second;
      date = new Date(second * 1000).toUTCString();
    }
    return date;
  }

  /** The room's memory, in which the body is where the room allocated it, or else is put. */
  function memoryWith(body: Uint8Array, room: AnswerRoom): Buffer {
    if (room.memory?.buffer === body.buffer) return room.memory;
    giveBack(room);
    room.memory = takeMemory(body.byteLength);
    room.memory.set(body, headRoom);
    return room.memory;
  }

  let due: DueAnswer[] = [];

  /** Each by itself would wake whoever waits for it, and then the next: that costs more than sending. */
  function sendSoon(answer: DueAnswer): void {
    due.push(answer);
    if (due.length === mostDue) sendDue();
    else if (due.length === 1) setImmediate(sendDue);
  }

  function sendDue(): void {
    const answers = due;
    due = [];
    for (const answer of answers) send(answer);
  }

  function send({ response, bytes, room }: DueAnswer): void {
    const { socket } = response;
    if (socket === null || socket.destroyed) {
      giveBack(room);
      return;
    }
    socket.write(bytes);
    response.finished = true;
    const done = () => {
      giveBack(room);
      response.emit('finish');
    };
    // Of a client that is slow, the socket goes on reading from this memory, and the answer is not finished yet.
    if (socket.writableLength === 0) done();
    else socket.write(nothing, done);
  }

  return {
    takeRoom,
    giveBack,

    write(response, variable, body, room) {
      const { socket } = response;
      // Null while an earlier answer of a pipelining client is still on its way.
      const isUsual = socket === null || socket.writableLength > 0 || !response.shouldKeepAlive;
      const rest = `${variable}Content-Length: ${body.byteLength}\r\nDate: ${dateNow()}\r\n\r\n`;
      const headBytes = start.length + rest.length;
      if (isUsual || headBytes > headRoom || body.byteLength > mostBodyBytes) return false;

      const memory = memoryWith(body, room);
      const bodyAt = body.buffer === memory.buffer ? body.byteOffset : headRoom;
      const startAt = bodyAt - headBytes;
      memory.set(start, startAt);
      memory.write(rest, startAt + start.length, 'latin1');
      sendSoon({ response, bytes: memory.subarray(startAt, bodyAt + body.byteLength), room });
      return true;
    },
  };
}
