/**
 * Checks requests for DICOM frames (tiles), and reads the frames. The callers pass an image session (the credential for loading
 * pixels) and write the response. They are the Fastify route (routes/dicomweb.ts) and the handler in front of it
 * (routes/frame-fast-path.ts).
 *
 * The steps, in this order (with the status of the response when a check fails):
 * 1. The frame numbers are well-formed (400), the image exists, and the session may view it (404).
 * 2. Study, series and instance of the path belong to the image, and the frames exist (404).
 * 3. The client accepts a form that the server can send (406).
 * 4. If reading took longer than `recheckAfterMs`, session and rights are checked again (401, 404), because they may have been revoked.
 * 5. The audit log records that this session opened the image, before any pixel is sent. In a short outage of the
 *    database, audit/image-openings.ts records the event afterwards.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '@lamina/contract';
import { type BufferAllocator, type NativeLevel, SlideError } from '@lamina/slide';
import type { Origin } from '../audit/audit-recorder.ts';
import type { ImageOpenings } from '../audit/image-openings.ts';
import { type ImageSession, mayViewImage } from '../domain/image-session.ts';
import { type RecheckAccess, recheckAfterMs } from '../tiles/recheck-access.ts';
import { SessionClient } from '../tiles/session-client.ts';
import type { NativeLevelTile, ServableImage } from '../tiles/slides.ts';
import { type BulkForm, bulkFormOf, formNameOf } from './accept.ts';
import { transferSyntaxOf } from './describe-slide.ts';
import type { DicomWeb } from './dicomweb.ts';

export interface FramesRequest {
  /** UIDs and frame numbers as in the path; `frames` is a list such as `1,2,5`. */
  readonly params: Readonly<Record<'study' | 'series' | 'instance' | 'frames', string>>;
  readonly accept: string | undefined;
  /** The client, for the audit event. Read only for the first frame of an image in a session, so it may be a getter. */
  readonly origin: Origin;
  /** Aborted when the client disconnects. Read only when a frame is fetched, so it may be a getter. */
  readonly signal: AbortSignal;
  /** Supplies the memory for the frame when a request is for one frame only. */
  readonly allocate?: BufferAllocator | undefined;
}

/** A response with status 200. Its body is `before`, `bytes` and `after`, one after the other. */
export interface ResolvedFrames {
  /** Start and end of a multipart body, ASCII; empty when a frame is sent without a multipart body. */
  readonly before: string;
  readonly after: string;
  readonly bytes: Uint8Array;
  /** Content type. */
  readonly type: string;
  /** Strong ETag, including its quotes. */
  readonly etag: string;
}

export interface FrameResolver {
  /** Returns the response. @throws AppError invalid_request, not_found, not_acceptable, unavailable; SlideError */
  resolve(session: ImageSession, request: FramesRequest): Promise<ResolvedFrames>;
}

interface FrameResolverDependencies {
  readonly dicomWeb: Pick<DicomWeb, 'imageIdOf' | 'frame'>;
  readonly catalogue: { servable(imageId: string): ServableImage | null | Promise<ServableImage | null> };
  readonly imageOpenings: Pick<ImageOpenings, 'isRecorded' | 'record'>;
  readonly recheckAccess: RecheckAccess;
}

/** Media types of frames by the codec of their level. */
const bulkTypes = {
  jpeg: ['application/octet-stream', 'image/jpeg'],
  jpeg2000: ['application/octet-stream', 'image/jp2'],
} as const;
/** Maximum number of frames in a response, because the whole response is in memory. */
const maxFrames = 64;

