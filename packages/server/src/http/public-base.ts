/** Determines the URLs of the server for its own documents, and maps the short addresses of IIIF and DICOMweb to the API. */
import type { IncomingMessage } from 'node:http';
import { apiBase } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../platform/config.ts';

/** Matches paths that are answered at the root of the server as well as below the API base. */
const protocols = /^\/(?:iiif|dicom-web)(?:[/?]|$)/;

/** Returns the URL of a request for the router: a short address gets the API base as prefix. */
export function routedUrl({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return protocols.test(url) ? apiBase + url : url;
}

/** Returns the base URL in the form that the client used: with or without the API base. */
export function publicBaseOf(request: FastifyRequest, { publicUrl }: Pick<Config, 'publicUrl'>): string {
  const origin = publicUrl ?? `${request.protocol}://${request.host}`;
  return request.originalUrl.startsWith(`${apiBase}/`) ? origin + apiBase : origin;
}
