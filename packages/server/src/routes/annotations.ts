/**
 * Routes of the annotation layers of slides, and of their annotations.
 *
 * The caller of a request is an account (`user`). The visitor of a share link, a caller without `user`, can only list layers and
 * annotations (`shareLinkAnnotations`). The actor (`actorOf`) is an account with its sign-in and client address. Services get:
 * - for reading: `caller.user`,
 * - for writing, audited reading, and long responses that check the sign-in repeatedly: the actor and `caller.user`,
 * - for methods that read the account within their transaction: only the actor.
 * - `translate`, for texts in the response: the replacement for the name of a deleted account, and warnings of an import.
 */
import compress from '@fastify/compress';
import {
  annotationFileTypes,
  changeAnnotations,
  countAnnotations,
  createAnnotationLayer,
  deleteAnnotationLayer,
  exportAnnotationFile,
  exportWarningsHeader,
  getAnnotationClasses,
  importAnnotationFile,
  listAnnotationHistory,
  listAnnotationLayers,
  listAnnotations,
  listRecentAnnotations,
  restoreAnnotation,
  restoreAnnotationLayer,
  streamAnnotationEvents,
  updateAnnotationClasses,
  updateAnnotationLayer,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { matchesEtag } from '../domain/if-none-match.ts';
import { streamCompression } from '../http/compression.ts';
import { StreamedText, serve, unchanged } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';

type AnnotationServices = Pick<
  Services,
  | 'annotatedSlides'
  | 'annotationLayers'
  | 'annotations'
  | 'shareLinkAnnotations'
  | 'annotationFiles'
  | 'annotationClasses'
  | 'annotationEvents'
>;

export async function annotationRoutes(app: FastifyInstance, services: AnnotationServices): Promise<void> {
  layerRoutes(app, services);
  slideRoutes(app, services);
  const { annotations, shareLinkAnnotations, annotationClasses: classes } = services;
  await app.register(async (compressedApp) => {
    await compressedApp.register(compress, streamCompression);

    serve(compressedApp, listAnnotations, async (request) => {
      const { params, query, caller, origin, reply } = request;
      const list =
        'user' in caller
          ? await annotations.list(
              actorOf({ caller, origin }),
              caller.user,
              params.layerId,
              query,
              request.translate,
            )
          : await shareLinkAnnotations.list(caller, params.layerId, query);
      reply.header('ETag', list.etag);
      if (matchesEtag(list.etag, reply.request.headers['if-none-match'])) return unchanged; // 304
      return new StreamedText(list.parts, list.type);
    });

    serve(compressedApp, listAnnotationHistory, (request) => {
      const { params, query, caller, translate } = request;
      return annotations.history(actorOf(request), caller.user, params.layerId, query, translate);
    });
  });

  eventRoute(app, services);
  await fileRoutes(app, services);

  serve(app, getAnnotationClasses, ({ params, caller }) => classes.get(caller.user, params.datasetId));

  serve(app, updateAnnotationClasses, (request) =>
    classes.update(actorOf(request), request.params.datasetId, request.body),
  );

  serve(app, changeAnnotations, (request) =>
    annotations.change(actorOf(request), request.caller.user, request.params.layerId, request.body.changes),
  );

  serve(app, restoreAnnotation, (request) =>
    annotations.restore(actorOf(request), request.params.layerId, request.params.annotationId),
  );
}

async function fileRoutes(
  app: FastifyInstance,
  { annotationFiles: files }: AnnotationServices,
): Promise<void> {
  serve(app, exportAnnotationFile, async (request) => {
    const { params, query, caller, reply } = request;
    const file = await files.export(actorOf(request), caller.user, params.layerId, query);
    if (file.warnings !== '') reply.header(exportWarningsHeader, file.warnings);
    return file;
  });

  // Only in this scope, Fastify reads the body of an annotation file into a buffer; `serve` passes the buffer to the handler as `file`.
  await app.register(async (importApp) => {
    importApp.removeAllContentTypeParsers();
    const types = [...annotationFileTypes];
    importApp.addContentTypeParser(types, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    serve(importApp, importAnnotationFile, (request) => {
      const { params, query, file, caller, translate, signal } = request;
      return files.import(
        actorOf(request),
        caller.user,
        params.layerId,
        { file, ...query },
        translate,
        signal,
      );
    });
  });
}

/** Registers the event stream in `app`, which does not compress responses, because a compressor would delay events. */
function eventRoute(app: FastifyInstance, { annotationEvents }: AnnotationServices): void {
  // A closing server waits for its open responses. Event streams do not end by themselves, so this hook ends them first.
  app.addHook('preClose', async () => annotationEvents.close());

  serve(app, streamAnnotationEvents, async (request) => {
    const { params, query, caller, reply, translate, signal } = request;
    // The id of an event is the number of its change. A client that connects again sends the last id that it received.
    const lastEventId = String(reply.request.headers['last-event-id'] ?? '');
    const isChangeNumber = /^\d{1,15}$/.test(lastEventId);
    const after = isChangeNumber ? Number(lastEventId) : null; // null: only changes from now on
    // The response to HEAD has no body, so the stream does not wait for events.
    const waitSeconds = reply.request.method === 'HEAD' ? 0 : query.wait;
    const waitMs = waitSeconds === undefined ? null : waitSeconds * 1000; // null: until the client disconnects
    const options = { after, waitMs, translate, signal };
    const events = await annotationEvents.open(actorOf(request), caller.user, params.imageId, options);
    reply.header('X-Accel-Buffering', 'no'); // tells nginx to forward events at once
    return new StreamedText(events, streamAnnotationEvents.response);
  });
}

/** Routes about the annotations of several slides. */
function slideRoutes(app: FastifyInstance, { annotatedSlides }: AnnotationServices): void {
  // Returns the slides whose annotations changed last, not the annotations.
  serve(app, listRecentAnnotations, async ({ caller, translate }) => ({
    slides: await annotatedSlides.recent(caller.user, translate),
  }));

  serve(app, countAnnotations, async ({ query, caller }) => ({
    counts: await annotatedSlides.count(caller.user, query.images.split(',')),
  }));
}

function layerRoutes(
  app: FastifyInstance,
  { annotationLayers: layers, shareLinkAnnotations }: AnnotationServices,
): void {
  serve(app, listAnnotationLayers, async ({ params, query, caller, translate }) => {
    const onlyDeleted = query.deleted === 'true';
    if ('user' in caller)
      return { layers: await layers.list(caller.user, params.imageId, onlyDeleted, translate) };
    // With `onlyDeleted` this call is needed, too: it checks the access of the visitor, who never sees deleted layers.
    const sharedLayers = await shareLinkAnnotations.layers(caller, params.imageId, translate);
    return { layers: onlyDeleted ? [] : sharedLayers };
  });

  serve(app, createAnnotationLayer, (request) =>
    layers.create(
      actorOf(request),
      request.params.imageId,
      { ...request.body, source: request.body.source ?? (request.caller.apiToken ? 'api' : 'manual') },
      request.translate,
    ),
  );

  serve(app, updateAnnotationLayer, (request) =>
    layers.update(actorOf(request), request.params.layerId, request.body, request.translate),
  );

  serve(app, deleteAnnotationLayer, (request) => layers.remove(actorOf(request), request.params.layerId));

  serve(app, restoreAnnotationLayer, (request) =>
    layers.restore(actorOf(request), request.params.layerId, request.translate),
  );
}
