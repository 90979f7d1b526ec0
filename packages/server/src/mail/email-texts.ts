/**
 * Creates the content of all e-mails, in the language of the recipient. Links contain codes after #, because browsers
 * do not send the part of a URL after # to any server.
 */
import type { Language, Role } from '@lamina/contract';
import type { Email } from './mail.ts';

/** Recipient of an e-mail, and values that every e-mail contains. */
export interface Recipient {
  readonly to: string; // e-mail address
  readonly language: Language;
  readonly productName: string;
  /** URL of the web app, without a final slash. */
  readonly publicUrl: string;
}

type Content = Pick<Email, 'subject' | 'text'>;

/** Returns the e-mail with the content in the language of the recipient. */
function inLanguageOf({ to, language }: Recipient, contents: Readonly<Record<Language, Content>>): Email {
  return { to, ...contents[language] };
}

export function passwordResetEmail(recipient: Recipient, code: string): Email {
  const { productName, publicUrl } = recipient;
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: Şifre sıfırlama`,
      text: `Merhaba,

${productName} hesabınız için yeni bir şifre belirlemek üzere aşağıdaki bağlantıyı açın.
Bağlantı 30 dakika geçerlidir ve yalnızca bir kez kullanılabilir.

${publicUrl}/auth/password-reset#code=${code}

Bu isteği siz yapmadıysanız bir şey yapmanız gerekmez; şifreniz değişmez.
`,
    },
    en: {
      subject: `${productName}: Reset your password`,
      text: `Hello,

To choose a new password for your ${productName} account, open the link below.
The link is valid for 30 minutes and works once.

${publicUrl}/auth/password-reset#code=${code}

If you did not request this, you can ignore this e-mail; your password does not change.
`,
    },
  });
}

export function passwordChangedEmail(recipient: Recipient): Email {
  const { productName, publicUrl } = recipient;
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: Şifreniz değiştirildi`,
      text: `Merhaba,

${productName} hesabınızın şifresi değiştirildi ve diğer oturumlarınız kapatıldı.

Bunu siz yapmadıysanız hemen yeni bir şifre belirleyin ve yöneticinize haber verin:
${publicUrl}/auth/password-reset
`,
    },
    en: {
      subject: `${productName}: Your password has been changed`,
      text: `Hello,

The password of your ${productName} account has been changed, and your other sessions have been signed out.

If this was not you, choose a new password at once and tell your administrator:
${publicUrl}/auth/password-reset
`,
    },
  });
}

export function secondFactorEmail(recipient: Recipient, isOn: boolean): Email {
  const { productName, publicUrl } = recipient;
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: İki adımlı doğrulama ${isOn ? 'açıldı' : 'kapatıldı'}`,
      text: `Merhaba,

${productName} hesabınızda iki adımlı doğrulama ${isOn ? 'açıldı' : 'kapatıldı'}.

Bunu siz yapmadıysanız hemen yeni bir şifre belirleyin ve yöneticinize haber verin:
${publicUrl}/auth/password-reset
`,
    },
    en: {
      subject: `${productName}: Two-step verification is ${isOn ? 'on' : 'off'}`,
      text: `Hello,

Two-step verification has been turned ${isOn ? 'on' : 'off'} for your ${productName} account.

If this was not you, choose a new password at once and tell your administrator:
${publicUrl}/auth/password-reset
`,
    },
  });
}

/** The Turkish e-mail also contains English, because an applicant who has not chosen a language gets this e-mail. */
export function confirmRegistrationEmail(recipient: Recipient, code: string): Email {
  const { productName, publicUrl } = recipient;
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: E-posta adresinizi doğrulayın`,
      text: `Merhaba,

${productName} için bu e-posta adresiyle kayıt olundu. Kaydı tamamlamak için aşağıdaki bağlantıyı açın ve
kayıt olurken belirlediğiniz şifreyi girin. Bağlantı 24 saat geçerlidir ve yalnızca bir kez kullanılabilir.

${publicUrl}/auth/confirm#code=${code}

Bu kaydı siz yapmadıysanız bir şey yapmanız gerekmez; hesap açılmaz.

---
Someone registered for ${productName} with this e-mail address. To complete the registration, open the link
above and enter the password that you chose. The link is valid for 24 hours and works once. If you did not
register, ignore this e-mail; no account is created.
`,
    },
    en: {
      subject: `${productName}: Confirm your e-mail address`,
      text: `Hello,

Someone registered for ${productName} with this e-mail address. To complete the registration, open the link below
and enter the password that you chose. The link is valid for 24 hours and works once.

${publicUrl}/auth/confirm#code=${code}

If you did not register, you can ignore this e-mail; no account is created.
`,
    },
  });
}

