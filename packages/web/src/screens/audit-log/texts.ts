import { auditActionLabel } from '@lamina/contract';
import { languageNow, wording } from '../../language.ts';

export const texts = wording({
  mixed: 'tr',
  tr: {
    heading: 'Denetim Kaydı',
    hint: 'Kim, ne zaman, nereden, ne yaptı. Kayıtlar değiştirilemez; süresi dolanlar silinir ve bu da kaydedilir.',
    filters: 'Süzgeç',
    who: 'Kişi',
    whoHint: 'E-posta veya kullanıcı kimliği',
    action: 'İşlem',
    anyAction: 'Bütün işlemler',
    result: 'Sonuç',
    anyResult: 'Bütün sonuçlar',
    slide: 'Slayt',
    anySlide: 'Bütün slaytlar',
    noSlide: 'Bu ada uyan slayt yok.',
    from: 'İlk gün',
    to: 'Son gün',
    apply: 'Süz',
    clear: 'Süzgeci temizle',
    entries: 'Kayıtlar',
    refresh: 'Yenile',
    download: 'CSV indir',
    downloaded: 'Denetim kaydı indirildi.',
    downloadFailed: 'Denetim kaydı indirilemedi.',
    fileName: (day: string) => `denetim-kaydi-${day}.csv`,
    loading: 'Kayıtlar yükleniyor…',
    loadFailed: 'Denetim kaydı yüklenemedi.',
    empty: 'Bu süzgece uyan kayıt yok.',
    more: 'Daha eski kayıtlar',
    moreFailed: 'Daha eski kayıtlar yüklenemedi.',
    end: 'Kayıtların sonu',
    time: 'Saat',
    person: 'Kişi',
    target: 'Hedef',
    detail: 'Ayrıntı',
    address: 'Adres',
    stranger: 'Giriş yapmamış biri',
    server: 'Sunucu',
    deletedAccount: 'Silinmiş hesap',
    unnamedSlide: 'Adsız slayt',
    recordsOf: (name: string) => `${name}: bu kişinin kayıtları`,
    recordsOfSlide: (name: string) => `${name}: bu slaytın kayıtları`,
  },
  en: {
    heading: 'Audit Trail',
    hint: 'Who did what, when and from where. Entries cannot be changed; those whose time is over are deleted, which is recorded too.',
    filters: 'Filter',
    who: 'Person',
    whoHint: 'E-mail or user ID',
    action: 'Action',
    anyAction: 'All actions',
    result: 'Result',
    anyResult: 'All results',
    slide: 'Slide',
    anySlide: 'All slides',
    noSlide: 'No slide has such a name.',
    from: 'First day',
    to: 'Last day',
    apply: 'Apply filter',
    clear: 'Clear filter',
    entries: 'Entries',
    refresh: 'Refresh',
    download: 'Download CSV',
    downloaded: 'The audit trail has been downloaded.',
    downloadFailed: 'The audit trail could not be downloaded.',
    fileName: (day) => `audit-trail-${day}.csv`,
    loading: 'Loading entries…',
    loadFailed: 'The audit trail could not be loaded.',
    empty: 'No entry matches this filter.',
    more: 'Older entries',
    moreFailed: 'Older entries could not be loaded.',
    end: 'End of the entries',
    time: 'Time',
    person: 'Person',
    target: 'Target',
    detail: 'Detail',
    address: 'Address',
    stranger: 'Somebody not logged in',
    server: 'Server',
    deletedAccount: 'Deleted account',
    unnamedSlide: 'Unnamed slide',
    recordsOf: (name) => `${name}: entries of this person`,
    recordsOfSlide: (name) => `${name}: entries of this slide`,
  },
});

export const chainTexts = wording({
  mixed: 'tr',
  tr: {
    heading: 'Kayıt zinciri',
    unchecked: 'Kayıt zinciri henüz denetlenmedi.',
    checking: 'Kayıt zinciri denetleniyor…',
    intact: 'Kayıt zinciri sağlam',
    intactDetail: (entries: string, at: string) => `${entries} kayıt denetlendi · ${at}`,
    broken: (entry: string) => `Kayıt zinciri ${entry} numaralı kayıtta bozuluyor`,
    brokenDetail: (at: string) =>
      `Bu kayıt değiştirilmiş, silinmiş ya da yerinden oynatılmış. Bu kayıttan sonrasına güvenmeyin ve bir yedekle karşılaştırın. · ${at}`,
    failed: 'Kayıt zincirinin durumu alınamadı.',
    check: 'Şimdi denetle',
  },
  en: {
    heading: 'Chain of entries',
    unchecked: 'The chain of entries has not been checked yet.',
    checking: 'Checking the chain of entries…',
    intact: 'The chain of entries is intact',
    intactDetail: (entries, at) => `${entries} entries checked · ${at}`,
    broken: (entry) => `The chain of entries breaks at entry ${entry}`,
    brokenDetail: (at) =>
      `This entry has been changed, deleted or moved. Do not trust it or what follows it, and compare with a backup. · ${at}`,
    failed: 'The state of the chain could not be fetched.',
    check: 'Check now',
  },
});

