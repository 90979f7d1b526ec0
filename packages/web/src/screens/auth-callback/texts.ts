export const texts = {
  signingIn: 'Giriş yapılıyor…',
};
