import { AppError, errorText, type Language } from '@lamina/contract';
import { messageOf } from '../../../api/client.ts';
import { chosenLanguageOr } from '../../../language/language.ts';
import { FileUnreadableError } from './hash-file.ts';
import { texts } from './texts.ts';

/** Why an upload was rejected. */
export interface UploadFailure {
  readonly error: unknown;
  /** Language of the error message that the server sent. */
  readonly language: Language;
}

/** Returns the failure as a sentence in the current language, which the user may have changed since the server sent its message. */
export function failureSentence({ error, language }: UploadFailure): string {
  const currentLanguage = chosenLanguageOr('tr'); // Turkish until the user chooses a language
  if (error instanceof AppError && language !== currentLanguage) return errorText(error, currentLanguage);
  return messageOf(error, error instanceof FileUnreadableError ? texts.unreadable : texts.failed);
}
