export const texts = {
  heading: 'Kullanıcı Yönetimi',
  title: 'All Users',
  refresh: 'Yenile',
  loading: 'Kullanıcılar yükleniyor…',
  empty: 'Henüz kayıtlı kullanıcı yok.',
  adminApproved: 'Yönetici Onayı',
  yes: 'Evet',
  no: 'Hayır',
  approve: 'Onayla',
  activate: 'Etkinleştir',
  suspend: 'Askıya Al',
  promote: 'Yönetici Yap',
  deactivate: 'Devre Dışı Bırak',
  setPassword: 'Şifre Belirle',
  setPasswordHint: (name: string) =>
    `${name} için yeni bir şifre belirleyin. Bu hesabın açık olan bütün oturumları kapatılır.`,
  setPasswordSubmit: 'Şifreyi Kaydet',
};
