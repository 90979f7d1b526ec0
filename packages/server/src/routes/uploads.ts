/**
 * Routes with which administrators upload slides from the browser, with the tus protocol for resumable uploads (tus.io). An upload has
 * one or more files, and each file arrives in parts, which the tus library receives instead of Fastify.
 */
import type { IncomingMessage } from 'node:http';
import {
  AppError,
  abandonUpload,
  apiBase,
  beginUpload,
  createUploadFile,
  finishUploadFile,
  getUploadFile,
  Id,
  listUploads,
  sendUploadFile,
} from '@lamina/contract';
import { Metadata, Server as TusServer } from '@tus/server';
import type { FastifyInstance } from 'fastify';
import { mayAddToDataset } from '../domain/dataset-access.ts';
import type { Caller } from '../http/caller.ts';
import { errorSentence } from '../http/error-sentence.ts';
import { isLanguage } from '../http/language.ts';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';

const filesPath = apiBase + createUploadFile.path;
/** Content type that the tus protocol prescribes for a part of a file. */
const partType = 'application/offset+octet-stream';
const tusVersion = { 'Tus-Resumable': '1.0.0' } as const;

export async function uploadRoutes(
  app: FastifyInstance,
  { uploads, config }: Pick<Services, 'uploads' | 'config'>,
): Promise<void> {
  serve(app, listUploads, async ({ caller }) => ({
    uploads: await uploads.list(caller.user),
    max_bytes: config.uploadMaxBytes,
  }));

  serve(app, beginUpload, (request) => {
    if (!mayAddToDataset(request.caller.user, request.body.dataset)) throw new AppError('forbidden');
    return uploads.begin(actorOf(request), request.body);
  });

  serve(app, abandonUpload, ({ params, caller, origin }) =>
    uploads.abandon(caller.user, params.uploadId, origin),
  );

  serve(app, createUploadFile, async ({ caller, reply }) => {
    const id = await uploads.beginFile(caller.user, newFileOf(reply.request.raw));
    reply.headers({ ...tusVersion, Location: `${filesPath}/${id}` });
  });

  serve(app, getUploadFile, async ({ params, caller, reply }) => {
    const file = await uploads.file(caller.user, params.fileId);
    reply.headers({ ...tusVersion, 'Upload-Offset': file.offset, 'Upload-Length': file.size_bytes });
    return file;
  });

  serve(app, finishUploadFile, async ({ params, body, caller }) => ({
    state: await uploads.finishFile(caller.user, params.fileId, body.sha256),
  }));

  const tus = createTusServer({ uploads });
  // Not registered with `serve`, because the tus library writes the response.
  await app.register(async (uploadApp) => {
    // The parser leaves the body unread, because the tus library reads it as a stream.
    uploadApp.addContentTypeParser(partType, (_request, _part, done) => done(null));
    uploadApp.route({
      method: sendUploadFile.method,
      url: apiBase + sendUploadFile.path,
      config: { endpoint: sendUploadFile }, // the hooks read it, for example to check access
      bodyLimit: Number.MAX_SAFE_INTEGER, // no limit, because a part may be as large as the file
      handler: async (request, reply) => {
        const { fileId } = request.params as { fileId: string };
        const { user } = request.credential as Caller; // set by the access check, which accepts only an account here
        const partBytes = Number(request.headers['content-length'] ?? 0); // 0: unknown
        await uploads.expectPart(user, fileId, partBytes); // throws when the part may not be sent
        reply.hijack(); // from here on, the tus library sends the response, with the headers that Fastify's hooks have set
        for (const [name, value] of Object.entries(reply.getHeaders())) {
          if (value !== undefined) reply.raw.setHeader(name, value);
        }
        request.raw.url = `${filesPath}/${fileId}`; // the tus library must use exactly the file that was checked above
        await tus.handle(request.raw, reply.raw);
      },
    });
  });
}

/** Creates the tus server. It accepts parts only of files that `beginFile` has created, and writes errors in the format of this API. */
function createTusServer({ uploads }: Pick<Services, 'uploads'>): TusServer {
  return new TusServer({
    path: filesPath,
    datastore: uploads.parts, // stores the received parts of files
    relativeLocation: true, // the header Location contains only a path
    allowedOrigins: () => false, // otherwise the library would allow every origin
    onResponseError(request, error) {
      if (!(error instanceof AppError)) return undefined; // the library then sends its own response
      const preferredLanguage = request.headers.get('accept-language');
      const { code, status } = error;
      const message = errorSentence(
        error,
        isLanguage(preferredLanguage) ? preferredLanguage : sendUploadFile.defaultMessageLanguage,
      );
      return { status_code: status, body: JSON.stringify({ message, code }) };
    },
  });
}

/** Reads upload id, path, size and modification time of a new file from its tus headers. @throws AppError invalid_request */
function newFileOf({ headers }: IncomingMessage) {
  const { 'upload-length': length, 'upload-metadata': metadata } = headers;
  const sizeBytes = wholeNumber(length, 'Upload-Length');
  let fields: Record<string, string | null>;
  try {
    fields = Metadata.parse(typeof metadata === 'string' ? metadata : '');
  } catch (cause) {
    throw new AppError('invalid_request', { field: 'Upload-Metadata', cause });
  }
  const { upload, path, modified } = fields;
  if (!Id.safeParse(upload).success) throw new AppError('invalid_request', { field: 'upload' });
  if (!path) throw new AppError('invalid_request', { field: 'path' }); // missing or empty
  return {
    uploadId: upload as string,
    path,
    sizeBytes,
    modifiedMs: wholeNumber(modified ?? '0', 'modified'), // since the epoch; 0 when the client sends none
  };
}

/** Parses a whole number. @param field name of the header or metadata field in the error @throws AppError invalid_request */
function wholeNumber(text: string | string[] | undefined, field: string): number {
  const value = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new AppError('invalid_request', { field });
  return value;
}
