/** The language of a response: the client's choice, otherwise the endpoint's default in the contract. */
import { apiBase, Language } from '@lamina/contract';
import type { FastifyRequest } from 'fastify';

export function isLanguage(value: unknown): value is Language {
  return Language.options.some((language) => language === value);
}

/** Matches the paths of calls about images, whose responses are in English also for a path or a method that does not exist. */
const imagePath = new RegExp(`^${apiBase}/(?:image-catalog|auth/image-session|iiif|dicom-web)(?:[/?]|$)`);

/**
 * Returns the language of a response. Only a single language, as in `Accept-Language: tr`, counts as the client's choice: the web app
 * sends it when the user has chosen a language. Browsers send a list of languages with every other request. The list is ignored,
 * because docs/requirements.md specifies a default language for each message: some are Turkish, some English.
 */
export function languageOf({ headers, routeOptions, url }: FastifyRequest): Language {
  const chosen = headers['accept-language'];
  if (isLanguage(chosen)) return chosen;
  return routeOptions.config?.endpoint?.defaultMessageLanguage ?? (imagePath.test(url) ? 'en' : 'tr');
}
