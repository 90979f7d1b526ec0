/** Determines the language of a response: the client's choice, else the language that the contract declares for the endpoint. */
import { Language } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';

export function isLanguage(value: unknown): value is Language {
  return Language.options.some((language) => language === value);
}

/**
 * Returns the language of a response. Only a single language, as in `Accept-Language: tr`, counts as a choice. Browsers send a
 * list with every request, and the texts of the specification must not change with the language of a browser.
 */
export function languageOf({ headers, routeOptions }: FastifyRequest): Language {
  const chosen = headers['accept-language'];
  if (isLanguage(chosen)) return chosen;
  return routeOptions.config?.endpoint?.defaultLanguage ?? 'tr';
}
