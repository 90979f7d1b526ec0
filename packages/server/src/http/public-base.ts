/** URLs of the server in its own documents, and the short addresses of the protocols for other software. */
import type { IncomingMessage } from 'node:http';
import { apiBase } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../platform/config.ts';

/** Answered at the root of the server as well as below the API base. */
const protocols = /^\/(?:iiif|dicom-web)(?:[/?]|$)/;

/** Returns the URL that the router gets for the URL of a request. */
export function routedUrl({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return protocols.test(url) ? apiBase + url : url;
}

/** Returns the URL of the server up to the path as the client has requested it: with the API base or without. */
export function publicBaseOf(request: FastifyRequest, { publicUrl }: Pick<Config, 'publicUrl'>): string {
  const origin = publicUrl ?? `${request.protocol}://${request.host}`;
  return request.originalUrl.startsWith(`${apiBase}/`) ? origin + apiBase : origin;
}
