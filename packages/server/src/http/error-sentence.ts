/** The sentence for the user that every error response contains, in the language of the request. */
import { type AppError, errorText, type Language } from '@lamina/contract';
import { z } from 'zod';

const locales = { tr: z.locales.tr().localeError, en: z.locales.en().localeError };

export function errorSentence(error: AppError, language: Language): string {
  const { issue } = error.detail; // set when Zod's own text describes the invalid field
  if (issue === undefined) return errorText(error, language);
  // Zod's type for an issue that has no text yet is `$ZodRawIssue`.
  const localised = locales[language](issue as z.core.$ZodRawIssue);
  const text = (typeof localised === 'string' ? localised : localised?.message) ?? issue.message;
  return issue.path.length > 0 ? `${issue.path.join('.')}: ${text}` : text;
}
