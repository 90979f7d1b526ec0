export const texts = {
  heading: 'Giriş Yap',
  submit: 'Giriş Yap',
  forgotten: 'Şifreni mi unuttun?',
  noAccount: 'Hesabın yok mu?',
  register: 'Kayıt ol',
};
