/**
 * Texts of the page of a share link. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    opening: 'Bağlantı açılıyor…',
    passwordHeading: 'Bu bağlantı şifreyle korunuyor',
    passwordHint: 'Şifreyi, bağlantıyı size gönderen kişiden öğrenebilirsiniz.',
    password: 'Bağlantının şifresi',
    open: 'Aç',
    endedHeading: 'Bu bağlantı artık açılmıyor',
    ended:
      'Bağlantının süresi dolmuş, bağlantı sonlandırılmış ya da izin verilen açılma sayısına ulaşılmış olabilir. Gerekirse bağlantıyı gönderen kişiden yenisini isteyin.',
    secretMissing: 'Adres eksik. Lütfen size gönderilen bağlantının tamamını kullanın.',
    failedHeading: 'Bağlantı açılamadı',
  },
  en: {
    opening: 'Opening the link…',
    passwordHeading: 'This link is protected by a password',
    passwordHint: 'Ask the person who sent you the link for its password.',
    password: 'Password of the link',
    open: 'Open',
    endedHeading: 'This link no longer opens',
    ended:
      'The link may have expired, been revoked, or reached its maximum number of openings. Please ask the person who sent it for a new link.',
    secretMissing: 'The link is incomplete. Please use the whole link that was sent to you.',
    failedHeading: 'The link could not be opened',
  },
});
