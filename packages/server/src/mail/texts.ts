/** Every letter the product writes. */
import type { Letter } from './mail.ts';

interface Words {
  readonly to: string;
  readonly productName: string;
  /** Address of the web app, without a final slash. */
  readonly publicUrl: string;
}

/** The code stands behind #, which browsers send to no server. */
export function passwordResetLetter({ to, productName, publicUrl, code }: Words & { code: string }): Letter {
  return {
    to,
    subject: `${productName}: Şifre sıfırlama`,
    text: `Merhaba,

${productName} hesabınız için yeni bir şifre belirlemek üzere aşağıdaki bağlantıyı açın.
Bağlantı 30 dakika geçerlidir ve yalnızca bir kez kullanılabilir.

${publicUrl}/auth/password-reset#code=${code}

Bu isteği siz yapmadıysanız bir şey yapmanız gerekmez; şifreniz değişmez.
`,
  };
}

export function passwordChangedLetter({ to, productName, publicUrl }: Words): Letter {
  return {
    to,
    subject: `${productName}: Şifreniz değiştirildi`,
    text: `Merhaba,

${productName} hesabınızın şifresi değiştirildi ve diğer oturumlarınız kapatıldı.

Bunu siz yapmadıysanız hemen yeni bir şifre belirleyin ve yöneticinize haber verin:
${publicUrl}/auth/password-reset
`,
  };
}

/** Tells the owner of an address what the page that was filled in must not tell. */
export function alreadyRegisteredLetter({ to, productName, publicUrl }: Words): Letter {
  return {
    to,
    subject: `${productName}: Bu e-posta adresi zaten kayıtlı`,
    text: `Merhaba,

Bu e-posta adresiyle ${productName} için yeniden kayıt olunmak istendi. Adresin zaten bir hesabı var,
bu yüzden hiçbir şey değişmedi.

Giriş yapmak için: ${publicUrl}/auth/login
Şifrenizi unuttuysanız: ${publicUrl}/auth/password-reset

Bu isteği siz yapmadıysanız bir şey yapmanız gerekmez.
`,
  };
}
