/** Texts of the screen with the API tokens of all accounts. `languageWhenMixed` is their language while the user has chosen neither Turkish nor English. */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageWhenMixed: 'tr',
  tr: {
    hint: 'Programların hesaplar adına erişmesini sağlayan, süresi dolmamış anahtarlar.',
    none: 'Geçerli API anahtarı yok.',
    noneHint: 'Kullanıcılar anahtarlarını profil sayfasında oluşturur.',
  },
  en: {
    hint: 'Tokens that have not ended, with which programs act on behalf of accounts.',
    none: 'There are no valid API tokens.',
    noneHint: 'Users create their tokens on the profile page.',
  },
});
