/**
 * Texts of the screen with the API tokens of all accounts. `languageBeforeChoice` is their language until the user chooses
 * one (language/language.ts).
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    hint: 'Programların hesaplar adına erişmesini sağlayan, süresi dolmamış anahtarlar.',
    noTokens: 'Geçerli API anahtarı yok.',
    noTokensHint: 'Kullanıcılar anahtarlarını profil sayfasında oluşturur.',
  },
  en: {
    hint: 'Unexpired tokens, with which programs act on behalf of accounts.',
    noTokens: 'There are no valid API tokens.',
    noTokensHint: 'Users create their tokens on the profile page.',
  },
});
