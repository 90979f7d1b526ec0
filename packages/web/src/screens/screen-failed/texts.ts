import { wording } from '../../language.ts';

export const texts = wording({
  mixed: 'tr',
  tr: {
    heading: 'Beklenmeyen bir hata oluştu.',
    explanation: 'Bu ekran gösterilemedi. Sayfayı yenilemek çoğu zaman yeterli olur.',
    reload: 'Sayfayı Yenile',
  },
  en: {
    heading: 'An unexpected error occurred.',
    explanation: 'This screen could not be shown. Reloading the page is mostly enough.',
    reload: 'Reload Page',
  },
});