export function createFrameResolver({
  dicomWeb,
  catalogue,
  imageOpenings,
  recheckAccess,
}: FrameResolverDependencies): FrameResolver {
  return {
    async resolve(session, request) {
      const startedAt = performance.now();
      const { params } = request;
      const frameNumbers = frameNumbersOf(params.frames);
      const lookup = catalogue.servable(dicomWeb.imageIdOf(params));
      // Awaiting a value that is not a promise would cost a turn of the microtask queue for each frame.
      const image = lookup instanceof Promise ? await lookup : lookup;
      // The response is the same whether the image does not exist or the session may not view it.
      if (image === null || !mayViewImage(session, image)) throw new AppError('not_found');
      const client = new SessionClient(session, request); // tells the render queue who requests, and when to abort
      const allocate = frameNumbers.length === 1 ? request.allocate : undefined;
      const firstFrame = await dicomWeb.frame(image, params, frameNumbers[0] ?? 1, client, allocate);
      const { fingerprint } = firstFrame; // identifies the version of the file
      const furtherFrames: NativeLevelTile[] = [];
      for (let i = 1; i < frameNumbers.length; i++) {
        const frame = await dicomWeb.frame(image, params, frameNumbers[i] ?? 1, client);
        if (frame.fingerprint !== fingerprint) throw new SlideError('FILE_CHANGED', 'The file was replaced.');
        furtherFrames.push(frame);
      }
      const isSingle = furtherFrames.length === 0;
      const form = frameFormOf(request.accept, firstFrame.level, isSingle);
      const furtherParts = furtherFrames.map(({ level, bytes }) => ({
        type: frameFormOf(request.accept, level, false).partType,
        bytes,
      }));
      if (performance.now() - startedAt > recheckAfterMs) await recheckAccess(session, image.id);
      // A frame counts as a tile: it shows the image in a viewer, not only as a thumbnail.
      if (!imageOpenings.isRecorded(session, image.id, 'tile')) {
        await imageOpenings.record(session, image, 'tile', request.origin);
      }
      const frameList = isSingle ? params.frames : params.frames.replaceAll(',', '_'); // a comma would separate two ETags in If-None-Match
      // The ETag names the form, because the bodies of different forms differ.
      const etag = `"${fingerprint}-${params.instance}-${frameList}-${form.name}"`;
      const { partType: type } = form;
      const { bytes } = firstFrame;
      if (!form.isMultipart) return { before: '', bytes, after: '', type, etag };
      const multipart = multipartOf(form.type, { type, bytes }, furtherParts);
      return { ...multipart, etag };
    },
  };
}

/** The form of a response with frames, and what depends only on it. */
interface FrameForm extends BulkForm {
  /** Content type of a frame, with its transfer syntax. */
  readonly partType: string;
  /** Name of the form in ETags. */
  readonly name: string;
}

/** Recent forms of single frames by Accept header and coding process. A viewer sends the same header with each frame. */
const recentForms = new Map<string, Map<NativeLevel['process'], FrameForm>>();
const maxRecentHeaders = 100;

/**
 * Chooses the form of a frame.
 *
 * @param level the level with the coding of the frame; its process determines codec and transfer syntax
 * @param isSingle whether the response has one frame only, which can be sent without a multipart body
 * @throws AppError not_acceptable
 */
function frameFormOf(accept: string | undefined, level: NativeLevel, isSingle: boolean): FrameForm {
  if (!isSingle) return chooseFrameForm(accept, level, false);
  const header = accept ?? ''; // an empty header accepts everything, as a missing one does
  let forms = recentForms.get(header);
  const cachedForm = forms?.get(level.process);
  if (cachedForm !== undefined) return cachedForm;
  const form = chooseFrameForm(accept, level, true);
  if (forms === undefined) {
    if (recentForms.size >= maxRecentHeaders) recentForms.clear();
    forms = new Map();
    recentForms.set(header, forms);
  }
  forms.set(level.process, form);
  return form;
}

function chooseFrameForm(accept: string | undefined, level: NativeLevel, mayBeSingle: boolean): FrameForm {
  const transferSyntax = transferSyntaxOf(level);
  const form = bulkFormOf(accept, { types: bulkTypes[level.codec], transferSyntax, mayBeSingle });
  return { ...form, partType: `${form.type}; transfer-syntax=${transferSyntax}`, name: formNameOf(form) };
}

/** Parses the list of frame numbers of the path. @throws AppError invalid_request, also for more than 64 frames */
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

/** Returns a multipart body (RFC 2387) with a random boundary, which no part contains. `before` ends with the first part's headers. */
export function multipartOf(
  type: string,
  firstPart: Part,
  furtherParts: readonly Part[] = [],
): Pick<ResolvedFrames, 'before' | 'bytes' | 'after' | 'type'> {
  const boundary = randomUUID();
  const after = `\r\n--${boundary}--\r\n`;
  const contentType = `multipart/related; type="${type}"; boundary="${boundary}"`;
  const before = partHeadOf(boundary, firstPart);
  if (furtherParts.length === 0) return { before, bytes: firstPart.bytes, after, type: contentType };
  const furtherBytes = furtherParts.flatMap((part) => [
    Buffer.from(`\r\n${partHeadOf(boundary, part)}`),
    part.bytes,
  ]);
  return { before, bytes: Buffer.concat([firstPart.bytes, ...furtherBytes]), after, type: contentType };
}

function partHeadOf(boundary: string, { type, bytes }: Part): string {
  return `--${boundary}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
}

/** Returns the whole body of a response, multipart or not, as one byte array. */
export function wholeBody({
  before,
  bytes,
  after,
}: Pick<ResolvedFrames, 'before' | 'bytes' | 'after'>): Uint8Array {
  return before === '' && after === ''
    ? bytes
    : Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}
