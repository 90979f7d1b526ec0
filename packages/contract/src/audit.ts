/** The audit trail: who did what to whom, when, from where, with which result. For administrators. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';

/**
 * Everything the trail tells of, and what it is called: on the screen and in the file for spreadsheets.
 * A word, once used, keeps its meaning: rows are never changed.
 */
export const auditActions = {
  registered: 'Hesap oluşturuldu',
  'sign-in': 'Giriş',
  'sign-out': 'Çıkış',
  'token-refused': 'Geçersiz giriş belirteci',
  'identity-linked': 'Dış kimlik hesaba bağlandı',
  approved: 'Hesap onaylandı',
  rejected: 'Başvuru reddedildi',
  'access-changed': 'Erişim düzenlendi',
  'expiry-changed': 'Hesabın bitiş tarihi değişti',
  'dataset-changed': 'Veri kümesinin erişimi değişti',
  'dataset-granted': 'Veri kümesine erişim verildi',
  'dataset-revoked': 'Veri kümesine erişim kaldırıldı',
  'dataset-requested': 'Veri kümesine erişim istendi',
  'dataset-request-refused': 'Veri kümesi isteği reddedildi',
  suspended: 'Hesap askıya alındı',
  deactivated: 'Hesap devre dışı bırakıldı',
  promoted: 'Yönetici yapıldı',
  'password-changed': 'Şifre değiştirildi',
  'password-set': 'Şifre yönetici tarafından belirlendi',
  'second-factor-on': 'İki adımlı doğrulama açıldı',
  'second-factor-off': 'İki adımlı doğrulama kapatıldı',
  'second-factor-reset': 'İki adımlı doğrulama yönetici tarafından kaldırıldı',
  'password-reset-requested': 'Şifre sıfırlama istendi',
  'password-reset': 'Şifre sıfırlandı',
  'account-deleted': 'Hesap silindi',
  'first-admin-made': 'İlk yönetici oluşturuldu',
  'admin-restored': 'Yönetici erişimi geri verildi',
  'image-session-created': 'Görüntü oturumu açıldı',
  'image-session-revoked': 'Görüntü oturumu kapatıldı',
  'image-opened': 'Slayt açıldı',
  'image-imported': 'Slayt dosyası okundu',
  'image-missing': 'Slayt dosyası bulunamadı',
  'image-edited': 'Slayt bilgisi değiştirildi',
  'image-removed': 'Slayt katalogdan kaldırıldı',
  'image-restored': 'Slayt kataloğa geri alındı',
  'access-refused': 'Erişim reddedildi',
  throttled: 'Çok fazla deneme engellendi',
  'refusals-summed-up': 'Tek tek yazılmayan reddedilmeler',
  'settings-changed': 'Ayarlar değişti',
  'audit-exported': 'Denetim kaydı indirildi',
  'audit-pruned': 'Süresi dolan kayıtlar silindi',
} as const satisfies Readonly<Record<string, string>>;
export type AuditAction = keyof typeof auditActions;

/** `failed` is what nobody refused and yet could not be done: a slide file that cannot be read, say. */
export const AuditResult = z.enum(['done', 'refused', 'failed']);
export type AuditResult = z.infer<typeof AuditResult>;

export const auditResults: Readonly<Record<AuditResult, string>> = {
  done: 'Başarılı',
  refused: 'Reddedildi',
  failed: 'Başarısız',
};

/** What a row of a newer version calls something is shown as it stands there. */
export function auditActionLabel(action: string): string {
  return Object.hasOwn(auditActions, action) ? auditActions[action as AuditAction] : action;
}

/** An account in the trail: its name only as long as there is the account, its uid for ever. */
const AuditPerson = z.object({
  uid: z.string(),
  email: z.string().nullable().meta({ description: 'Null when there is no such account any more' }),
  displayName: z.string().nullable(),
});

export const AuditEntry = z
  .object({
    seq: z.number().int().meta({ description: '1, 2, 3 … without a gap' }),
    at: z.iso.datetime(),
    action: z.string(),
    result: z.string(),
    actor: AuditPerson.nullable().meta({ description: 'Null for a stranger and for the server itself' }),
    /** Whom or what it was done to. */
    target: z
      .discriminatedUnion('kind', [
        AuditPerson.extend({ kind: z.literal('account') }),
        z.object({
          kind: z.literal('image'),
          id: z.string(),
          /** As the catalogue has it now, else as the entry has it; null when neither does. */
          fileName: z.string().nullable(),
          isListed: z.boolean().meta({ description: 'The slide is in the catalogue now' }),
        }),
        z.object({ kind: z.literal('other'), id: z.string() }),
      ])
      .nullable(),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    address: z.string().nullable(),
    requestId: z.string().nullable(),
    hash: z.string().meta({ description: 'SHA-256 of the entry and the hash before it, base64url' }),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** Databases refuse the NUL character, and no name needs a control character. */
const text = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\p{Cc}]*$/u)
  .transform((value) => value || undefined)
  .optional();
const time = z.iso.datetime().optional();

const AuditFilter = z.object({
  who: text.meta({ description: 'uid or e-mail: what this account did, and what was done to it' }),
  action: text,
  result: AuditResult.optional(),
  target: text.meta({ description: 'Id of a slide, or uid of an account' }),
  from: time.meta({ description: 'At this time or later' }),
  to: time.meta({ description: 'Before this time' }),
});
export type AuditFilter = z.infer<typeof AuditFilter>;

export const listAudit = endpoint({
  method: 'GET',
  path: '/admin/audit',
  summary: 'The audit trail, newest first, a page at a time',
  access: 'users.manage',
  language: 'tr',
  query: AuditFilter.extend({
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: z.string().max(100).optional(),
  }),
  response: z.object({ entries: z.array(AuditEntry), next_cursor: z.string().nullable() }),
  status: 200,
  errors: [],
});

/** For spreadsheets: RFC 4180, UTF-8 with a byte order mark. */
export const exportAudit = endpoint({
  method: 'GET',
  path: '/admin/audit.csv',
  summary: 'The audit trail as a file for spreadsheets, newest first; the export is itself on record',
  access: 'users.manage',
  language: 'tr',
  query: AuditFilter,
  response: 'text/csv',
  status: 200,
  errors: [],
});

/** Whether the chain of hashes still holds, as the last look at all of it found. */
export const AuditChain = z
  .object({
    state: z.enum(['unchecked', 'intact', 'broken']),
    isChecking: z.boolean(),
    /** Null before the first check has ended. */
    checkedAt: z.iso.datetime().nullable(),
    entries: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'How many entries the last check went through' }),
    brokenAt: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'The first entry that was changed, removed or moved; null unless broken' }),
  })
  .meta({ id: 'AuditChain' });
export type AuditChain = z.infer<typeof AuditChain>;

export const getAuditChain = endpoint({
  method: 'GET',
  path: '/admin/audit/chain',
  summary:
    'Whether the chain of hashes is intact; a check begins when the last one is older than ten minutes',
  access: 'users.manage',
  language: 'tr',
  response: AuditChain,
  status: 200,
  errors: [],
});

export const checkAuditChain = endpoint({
  method: 'POST',
  path: '/admin/audit/chain',
  summary: 'Begin a check of the whole chain of hashes now',
  access: 'users.manage',
  language: 'tr',
  response: AuditChain,
  status: 202,
  errors: [],
});
