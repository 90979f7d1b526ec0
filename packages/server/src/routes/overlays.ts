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
import { cacheControlOf, type ImageSession } from '../domain/image-session.ts';
import { chooseEncoding } from '../http/gzip-response.ts';
import type { Bytes } from '../http/send-bytes.ts';
import { serve } from '../http/serve.ts';
import type { VectorPart } from '../results/overlays.ts';
import type { Services } from '../services.ts';

export function overlayRoutes(
  app: FastifyInstance,
  { overlays, imageOpenings, now }: Pick<Services, 'overlays' | 'imageOpenings' | 'now'>,
): void {
  serve(app, getOverlayDescriptor, async ({ params, caller, origin }) => {
    const overlay = await overlays.find(caller, params.layerId);
    const descriptor = await overlays.describe(overlay);
    await imageOpenings.record(caller, overlay.image, 'descriptor', origin);
    return descriptor;
  });

  // `z`: level, 0 is the smallest; `tile`: column and row of the tile, for example `3_4.png`.
  serve(app, getOverlayTile, async ({ params, caller, origin, reply }) => {
    const overlay = await overlays.find(caller, params.layerId);
    const etag = etagOf(params.layerId, params.z, params.tile);
    const isKnown = reply.request.headers['if-none-match'] === etag;
    const bytes = isKnown ? null : await overlays.tile(overlay, params.z, params.tile); // null: the response is 304
    await imageOpenings.record(caller, overlay.image, 'tile', origin);
    return { bytes, type: getOverlayTile.response, etag, cacheControl: cacheControlOf(caller, now()) };
  });

  serve(app, getOverlayValue, async ({ params, query, caller }) => {
    const overlay = await overlays.find(caller, params.layerId);
    return { value: await overlays.value(overlay, query.x, query.y) };
  });

  serve(app, countOverlayObjects, async ({ params, query, caller }) => {
    const overlay = await overlays.find(caller, params.layerId);
    return { classes: await overlays.counts(overlay, query.bbox) };
  });

  serve(app, pickOverlayObject, async ({ params, query, caller }) => {
    const overlay = await overlays.find(caller, params.layerId);
    return { object: await overlays.pick(overlay, query.x, query.y, query.tolerance) }; // x, y, tolerance: pixels of level 0
  });

  /** Sends a binary part of a vector layer (a layer of objects), with gzip if it is stored with gzip and the client accepts that. */
  async function sendPart(
    { layerId }: { readonly layerId: string },
    caller: ImageSession,
    reply: FastifyReply,
    part: VectorPart,
  ): Promise<Bytes> {
    const overlay = await overlays.find(caller, layerId);
    const { bytes, isGzip } = await overlays.part(overlay, part);
    const etag = etagOf(layerId, ...Object.values(part).map(String));
    // All parts have the same content type.
    const response = { type: getOverlayBlock.response, cacheControl: cacheControlOf(caller, now()) };
    if (!isGzip) return { ...response, bytes, etag };
    return { ...response, ...(await chooseEncoding(reply, { gzip: bytes, etag })) };
  }

  serve(app, getOverlayIndex, ({ params, caller, reply }) =>
    sendPart(params, caller, reply, { kind: 'index' }),
  );

  serve(app, getOverlayBlock, ({ params, caller, reply }) =>
    sendPart(params, caller, reply, { kind: 'block', number: params.block }),
  );

  serve(app, getOverlayCenters, ({ params, query: { first, count }, caller, reply }) =>
    sendPart(params, caller, reply, { kind: 'centers', first, count }),
  );

  // `column` is the number of a measurement; `first` and `count` select objects, as for the centers.
  serve(app, getOverlayMeasurement, ({ params, query: { first, count }, caller, reply }) =>
    sendPart(params, caller, reply, { kind: 'measurement', column: params.column, first, count }),
  );

  serve(app, getOverlayDensity, ({ params, caller, reply }) =>
    sendPart(params, caller, reply, { kind: 'density', level: params.level, class: params.class }),
  );
}

/**
 * Returns an ETag that consists of the identifiers of the content: the layer id, and the values that name the tile or part. It needs no
 * hash of the content, because the content of a result layer never changes.
 */
function etagOf(...identifiers: readonly string[]): string {
  return `"${identifiers.map((identifier) => identifier.replaceAll(/[^\w.-]/g, '')).join('-')}"`;
}
