/**
 * Texts of the screen for unknown URLs. By default, the interface mixes Turkish and English; `languageWhenMixed` names
 * the language of these texts in that case.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageWhenMixed: 'tr',
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
