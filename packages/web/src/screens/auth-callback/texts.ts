/**
 * Texts of the page that completes an external sign-in. By default, the interface mixes Turkish and English;
 * `languageWhenMixed` names the language of these texts in that case.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageWhenMixed: 'tr',
  tr: { signingIn: 'Giriş yapılıyor…' },
  en: { signingIn: 'Logging in…' },
});
