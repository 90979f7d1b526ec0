/**
 * Texts of the page that completes an external sign-in. `languageBeforeChoice` is their language until the user chooses
 * one (language/language.ts).
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: { signingIn: 'Giriş yapılıyor…' },
  en: { signingIn: 'Logging in…' },
});
