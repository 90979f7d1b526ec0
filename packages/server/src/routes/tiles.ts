/**
 * Routes that send the Deep Zoom descriptor, colour table, thumbnail and tiles of a slide. The caller is an image session (`?session=`),
 * the credential with which a viewer loads pixels, or an API token, which acts as one.
 */
import { AppError, getColourTable, getDescriptor, getThumbnail, getTile } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { cacheControlOf, type ImageSession, mayViewImage, requesterOf } from '../domain/image-session.ts';
import { chooseEncoding } from '../http/gzip-response.ts';
import { refusedTileOf } from '../http/refused-tiles.ts';
import type { Bytes } from '../http/send-bytes.ts';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import type { ServableImage, ServedBytes } from '../tiles/slides.ts';

type TileServices = Pick<
  Services,
  'catalogue' | 'slides' | 'imageOpenings' | 'recheckAccess' | 'tiles' | 'now'
>;

export function tileRoutes(
  app: FastifyInstance,
  { catalogue, slides, imageOpenings, recheckAccess, tiles, now }: TileServices,
): void {
  /** Returns an image that the session may view. @throws AppError not_found, also for an image that it may not view */
  async function viewableImage(imageId: string, session: ImageSession): Promise<ServableImage> {
    const image = await catalogue.servable(imageId);
    if (image === null || !mayViewImage(session, image)) throw new AppError('not_found');
    return image;
  }

  const responseOf = (session: ImageSession, type: string, { bytes, etag }: ServedBytes): Bytes => ({
    bytes,
    type,
    etag,
    cacheControl: cacheControlOf(session, now()),
  });

  serve(app, getDescriptor, async ({ params, caller, origin }) => {
    const image = await viewableImage(params.imageId, caller);
    // The render queue takes turns between requesters: accounts and their sessions.
    const descriptor = await slides.descriptor(image, requesterOf(caller));
    await imageOpenings.record(caller, image, 'descriptor', origin); // for the audit log: which pixels the session got
    return responseOf(caller, 'application/xml; charset=utf-8', descriptor);
  });

  serve(app, getColourTable, async ({ params, caller, origin, reply }) => {
    const image = await viewableImage(params.imageId, caller);
    const table = await slides.colourTable(image, requesterOf(caller));
    if (table === null) throw new AppError('not_found'); // the slide has no usable colour profile
    await imageOpenings.record(caller, image, 'colour-table', origin);
    return responseOf(caller, getColourTable.response, await chooseEncoding(reply, table)); // gzip, if the client accepts it
  });

  serve(app, getThumbnail, async ({ params, caller, origin, signal }) => {
    const image = await viewableImage(params.imageId, caller);
    const thumbnail = await slides.thumbnail(image, signal, requesterOf(caller));
    await recheckAccess(caller, image.id); // the thumbnail may have waited for a render worker
    await imageOpenings.record(caller, image, 'thumbnail', origin);
    return responseOf(caller, 'image/jpeg', thumbnail);
  });

  // The fast path in front of Fastify (routes/tile-fast-path.ts) answers most tile requests. This route answers all other requests, and
  // sends the error response when the fast path has rejected a request. Both use `tiles.resolve`, which checks the request.
  serve(app, getTile, async (request) => {
    const { params, query, caller, origin, reply } = request;
    const refusedRequest = refusedTileOf(reply.request.raw);
    if (refusedRequest !== undefined) throw refusedRequest.error;
    const tile = await tiles.resolve(caller, {
      ...params,
      colour: query.colour,
      knownTag: reply.request.headers['if-none-match'],
      origin,
      // A getter, because `serve` creates the signal when it is first read: only for a tile that the server has to render or fetch.
      get signal() {
        return request.signal;
      },
    });
    return { bytes: tile.bytes, type: getTile.response, etag: tile.etag, cacheControl: tile.cacheControl };
  });
}
