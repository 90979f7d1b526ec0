/**
 * Texts of the password reset page. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'Şifre Sıfırlama',
    requestHint: 'E-posta adresinizi yazın; yeni şifre belirleyebileceğiniz bir bağlantı göndereceğiz.',
    requestSubmit: 'Bağlantı Gönder',
    newPasswordHint: 'Yeni şifrenizi belirleyin. Açık olan bütün oturumlarınız kapatılır.',
    newPasswordSubmit: 'Şifreyi Kaydet',
    linkInvalid: 'Bu bağlantı kullanılmış veya süresi dolmuş.',
    requestAnotherLink: 'Yeni bağlantı iste',
    backToLogin: 'Girişe dön',
  },
  en: {
    heading: 'Password Reset',
    requestHint: 'Enter your e-mail address; we will send you a link with which you can set a new password.',
    requestSubmit: 'Send Link',
    newPasswordHint: 'Set your new password. All your open sessions are ended.',
    newPasswordSubmit: 'Save Password',
    linkInvalid: 'This link has been used or has expired.',
    requestAnotherLink: 'Request another link',
    backToLogin: 'Back to login',
  },
});
