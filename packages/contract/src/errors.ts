/**
 * Every error the API can answer with. A code never changes its meaning; the message is shown to
 * the person as it is: Turkish for account and admin calls, English for image calls, or all of them in
 * the one language that the caller asks for.
 */
import { z } from 'zod';
import { Status } from './permissions.ts';

export type Language = 'tr' | 'en';

/** One sentence, said in either. */
export type InBothLanguages = Readonly<Record<Language, string>>;

interface ErrorEntry extends InBothLanguages {
  readonly status: number;
}

export const errors = {
  invalid_request: { status: 400, tr: 'İstek geçersiz.', en: 'The request is not valid.' },
  reset_link_invalid: {
    status: 400,
    tr: 'Bağlantı geçersiz veya süresi dolmuş. Lütfen yeni bir bağlantı isteyin.',
    en: 'The link is not valid or has expired. Please ask for a new one.',
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
    en: 'Enter the 6-digit code of your authenticator app.',
  },
  second_factor_invalid: {
    status: 401,
    tr: 'Doğrulama kodu hatalı veya daha önce kullanılmış.',
    en: 'The code is wrong or has been used before.',
  },
  account_not_active: {
    status: 403,
    tr: 'Hesabınız etkin değil.',
    en: 'Your account is not active.',
  },
  forbidden: {
    status: 403,
    tr: 'Bu işlem için yetkiniz yok.',
    en: 'You do not have permission to do this.',
  },
  reauth_required: {
    status: 403,
    tr: 'Güvenliğiniz için mevcut şifrenizi de girin.',
    en: 'For your safety, enter your current password too.',
  },
  not_found: { status: 404, tr: 'Bulunamadı.', en: 'Not found.' },
  method_not_allowed: {
    status: 405,
    tr: 'Bu yöntem desteklenmiyor.',
    en: 'This method is not supported.',
  },
  already_active: { status: 409, tr: 'Bu kullanıcı zaten aktif.', en: 'This user is already active.' },
  not_active: { status: 409, tr: 'Bu kullanıcı aktif değil.', en: 'This user is not active.' },
  not_pending: {
    status: 409,
    tr: 'Bu kullanıcı onay beklemiyor.',
    en: 'This user is not waiting for approval.',
  },
  already_answered: {
    status: 409,
    tr: 'Bu istek zaten yanıtlanmış.',
    en: 'This request has already been answered.',
  },
  second_factor_on: {
    status: 409,
    tr: 'İki adımlı doğrulama zaten açık.',
    en: 'Two-step verification is already on.',
  },
  closed: { status: 409, tr: 'Bu hesap devre dışı bırakılmış.', en: 'This account has been closed.' },
  self_change: {
    status: 409,
    tr: 'Kendi hesabınızda bu işlemi yapamazsınız.',
    en: 'You cannot do this to your own account.',
  },
  last_admin: {
    status: 409,
    tr: 'Son etkin yönetici kaldırılamaz.',
    en: 'The last active administrator cannot be removed.',
  },
  password_elsewhere: {
    status: 409,
    tr: 'Bu hesabın şifresi kurumun kimlik hizmetinde tutulur; burada değiştirilemez.',
    en: 'The password of this account is kept by the external sign-in service.',
  },
  import_changed: {
    status: 409,
    tr: 'Katalog bu arada değişti. Yeni önizlemeyi inceleyip yeniden uygulayın.',
    en: 'The catalogue has changed meanwhile. Please look at the new preview and apply it again.',
  },
  upload_exists: {
    status: 409,
    tr: 'Bu veri kümesinde bu adda bir dosya veya klasör zaten var ya da yükleniyor. Var olanın üzerine yazılmaz.',
    en: 'The dataset has a file or folder of this name already, or it is being uploaded. Nothing is ever overwritten.',
  },
  upload_ended: {
    status: 409,
    tr: 'Bu yükleme tamamlanmış veya iptal edilmiş.',
    en: 'This upload has been finished or given up.',
  },
  upload_incomplete: {
    status: 409,
    tr: 'Dosyanın tamamı henüz gelmedi.',
    en: 'Not all of the file has come yet.',
  },
  too_many_uploads: {
    status: 409,
    tr: 'Yarım kalan yükleme sayısı sınıra ulaştı. Önce onları tamamlayın veya iptal edin.',
    en: 'There are too many unfinished uploads. Finish them or give them up first.',
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
    en: 'This upload is larger than is allowed.',
  },
  unsupported_type: {
    status: 415,
    tr: 'İstek JSON olmalı.',
    en: 'The request must be JSON.',
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
    en: 'The space that is set aside for uploads is not enough for this.',
  },
  storage_full: {
    status: 507,
    tr: 'Sunucunun diskinde yeterli yer yok. Gelen kısım saklandı; yer açılınca devam edebilirsiniz.',
    en: 'The disk of the server has not enough room. What has come is kept; you can go on when there is room.',
  },
  token_unverifiable: {
    status: 503,
    tr: 'Token doğrulanamadı',
    en: 'The sign-in could not be verified.',
  },
  storage_timeout: {
    status: 504,
    tr: 'Depolama zamanında yanıt vermedi.',
    en: 'The storage did not answer in time.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;

/** What every refused call answers with. */
export const ErrorBody = z
  .object({
    message: z.string().meta({ description: 'Sentence for the person, shown as it is' }),
    code: z.string(),
    requestId: z.string().optional(),
    status: Status.optional().meta({
      description: "The caller's own account status, with account_not_active",
    }),
    field: z.string().optional().meta({ description: 'The field that was refused, with invalid_request' }),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof ErrorBody>;

interface AppErrorDetail {
  /** Takes the place of the table's sentence; as text it is in the language of the answer already. */
  readonly message?: string | InBothLanguages;
  /** The caller's own status, with account_not_active. */
  readonly status?: Status;
  /** The field that was refused, with invalid_request. */
  readonly field?: string;
  /** Seconds after which trying again makes sense, with rate_limited and unavailable. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** A refusal with a code of the table. Thrown where the fact is known, answered in one place. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly detail: AppErrorDetail;

  constructor(code: ErrorCode, detail: AppErrorDetail = {}) {
    super(sentenceIn('tr', detail.message ?? errors[code]), { cause: detail.cause });
    this.name = 'AppError';
    this.code = code;
    this.detail = detail;
  }

  get status(): number {
    return errors[this.code].status;
  }

  /** The sentence for the person, in the language of the call. */
  messageIn(language: Language): string {
    return sentenceIn(language, this.detail.message ?? errors[this.code]);
  }
}

function sentenceIn(language: Language, sentence: string | InBothLanguages): string {
  return typeof sentence === 'string' ? sentence : sentence[language];
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errors, code);
}
