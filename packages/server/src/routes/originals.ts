/**
 * Routes that download the original files of slides, with GET and HEAD, Range and If-Range (RFC 9110). originals/originals.ts decides
 * who may download them, and de-identifies the bytes.
 */
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { AppError, getOriginal, getOriginalFile, type OriginalFiles } from '@lamina/contract';
import type { OriginalFile } from '@lamina/slide';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Origin } from '../audit/audit-recorder.ts';
import { type ByteRange, parseRange } from '../domain/byte-range.ts';
import { matchesEtag } from '../domain/if-none-match.ts';
import type { Caller } from '../http/caller.ts';
import { sendUnchanged } from '../http/send-bytes.ts';
import { replied, serve } from '../http/serve.ts';
import { etagOfOriginal, type Original } from '../originals/originals.ts';
import type { Services } from '../services.ts';

interface DownloadRequest {
  readonly caller: Caller;
  readonly origin: Origin; // client and request id, for audit events
  readonly signal: AbortSignal;
  readonly reply: FastifyReply;
}

export function originalRoutes(app: FastifyInstance, { originals }: Pick<Services, 'originals'>): void {
  /**
   * Sends a file or a part of it.
   *
   * @returns `replied`, which tells `serve` that the response has been sent
   * @throws AppError range_not_satisfiable, rate_limited; SlideError
   */
  async function send(
    original: Original,
    file: OriginalFile,
    request: DownloadRequest,
  ): Promise<typeof replied> {
    const { caller, origin, signal, reply } = request;
    const { headers, method } = reply.request;
    const etag = etagOfOriginal(original, file);
    void reply
      .header('ETag', etag)
      .header('Accept-Ranges', 'bytes')
      .header('Cache-Control', 'private, no-cache');
    if (matchesEtag(etag, headers['if-none-match'])) {
      void sendUnchanged(reply.request, reply);
      return replied;
    }
    // If-Range contains the ETag of the version from which the client has a part. If the file has changed since, it is sent whole.
    const isRangeAllowed = headers['if-range'] === undefined || headers['if-range'] === etag;
    const requestedRange =
      method === 'GET' && isRangeAllowed ? parseRange(headers.range, file.size) : 'whole';
    if (requestedRange === 'unsatisfiable') {
      void reply.header('Content-Range', `bytes */${file.size}`);
      throw new AppError('range_not_satisfiable');
    }
    // `end` is the offset of the last byte.
    const range: ByteRange = requestedRange === 'whole' ? { start: 0, end: file.size - 1 } : requestedRange;
    void reply
      .code(requestedRange === 'whole' ? 200 : 206)
      .type('application/octet-stream')
      .header('Content-Length', range.end + 1 - range.start)
      .header('Content-Disposition', dispositionOf(file.path));
    if (requestedRange !== 'whole')
      void reply.header('Content-Range', `bytes ${range.start}-${range.end}/${file.size}`);
    if (method === 'HEAD') {
      void reply.send(Readable.from([])); // a stream, so that Fastify keeps the Content-Length above
      return replied;
    }
    const { tokenHash } = caller;
    const { uid } = caller.user;
    const token = caller.apiToken?.prefix ?? null; // null: the token of a sign-in
    await originals.record(original, file, { uid, token, range, origin });
    const blocks = await originals.read(original, file, { ...range, uid, tokenHash, signal });
    void reply.send(Readable.from(blocks, { objectMode: false }));
    return replied;
  }

  // For a slide that consists of one file, the response is that file. For any other slide, it is the list of its files (JSON).
  serve(app, getOriginal, async ({ params, caller, origin, signal, reply }): Promise<typeof replied> => {
    const original = await originals.find(caller.user, params.imageId);
    // The files as they will be sent, and the reason why they cannot be de-identified (null: they are de-identified).
    const { files, notDeidentifiedBecause } = original.plan;
    const [firstFile, ...otherFiles] = files;
    // A slide of several files consists of a main file and its `members`. The response for such a slide is a list even if
    // only one of its files can be downloaded.
    const isSingleFile = original.location.members === undefined || original.location.members.length === 0;
    if (firstFile !== undefined && isSingleFile && otherFiles.length === 0) {
      return send(original, firstFile, { caller, origin, signal, reply });
    }
    const list: OriginalFiles = {
      files: files.map(({ path, size }) => ({ path, size_bytes: size })),
      deidentified: notDeidentifiedBecause === null,
    };
    void reply
      .header('Cache-Control', 'no-store')
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(list));
    return replied;
  });

  serve(app, getOriginalFile, async ({ params, caller, origin, signal, reply }): Promise<typeof replied> => {
    const original = await originals.find(caller.user, params.imageId);
    const { '*': path } = reply.request.params as { readonly '*'?: string }; // path of the file, which may contain slashes
    const file = original.plan.files.find((planned) => planned.path === path);
    if (file === undefined) throw new AppError('not_found');
    return send(original, file, { caller, origin, signal, reply });
  });
}

/** Returns a Content-Disposition header with the file name in ASCII and, for clients that support it, in UTF-8 (RFC 6266). */
function dispositionOf(path: string): string {
  const name = posix.basename(path);
  const ascii = name.replaceAll(/[^\w. ()-]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
