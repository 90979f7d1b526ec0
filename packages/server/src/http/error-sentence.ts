/** The sentence for the user that every error response contains, in the language of the request. */
import { type AppError, errorText, type Language } from '@lamina/contract';
import { z } from 'zod';

const locales = { tr: z.locales.tr().localeError, en: z.locales.en().localeError };

export function errorSentence(error: AppError, language: Language): string {
  const { issue } = error.detail; // set if the contract has no sentence for the invalid field; Zod's own text then describes it
  if (issue === undefined) return errorText(error, language);
  // Zod's type for an issue that has no text yet is `$ZodRawIssue`.
  const localised = locales[language](issue as z.core.$ZodRawIssue);
  const text = (typeof localised === 'string' ? localised : localised?.message) ?? issue.message;
  return issue.path.length > 0 ? `${issue.path.join('.')}: ${text}` : text;
}
