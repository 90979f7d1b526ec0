export const texts = {
  heading: 'Profil',
  account: 'Hesap Bilgileri',
  loadFailed: 'Profil bilgileri yüklenemedi.',
  changePassword: 'Şifre Değiştir',
  changePasswordSubmit: 'Şifreyi Değiştir',
  deleteAccount: 'Hesabı Sil',
  deleteExplanation:
    'Hesabınız ve kişisel bilgileriniz hemen ve kalıcı olarak silinir; bu işlem geri alınamaz.',
  deleteConfirmation: (email: string) => `Onaylamak için e-posta adresinizi yazın: ${email}`,
  deleteNotConfirmed: 'Yazdığınız adres hesabınızın e-posta adresiyle aynı değil.',
  deleteSubmit: 'Hesabı Sil',
};
