/** The pixels: descriptor, thumbnail and tiles of a slide, for whoever holds an image session. */
import { AppError, getDescriptor, getThumbnail, getTile } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { type ImageSession, opens, secondsLeft } from '../domain/image-session.ts';
import { tileNameOf } from '../domain/tile-name.ts';
import { type Bytes, mostSecondsKept } from '../http/send-bytes.ts';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import type { ServableImage, ServedBytes } from '../slides/slides.ts';

type TileServices = Pick<Services, 'catalogue' | 'slides' | 'imageSessions' | 'audit' | 'now' | 'metrics'>;

export function tileRoutes(
  app: FastifyInstance,
  { catalogue, slides, imageSessions, audit, now, metrics }: TileServices,
): void {
  /** @throws AppError not_found, also for an image that the session's owner may not see */
  async function imageOf(imageId: string, session: ImageSession): Promise<ServableImage> {
    const found = catalogue.servable(imageId);
    const image = found instanceof Promise ? await found : found;
    if (image === null || !opens(session, image)) throw new AppError('not_found');
    return image;
  }

  const answer = (session: ImageSession, type: string, { bytes, etag }: ServedBytes): Bytes => ({
    bytes,
    type,
    etag,
    maxAgeSeconds: Math.min(secondsLeft(session, now()), mostSecondsKept),
  });

  serve(app, getDescriptor, async ({ params, caller, origin }) => {
    const image = await imageOf(params.imageId, caller);
    const descriptor = await slides.descriptor(image);
    await imageSessions.opened(caller, image.id, (tx) =>
      audit.record(tx, {
        action: 'image-opened',
        actor: caller.uid,
        target: image.id,
        detail: { file_name: image.fileName },
        origin,
      }),
    );
    return answer(caller, 'application/xml; charset=utf-8', descriptor);
  });

  serve(app, getThumbnail, async ({ params, caller, signal }) => {
    const image = await imageOf(params.imageId, caller);
    return answer(caller, 'image/jpeg', await slides.thumbnail(image, signal));
  });

  serve(app, getTile, async (request) => {
    const startedAt = performance.now();
    const { params, caller, reply } = request;
    const name = tileNameOf(params.dziLevel, params.tile);
    if (name === null) throw new AppError('not_found');
    const image = await imageOf(params.imageId, caller);
    const tile = await slides.tile(image, name, request.signal);
    const isKnown = reply.request.headers['if-none-match'] === tile.etag;
    metrics.tile(tile.source, isKnown, performance.now() - startedAt);
    return answer(caller, 'image/jpeg', tile);
  });
}
