export const texts = {
  heading: 'Giriş Yap',
  submit: 'Giriş Yap',
  forgotten: 'Şifreni mi unuttun?',
  noAccount: 'Hesabın yok mu?',
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
  leavingFailed: 'Kimlik hizmetinin sayfası açılamadı.',
};
