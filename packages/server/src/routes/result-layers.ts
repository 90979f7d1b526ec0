/** Routes of result layers of slides, and of their files, which programs upload with the tus protocol (tus.io, version 1.0.0). */
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

/** Content type of a part of a file, by the tus protocol. */
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
    const { layer, received, total } = await layers.progress(caller.user, params.layerId, translate);
    reply.headers({
      ...tusVersion,
      'Upload-Offset': received,
      // tus: the length is deferred until the client has sent it, with the creation or with the first part.
      ...(total === null ? { 'Upload-Defer-Length': 1 } : { 'Upload-Length': total }),
    });
    return layer;
  });

  // A Fastify scope has one set of body parsers, and the two calls that upload a file accept different content types. No parser reads
  // the body: a creation has none, whatever content type it declares, and the handler of a part reads the body as a stream.
  await app.register(async (uploadApp) => {
    uploadApp.removeAllContentTypeParsers();
    uploadApp.addContentTypeParser('*', (_request, _part, done) => done(null));

    serve(uploadApp, createResultFile, async ({ params, caller, reply }) => {
      const total = numberIn(reply.request.headers, 'upload-length');
      if (total === null) throw new AppError('invalid_request', { field: 'Upload-Length' });
      await layers.announce(caller.user, params.layerId, total);
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
      const total = numberIn(headers, 'upload-length');
      const received = await layers.receive(caller.user, params.layerId, { offset, total, stream: raw });
      reply.headers({ ...tusVersion, 'Upload-Offset': received });
    });
  });
}

/** Returns the number in a header; null without the header. @throws AppError invalid_request when it is not a whole number */
function numberIn(headers: IncomingHttpHeaders, name: string): number | null {
  const text = headers[name];
  if (text === undefined) return null;
  const value = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new AppError('invalid_request', { field: name });
  return value;
}
