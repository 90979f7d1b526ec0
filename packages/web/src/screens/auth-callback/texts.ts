import { wording } from '../../language/language.ts';

export const texts = wording({
  languageWhenMixed: 'tr',
  tr: { signingIn: 'Giriş yapılıyor…' },
  en: { signingIn: 'Logging in…' },
});
