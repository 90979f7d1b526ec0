/** Endpoints with which administrators read the audit log: who did what to whom, when, from where and with which result. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import type { Bilingual, Language } from './languages.ts';
import { ComparedName, Cursor } from './text.ts';

/**
 * All audit actions: their codes, with labels for the web app and the CSV export. A code never changes its meaning, because stored
 * events are never changed.
 */
export const auditActions = {
  registered: { tr: 'Hesap oluşturuldu', en: 'Account created' },
  'registration-requested': { tr: 'Kayıt istendi', en: 'Registration requested' },
  'sign-in': { tr: 'Giriş', en: 'Login' },
  'sign-out': { tr: 'Çıkış', en: 'Logout' },
  'token-refused': { tr: 'Geçersiz giriş belirteci', en: 'Invalid sign-in token' },
  'identity-linked': { tr: 'Dış kimlik hesaba bağlandı', en: 'External identity linked to the account' },
  approved: { tr: 'Hesap onaylandı', en: 'Account approved' },
  'approval-withdrawn': { tr: 'Onay geri alındı', en: 'Approval withdrawn' },
  rejected: { tr: 'Başvuru reddedildi', en: 'Application rejected' },
  'access-changed': { tr: 'Erişim düzenlendi', en: 'Access edited' },
  'expiry-changed': { tr: 'Hesabın bitiş tarihi değişti', en: 'End date of the account changed' },
  'dataset-changed': { tr: 'Veri kümesinin erişimi değişti', en: 'Access to the dataset changed' },
  'dataset-granted': { tr: 'Veri kümesine erişim verildi', en: 'Access to the dataset given' },
  'dataset-revoked': { tr: 'Veri kümesine erişim kaldırıldı', en: 'Access to the dataset removed' },
  'dataset-requested': { tr: 'Veri kümesine erişim istendi', en: 'Access to the dataset requested' },
  'dataset-request-refused': { tr: 'Veri kümesi isteği reddedildi', en: 'Request for the dataset rejected' },
  suspended: { tr: 'Hesap askıya alındı', en: 'Account suspended' },
  deactivated: { tr: 'Hesap devre dışı bırakıldı', en: 'Account deactivated' },
  promoted: { tr: 'Yönetici yapıldı', en: 'Made an administrator' },
  'password-changed': { tr: 'Şifre değiştirildi', en: 'Password changed' },
  'password-set': { tr: 'Şifre yönetici tarafından belirlendi', en: 'Password set by an administrator' },
  'second-factor-on': { tr: 'İki adımlı doğrulama açıldı', en: 'Two-step verification turned on' },
  'second-factor-off': { tr: 'İki adımlı doğrulama kapatıldı', en: 'Two-step verification turned off' },
  'second-factor-reset': {
    tr: 'İki adımlı doğrulama yönetici tarafından kaldırıldı',
    en: 'Two-step verification removed by an administrator',
  },
  'password-reset-requested': { tr: 'Şifre sıfırlama istendi', en: 'Password reset requested' },
  'password-reset': { tr: 'Şifre sıfırlandı', en: 'Password reset' },
  'account-deleted': { tr: 'Hesap silindi', en: 'Account deleted' },
  'first-admin-made': { tr: 'İlk yönetici oluşturuldu', en: 'First administrator created' },
  'admin-restored': { tr: 'Yönetici erişimi geri verildi', en: "Administrator's access given back" },
  'api-token-created': { tr: 'API anahtarı oluşturuldu', en: 'API token created' },
  'api-token-revoked': { tr: 'API anahtarı iptal edildi', en: 'API token revoked' },
  'api-token-used': { tr: 'API anahtarı kullanıldı', en: 'API token used' },
  'image-session-created': { tr: 'Görüntü oturumu açıldı', en: 'Image session opened' },
  'image-session-revoked': { tr: 'Görüntü oturumu kapatıldı', en: 'Image session ended' },
  // In an image session (a credential for pixels), the first request for pixels of a slide is `image-opened`. If it was for the thumbnail, the first request for
  // other pixels is `image-viewed`.
  'image-opened': { tr: 'Slayt açıldı', en: 'Slide opened' },
  'image-viewed': {
    tr: 'Küçük resminin ardından slayt görüntülendi',
    en: 'Slide viewed (tiles after its thumbnail)',
  },
  'original-downloaded': { tr: 'Özgün dosya indirildi', en: 'Original file downloaded' },
  'image-imported': { tr: 'Slayt dosyası okundu', en: 'Slide file read' },
  'image-missing': { tr: 'Slayt dosyası bulunamadı', en: 'Slide file not found' },
  'image-moved': { tr: 'Slayt dosyası taşındı', en: 'Slide file moved' },
  'image-dataset-changed': {
    tr: 'Slaydın veri kümesi değişti (dosyalara göre)',
    en: 'Dataset of the slide changed by metadata files',
  },
  // A scan would have moved the slide to a dataset in which more accounts may see it. An administrator decides about this.
  'image-dataset-kept': {
    tr: 'Slayt kısıtlı veri kümesinde tutuldu',
    en: 'Slide kept in its restricted dataset',
  },
  'datasets-merged': {
    tr: 'Aynı adın yazımları tek veri kümesinde birleştirildi',
    en: 'Spellings of one name merged into one dataset',
  },
  'image-edited': { tr: 'Slayt bilgisi değiştirildi', en: "Slide's details changed" },
  'image-calibrated': { tr: 'Slayt ölçeği değiştirildi', en: 'Scale of the slide changed' },
  'image-removed': { tr: 'Slayt katalogdan kaldırıldı', en: 'Slide removed from the catalogue' },
  'image-hidden': { tr: 'Slayt üyelerden gizlendi', en: 'Slide hidden from members' },
  'image-shown': { tr: 'Slayt üyelere yeniden gösterildi', en: 'Slide shown to members again' },
  'image-read-again': {
    tr: 'Slayt dosyasının yeniden okunması istendi',
    en: 'Request to read the slide file again',
  },
  'catalogue-imported': { tr: 'Katalog dosyası içe aktarıldı', en: 'Catalogue file imported' },
  'catalogue-exported': { tr: 'Katalog dosyası indirildi', en: 'Catalogue file downloaded' },
  'image-restored': { tr: 'Slayt kataloğa geri alındı', en: 'Slide put back into the catalogue' },
  'case-created': { tr: 'Vaka oluşturuldu', en: 'Case created' },
  'case-changed': { tr: 'Vaka değiştirildi', en: 'Case changed' },
  'case-deleted': { tr: 'Vaka silindi', en: 'Case deleted' },
  'case-registered': { tr: 'Vakanın iki slaydı hizalandı', en: 'Two slides of the case registered' },
  'saved-view-created': { tr: 'Görünüm kaydedildi', en: 'View saved' },
  'saved-view-changed': { tr: 'Kayıtlı görünüm değiştirildi', en: 'Saved view changed' },
  'saved-view-deleted': { tr: 'Kayıtlı görünüm silindi', en: 'Saved view deleted' },
  'collection-created': { tr: 'Koleksiyon oluşturuldu', en: 'Collection created' },
  'collection-changed': { tr: 'Koleksiyon değiştirildi', en: 'Collection changed' },
  'collection-deleted': { tr: 'Koleksiyon silindi', en: 'Collection deleted' },
  'share-link-created': { tr: 'Paylaşım bağlantısı oluşturuldu', en: 'Share link created' },
  'share-link-opened': { tr: 'Paylaşım bağlantısı açıldı', en: 'Share link opened' },
  'share-link-ended': { tr: 'Paylaşım bağlantısı sonlandırıldı', en: 'Share link ended' },
  'annotation-layer-created': { tr: 'İşaretleme katmanı oluşturuldu', en: 'Annotation layer created' },
  'annotation-layer-changed': { tr: 'İşaretleme katmanı değiştirildi', en: 'Annotation layer changed' },
  'annotation-layer-deleted': { tr: 'İşaretleme katmanı silindi', en: 'Annotation layer deleted' },
  'annotation-layer-restored': { tr: 'İşaretleme katmanı geri alındı', en: 'Annotation layer restored' },
  'annotation-layer-read': {
    tr: 'Başkasının özel katmanı yönetici tarafından görüldü',
    en: "Another user's private layer read by an administrator",
  },
  'annotations-changed': {
    tr: 'Başkasının katmanı yönetici tarafından düzenlendi',
    en: "Another user's layer edited by an administrator",
  },
  'annotation-classes-changed': {
    tr: 'Veri kümesinin sınıfları değiştirildi',
    en: 'Classes of the dataset changed',
  },
  'result-layer-created': { tr: 'Sonuç katmanı oluşturuldu', en: 'Result layer created' },
  'result-layer-deleted': { tr: 'Sonuç katmanı silindi', en: 'Result layer deleted' },
  'upload-begun': { tr: 'Slayt yüklemesi başladı', en: 'Upload of slides begun' },
  'upload-finished': { tr: 'Slayt yüklemesi tamamlandı', en: 'Upload of slides finished' },
  'upload-abandoned': { tr: 'Slayt yüklemesi iptal edildi', en: 'Upload of slides cancelled' },
  'access-refused': { tr: 'Erişim reddedildi', en: 'Access refused' },
  throttled: { tr: 'Aşırı deneme engellendi', en: 'Too many attempts blocked' },
  'refusals-summed-up': { tr: 'Toplu kaydedilen ret olayları', en: 'Rejected requests, summarised' },
  'settings-changed': { tr: 'Ayarlar değişti', en: 'Settings changed' },
  'backup-restored': { tr: 'Yedekten geri yüklendi', en: 'Restored from a backup' },
  'database-moved': { tr: 'Veritabanı taşındı', en: 'Database moved' },
  'audit-exported': { tr: 'Denetim kaydı indirildi', en: 'Audit log downloaded' },
  'audit-pruned': { tr: 'Süresi dolan kayıtlar silindi', en: 'Expired entries deleted' },
} as const satisfies Readonly<Record<string, Bilingual>>;
export type AuditAction = keyof typeof auditActions;

