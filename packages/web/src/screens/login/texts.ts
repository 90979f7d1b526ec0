/**
 * Texts of the login page. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'Giriş Yap',
    submit: 'Giriş Yap',
    forgotPassword: 'Şifreni mi unuttun?',
    registered: (email: string) =>
      `Başvurunuz alındı. Bir yönetici onayladığında ${email} adresine e-posta gönderilir.`,
    registrationToConfirm: (email: string) =>
      `Kaydınızı tamamlamak için ${email} adresine gelen e-postadaki bağlantıyı 24 saat içinde açın.`,
    failedCredentials: 'Giriş yapılamadı: e-posta adresinizi ve şifrenizi kontrol edin.',
    failedTooOften: 'Giriş yapılamadı: çok fazla deneme yapıldı. Birkaç dakika sonra tekrar deneyin.',
    failedAccount: 'Bu hesapla giriş yapılamıyor. Bir yöneticiyle görüşün.',
    failedOtherwise: 'Giriş yapılamadı. Biraz sonra tekrar deneyin.',
    noAccount: 'Hesabınız yok mu?',
    register: 'Kayıt ol',
    code: 'Doğrulama Kodu',
    codeRequired: 'Doğrulama kodu gerekli.',
    codeHint:
      'Doğrulama uygulamanızdaki 6 haneli kodu girin. Telefonunuz yanınızda değilse kurtarma kodlarınızdan birini yazabilirsiniz.',
    codeSubmit: 'Doğrula',
    codeBack: 'Geri dön',
    or: 'veya',
    signInAt: (provider: string | null) =>
      provider === null ? 'Kurum hesabıyla giriş yap' : `${provider} ile giriş yap`,
    externalOnly:
      'Giriş, kurumunuzun kimlik hizmetiyle yapılır. İlk girişinizden sonra bir yönetici hesabınızı onaylar.',
    providerPageFailed: 'Kimlik doğrulama hizmetinin sayfası açılamadı.',
  },
  en: {
    heading: 'Log In',
    submit: 'Log In',
    forgotPassword: 'Forgot your password?',
    registered: (email) =>
      `Your application has been received. When an administrator approves it, an e-mail goes to ${email}.`,
    registrationToConfirm: (email) =>
      `To complete your registration, open the link in the e-mail to ${email} within 24 hours.`,
    failedCredentials: 'Login failed: check your e-mail address and your password.',
    failedTooOften: 'Login failed: there were too many attempts. Wait a few minutes.',
    failedAccount: 'This account cannot log in. Contact an administrator.',
    failedOtherwise: 'Login failed. Try again in a moment.',
    noAccount: 'No account yet?',
    register: 'Register',
    code: 'Verification Code',
    codeRequired: 'A verification code is required.',
    codeHint:
      'Enter the 6-digit code of your authenticator app. If you do not have your phone, enter one of your recovery codes.',
    codeSubmit: 'Verify',
    codeBack: 'Go back',
    or: 'or',
    signInAt: (provider) =>
      provider === null ? "Log in with your institution's account" : `Log in with ${provider}`,
    externalOnly:
      "You log in with your institution's sign-in service. After your first login an administrator approves your account.",
    providerPageFailed: 'The page of the sign-in service could not be opened.',
  },
});
