/**
 * Texts of the page that completes an external sign-in.
 * `languageWhenMixed` is their language in the default mode, which mixes Turkish and English.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageWhenMixed: 'tr',
  tr: { signingIn: 'Giriş yapılıyor…' },
  en: { signingIn: 'Logging in…' },
});
