/**
 * Endpoints of IIIF (International Image Interoperability Framework) for other viewers: the Image API 3.0 and the
 * Presentation API 3.0. The server serves them below `/iiif` and below the API base.
 *
 * Each resource has two URLs. One requires a bearer token. The other contains an image session as a segment of its path, because
 * viewers load images through HTML elements, which send no headers. The session may belong to a share link. Logs never contain
 * the segment.
 */
import { type Endpoint, endpoint } from './endpoint.ts';

const common = {
  method: 'GET',
  defaultMessageLanguage: 'en',
  status: 200,
  cors: 'any',
} as const satisfies Partial<Endpoint>;
const withToken = { ...common, access: 'image.view', apiTokenScope: 'slides:read' } as const;
const withSession = { ...common, access: 'image-session', allowsVisitors: true } as const;

const jsonLd = 'application/ld+json';
const documentedJsonLd = {
  responses: {
    200: {
      description: 'JSON-LD for a request whose header Accept names `application/ld+json`, otherwise JSON',
      content: { 'application/json': null, [jsonLd]: null },
    },
  },
} as const;
const pixelErrors = ['not_found', 'slide_corrupt', 'unavailable', 'storage_timeout'] as const;

/** The response is a redirect; `status` and `response` are those of the image information to which it leads. */
const redirect = {
  summary: 'IIIF: redirect to the image information',
  response: jsonLd,
  documented: {
    responses: {
      // OpenAPI tools expect a 2XX response, and a client that follows the redirect gets this one.
      200: documentedJsonLd.responses[200],
      303: { description: 'Redirect', headers: { Location: 'URL of the image information' } },
    },
  },
  errors: [],
} as const;
const information = {
  hasEtag: true,
  summary: 'IIIF: image information',
  response: jsonLd,
  documented: documentedJsonLd,
  errors: pixelErrors,
} as const;
const pixels = {
  hasEtag: true,
  summary: 'IIIF: a region of the slide in any size',
  response: 'image/jpeg',
  documented: {
    responses: {
      200: {
        description: 'The image in the format that the path names',
        content: { 'image/jpeg': null, 'image/png': null },
      },
    },
  },
  errors: pixelErrors,
} as const;
const manifest = {
  hasEtag: true,
  summary: 'IIIF: manifest of a slide',
  response: jsonLd,
  documented: documentedJsonLd,
  errors: pixelErrors,
} as const;
const caseManifest = {
  hasEtag: true,
  summary: 'IIIF: the slides of a case as a collection of manifests',
  response: jsonLd,
  documented: documentedJsonLd,
  errors: ['not_found'],
} as const;
const collectionManifest = {
  hasEtag: true,
  summary: 'IIIF: the slides and cases of a collection as a collection of manifests',
  response: jsonLd,
  documented: documentedJsonLd,
  errors: ['not_found'],
} as const;

export const iiifBase = endpoint({ ...withToken, ...redirect, path: '/iiif/image/:imageId' });
export const iiifInformation = endpoint({
  ...withToken,
  ...information,
  path: '/iiif/image/:imageId/info.json',
});
/** The Image API defines `region`, `size`, `rotation` and `quality`; the last one has the form `{quality}.{format}`. */
export const iiifImage = endpoint({
  ...withToken,
  ...pixels,
  isTile: true, // `iiifSessionImage` needs no `isTile`, which concerns bearer tokens only
  path: '/iiif/image/:imageId/:region/:size/:rotation/:quality',
});
export const iiifManifest = endpoint({ ...withToken, ...manifest, path: '/iiif/manifest/:imageId' });
/** The response contains only the slides that the caller may view. */
export const iiifCaseManifest = endpoint({
  ...withToken,
  ...caseManifest,
  path: '/iiif/manifest/case/:caseId',
});
/** The response contains only the slides that the caller may view, because a collection gives no right to view a slide. */
export const iiifCollectionManifest = endpoint({
  ...withToken,
  ...collectionManifest,
  path: '/iiif/manifest/collection/:collectionId',
});

export const iiifSessionBase = endpoint({
  ...withSession,
  ...redirect,
  path: '/iiif/session/:sessionId/image/:imageId',
});
export const iiifSessionInformation = endpoint({
  ...withSession,
  ...information,
  path: '/iiif/session/:sessionId/image/:imageId/info.json',
});
export const iiifSessionImage = endpoint({
  ...withSession,
  ...pixels,
  path: '/iiif/session/:sessionId/image/:imageId/:region/:size/:rotation/:quality',
});
export const iiifSessionManifest = endpoint({
  ...withSession,
  ...manifest,
  path: '/iiif/session/:sessionId/manifest/:imageId',
});
export const iiifSessionCaseManifest = endpoint({
  ...withSession,
  ...caseManifest,
  path: '/iiif/session/:sessionId/manifest/case/:caseId',
});
export const iiifSessionCollectionManifest = endpoint({
  ...withSession,
  ...collectionManifest,
  path: '/iiif/session/:sessionId/manifest/collection/:collectionId',
});
