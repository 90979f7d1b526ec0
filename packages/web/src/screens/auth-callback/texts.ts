import { wording } from '../../language/language.ts';

export const texts = wording({
  mixed: 'tr',
  tr: { signingIn: 'Giriş yapılıyor…' },
  en: { signingIn: 'Logging in…' },
});
