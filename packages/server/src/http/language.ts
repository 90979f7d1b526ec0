/** Language of a response: the caller's choice, else the language that the contract declares for the endpoint. */
import type { Language } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';

/**
 * Only `Accept-Language: tr` or `en` is a choice. Browsers send a list with every request, and the texts of the
 * specification must not change with the language of a browser.
 */
export function languageOf({ headers, routeOptions }: FastifyRequest): Language {
  const chosen = headers['accept-language'];
  if (chosen === 'tr' || chosen === 'en') return chosen;
  return routeOptions.config?.endpoint?.language ?? 'tr';
}
