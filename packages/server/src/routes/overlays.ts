/**
 * Routes that send overlays: the pieces of result layers (rasters or objects that a program has computed from a slide) that the viewer
 * requests. The caller is an image session, the credential with which a viewer loads pixels, or an API token, which acts as one.
 */
import {
  countOverlayObjects,
  getOverlayBlock,
  getOverlayCenters,
  getOverlayDensity,
  getOverlayDescriptor,
  getOverlayIndex,
  getOverlayMeasurement,
  getOverlayTile,
  getOverlayValue,
  pickOverlayObject,
} from '@lamina/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Origin } from '../audit/audit-recorder.ts';
import { matchesEtag } from '../domain/if-none-match.ts';
import { cacheControlOf, type ImageSession, type PixelSource } from '../domain/image-session.ts';
import { chooseEncoding } from '../http/gzip-response.ts';
import type { Bytes } from '../http/send-bytes.ts';
import { serve } from '../http/serve.ts';
import type { Overlay, VectorPart } from '../results/overlays.ts';
import type { Services } from '../services.ts';

/** A request for a result layer. */
interface OverlayRequest {
  readonly params: { readonly layerId: string };
  readonly caller: ImageSession;
  readonly origin: Origin; // client and request id, for audit events
  readonly reply: FastifyReply;
}

export function overlayRoutes(
  app: FastifyInstance,
  { overlays, imageOpenings, now }: Pick<Services, 'overlays' | 'imageOpenings' | 'now'>,
): void {
  /**
   * Reads from a layer that the caller may see. Before the result is sent, the audit log records that the caller has opened the slide,
   * because the objects of a layer describe the tissue as its pixels do.
   *
   * @throws AppError not_found
   */
  async function readOverlay<T>(
    { params, caller, origin }: OverlayRequest,
    read: (overlay: Overlay) => T | Promise<T>,
    source: PixelSource = 'descriptor',
  ): Promise<T> {
    const overlay = await overlays.find(caller, params.layerId);
    const result = await read(overlay);
    if (!imageOpenings.isRecorded(caller, overlay.image.id, source)) {
      await imageOpenings.record(caller, overlay.image, source, origin);
    }
    return result;
  }

  serve(app, getOverlayDescriptor, (request) =>
    readOverlay(request, (overlay) => overlays.describe(overlay)),
  );

  // `z`: number of the raster level, here counted from the smallest one (0); `tile`: column and row, for example `3_4.png`.
  serve(app, getOverlayTile, async (request) => {
    const { params, caller, reply } = request;
    const etag = etagOf(params.layerId, params.z, params.tile);
    const isKnown = matchesEtag(etag, reply.request.headers['if-none-match']); // the response is then 304
    const bytes = await readOverlay(
      request,
      (overlay) => (isKnown ? null : overlays.tile(overlay, params.z, params.tile)),
      'tile',
    );
    return { bytes, type: getOverlayTile.response, etag, cacheControl: cacheControlOf(caller, now()) };
  });

  serve(app, getOverlayValue, async (request) => {
    const { x, y } = request.query; // pixels of level 0
    return { value: await readOverlay(request, (overlay) => overlays.value(overlay, x, y)) };
  });

  // `bbox`: x0,y0,x1,y1 in pixels of level 0; undefined counts all objects.
  serve(app, countOverlayObjects, async (request) => ({
    classes: await readOverlay(request, (overlay) => overlays.counts(overlay, request.query.bbox)),
  }));

  serve(app, pickOverlayObject, async (request) => {
    const { x, y, tolerance } = request.query; // pixels of level 0
    return { object: await readOverlay(request, (overlay) => overlays.pick(overlay, x, y, tolerance)) };
  });

  /** Sends a binary part of a vector layer (a layer of objects), with gzip if it is stored with gzip and the client accepts that. */
  async function sendPart(request: OverlayRequest, part: VectorPart): Promise<Bytes> {
    const { params, caller, reply } = request;
    const { bytes, isGzip } = await readOverlay(request, (overlay) => overlays.part(overlay, part));
    const etag = etagOf(params.layerId, ...Object.values(part).map(String));
    // All parts have the same content type.
    const response = { type: getOverlayBlock.response, cacheControl: cacheControlOf(caller, now()) };
    if (!isGzip) return { ...response, bytes, etag };
    return { ...response, ...(await chooseEncoding(reply, { gzip: bytes, etag })) };
  }

  serve(app, getOverlayIndex, (request) => sendPart(request, { kind: 'index' }));

  serve(app, getOverlayBlock, (request) =>
    sendPart(request, { kind: 'block', number: request.params.block }),
  );

  serve(app, getOverlayCenters, (request) => {
    const { first, count } = request.query;
    return sendPart(request, { kind: 'centers', first, count });
  });

  // `column` is the number of a measurement; `first` and `count` select objects, as for the centers.
  serve(app, getOverlayMeasurement, (request) => {
    const { first, count } = request.query;
    return sendPart(request, { kind: 'measurement', column: request.params.column, first, count });
  });

  // The number of objects of a class in each cell of a grid; `level` 0 is the finest grid.
  serve(app, getOverlayDensity, (request) =>
    sendPart(request, { kind: 'density', level: request.params.level, class: request.params.class }),
  );
}

/**
 * Returns an ETag that consists of the identifiers of the content: the layer id, and the values that name the tile or part. It needs no
 * hash of the content, because the content of a result layer never changes.
 */
function etagOf(...identifiers: readonly string[]): string {
  return `"${identifiers.map((identifier) => identifier.replaceAll(/[^\w.-]/g, '')).join('-')}"`;
}
