/** The base URL for links in IIIF and DICOMweb responses, and the mapping of short paths (`/iiif/…`) to the API. */
import type { IncomingMessage } from 'node:http';
import { apiBase } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../platform/config.ts';

/** Matches the short paths, which the server answers at its root as well as below the API base. */
const shortPath = /^\/(?:iiif|dicom-web)(?:[/?]|$)/;

/** Returns the URL by which Fastify selects the route: a short path gets the API base as prefix. */
export function routedUrl({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return shortPath.test(url) ? apiBase + url : url;
}

/** Returns the base URL for links: with the API base if the client used it in its request, without it for a short path. */
export function publicBaseOf(request: FastifyRequest, { publicUrl }: Pick<Config, 'publicUrl'>): string {
  return (publicUrl ?? `${request.protocol}://${request.host}`) + requestedBaseOf(request);
}

/** Returns the path of `publicBaseOf`. It does not depend on the Host header, which may be no valid host. */
export function publicPathOf(request: FastifyRequest, { publicUrl }: Pick<Config, 'publicUrl'>): string {
  const path = publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  return path + requestedBaseOf(request);
}

/** Returns the API base if the URL of the request contains it; otherwise an empty string. */
function requestedBaseOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.startsWith(`${apiBase}/`) ? apiBase : '';
}
