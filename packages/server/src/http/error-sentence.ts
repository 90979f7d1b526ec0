/** The text of an error for the person, in the language of the request. Every error response takes its text from here. */
import { type AppError, errorText, type Language } from '@lamina/contract';
import { z } from 'zod';

const locales = { tr: z.locales.tr().localeError, en: z.locales.en().localeError };

export function errorSentence(error: AppError, language: Language): string {
  const { issue } = error.detail;
  if (issue === undefined) return errorText(error, language);
  // A raw issue is an issue before its text is chosen.
  const localised = locales[language](issue as z.core.$ZodRawIssue);
  const text = (typeof localised === 'string' ? localised : localised?.message) ?? issue.message;
  return issue.path.length > 0 ? `${issue.path.join('.')}: ${text}` : text;
}
