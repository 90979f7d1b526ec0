/**
 * Texts of the page that confirms a registration. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'E-posta Adresini Doğrula',
    hint: 'Kaydınızı tamamlamak için kayıt olurken belirlediğiniz şifreyi girin. Bu kaydı siz yapmadıysanız bu sayfayı kapatın; hesap açılmaz.',
    submit: 'Doğrula',
    linkMissing: 'Bu sayfayı, kayıt olduktan sonra size gönderilen e-postadaki bağlantıyla açın.',
    registerAgain: 'Yeniden kayıt ol',
    backToLogin: 'Girişe dön',
  },
  en: {
    heading: 'Confirm E-mail Address',
    hint: 'To complete your registration, enter the password that you chose when you registered. If you did not register, close this page; no account is created.',
    submit: 'Confirm',
    linkMissing: 'Open this page with the link in the e-mail that we sent after your registration.',
    registerAgain: 'Register again',
    backToLogin: 'Back to login',
  },
});
