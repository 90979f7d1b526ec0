/**
 * Routes of DICOMweb (DICOM PS3.18): search, metadata, frames, thumbnails and ICC profiles. A slide is a study with one series, each
 * level that the file stores as JPEG or JPEG 2000 is an instance, and each tile of a level is a frame (dicomweb/dicomweb.ts).
 *
 * Requests have a bearer token, or for frames an image session, the credential with which a viewer loads pixels. Access to pixels is
 * always decided for an image session, so the server also has one for each sign-in and each API token (`sessionOf`).
 */
import { createHash } from 'node:crypto';
import {
  AppError,
  getFrames,
  getIccProfile,
  getInstanceMetadata,
  getInstanceThumbnail,
  getSeriesMetadata,
  getSeriesThumbnail,
  getStudyMetadata,
  getStudyThumbnail,
  searchInstances,
  searchInstancesOfSeries,
  searchInstancesOfStudy,
  searchSeries,
  searchSeriesOfStudy,
  searchStudies,
} from '@lamina/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Origin } from '../audit/audit-recorder.ts';
import { bulkFormOf, formNameOf, requireJpeg, requireJson } from '../dicomweb/accept.ts';
import { type JsonDataSet, stringifyDataSets } from '../dicomweb/attributes.ts';
import {
  type OpenedStudy,
  type RequestedUids,
  type SearchLevel,
  searchableTagsOf,
} from '../dicomweb/dicomweb.ts';
import { multipartOf, wholeBody } from '../dicomweb/resolve-frames.ts';
import { moreResultsWarning, parseSearch } from '../dicomweb/search-query.ts';
import {
  bearerCacheControl,
  type ImageSession,
  mayViewImage,
  type PixelSource,
  requesterOf,
} from '../domain/image-session.ts';
import type { Caller } from '../http/caller.ts';
import { publicBaseOf } from '../http/public-base.ts';
import { refusedTileOf } from '../http/refused-tiles.ts';
import type { Bytes } from '../http/send-bytes.ts';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { framesVary } from './frame-fast-path.ts';

type DicomWebServices = Pick<
  Services,
  | 'config'
  | 'catalogue'
  | 'dicomWeb'
  | 'frames'
  | 'slides'
  | 'imageOpenings'
  | 'recheckAccess'
  | 'apiTokens'
  | 'bearerSessions'
>;

/** A request of any of the routes. Its `caller` is an account, whose `user` is set, or an image session. */
interface DicomWebRequest {
  readonly params: RequestedUids;
  readonly caller: Caller | ImageSession;
  readonly origin: Origin; // client and request id, for audit events
  readonly signal: AbortSignal;
  readonly reply: FastifyReply;
}

const dicomJson = 'application/dicom+json';
const maxCachedTimes = 10_000;

