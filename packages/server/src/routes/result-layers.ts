/**
 * Routes of result layers of slides: rasters or objects that a program has computed. The program creates a layer and uploads its file in
 * parts with the tus protocol for resumable uploads (tus.io, version 1.0.0).
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  AppError,
  apiBase,
  createResultFile,
  createResultLayer,
  deleteResultLayer,
  getResultFile,
  listResultLayers,
  sendResultFile,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';

/** Content type that the tus protocol prescribes for a part of a file. */
const partType = 'application/offset+octet-stream';
const tusVersion = { 'Tus-Resumable': '1.0.0' } as const;

export async function resultLayerRoutes(
  app: FastifyInstance,
  { resultLayers: layers }: Pick<Services, 'resultLayers'>,
): Promise<void> {
  serve(app, listResultLayers, async ({ params, caller, translate }) => ({
    layers: await layers.list(caller.user, params.imageId, translate),
  }));

  serve(app, createResultLayer, (request) => {
    const source = request.caller.apiToken ? 'api' : 'upload';
    return layers.create(
      actorOf(request),
      request.params.imageId,
      { ...request.body, source },
      request.translate,
    );
  });

  serve(app, deleteResultLayer, (request) => layers.remove(actorOf(request), request.params.layerId));

  serve(app, getResultFile, async ({ params, caller, translate, reply }) => {
    const {
      layer,
      received: receivedBytes,
      total: totalBytes,
    } = await layers.progress(caller.user, params.layerId, translate);
    reply.headers({
      ...tusVersion,
      'Upload-Offset': receivedBytes,
      // In tus, `Upload-Defer-Length: 1` means that the server does not know the length of the file yet.
      ...(totalBytes === null ? { 'Upload-Defer-Length': 1 } : { 'Upload-Length': totalBytes }),
    });
    return layer;
  });

  // The two calls that upload a file accept different content types, so each has its own Fastify scope with its own body parsers. The
  // parsers leave the body unread: the first call has no body, whatever content type it declares, and the handler of the second call
  // reads its body, a part of the file, as a stream.
  await app.register(async (uploadApp) => {
    uploadApp.removeAllContentTypeParsers();
    uploadApp.addContentTypeParser('*', (_request, _part, done) => done(null));

    serve(uploadApp, createResultFile, async ({ params, caller, reply }) => {
      const totalBytes = numberIn(reply.request.headers, 'upload-length');
      if (totalBytes === null) throw new AppError('invalid_request', { field: 'Upload-Length' });
      await layers.reserveSpace(caller.user, params.layerId, totalBytes);
      const location = apiBase + sendResultFile.path.replace(':layerId', params.layerId);
      reply.headers({ ...tusVersion, Location: location, 'Upload-Offset': 0 });
    });
  });

  await app.register(async (uploadApp) => {
    uploadApp.removeAllContentTypeParsers();
    uploadApp.addContentTypeParser(partType, (_request, _part, done) => done(null));
    serve(uploadApp, sendResultFile, async ({ params, caller, reply }) => {
      const { headers, raw } = reply.request;
      const offset = numberIn(headers, 'upload-offset');
      if (offset === null) throw new AppError('invalid_request', { field: 'Upload-Offset' });
      const total = numberIn(headers, 'upload-length'); // null: an earlier call stated it
      const receivedBytes = await layers.receive(caller.user, params.layerId, { offset, total, stream: raw });
      reply.headers({ ...tusVersion, 'Upload-Offset': receivedBytes });
    });
  });
}

/** Returns the number in a header; null if there is no header. @throws AppError invalid_request when the header is not a whole number */
function numberIn(headers: IncomingHttpHeaders, name: string): number | null {
  const text = headers[name];
  if (text === undefined) return null;
  const value = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new AppError('invalid_request', { field: name });
  return value;
}
