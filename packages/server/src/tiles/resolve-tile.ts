/**
 * Decides how a tile request is answered. Its two callers only write the response: the Fastify route (routes/tiles.ts) and the fast
 * path in front of Fastify (routes/tile-fast-path.ts).
 *
 * Order of the checks, with the status of the response when a check fails:
 * 1. `authorize` checks the image session (the credential for pixels), its cookie, and the bearer token if one is sent
 *    (401; 503 while the database is unavailable). Without a session, it checks an API token, which needs the scope
 *    slides:read (401, 403, 429).
 * 2. `resolve` checks that level, column and row are well-formed, that the image exists, and that the session may open
 *    the image (404).
 * 3. `resolve` checks that the tile exists (404), compares If-None-Match (304 without bytes if equal), and otherwise
 *    gets the tile (503 when the render queue is full).
 * 4. If the tile was rendered or the request has waited, `resolve` checks session and rights again (401, 404), because they may have
 *    been revoked during the wait. A native tile costs no second check.
 * 5. `resolve` waits until the audit log records that this session opened the image, before any pixel is sent. In a
 *    short outage of the database, audit/image-openings.ts records the event afterwards.
 * 6. `resolve` computes Cache-Control from the remaining lifetime of the session.
 */
import { AppError } from '@lamina/contract';
import type { BufferAllocator, TileColour } from '@lamina/slide';
import type { Origin } from '../audit/audit-recorder.ts';
import type { ImageOpenings } from '../audit/image-openings.ts';
import { cacheControlOf, type ImageSession, mayViewImage } from '../domain/image-session.ts';
import { tileNameOf } from '../domain/tile-name.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PixelAccess } from '../sessions/pixel-access.ts';
import { type RecheckAccess, recheckAfterMs } from './recheck-access.ts';
import { SessionClient } from './session-client.ts';
import type { ServableImage, ServedTile, Slides } from './slides.ts';

export interface TileRequest {
  readonly imageId: string;
  /** Deep Zoom level exactly as in the path, for example `12`. */
  readonly dziLevel: string;
  /** File name of the tile exactly as in the path: column, row and ending, for example `3_4.jpg`. */
  readonly tile: string;
  /** Default: `scanned`, the colours of the file. */
  readonly colour?: TileColour | undefined;
  readonly knownTag: string | undefined; // If-None-Match header
  /** Allocates the memory into which a tile is read from the slide file or from the cache. */
  readonly allocate?: BufferAllocator;
  /** Client address and request id for the audit event. Read only for the first tile of an image in a session, so it may be a getter. */
  readonly origin: Origin;
  /** Aborted when the client disconnects. Read only when the tile has to be rendered or fetched, so it may be a getter. */
  readonly signal: AbortSignal;
}

/** A tile to send: 200 with `bytes`, or 304 when `bytes` is null. */
export type ResolvedTile = ServedTile & { readonly cacheControl: string };

/** `authorize` (of PixelAccess) checks the access of a request; `resolve` returns its tile. */
export interface TileResolver extends PixelAccess {
  /**
   * @param session the result of `authorize` for this request
   * @throws AppError not_found, session_invalid, unavailable; SlideError
   */
  resolve(session: ImageSession, request: TileRequest): Promise<ResolvedTile>;
}

interface TileResolverDependencies {
  readonly pixelAccess: PixelAccess;
  readonly catalogue: { servable(imageId: string): ServableImage | null | Promise<ServableImage | null> };
  readonly slides: Pick<Slides, 'tile'>;
  readonly imageOpenings: Pick<ImageOpenings, 'isRecorded' | 'record'>;
  readonly recheckAccess: RecheckAccess;
  readonly metrics: Pick<Metrics, 'tiles'>;
  readonly now: () => Date;
}

export function createTileResolver({
  pixelAccess,
  catalogue,
  slides,
  imageOpenings,
  recheckAccess,
  metrics,
  now,
}: TileResolverDependencies): TileResolver {
  return {
    authorize: pixelAccess.authorize,

    async resolve(session, request) {
      const startedAt = performance.now();
      const address = tileNameOf(request.dziLevel, request.tile);
      if (address === null) throw new AppError('not_found');
      const imageLookup = catalogue.servable(request.imageId);
      const image = imageLookup instanceof Promise ? await imageLookup : imageLookup;
      // The same error for both cases, so that the response does not reveal whether the image exists.
      if (image === null || !mayViewImage(session, image)) throw new AppError('not_found');
      const { colour, knownTag, allocate } = request;
      const served = await slides.tile(
        image,
        { address, colour, knownTag, allocate },
        new SessionClient(session, request),
      );
      // A rendered tile ('made') has waited for a render worker. Any other tile may have waited for the storage, or for the slide to open.
      if (served.source === 'made' || performance.now() - startedAt > recheckAfterMs) {
        await recheckAccess(session, image.id);
      }
      // 'tile' counts as a view in the viewer; a thumbnail would not.
      if (!imageOpenings.isRecorded(session, image.id, 'tile')) {
        await imageOpenings.record(session, image, 'tile', request.origin);
      }
      metrics.tiles.add(served.source, performance.now() - startedAt);
      return { ...served, cacheControl: cacheControlOf(session, now()) };
    },
  };
}