/** Tells the owner of an e-mail address that it already has an account, which the registration form must not reveal to others. */
export function alreadyRegisteredEmail(recipient: Recipient): Email {
  const { productName, publicUrl } = recipient;
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: Bu e-posta adresi zaten kayıtlı`,
      text: `Merhaba,

Bu e-posta adresiyle ${productName} için yeniden kayıt olunmak istendi. Adresin zaten bir hesabı var,
bu yüzden hiçbir şey değişmedi.

Giriş yapmak için: ${publicUrl}/auth/login
Şifrenizi unuttuysanız: ${publicUrl}/auth/password-reset

Bu isteği siz yapmadıysanız bir şey yapmanız gerekmez.
`,
    },
    en: {
      subject: `${productName}: This e-mail address is already registered`,
      text: `Hello,

Someone tried to register for ${productName} with this e-mail address. It already has an account,
so nothing has changed.

Sign in: ${publicUrl}/auth/login
If you forgot your password: ${publicUrl}/auth/password-reset

If this was not you, you do not need to do anything.
`,
    },
  });
}

/** Numbers of applications and dataset requests that wait for an administrator. */
export interface WaitingCounts {
  /** Applications since the previous digest. */
  readonly newApplications: number;
  /** All waiting applications. */
  readonly applications: number;
  /** Dataset requests since the previous digest. */
  readonly newDatasetRequests: number;
}

/** Tells an administrator how many applications and dataset requests wait. The e-mail contains no names of people. */
export function adminDigestEmail(
  recipient: Recipient,
  { newApplications, applications, newDatasetRequests }: WaitingCounts,
): Email {
  const { productName, publicUrl } = recipient;
  const paragraphs = (newUsers: string, newRequests: string) =>
    [
      ...(newApplications > 0 ? [`${newUsers}\n${publicUrl}/admin/users?view=waiting`] : []),
      ...(newDatasetRequests > 0 ? [`${newRequests}\n${publicUrl}/admin/datasets`] : []),
    ].join('\n\n');
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: Onay bekleyenler var`,
      text: `Merhaba,

${paragraphs(
  `${newApplications} yeni başvuru onay bekliyor (toplam: ${applications}).`,
  `${newDatasetRequests} yeni veri kümesi isteği yanıt bekliyor.`,
)}
`,
    },
    en: {
      subject: `${productName}: Requests are waiting for you`,
      text: `Hello,

${paragraphs(
  `New applications that wait for approval: ${newApplications} (all that wait: ${applications}).`,
  `New dataset requests that wait for an answer: ${newDatasetRequests}.`,
)}
`,
    },
  });
}

const dateFormats: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  tr: new Intl.DateTimeFormat('tr-TR', { dateStyle: 'long' }),
  en: new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' }),
};

const roleNames: Readonly<Record<Role, Readonly<Record<Language, string>>>> = {
  admin: { tr: 'Yönetici', en: 'Administrator' },
  user: { tr: 'Kullanıcı', en: 'User' },
  viewer: { tr: 'İzleyici', en: 'Viewer' },
  unassigned: { tr: 'Atanmamış', en: 'Unassigned' },
};

/** Tells an applicant that the account was approved. @param account `expiresAt` is ISO 8601, null if there is no end date */
export function approvedEmail(
  recipient: Recipient,
  account: { readonly role: Role; readonly expiresAt: string | null },
): Email {
  const { language, productName, publicUrl } = recipient;
  const role = roleNames[account.role][language];
  const expiresAt = account.expiresAt && dateFormats[language].format(new Date(account.expiresAt));
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: Hesabınız onaylandı`,
      text: `Merhaba,

${productName} hesabınız bir yönetici tarafından onaylandı.

Rolünüz: ${role}
${expiresAt === null ? 'Hesabınızın bitiş tarihi yok.' : `Hesabınızın bitiş tarihi: ${expiresAt}`}

Giriş yapmak için: ${publicUrl}/auth/login
`,
    },
    en: {
      subject: `${productName}: Your account has been approved`,
      text: `Hello,

An administrator has approved your ${productName} account.

Your role: ${role}
${expiresAt === null ? 'Your account has no end date.' : `Your account ends on: ${expiresAt}`}

Sign in: ${publicUrl}/auth/login
`,
    },
  });
}

export function rejectedEmail(recipient: Recipient, reason: string): Email {
  const { productName, publicUrl } = recipient;
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: Başvurunuz reddedildi`,
      text: `Merhaba,

${productName} hesabı için yaptığınız başvuru reddedildi.

Gerekçe: ${reason}

Durumunuzu görmek için: ${publicUrl}/account-status
Bir yanlışlık olduğunu düşünüyorsanız lütfen bir yöneticiyle iletişime geçin.
`,
    },
    en: {
      subject: `${productName}: Your application has been rejected`,
      text: `Hello,

Your application for a ${productName} account has been rejected.

Reason: ${reason}

See your status: ${publicUrl}/account-status
If you think that this is a mistake, please contact an administrator.
`,
    },
  });
}

export function datasetAnswerEmail(
  recipient: Recipient,
  {
    dataset,
    granted,
    reason,
  }: { readonly dataset: string; readonly granted: boolean; readonly reason: string | null },
): Email {
  const { productName, publicUrl } = recipient;
  return inLanguageOf(recipient, {
    tr: {
      subject: `${productName}: Veri kümesi isteğiniz ${granted ? 'kabul edildi' : 'reddedildi'}`,
      text: `Merhaba,

"${dataset}" veri kümesi için yaptığınız erişim isteği ${granted ? 'kabul edildi' : 'reddedildi'}.
${reason === null ? '' : `\nGerekçe: ${reason}\n`}
${publicUrl}/wsi-viewer
`,
    },
    en: {
      subject: `${productName}: Your dataset request has been ${granted ? 'accepted' : 'rejected'}`,
      text: `Hello,

Your request for access to the dataset "${dataset}" has been ${granted ? 'accepted' : 'rejected'}.
${reason === null ? '' : `\nReason: ${reason}\n`}
${publicUrl}/wsi-viewer
`,
    },
  });
}
