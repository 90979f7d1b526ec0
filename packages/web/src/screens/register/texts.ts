export const texts = {
  heading: 'Kayıt Ol',
  displayName: 'Görünen Ad (isteğe bağlı)',
  more: 'Başvurunuz hakkında (isteğe bağlı)',
  affiliation: 'Kurum',
  affiliationTooLong: 'Kurum en fazla 200 karakter olabilir.',
  purpose: 'Başvuru amacı',
  purposeHint: 'Yöneticinin başvurunuzu değerlendirmesini kolaylaştırır.',
  purposeTooLong: 'Başvuru amacı en fazla 1000 karakter olabilir.',
  submit: 'Kayıt Ol',
  approvalHint: 'Hesabınız bir yönetici onayladıktan sonra açılır.',
  hasAccount: 'Zaten hesabın var mı?',
  login: 'Giriş yap',
};
