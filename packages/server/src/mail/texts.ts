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

export function secondFactorLetter({ to, productName, publicUrl, isOn }: Words & { isOn: boolean }): Letter {
  return {
    to,
    subject: `${productName}: İki adımlı doğrulama ${isOn ? 'açıldı' : 'kapatıldı'}`,
    text: `Merhaba,

${productName} hesabınızda iki adımlı doğrulama ${isOn ? 'açıldı' : 'kapatıldı'}.

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

/** To an administrator: who waits, in numbers. Names stay in the product. */
export function waitingLetter({
  to,
  productName,
  publicUrl,
  newApplications,
  applications,
  datasetRequests,
}: Words & {
  /** Since the letter before. */
  newApplications: number;
  /** All that wait. */
  applications: number;
  /** Since the letter before. */
  datasetRequests: number;
}): Letter {
  const news = [
    ...(newApplications > 0
      ? [
          `${newApplications} yeni kişi hesabının onaylanmasını bekliyor (bekleyenlerin toplamı: ${applications}).
${publicUrl}/admin/users?view=waiting`,
        ]
      : []),
    ...(datasetRequests > 0
      ? [
          `${datasetRequests} yeni veri kümesi isteği yanıt bekliyor.
${publicUrl}/admin/datasets`,
        ]
      : []),
  ];
  return {
    to,
    subject: `${productName}: Onay bekleyenler var`,
    text: `Merhaba,

${news.join('\n\n')}
`,
  };
}

/** @param expiresAt '21 Kasım 2026'; null: the account has no end date */
export function approvedLetter({
  to,
  productName,
  publicUrl,
  role,
  expiresAt,
}: Words & { role: string; expiresAt: string | null }): Letter {
  return {
    to,
    subject: `${productName}: Hesabınız onaylandı`,
    text: `Merhaba,

${productName} hesabınız bir yönetici tarafından onaylandı.

Rolünüz: ${role}
${expiresAt === null ? 'Hesabınızın bitiş tarihi yok.' : `Hesabınızın bitiş tarihi: ${expiresAt}`}

Giriş yapmak için: ${publicUrl}/auth/login
`,
  };
}

export function rejectedLetter({ to, productName, publicUrl, reason }: Words & { reason: string }): Letter {
  return {
    to,
    subject: `${productName}: Başvurunuz reddedildi`,
    text: `Merhaba,

${productName} hesabı için yaptığınız başvuru reddedildi.

Gerekçe: ${reason}

Durumunuzu görmek için: ${publicUrl}/account-status
Bir yanlışlık olduğunu düşünüyorsanız lütfen bir yöneticiyle iletişime geçin.
`,
  };
}

export function datasetAnswerLetter({
  to,
  productName,
  publicUrl,
  dataset,
  granted,
  reason,
}: Words & { dataset: string; granted: boolean; reason: string | null }): Letter {
  return {
    to,
    subject: `${productName}: Veri kümesi isteğiniz ${granted ? 'kabul edildi' : 'reddedildi'}`,
    text: `Merhaba,

"${dataset}" veri kümesi için yaptığınız erişim isteği ${granted ? 'kabul edildi' : 'reddedildi'}.
${reason === null ? '' : `\nGerekçe: ${reason}\n`}
${publicUrl}/wsi-viewer
`,
  };
}
