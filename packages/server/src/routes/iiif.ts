/**
 * Routes of IIIF, the International Image Interoperability Framework (Image API 3.0 and Presentation API 3.0). Each route exists twice:
 * for requests with a bearer token, whose caller has a `user`, and for requests with an image session in the path, whose caller is that
 * session. An image session is the credential with which a viewer loads pixels.
 */
import { createHash } from 'node:crypto';
import {
  AppError,
  iiifBase,
  iiifCaseManifest,
  iiifCollectionManifest,
  iiifImage,
  iiifInformation,
  iiifManifest,
  iiifSessionBase,
  iiifSessionCaseManifest,
  iiifSessionCollectionManifest,
  iiifSessionImage,
  iiifSessionInformation,
  iiifSessionManifest,
} from '@lamina/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Origin } from '../audit/audit-recorder.ts';
import {
  bearerCacheControl,
  cacheControlOf,
  type ImageSession,
  mayViewImage,
  type PixelSource,
} from '../domain/image-session.ts';
import { mediaRangesOf } from '../domain/media-ranges.ts';
import type { Caller } from '../http/caller.ts';
import { publicBaseOf, publicPathOf } from '../http/public-base.ts';
import type { Bytes } from '../http/send-bytes.ts';
import { Redirect, serve } from '../http/serve.ts';
import type { CollectionUrls, ManifestReader } from '../iiif/collection-manifests.ts';
import type { ServedJson } from '../iiif/iiif.ts';
import type { ImageParameters } from '../iiif/image-request.ts';
import type { Services } from '../services.ts';
import type { TileClient } from '../tiles/render-source.ts';
import { SessionClient } from '../tiles/session-client.ts';
import type { ServableImage } from '../tiles/slides.ts';

type IiifServices = Pick<
  Services,
  | 'config'
  | 'catalogue'
  | 'iiif'
  | 'collectionManifests'
  | 'imageOpenings'
  | 'recheckAccess'
  | 'apiTokens'
  | 'bearerSessions'
  | 'signIn'
  | 'now'
>;

/** A request to any of the routes. The session id is undefined when the request has a bearer token. */
interface AnyRequest {
  readonly params: { readonly sessionId?: string };
  readonly caller: Caller | ImageSession;
  readonly origin: Origin; // client and request id, for audit events
  readonly signal: AbortSignal;
  readonly reply: FastifyReply;
}

/** A request about one image. */
interface ImageRequest extends AnyRequest {
  readonly params: { readonly imageId: string; readonly sessionId?: string };
}

const contexts = {
  image: 'http://iiif.io/api/image/3/context.json',
  manifest: 'http://iiif.io/api/presentation/3/context.json',
} as const;

