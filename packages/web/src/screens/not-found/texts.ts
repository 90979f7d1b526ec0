/**
 * Texts of the screen for unknown URLs. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'Sayfa Bulunamadı',
    explanation: 'Aradığınız sayfa bulunamadı. Taşınmış ya da silinmiş olabilir.',
    home: 'Ana sayfaya dön',
  },
  en: {
    heading: 'Page Not Found',
    explanation: 'The page you are looking for was not found. It may have been moved or deleted.',
    home: 'Back to the home page',
  },
});
