/**
 * Texts of the registration page. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'Kayıt Ol',
    displayName: 'Görünen Ad (isteğe bağlı)',
    aboutApplication: 'Başvurunuz hakkında (isteğe bağlı)',
    affiliation: 'Kurum',
    affiliationTooLong: 'Kurum en fazla 200 karakter olabilir.',
    purpose: 'Başvuru amacı',
    purposeHint: 'Yöneticinin başvurunuzu değerlendirmesini kolaylaştırır.',
    purposeTooLong: 'Başvuru amacı en fazla 1000 karakter olabilir.',
    submit: 'Kayıt Ol',
    approvalHint: 'Hesabınız, bir yöneticinin onayından sonra açılır.',
    privacyNotice: 'Kişisel verilerin korunması',
    hasAccount: 'Zaten hesabınız var mı?',
    login: 'Giriş yap',
  },
  en: {
    heading: 'Register',
    displayName: 'Display Name (optional)',
    aboutApplication: 'About your application (optional)',
    affiliation: 'Institution',
    affiliationTooLong: 'The institution may have at most 200 characters.',
    purpose: 'Purpose',
    purposeHint: 'Helps the administrator decide on your application.',
    purposeTooLong: 'The purpose may have at most 1000 characters.',
    submit: 'Register',
    approvalHint: 'Your account opens once an administrator has approved it.',
    privacyNotice: 'Protection of personal data',
    hasAccount: 'Already have an account?',
    login: 'Log in',
  },
});