/** The function is long because all routes inside share the services. */
export function iiifRoutes(app: FastifyInstance, services: IiifServices): void {
  const { config, catalogue, iiif, collectionManifests, imageOpenings, recheckAccess, now } = services;
  const { apiTokens, bearerSessions, signIn } = services;

  /** Returns the image session of the request, or the one that belongs to its sign-in or its API token. */
  async function sessionOf({ caller, origin, reply }: ImageRequest): Promise<ImageSession> {
    if (!('user' in caller)) return caller;
    const { apiToken } = caller;
    // For a sign-in, the id of the session is computed from the token in the headers. The first request opens the session.
    return apiToken === undefined
      ? bearerSessions.sessionOf(caller, { rawHeaders: reply.request.raw.rawHeaders, origin })
      : apiTokens.pixelSessionOf({ ...caller, apiToken });
  }

  /** Returns Cache-Control. A browser may reuse a response only if its URL contains the image session, so that no other user gets it. */
  const cacheControlFor = ({ params }: ImageRequest, session: ImageSession) =>
    params.sessionId === undefined ? bearerCacheControl : cacheControlOf(session, now());

  /** Returns the image and the caller's session. @throws AppError not_found, also for an image that the caller may not view */
  async function openImage(request: ImageRequest): Promise<{ session: ImageSession; image: ServableImage }> {
    const session = await sessionOf(request);
    const image = await catalogue.servable(request.params.imageId);
    if (image === null || !mayViewImage(session, image)) throw new AppError('not_found');
    return { session, image };
  }

  /**
   * Returns the base URL of all IIIF URLs in a response. As the URL of the request does or does not, it contains the API base (`/api/v1`)
   * and the image session.
   */
  const serviceUrlOf = (request: AnyRequest) =>
    publicBaseOf(request.reply.request, config) + servicePathOf(request);

  /** Returns the part of `serviceUrlOf` after the base URL of the server. */
  function servicePathOf({ params }: AnyRequest): string {
    const session = params.sessionId === undefined ? '' : `/session/${params.sessionId}`;
    return `/iiif${session}`;
  }

  const urlOf = (request: ImageRequest, kind: 'image' | 'manifest') =>
    `${serviceUrlOf(request)}/${kind}/${request.params.imageId}`;

  /**
   * Returns a document as JSON-LD for a client that accepts this type by its name and does not prefer JSON, otherwise as JSON; the ETag
   * then has the suffix `-json`.
   */
  function jsonLd(
    { reply }: AnyRequest,
    context: string,
    { json, etag }: ServedJson,
    cacheControl: string,
  ): Bytes {
    const ranges = mediaRangesOf(reply.request.headers.accept) ?? [];
    const qualityOf = (type: string) => ranges.find((range) => range.type === type)?.quality ?? 0;
    const linkedDataQuality = qualityOf('application/ld+json');
    const isLinkedData = linkedDataQuality > 0 && linkedDataQuality >= qualityOf('application/json');
    reply.header('Vary', 'Accept');
    return {
      bytes: Buffer.from(JSON.stringify(json)), // not a string, because Fastify would add a charset to the content type
      type: isLinkedData ? `application/ld+json;profile="${context}"` : 'application/json; charset=utf-8',
      etag: isLinkedData ? etag : `${etag.slice(0, -1)}-json"`,
      cacheControl,
    };
  }

  /**
   * Responds with the document about one slide that `createDocument` returns. The audit log records that the slide was
   * opened. The `client` of `createDocument` tells the render queue who requests, and when to abort.
   */
  async function slideDocument(
    request: ImageRequest,
    context: string,
    createDocument: (image: ServableImage, client: TileClient, session: ImageSession) => Promise<ServedJson>,
  ): Promise<Bytes> {
    const { session, image } = await openImage(request);
    const document = await createDocument(image, new SessionClient(session, request), session);
    await imageOpenings.record(session, image, 'descriptor', request.origin); // records nothing if this session has opened the image
    return jsonLd(request, context, document, cacheControlFor(request, session));
  }

  /**
   * Returns the account or the visitor of a share link that reads a list of manifests. The list contains what this reader may see.
   *
   * @throws AppError session_invalid when the sign-in that created the image session has ended
   */
  async function readerOf({ caller }: AnyRequest): Promise<ManifestReader> {
    if ('user' in caller) return { user: caller.user };
    if (caller.visitor !== null) return { visitor: caller.visitor };
    // `tokenHash` is null only in the session of a visitor.
    const user = caller.tokenHash === null ? null : await signIn.currentHolder(caller.tokenHash);
    if (user === null) throw new AppError('session_invalid');
    return { user };
  }

  /**
   * Responds with the document of a case or a collection that `createDocument` returns: a list of manifests.
   *
   * @param path path of the document below `manifest/`
   */
  async function listDocument(
    request: AnyRequest,
    path: string,
    createDocument: (reader: ManifestReader, urls: CollectionUrls) => Promise<object>,
  ): Promise<Bytes> {
    const base = serviceUrlOf(request);
    const json = await createDocument(await readerOf(request), { id: `${base}/manifest/${path}`, base });
    const etag = `"${createHash('sha256').update(JSON.stringify(json)).digest('base64url')}"`;
    return jsonLd(request, contexts.manifest, { json, etag }, 'private, no-cache');
  }

  const information = (request: ImageRequest) =>
    slideDocument(request, contexts.image, (image, client) =>
      iiif.information(image, urlOf(request, 'image'), client),
    );

  const manifest = (request: ImageRequest) =>
    slideDocument(request, contexts.manifest, async (image, client, { visitor }) => {
      const urls = { manifest: urlOf(request, 'manifest'), image: urlOf(request, 'image') };
      // With a label, the manifest contains neither the file name nor the dataset, which visitors must not see.
      const label = visitor === null ? undefined : await collectionManifests.titleFor(visitor, image.id);
      return iiif.manifest(image, urls, client, label);
    });

  const caseManifest = (request: AnyRequest & { readonly params: { readonly caseId: string } }) => {
    const { caseId } = request.params;
    return listDocument(request, `case/${encodeURIComponent(caseId)}`, (reader, urls) =>
      collectionManifests.ofCase(reader, caseId, urls),
    );
  };

  const collectionManifest = (
    request: AnyRequest & { readonly params: { readonly collectionId: string } },
  ) => {
    const { collectionId } = request.params;
    return listDocument(request, `collection/${encodeURIComponent(collectionId)}`, (reader, urls) =>
      collectionManifests.ofCollection(reader, collectionId, urls),
    );
  };

  async function pixels(request: ImageRequest & { readonly params: ImageParameters }): Promise<Bytes> {
    const { session, image } = await openImage(request);
    const { bytes, etag, type } = await iiif.image(
      image,
      request.params,
      new SessionClient(session, request),
    );
    await recheckAccess(session, image.id); // the image may have waited for a render worker
    const source: PixelSource = 'tile'; // in the audit log, IIIF images count as tiles
    if (!imageOpenings.isRecorded(session, image.id, source)) {
      await imageOpenings.record(session, image, source, request.origin);
    }
    request.reply.header('Link', '<http://iiif.io/api/image/3/level2.json>;rel="profile"');
    return { bytes, type, etag, cacheControl: cacheControlFor(request, session) };
  }

  async function redirectToInformation(request: ImageRequest): Promise<Redirect> {
    await openImage(request);
    // The redirect contains only the path, which may contain an image session. With the host that the request names, a forged Host
    // header could send the session to another server.
    const servicePath = publicPathOf(request.reply.request, config) + servicePathOf(request);
    return new Redirect(`${servicePath}/image/${request.params.imageId}/info.json`);
  }

  serve(app, iiifBase, redirectToInformation);
  serve(app, iiifInformation, information);
  serve(app, iiifImage, pixels);
  serve(app, iiifManifest, manifest);
  serve(app, iiifCaseManifest, caseManifest);
  serve(app, iiifCollectionManifest, collectionManifest);
  serve(app, iiifSessionBase, redirectToInformation);
  serve(app, iiifSessionInformation, information);
  serve(app, iiifSessionImage, pixels);
  serve(app, iiifSessionManifest, manifest);
  serve(app, iiifSessionCaseManifest, caseManifest);
  serve(app, iiifSessionCollectionManifest, collectionManifest);
}
