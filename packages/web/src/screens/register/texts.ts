export const texts = {
  heading: 'Kayıt Ol',
  displayName: 'Görünen Ad (isteğe bağlı)',
  submit: 'Kayıt Ol',
  approvalHint: 'Hesabınız bir yönetici onayladıktan sonra açılır.',
  hasAccount: 'Zaten hesabın var mı?',
  login: 'Giriş yap',
};