/** The function is long because all routes inside share the services. */
export function dicomWebRoutes(app: FastifyInstance, services: DicomWebServices): void {
  const { config, catalogue, dicomWeb, frames, slides, imageOpenings, recheckAccess } = services;
  const { apiTokens, bearerSessions } = services;

  /** Returns the base URL of the links in a response: with the API base only if the URL of the request contains it. */
  const baseUrlOf = ({ reply }: Pick<DicomWebRequest, 'reply'>) =>
    `${publicBaseOf(reply.request, config)}/dicom-web`;
  const acceptOf = ({ reply }: Pick<DicomWebRequest, 'reply'>) => reply.request.headers.accept;

  /** Returns the image session of the request, or the one that belongs to its sign-in or its API token. */
  async function sessionOf({
    caller,
    origin,
    reply,
  }: Pick<DicomWebRequest, 'caller' | 'origin' | 'reply'>): Promise<ImageSession> {
    if (!('user' in caller)) return caller;
    const { apiToken } = caller;
    // For a sign-in, the id of the session is computed from the token in the headers. The first request opens the session.
    return apiToken === undefined
      ? bearerSessions.sessionOf(caller, { rawHeaders: reply.request.raw.rawHeaders, origin })
      : apiTokens.pixelSessionOf({ ...caller, apiToken });
  }

  /** Opens the study of a request. @throws AppError not_found, also for a slide that the caller may not see */
  async function openStudy(request: DicomWebRequest): Promise<OpenedStudy & { session: ImageSession }> {
    const { params, caller } = request;
    const imageId = dicomWeb.imageIdOf(params);
    const session = await sessionOf(request);
    const image = await catalogue.servable(imageId);
    if (image === null || !mayViewImage(session, image)) throw new AppError('not_found');
    return {
      ...(await dicomWeb.open(image, await createdAtOf(imageId, caller), requesterOf(session))),
      session,
    };
  }

  /** Creation times of catalogue entries by image id, for the dates in the metadata. They never change, so no entry becomes outdated. */
  const createdAtByImage = new Map<string, string>();
  async function createdAtOf(imageId: string, caller: DicomWebRequest['caller']): Promise<string> {
    const cached = createdAtByImage.get(imageId);
    if (cached !== undefined) return cached;
    // Cannot happen: only requests for frames may have an image session instead of an account, and they do not call
    // this function.
    if (!('user' in caller)) return '';
    const { created_at } = await catalogue.get(imageId, caller.user);
    if (createdAtByImage.size >= maxCachedTimes) createdAtByImage.clear(); // bounds the memory
    createdAtByImage.set(imageId, created_at);
    return created_at;
  }

  /** Records once for each source that the session has opened the image. For metadata and ICC profiles the source is `descriptor`. */
  async function recordOpening(
    request: DicomWebRequest,
    { image, session }: Awaited<ReturnType<typeof openStudy>>,
    source: PixelSource,
  ) {
    if (imageOpenings.isRecorded(session, image.id, source)) return;
    await imageOpenings.record(session, image, source, request.origin);
  }

  function jsonResponse(dataSets: readonly JsonDataSet[]): Bytes {
    const bytes = Buffer.from(stringifyDataSets(dataSets));
    const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
    return { bytes, type: dicomJson, etag, cacheControl: 'private, no-cache' };
  }

  function search(level: SearchLevel) {
    const searchableTags = searchableTagsOf(level);
    return async function sendMatches(
      request: DicomWebRequest & { readonly caller: Caller; readonly query: Record<string, unknown> },
    ): Promise<Bytes> {
      requireJson(acceptOf(request));
      const { session: _, ...attributes } = request.query; // an image session is not a DICOM attribute
      const query = parseSearch(attributes, searchableTags);
      const session = await sessionOf(request);
      const context = {
        user: request.caller.user,
        requester: requesterOf(session), // account and session, among which the render queue divides its capacity
        base: baseUrlOf(request),
        signal: request.signal,
      };
      const { results, hasMore } = await dicomWeb.search(level, query, request.params, context);
      // 299: miscellaneous persistent warning (RFC 7234 section 5.5.7)
      const warnings = [...query.warnings, ...(hasMore ? [moreResultsWarning] : [])];
      if (warnings.length > 0) {
        request.reply.header('Warning', warnings.map((sentence) => `299 - "${sentence}"`).join(', '));
      }
      return jsonResponse(results);
    };
  }

  async function metadata(request: DicomWebRequest): Promise<Bytes> {
    requireJson(acceptOf(request));
    const study = await openStudy(request);
    const dataSets = dicomWeb.metadata(study, request.params, baseUrlOf(request));
    await recordOpening(request, study, 'descriptor');
    return jsonResponse(dataSets);
  }

  async function thumbnail(request: DicomWebRequest): Promise<Bytes> {
    requireJpeg(acceptOf(request));
    const study = await openStudy(request);
    const baseUrl = ''; // not used, because the call only checks the path: it throws not_found for an unknown series or instance
    dicomWeb.metadata(study, request.params, baseUrl);
    const jpeg = await slides.thumbnail(study.image, request.signal, requesterOf(study.session));
    await recheckAccess(study.session, study.image.id); // the thumbnail may have waited for a render worker
    await recordOpening(request, study, 'thumbnail');
    return { ...jpeg, type: 'image/jpeg', cacheControl: bearerCacheControl };
  }

  serve(app, searchStudies, search('study'));
  serve(app, searchSeries, search('series'));
  serve(app, searchInstances, search('instance'));
  serve(app, searchSeriesOfStudy, search('series'));
  serve(app, searchInstancesOfStudy, search('instance'));
  serve(app, searchInstancesOfSeries, search('instance'));
  serve(app, getStudyMetadata, metadata);
  serve(app, getSeriesMetadata, metadata);
  serve(app, getInstanceMetadata, metadata);
  serve(app, getStudyThumbnail, thumbnail);
  serve(app, getSeriesThumbnail, thumbnail);
  serve(app, getInstanceThumbnail, thumbnail);

  // The fast path in front of Fastify (frame-fast-path.ts) answers most requests for one frame. This route answers all other requests,
  // and sends the error response when the fast path has rejected a request. Both use `frames.resolve`, which checks the request.
  serve(app, getFrames, async (request) => {
    const refusedRequest = refusedTileOf(request.reply.request.raw);
    if (refusedRequest !== undefined) throw refusedRequest.error;
    const resolved = await frames.resolve(await sessionOf(request), {
      params: request.params,
      accept: acceptOf(request),
      origin: request.origin,
      // A getter, because `serve` creates the signal when it is first read, and most requests do not need it.
      get signal() {
        return request.signal;
      },
    });
    request.reply.header('Vary', framesVary);
    const { type, etag } = resolved;
    return { bytes: wholeBody(resolved), type, etag, cacheControl: bearerCacheControl };
  });

  serve(app, getIccProfile, async (request) => {
    const study = await openStudy(request);
    const { bytes, etag } = await dicomWeb.iccProfile(study, request.params, requesterOf(study.session));
    const types = ['application/octet-stream', 'application/vnd.iccprofile'];
    // The form is the content type, and whether the body is multipart. `transferSyntax` (the encoding of pixels) is null, because a
    // profile is not a frame. `mayBeSingle` allows a response without a multipart body.
    const form = bulkFormOf(acceptOf(request), { types, transferSyntax: null, mayBeSingle: true });
    await recordOpening(request, study, 'descriptor');
    request.reply.header('Vary', 'Origin, Accept');
    const response = {
      etag: `${etag.slice(0, -1)}-${formNameOf(form)}"`, // the suffix precedes the closing quote of the ETag
      cacheControl: bearerCacheControl,
    };
    if (!form.isMultipart) return { bytes, type: form.type, ...response };
    const multipart = multipartOf(form.type, { bytes: Buffer.from(bytes), type: form.type });
    return { bytes: wholeBody(multipart), type: multipart.type, ...response };
  });
}
