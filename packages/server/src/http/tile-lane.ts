/**
 * The fast lane of tiles: a plain handler in front of Fastify for the one request that comes by the thousand.
 *
 * It knows one answer, the good one: a tile that is at hand, for a good image session that memory knows. It holds no
 * rule of its own. Whatever is not wholly plain (another spelling, a token sent along, a session or an image that
 * memory does not know, a tile that has to be made, any fault) goes to the usual route untouched, and that one
 * decides. What a good answer consists of is the same in both: routes/tiles.ts and send-bytes.ts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiBase, getTile } from '@lamina/contract';
import { type ImageSession, opens, secondsLeft } from '../domain/image-session.ts';
import { type TileName, wholeNumber } from '../domain/tile-name.ts';
import type { Services } from '../services.ts';
import type { ServableImage, TileAtHand } from '../slides/slides.ts';
import { requestIdOf } from './request-id.ts';
import { mostSecondsKept, pixelHeaders } from './send-bytes.ts';
import { type AnswerRoom, createWholeWriter } from './write-whole.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface TileLane {
  /** @returns false when the request is not one for the lane: then nothing has been done, and `usual` is to answer */
  take(request: IncomingMessage, response: ServerResponse, usual: Answer): boolean;
  /** Takes no more. */
  close(): void;
}

/** What a plain request asks for, and with which session. */
interface Asked {
  readonly imageId: string;
  readonly name: TileName;
  readonly sessionId: string;
}

/** The address of a tile with its session and nothing else, in its plainest spelling. */
const addressPattern = new RegExp(
  `^${(apiBase + getTile.path)
    .replace(':imageId', '([\\da-f-]{36})')
    .replace(':dziLevel', wholeNumber)
    .replace(':tile', `${wholeNumber}_${wholeNumber}\\.jpe?g`)}\\?session=([\\w-]{43})$`,
);
const longestAddress = 256;

/** Any of these may change who is asking, or what for. */
const unusualHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
]);

const protecting = Object.entries(pixelHeaders).flat();
const fixedHeaders = [...protecting, 'Content-Type', getTile.response];

/** @param keepAliveMs how long the server keeps an idle connection */
export function createTileLane(
  {
    config,
    imageSessions,
    catalogue,
    slides,
    now,
    log,
    metrics: { lane: tally },
  }: Pick<Services, 'config' | 'imageSessions' | 'catalogue' | 'slides' | 'now' | 'log' | 'metrics'>,
  keepAliveMs: number,
): TileLane {
  // The strict mode looks at cookies; a log that tells of every good tile is written in one place.
  const writer = createWholeWriter(fixedHeaders, keepAliveMs);
  let isOpen = config.imageSessionCookie === 'off' && !log.isLevelEnabled('debug');

  /** Null for what is not plain. */
  function askedOf({ method, url = '', headers }: IncomingMessage): Asked | null {
    if ((method !== 'GET' && method !== 'HEAD') || url.length > longestAddress) return null;
    const address = addressPattern.exec(url) as [string, string, string, string, string, string] | null;
    if (address === null) return null;
    const [, imageId, dziLevel, column, row, sessionId] = address;
    for (const header in headers) if (unusualHeaders.has(header)) return null;
    const name = { dziLevel: Number(dziLevel), column: Number(column), row: Number(row) };
    return { imageId, name, sessionId };
  }

  /** The image, where memory knows it and the session opens it. */
  function imageFor({ imageId }: Asked, session: ImageSession): ServableImage | null {
    const image = catalogue.servable(imageId);
    return image === null || image instanceof Promise || !opens(session, image) ? null : image;
  }

  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    session: ImageSession,
    { bytes, etag }: TileAtHand,
    room: AnswerRoom,
  ): void {
    const at = now();
    imageSessions.count(session, at);
    const requestId = requestIdOf(request.headers);
    const maxAge = `private, max-age=${Math.min(secondsLeft(session, at), mostSecondsKept)}`;
    if (bytes !== null && request.method === 'GET') {
      const variable = `X-Request-Id: ${requestId}\r\nETag: ${etag}\r\nCache-Control: ${maxAge}\r\n`;
      if (writer.write(response, variable, bytes, room)) return;
    }
    const headers = ['X-Request-Id', requestId, 'ETag', etag, 'Cache-Control', maxAge];
    if (bytes === null) {
      response.writeHead(304, [...protecting, ...headers]).end();
    } else {
      response.writeHead(200, [...fixedHeaders, ...headers, 'Content-Length', String(bytes.byteLength)]);
      response.end(request.method === 'HEAD' ? undefined : bytes);
    }
    // Until it is closed they are read from; a client that has left closed it before, and nothing will tell so again.
    if (response.closed) writer.giveBack(room);
    else response.once('close', () => writer.giveBack(room));
  }

  /** As `take`, when the session has been found. */
  function takeFor(
    session: ImageSession | null,
    asked: Asked,
    request: IncomingMessage,
    response: ServerResponse,
    leaveIt: () => void,
  ): boolean {
    const image = session && imageFor(asked, session);
    if (session === null || image === null || !isOpen) return false;
    const startedAt = performance.now();
    const room = writer.takeRoom();
    const knownTag = request.headers['if-none-match'];
    const reading = slides.tileAtHand(image, asked.name, knownTag, room.allocate);
    if (reading === null) {
      writer.giveBack(room);
      return false;
    }
    const giveUp = () => {
      writer.giveBack(room);
      leaveIt();
    };
    reading.then((tile) => {
      if (tile === null) {
        giveUp();
        return;
      }
      answer(request, response, session, tile, room);
      tally.add(tile.source, request.method === 'HEAD' ? 'HEAD' : 'GET', performance.now() - startedAt);
    }, giveUp);
    return true;
  }

  return {
    take(request, response, usual) {
      const asked = isOpen ? askedOf(request) : null;
      if (asked === null) return false;
      const leaveIt = () => {
        if (!request.socket.destroyed) usual(request, response);
      };
      const session = imageSessions.inMemory(asked.sessionId);
      if (!(session instanceof Promise)) return takeFor(session, asked, request, response, leaveIt);
      session.then((found) => {
        if (!takeFor(found, asked, request, response, leaveIt)) leaveIt();
      }, leaveIt);
      return true;
    },

    close() {
      isOpen = false;
    },
  };
}
