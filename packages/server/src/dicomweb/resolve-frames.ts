/**
 * The one decision about a request for frames that has an image session, or what takes its place for a token. Both adapters
 * call it and only write the response: the Fastify route (routes/dicomweb.ts) and the fast path in front of Fastify
 * (routes/frame-fast-path.ts).
 *
 * Order of the decision:
 * 1. the frame numbers are well-formed (400); the image exists and the session may open it (404)
 * 2. the study, series and instance of the path are those of the image, and the frames exist (404)
 * 3. the client accepts a form that the server has (406)
 * 4. the audit log has the image's opening in this session; until then no pixel is sent
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '@lamina/contract';
import { type Allocate, SlideError } from '@lamina/slide';
import type { Origin } from '../audit/audit-recorder.ts';
import type { ImageOpenings } from '../audit/image-openings.ts';
import { cacheControlOf, type ImageSession, mayViewImage } from '../domain/image-session.ts';
import { SessionClient } from '../tiles/session-client.ts';
import type { ServableImage, StoredTile } from '../tiles/slides.ts';
import { bulkFormOf } from './accept.ts';
import { transferSyntaxOf } from './describe-slide.ts';
import type { DicomWeb } from './dicomweb.ts';

export interface FramesRequest {
  /** UIDs and frame numbers, as the path has them. */
  readonly params: Readonly<Record<'study' | 'series' | 'instance' | 'frames', string>>;
  /** The Accept header. */
  readonly accept: string | undefined;
  /** Client of the audit entry. Read only for the first frame of an image in a session, so it may be a getter. */
  readonly origin: Origin;
  /** Aborted when the client disconnects. Read only when a frame is fetched or rendered, so it may be a getter. */
  readonly signal: AbortSignal;
  /** Supplies the memory that a single frame is read into. */
  readonly allocate?: Allocate | undefined;
}

/** The body of a 200: `before`, `bytes` and `after`. The response depends on the Accept header. */
export interface ResolvedFrames {
  /** Head and end of a multipart body, ASCII; empty where a frame is sent alone. */
  readonly before: string;
  readonly after: string;
  readonly bytes: Uint8Array;
  /** Content type. */
  readonly type: string;
  /** Strong, with its quotes. */
  readonly etag: string;
  readonly cacheControl: string;
}

export interface FrameResolver {
  /** @throws AppError invalid_request, not_found, not_acceptable, unavailable; SlideError */
  resolve(session: ImageSession, request: FramesRequest): Promise<ResolvedFrames>;
}

interface FrameResolverDependencies {
  readonly dicomWeb: Pick<DicomWeb, 'imageIdOf' | 'frame'>;
  readonly catalogue: { servable(imageId: string): ServableImage | null | Promise<ServableImage | null> };
  readonly imageOpenings: Pick<ImageOpenings, 'isRecorded' | 'record'>;
  readonly now: () => Date;
}

/** Media types of frames by the codec of their level. */
const bulkTypes = {
  jpeg: ['application/octet-stream', 'image/jpeg'],
  jpeg2000: ['application/octet-stream', 'image/jp2'],
} as const;
/** Frames of one response, which is held in memory. */
const maxFrames = 64;

export function createFrameResolver({
  dicomWeb,
  catalogue,
  imageOpenings,
  now,
}: FrameResolverDependencies): FrameResolver {
  return {
    async resolve(session, request) {
      const { params } = request;
      const numbers = frameNumbersOf(params.frames);
      const lookUp = catalogue.servable(dicomWeb.imageIdOf(params));
      const image = lookUp instanceof Promise ? await lookUp : lookUp;
      // The same answer whether the image does not exist or the session may not open it.
      if (image === null || !mayViewImage(session, image)) throw new AppError('not_found');
      const client = new SessionClient(session, request);
      const allocate = numbers.length === 1 ? request.allocate : undefined;
      const first = await dicomWeb.frame(image, params, numbers[0] ?? 1, client, allocate);
      const { fingerprint } = first;
      const others: StoredTile[] = [];
      for (let place = 1; place < numbers.length; place++) {
        const frame = await dicomWeb.frame(image, params, numbers[place] ?? 1, client);
        if (frame.fingerprint !== fingerprint) throw new SlideError('FILE_CHANGED', 'The file was replaced.');
        others.push(frame);
      }
      const form = bulkFormOf(request.accept, {
        types: bulkTypes[first.level.codec],
        transferSyntax: transferSyntaxOf(first.level),
        mayBeSingle: others.length === 0,
      });
      if (!imageOpenings.isRecorded(session, image.id, 'tile')) {
        await imageOpenings.record(session, image, 'tile', request.origin);
      }
      const cacheControl = cacheControlOf(session, now());
      const names = numbers.length === 1 ? params.frames : numbers.join('_');
      const etag = `"${fingerprint}-${params.instance}-${names}-${form.isMultipart ? 'parts' : 'one'}"`;
      const typeOf = ({ level }: StoredTile) => `${form.type}; transfer-syntax=${transferSyntaxOf(level)}`;
      if (!form.isMultipart) {
        return { before: '', bytes: first.bytes, after: '', type: typeOf(first), etag, cacheControl };
      }
      const partOf = (frame: StoredTile) => ({ bytes: frame.bytes, type: typeOf(frame) });
      const { before, bytes, after, type } = multipartOf(form.type, partOf(first), others.map(partOf));
      return { before, bytes, after, type, etag, cacheControl };
    },
  };
}

/** @throws AppError invalid_request */
function frameNumbersOf(text: string): readonly number[] {
  if (/^[1-9]\d{0,8}$/.test(text)) return [Number(text)];
  if (!/^[1-9]\d{0,8}(,[1-9]\d{0,8})*$/.test(text))
    throw new AppError('invalid_request', { field: 'frames' });
  const numbers = text.split(',').map(Number);
  if (numbers.length > maxFrames) throw new AppError('invalid_request', { field: 'frames' });
  return numbers;
}

interface Part {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Source: RFC 2387. The boundary is random, so that no part contains it. */
export function multipartOf(
  type: string,
  first: Part,
  others: readonly Part[] = [],
): Pick<ResolvedFrames, 'before' | 'bytes' | 'after' | 'type'> {
  const boundary = randomUUID();
  const headOf = (part: Part) =>
    `--${boundary}\r\nContent-Type: ${part.type}\r\nContent-Length: ${part.bytes.length}\r\n\r\n`;
  const piecesOf = (part: Part) => [Buffer.from(`\r\n${headOf(part)}`), part.bytes];
  return {
    before: headOf(first),
    bytes: others.length === 0 ? first.bytes : Buffer.concat([first.bytes, ...others.flatMap(piecesOf)]),
    after: `\r\n--${boundary}--\r\n`,
    type: `multipart/related; type="${type}"; boundary="${boundary}"`,
  };
}

/** Returns the body in one piece. */
export function wholeBody({
  before,
  bytes,
  after,
}: Pick<ResolvedFrames, 'before' | 'bytes' | 'after'>): Uint8Array {
  return before === '' && after === ''
    ? bytes
    : Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}
