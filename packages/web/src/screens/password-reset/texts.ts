export const texts = {
  heading: 'Şifre Sıfırlama',
  requestHint: 'E-posta adresinizi yazın; yeni şifre belirleyebileceğiniz bir bağlantı göndereceğiz.',
  requestSubmit: 'Bağlantı Gönder',
  newPasswordHint: 'Yeni şifrenizi belirleyin. Açık olan bütün oturumlarınız kapatılır.',
  newPasswordSubmit: 'Şifreyi Kaydet',
  anotherLink: 'Yeni bağlantı iste',
  backToLogin: 'Girişe dön',
};