export const detailTexts = wording({
  mixed: 'tr',
  tr: {
    status: 'Durum',
    role: 'Rol',
    fields: 'Alanlar',
    call: 'Çağrı',
    count: (count: string) => `${count} kez`,
    pruned: (entries: string) => `${entries} kayıt silindi`,
    uploaded: (files: string, size: string) => `${files} dosya, ${size}`,
    imported: (rows: string, changed: string, unknown: string) =>
      `${rows} satır: ${changed} slayt değişti, ${unknown} satır katalogda bulunamadı`,
    changed: 'Değişen ayarlar',
    firstSettings: 'İlk başlangıç ayarları',
  },
  en: {
    status: 'Status',
    role: 'Role',
    fields: 'Fields',
    call: 'Call',
    count: (count) => `${count} times`,
    pruned: (entries) => `${entries} entries deleted`,
    uploaded: (files, size) => `files: ${files}, ${size}`,
    imported: (rows, changed, unknown) =>
      `${rows} lines: slides changed: ${changed}, lines that name no slide: ${unknown}`,
    changed: 'Changed settings',
    firstSettings: 'Settings of the first start',
  },
});

/** Names of the fields of a catalogue entry, as an administrator knows them. */
export const fieldLabels: Readonly<Record<string, string>> = wording({
  mixed: 'tr',
  tr: {
    file_name: 'ad',
    dataset_name: 'veri kümesi',
    organ_type: 'organ',
  },
  en: {
    file_name: 'name',
    dataset_name: 'dataset',
    organ_type: 'organ',
  },
});

/** 'Giriş · Reddedildi' reads worse than one sentence. */
const refusedSentences: Readonly<Record<string, string>> = wording({
  mixed: 'tr',
  tr: {
    'sign-in': 'Giriş başarısız',
    registered: 'Kayıt reddedildi',
    approved: 'Onaylama reddedildi',
    suspended: 'Askıya alma reddedildi',
    deactivated: 'Devre dışı bırakma reddedildi',
    promoted: 'Yönetici yapma reddedildi',
    'password-changed': 'Şifre değişikliği reddedildi',
    'password-set': 'Şifre belirleme reddedildi',
    'password-reset-requested': 'Bilinmeyen adres için şifre sıfırlama istendi',
    'account-deleted': 'Hesap silme reddedildi',
  },
  en: {
    'sign-in': 'Login failed',
    registered: 'Registration refused',
    approved: 'Approval refused',
    suspended: 'Suspension refused',
    deactivated: 'Deactivation refused',
    promoted: 'Making an administrator refused',
    'password-changed': 'Password change refused',
    'password-set': 'Setting a password refused',
    'password-reset-requested': 'Password reset requested for an unknown address',
    'account-deleted': 'Account deletion refused',
  },
});

const endings = wording({
  mixed: 'tr',
  tr: {
    refused: (label: string) => `${label}: reddedildi`,
    unreadable: 'Slayt dosyası okunamadı',
    failed: (label: string) => `${label}: başarısız`,
  },
  en: {
    refused: (label) => `${label}: refused`,
    unreadable: 'Slide file could not be read',
    failed: (label) => `${label}: failed`,
  },
});

const sameWhenRefused = new Set([
  'access-refused',
  'token-refused',
  'throttled',
  'refusals-summed-up',
  'image-missing',
]);

export function sentenceOf({ action, result }: { readonly action: string; readonly result: string }): string {
  const label = auditActionLabel(action, languageNow('tr'));
  if (result === 'done' || sameWhenRefused.has(action)) return label;
  if (result === 'refused') return refusedSentences[action] ?? endings.refused(label);
  return action === 'image-imported' ? endings.unreadable : endings.failed(label);
}
