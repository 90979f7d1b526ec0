/** The language of an answer: the caller's choice, else the one that the specification gives the call. */
import type { Language } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';

/**
 * Only `Accept-Language: tr` or `en`, alone, is a choice. Browsers send a list of their own accord with
 * everything, and the texts of the specification are not to change with the language of a browser.
 */
export function languageOf({ headers, routeOptions }: FastifyRequest): Language {
  const asked = headers['accept-language'];
  if (asked === 'tr' || asked === 'en') return asked;
  return routeOptions.config?.endpoint?.language ?? 'tr';
}