/** `failed`: the action was allowed but did not succeed; for example, the server could not read a damaged slide file. */
export const AuditResult = z.enum(['done', 'refused', 'failed']);
export type AuditResult = z.infer<typeof AuditResult>;

export const auditResults: Readonly<Record<AuditResult, Bilingual>> = {
  done: { tr: 'Başarılı', en: 'Done' },
  refused: { tr: 'Reddedildi', en: 'Refused' },
  failed: { tr: 'Başarısız', en: 'Failed' },
};

/** Returns the label of an action, or the code itself for an action that this version does not know. */
export function auditActionLabel(action: string, language: Language): string {
  return Object.hasOwn(auditActions, action) ? auditActions[action as AuditAction][language] : action;
}

/** An account in the audit log. Events store only its uid; responses add its e-mail address and name while it exists. */
const AuditPerson = z.object({
  uid: z.string(),
  email: z.string().nullable().meta({ description: 'Null when the account was deleted' }),
  displayName: z.string().nullable(),
});

/** An event of the audit log, as administrators see it. */
export const AuditEntry = z
  .object({
    seq: z.number().int().meta({ description: 'Number of the event: 1, 2, 3 … without gaps' }),
    at: z.iso.datetime(),
    action: z.string(),
    result: z.string(),
    actor: AuditPerson.nullable().meta({
      description: 'Null for a request without a sign-in, and for the server itself',
    }),
    /** The account or object that the action concerns. */
    target: z
      .discriminatedUnion('kind', [
        AuditPerson.extend({ kind: z.literal('account') }),
        z.object({
          kind: z.literal('image'),
          id: z.string(),
          /** Current file name in the catalogue, or the file name in the event if the catalogue has none; null if neither is known. */
          fileName: z.string().nullable(),
          isListed: z.boolean().meta({ description: 'The catalogue lists the slide now' }),
        }),
        z.object({ kind: z.literal('other'), id: z.string() }),
      ])
      .nullable(),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    address: z.string().nullable(), // IP address of the request, if there was one
    requestId: z.string().nullable(),
    hash: z
      .string()
      .meta({ description: 'SHA-256 (base64url) of the event and the hash of the previous event' }),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** Actions of image sessions (credentials for pixels). Their events outnumber all others, so a filter can leave them out. */
export const sessionActions: readonly AuditAction[] = ['image-session-created', 'image-session-revoked'];

/** A filter by text; an empty text counts as no filter. */
const filterText = ComparedName.trim()
  .max(254) // the longest value is an e-mail address
  .transform((value) => value || undefined)
  .optional();
/** A time. It is compared as text with stored times, which have milliseconds. */
const filterTime = z.iso
  .datetime()
  .transform((time) => new Date(time).toISOString())
  .optional();

const AuditFilter = z.object({
  who: filterText.meta({
    description: 'uid or e-mail address of an account: events whose actor or target it is',
  }),
  action: filterText,
  result: AuditResult.optional(),
  target: filterText.meta({ description: 'Id of a slide, or uid of an account' }),
  from: filterTime.meta({ description: 'At this time or later' }),
  to: filterTime.meta({ description: 'Before this time' }),
  hide: z.enum(['sessions']).optional().meta({ description: 'Leaves out the events of image sessions' }),
});
export type AuditFilter = z.infer<typeof AuditFilter>;

export const listAudit = endpoint({
  method: 'GET',
  path: '/admin/audit',
  summary: 'Audit events, newest first, paginated',
  access: 'users.manage', // a permission of administrators only
  defaultMessageLanguage: 'tr',
  query: AuditFilter.extend({
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: Cursor.max(100).optional(),
  }),
  response: z.object({ entries: z.array(AuditEntry), next_cursor: z.string().nullable() }),
  status: 200,
  errors: [],
});

/** The response is CSV for spreadsheets (RFC 4180, UTF-8 with a byte order mark). */
export const exportAudit = endpoint({
  method: 'GET',
  path: '/admin/audit.csv',
  summary: 'The audit log as CSV, newest first; the export itself is recorded',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  query: AuditFilter,
  response: 'text/csv',
  status: 200,
  errors: [],
});

/** Result of the last verification of the hash chain, in which the hash of each event covers that of the previous event. */
export const AuditChain = z
  .object({
    state: z.enum(['unchecked', 'intact', 'broken']),
    isChecking: z.boolean(),
    /** End of the last verification; null before the first one has ended. */
    checkedAt: z.iso.datetime().nullable(),
    entries: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Number of events that the last verification has checked' }),
    brokenAt: z.number().int().nullable().meta({
      description: 'Number of the first event that was changed, removed or moved; null unless broken',
    }),
  })
  .meta({ id: 'AuditChain' });
export type AuditChain = z.infer<typeof AuditChain>;

export const getAuditChain = endpoint({
  method: 'GET',
  path: '/admin/audit/chain',
  summary:
    'Result of the last verification of the hash chain; starts another one if it is older than ten minutes',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: AuditChain,
  status: 200,
  errors: [],
});

export const checkAuditChain = endpoint({
  method: 'POST',
  path: '/admin/audit/chain',
  summary: 'Start a verification of the hash chain',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: AuditChain,
  status: 202,
  errors: [],
});
