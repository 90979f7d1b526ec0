/**
 * All error codes of the API, with their HTTP status and their texts in both languages. A code never changes its meaning. An error
 * may also have a more specific reason (error-reasons.ts). An `AppError` contains only the code and parameters of the text.
 */
import { z } from 'zod';
import type { Bilingual } from './languages.ts';
import { Status } from './permissions.ts';

interface ErrorEntry extends Bilingual {
  readonly status: number;
}

export const errors = {
  invalid_request: { status: 400, tr: 'İstek geçersiz.', en: 'The request is not valid.' },
  reset_link_invalid: {
    status: 400,
    tr: 'Bağlantı geçersiz veya süresi dolmuş. Lütfen yeni bir bağlantı isteyin.',
    en: 'The link is not valid or has expired. Please request a new one.',
  },
  confirmation_link_invalid: {
    status: 400,
    tr: 'Bağlantı geçersiz veya süresi dolmuş. Lütfen yeniden kayıt olun.',
    en: 'The link is not valid or has expired. Please register again.',
  },
  token_missing: {
    status: 401,
    tr: 'Lütfen giriş yapın.',
    en: 'Authentication error. Please log in again.',
  },
  token_invalid: {
    status: 401,
    tr: 'Geçersiz token veya kullanıcı bulunamadı',
    en: 'Authentication error. Please log in again.',
  },
  session_missing: {
    status: 401,
    tr: 'Görüntü oturumu gerekli.',
    en: 'An image session is required.',
  },
  session_invalid: {
    status: 401,
    tr: 'Görüntü oturumunun süresi dolmuş.',
    en: 'The image session has expired.',
  },
  credentials_invalid: {
    status: 401,
    tr: 'Geçersiz e-posta veya şifre.',
    en: 'The e-mail address or the password is wrong.',
  },
  second_factor_required: {
    status: 401,
    tr: 'Doğrulama uygulamanızdaki 6 haneli kodu girin.',
    en: 'Enter the 6-digit code from your authenticator app.',
  },
  second_factor_invalid: {
    status: 401,
    tr: 'Doğrulama kodu hatalı veya daha önce kullanılmış.',
    en: 'The code is wrong or has already been used.',
  },
  password_required: {
    status: 401,
    tr: 'Bu bağlantı şifreyle korunuyor. Lütfen şifreyi girin.',
    en: 'This link is protected by a password. Please enter it.',
  },
  password_invalid: { status: 401, tr: 'Şifre hatalı.', en: 'The password is wrong.' },
  account_not_active: {
    status: 403,
    tr: 'Hesabınız aktif değil.',
    en: 'Your account is not active.',
  },
  forbidden: {
    status: 403,
    tr: 'Bu işlem için yetkiniz yok.',
    en: 'You do not have permission to do this.',
  },
  sharing_off: {
    status: 403,
    tr: 'Bu veri kümesinde paylaşım açık değil. Bir yönetici açabilir.',
    en: 'Sharing is not switched on for this dataset. An administrator can switch it on.',
  },
  reauth_required: {
    status: 403,
    tr: 'Güvenliğiniz için mevcut şifrenizi de girin.',
    en: 'For your security, also enter your current password.',
  },
  not_found: { status: 404, tr: 'Bulunamadı.', en: 'Not found.' },
  method_not_allowed: {
    status: 405,
    tr: 'Bu yöntem desteklenmiyor.',
    en: 'This method is not supported.',
  },
  not_acceptable: {
    status: 406,
    tr: 'İstenen biçim sunulmuyor.',
    en: 'The requested format is not available.',
  },
  already_active: { status: 409, tr: 'Bu kullanıcı zaten aktif.', en: 'This user is already active.' },
  not_active: { status: 409, tr: 'Bu kullanıcı aktif değil.', en: 'This user is not active.' },
  not_pending: {
    status: 409,
    tr: 'Bu kullanıcı onay beklemiyor.',
    en: 'This user is not waiting for approval.',
  },
  approval_settled: {
    status: 409,
    tr: 'Bu onay artık geri alınamaz; hesabı askıya alabilirsiniz.',
    en: 'This approval can no longer be withdrawn. You can suspend the account instead.',
  },
  already_answered: {
    status: 409,
    tr: 'Bu istek zaten yanıtlanmış.',
    en: 'This request has already been answered.',
  },
  not_deidentifiable: {
    status: 409,
    tr: 'Bu slaydın dosyası kişisel bilgilerden arındırılamadığı için indirilemez.',
    en: 'The file of this slide cannot be de-identified, so it cannot be downloaded.',
  },
  conflict: {
    status: 409,
    tr: 'Bu kayıt siz açtıktan sonra değiştirilmiş. Lütfen yeniden açıp değişikliğinizi tekrarlayın.',
    en: 'This was changed after you opened it. Please open it again and repeat your change.',
  },
  second_factor_on: {
    status: 409,
    tr: 'İki adımlı doğrulama zaten açık.',
    en: 'Two-step verification is already on.',
  },
  closed: { status: 409, tr: 'Bu hesap devre dışı bırakılmış.', en: 'This account has been deactivated.' },
  self_change: {
    status: 409,
    tr: 'Kendi hesabınızda bu işlemi yapamazsınız.',
    en: 'You cannot do this with your own account.',
  },
  last_admin: {
    status: 409,
    tr: 'Son aktif yönetici kaldırılamaz.',
    en: 'The last active administrator cannot be removed.',
  },
  password_elsewhere: {
    status: 409,
    tr: 'Bu hesabın şifresi kurumun kimlik hizmetinde tutulur; burada değiştirilemez.',
    en: 'The password of this account belongs to the sign-in service of your institution and cannot be changed here.',
  },
  layer_locked: {
    status: 409,
    tr: 'Bu katman kilitli; kilidi açılana kadar değiştirilemez.',
    en: 'This layer is locked. It cannot be changed until it is unlocked.',
  },
  layer_full: {
    status: 409,
    tr: 'Katman en fazla 50.000 işaretleme ve 5 milyon köşe noktası alabilir.',
    en: 'A layer holds at most 50,000 annotations and 5 million vertices.',
  },
  too_many_layers: {
    status: 409,
    tr: 'Bu slaytta daha fazla katman oluşturamazsınız. Önce kullanmadığınız bir katmanı silin.',
    en: 'You cannot create more layers on this slide. Delete one that you no longer need first.',
  },
  import_changed: {
    status: 409,
    tr: 'Katalog bu arada değişti. Yeni önizlemeyi inceleyip yeniden uygulayın.',
    en: 'The catalogue has changed in the meantime. Please review the new preview and apply it again.',
  },
  upload_exists: {
    status: 409,
    tr: 'Bu veri kümesinde bu adda bir dosya veya klasör zaten var ya da yükleniyor. Var olanın üzerine yazılmaz.',
    en: 'The dataset already has a file or folder with this name, or one is being uploaded. Existing files are never overwritten.',
  },
  upload_ended: {
    status: 409,
    tr: 'Bu yükleme tamamlanmış veya iptal edilmiş.',
    en: 'This upload has been finished or cancelled.',
  },
  upload_incomplete: {
    status: 409,
    tr: 'Dosyanın tamamı henüz gelmedi.',
    en: 'The upload of this file is not complete yet.',
  },
  too_many_uploads: {
    status: 409,
    tr: 'Yarım kalan yükleme sayısı sınıra ulaştı. Önce onları tamamlayın veya iptal edin.',
    en: 'There are too many unfinished uploads. Complete or cancel them first.',
  },
  too_many_api_tokens: {
    status: 409,
    tr: 'API anahtarı sayısı sınıra ulaştı. Önce kullanmadığınız birini iptal edin.',
    en: 'You have reached the maximum number of API tokens. Revoke one that you no longer use first.',
  },
  too_many_saved_views: {
    status: 409,
    tr: 'Kayıtlı görünüm sayısı sınıra ulaştı. Önce artık gerekmeyenleri silin.',
    en: 'You have reached the maximum number of saved views. Delete views that you no longer need first.',
  },
  too_many_collections: {
    status: 409,
    tr: 'Koleksiyon sayısı sınıra ulaştı. Önce artık gerekmeyenleri silin.',
    en: 'You have reached the maximum number of collections. Delete collections that you no longer need first.',
  },
  email_taken: {
    status: 409,
    tr: 'Bu e-posta adresiyle daha önce kayıt olunmuş.',
    en: 'This e-mail address is already registered.',
  },
  too_large: { status: 413, tr: 'İstek çok büyük.', en: 'The request is too large.' },
  upload_too_large: {
    status: 413,
    tr: 'Bu yükleme izin verilen en büyük boyutu aşıyor.',
    en: 'This upload is larger than the maximum allowed size.',
  },
  unsupported_type: {
    status: 415,
    tr: 'İstek JSON olmalı.',
    en: 'The request must be JSON.',
  },
  range_not_satisfiable: {
    status: 416,
    tr: 'İstenen aralık dosyanın dışında.',
    en: 'The requested range is outside the file.',
  },
  rate_limited: {
    status: 429,
    tr: 'Çok fazla deneme yapıldı. Lütfen biraz sonra yeniden deneyin.',
    en: 'Too many requests. Please try again in a moment.',
  },
  internal: {
    status: 500,
    tr: 'Beklenmeyen bir hata oluştu.',
    en: 'Internal server error. Please try refreshing your session.',
  },
  slide_corrupt: {
    status: 502,
    tr: 'Slayt dosyası okunamıyor.',
    en: 'The slide file is damaged and cannot be read.',
  },
  unavailable: {
    status: 503,
    tr: 'Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.',
    en: 'The service is unavailable at the moment. Please try again shortly.',
  },
  quota_exceeded: {
    status: 507,
    tr: 'Yüklemelere ayrılan alan buna yetmiyor.',
    en: 'The space reserved for uploads is not large enough.',
  },
  storage_full: {
    status: 507,
    tr: 'Sunucunun diskinde yeterli yer yok. Gelen kısım saklandı; yer açılınca devam edebilirsiniz.',
    en: 'The server does not have enough free disk space. The uploaded part is kept; you can resume once space is available.',
  },
  token_unverifiable: {
    status: 503,
    tr: 'Token doğrulanamadı',
    en: 'The sign-in could not be verified.',
  },
  storage_timeout: {
    status: 504,
    tr: 'Depolama zamanında yanıt vermedi.',
    en: 'The storage did not respond in time.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;

/** Body of every error response. */
export const ErrorBody = z
  .object({
    message: z.string().meta({ description: 'Text for the user, which clients show unchanged' }),
    code: z.string(),
    requestId: z.string().optional(),
    status: Status.optional().meta({
      description: "The caller's own account status, with account_not_active",
    }),
    field: z.string().optional().meta({ description: 'The rejected field, with invalid_request' }),
    conflicts: z
      .array(z.unknown())
      .optional()
      .meta({ description: 'With conflict: the current state of the conflicting objects' }),
    refused: z
      .array(z.unknown())
      .optional()
      .meta({ description: 'With an import of annotations: the invalid features, as `RefusedFeature`' }),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof ErrorBody>;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errors, code);
}
