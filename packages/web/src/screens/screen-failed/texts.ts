/**
 * Texts of the error screen. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'Beklenmeyen bir hata oluştu.',
    explanation: 'Bu ekran gösterilemedi. Sayfayı yenilemek çoğu zaman yeterli olur.',
    reload: 'Sayfayı Yenile',
    unreachable: 'Sunucuya ulaşılamıyor',
    unreachableHint:
      'Bu ekran yüklenemedi. Ağ bağlantınızı kontrol edin; bağlantı gelince ekran kendiliğinden açılır.',
    uploadsHint:
      'Bu ekran gösterilemedi. Süren yüklemeleri kesmemek için sayfa kendiliğinden yenilenmez; yüklemeler bitince sayfayı yenileyin.',
  },
  en: {
    heading: 'An unexpected error occurred.',
    explanation: 'This screen could not be shown. Reloading the page usually helps.',
    reload: 'Reload Page',
    unreachable: 'The server cannot be reached',
    unreachableHint:
      'This screen could not be loaded. Check your network; the screen opens by itself when it is back.',
    uploadsHint:
      'This screen could not be shown. The page does not reload by itself, because that would interrupt your uploads; reload it when they have finished.',
  },
});
