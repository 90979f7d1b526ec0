/**
 * Texts of the audit log screen. By default, the interface mixes Turkish and English; `languageWhenMixed` names the
 * language of these texts in that case.
 */
import { auditActionLabel } from '@lamina/contract';
import { chosenLanguageOr, wording } from '../../language/language.ts';

export const texts = wording({
  languageWhenMixed: 'tr',
  tr: {
    heading: 'Denetim Kaydı',
    hint: 'Kim, ne zaman, nereden, ne yaptı. Kayıtlar değiştirilemez; süresi dolanlar silinir ve bu da kaydedilir.',
    filters: 'Filtreler',
    who: 'Kişi',
    whoHint: 'E-posta veya kullanıcı kimliği',
    action: 'İşlem',
    anyAction: 'Tüm işlemler',
    result: 'Sonuç',
    anyResult: 'Tüm sonuçlar',
    slide: 'Slayt',
    anySlide: 'Tüm slaytlar',
    noSlide: 'Bu ada uyan slayt yok.',
    from: 'Başlangıç tarihi',
    to: 'Bitiş tarihi',
    apply: 'Filtrele',
    clear: 'Filtreleri temizle',
    showSessions: 'Görüntü oturumlarını da göster',
    entries: 'Kayıtlar',
    refresh: 'Yenile',
    download: 'CSV indir',
    downloaded: 'Denetim kaydı indirildi.',
    downloadFailed: 'Denetim kaydı indirilemedi.',
    fileName: (day: string) => `denetim-kaydi-${day}.csv`,
    loading: 'Kayıtlar yükleniyor…',
    loadFailed: 'Denetim kaydı yüklenemedi.',
    empty: 'Bu filtrelere uyan kayıt yok.',
    more: 'Daha eski kayıtlar',
    moreFailed: 'Daha eski kayıtlar yüklenemedi.',
    end: 'Kayıtların sonu',
    time: 'Saat',
    person: 'Kişi',
    target: 'Hedef',
    detail: 'Ayrıntı',
    address: 'Adres',
    notSignedIn: 'Oturum açmamış kişi',
    server: 'Sunucu',
    deletedAccount: 'Silinmiş hesap',
    unnamedSlide: 'Adsız slayt',
    recordsOf: (name: string) => `${name}: bu kişinin kayıtları`,
    recordsOfSlide: (name: string) => `${name}: bu slaydın kayıtları`,
  },
  en: {
    heading: 'Audit Log',
    hint: 'Who did what, when and from where. Entries cannot be changed; expired entries are deleted, which is recorded too.',
    filters: 'Filters',
    who: 'Person',
    whoHint: 'E-mail or user ID',
    action: 'Action',
    anyAction: 'All actions',
    result: 'Result',
    anyResult: 'All results',
    slide: 'Slide',
    anySlide: 'All slides',
    noSlide: 'No slide matches this text.',
    from: 'Start date',
    to: 'End date',
    apply: 'Apply filters',
    clear: 'Clear filters',
    showSessions: 'Show image sessions too',
    entries: 'Entries',
    refresh: 'Refresh',
    download: 'Download CSV',
    downloaded: 'The audit log has been downloaded.',
    downloadFailed: 'The audit log could not be downloaded.',
    fileName: (day) => `audit-log-${day}.csv`,
    loading: 'Loading entries…',
    loadFailed: 'The audit log could not be loaded.',
    empty: 'No entries match these filters.',
    more: 'Older entries',
    moreFailed: 'Older entries could not be loaded.',
    end: 'End of the entries',
    time: 'Time',
    person: 'Person',
    target: 'Target',
    detail: 'Detail',
    address: 'Address',
    notSignedIn: 'Not logged in',
    server: 'Server',
    deletedAccount: 'Deleted account',
    unnamedSlide: 'Unnamed slide',
    recordsOf: (name) => `${name}: entries of this person`,
    recordsOfSlide: (name) => `${name}: entries of this slide`,
  },
});

export const chainTexts = wording({
  languageWhenMixed: 'tr',
  tr: {
    heading: 'Kayıt zinciri',
    unchecked: 'Kayıt zinciri henüz denetlenmedi.',
    checking: 'Kayıt zinciri denetleniyor…',
    intact: 'Kayıt zinciri sağlam',
    intactDetail: (entries: string, at: string) => `${entries} kayıt denetlendi · ${at}`,
    broken: (entry: string) => `Kayıt zinciri ${entry} numaralı kayıtta bozuluyor`,
    brokenDetail: (at: string) =>
      `Bu kayıt değiştirilmiş, silinmiş ya da yeri değiştirilmiş. Bu kayıttan sonrasına güvenmeyin ve bir yedekle karşılaştırın. · ${at}`,
    failed: 'Kayıt zincirinin durumu alınamadı.',
    check: 'Şimdi denetle',
  },
  en: {
    heading: 'Chain of entries',
    unchecked: 'The chain of entries has not been checked yet.',
    checking: 'Checking the chain of entries…',
    intact: 'The chain of entries is intact',
    intactDetail: (entries, at) => `${entries === '1' ? '1 entry' : `${entries} entries`} checked · ${at}`,
    broken: (entry) => `The chain of entries breaks at entry ${entry}`,
    brokenDetail: (at) =>
      `This entry has been changed, deleted or moved. Do not trust it or what follows it, and compare with a backup. · ${at}`,
    failed: 'The state of the chain could not be fetched.',
    check: 'Check now',
  },
});

export const detailTexts = wording({
  languageWhenMixed: 'tr',
  tr: {
    status: 'Durum',
    role: 'Rol',
    dataset: 'Veri kümesi',
    fileName: 'Ad',
    organ: 'Organ',
    pixelSize: 'Piksel boyutu (µm)',
    objective: 'Objektif (×)',
    datasetInFiles: 'Dosyalara göre',
    noDataset: 'veri kümesi yok',
    fields: 'Alanlar',
    call: 'Çağrı',
    count: (count: string) => `${count} kez`,
    firstAndLast: (first: string, last: string) => `İlki ${first}, sonuncusu ${last}`,
    kinds: 'Türleri',
    pruned: (entries: string) => `${entries} kayıt silindi`,
    uploaded: (files: string, size: string) => `${files} dosya, ${size}`,
    imported: (rows: string, changed: string, unknown: string) =>
      `${rows} satır: ${changed} slayt değişti, ${unknown} satır katalogda bulunamadı`,
    changed: 'Değişen ayarlar',
    firstSettings: 'İlk başlangıç ayarları',
    onlyThumbnail: 'Küçük resim gösterildi',
    tilesWithoutDescriptor: 'Tanım dosyası istenmeden görüntü karoları gösterildi',
    none: '—',
    yes: 'evet',
    no: 'hayır',
    endDate: 'Bitiş tarihi',
    noEnd: 'süresiz',
  },
  en: {
    status: 'Status',
    role: 'Role',
    dataset: 'Dataset',
    fileName: 'Name',
    organ: 'Organ',
    pixelSize: 'Pixel size (µm)',
    objective: 'Objective (×)',
    datasetInFiles: 'Dataset in the metadata files',
    noDataset: 'no dataset',
    fields: 'Fields',
    call: 'Call',
    count: (count) => (count === '1' ? 'Once' : `${count} times`),
    firstAndLast: (first, last) => `First ${first}, last ${last}`,
    kinds: 'Kinds',
    pruned: (entries) => (entries === '1' ? '1 entry deleted' : `${entries} entries deleted`),
    uploaded: (files, size) => `files: ${files}, ${size}`,
    imported: (rows, changed, unknown) =>
      `${rows} lines: slides changed: ${changed}, lines that match no slide: ${unknown}`,
    changed: 'Changed settings',
    firstSettings: 'Settings of the first start',
    onlyThumbnail: 'Thumbnail shown',
    tilesWithoutDescriptor: 'Tiles shown without the descriptor',
    none: '—',
    yes: 'yes',
    no: 'no',
    endDate: 'End date',
    noEnd: 'no end',
  },
});

/** Labels of the fields of a catalogue entry, by their names in the API. */
export const fieldLabels: Readonly<Record<string, string>> = wording({
  languageWhenMixed: 'tr',
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

/** Labels of details, by their names in the audit entry. `detailTexts` has the labels of details that are formatted. */
export const detailLabels: Readonly<Record<string, string>> = wording({
  languageWhenMixed: 'tr',
  tr: {
    access: 'Erişim',
    backup_of: 'Yedeğin tarihi',
    browser: 'Tarayıcı',
    dataset: 'Veri kümesi',
    email_confirmed: 'E-posta doğrulandı',
    field: 'Alan',
    from: 'Eski yer',
    issuer: 'Kimlik doğrulama hizmeti',
    listed: 'Üyelere gösteriliyor',
    oldest_sign_ins_ended: 'Kapatılan en eski oturum sayısı',
    reason: 'Neden',
    second_factor: 'İki adımlı doğrulama',
    slides: 'Slayt sayısı',
    spellings: 'Yazım sayısı',
    to: 'Yeni yer',
    until: 'Bitişi',
    version: 'Sürüm',
    what: 'Deneme türü',
    which: 'Kapatılan oturum',
  },
  en: {
    access: 'Access',
    backup_of: 'Date of the backup',
    browser: 'Browser',
    dataset: 'Dataset',
    email_confirmed: 'E-mail confirmed',
    field: 'Field',
    from: 'Old place',
    issuer: 'Sign-in service',
    listed: 'Shown to members',
    oldest_sign_ins_ended: 'Oldest sign-ins ended',
    reason: 'Reason',
    second_factor: 'Two-step verification',
    slides: 'Slides',
    spellings: 'Spellings',
    to: 'New place',
    until: 'Until',
    version: 'Version',
    what: 'Kind of attempt',
    which: 'Sign-ins ended',
  },
});

/** Texts of detail values that are codes. */
export const detailValues: Readonly<Record<string, string>> = wording({
  languageWhenMixed: 'tr',
  tr: {
    open: 'tüm üyelere açık',
    restricted: 'kısıtlı',
    all: 'tümü',
    'all others': 'diğerlerinin tümü',
    one: 'tek oturum',
    code: 'doğrulama kodu',
    'recovery-code': 'kurtarma kodu',
  },
  en: {
    open: 'open to all members',
    restricted: 'restricted',
    all: 'all',
    'all others': 'all others',
    one: 'one session',
    code: 'verification code',
    'recovery-code': 'recovery code',
  },
});

/** Summaries of refused actions, where one phrase reads better than the action followed by "refused". */
const refusedSentences: Readonly<Record<string, string>> = wording({
  languageWhenMixed: 'tr',
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

const resultTexts = wording({
  languageWhenMixed: 'tr',
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

/** Actions whose labels already say that something was refused or failed. */
const actionsWithoutResult = new Set([
  'access-refused',
  'token-refused',
  'throttled',
  'refusals-summed-up',
  'image-missing',
]);

/** Returns what happened, such as "Login failed", from the action and the result of an audit entry. */
export function summaryOf({ action, result }: { readonly action: string; readonly result: string }): string {
  const label = auditActionLabel(action, chosenLanguageOr('tr'));
  if (result === 'done' || actionsWithoutResult.has(action)) return label;
  if (result === 'refused') return refusedSentences[action] ?? resultTexts.refused(label);
  return action === 'image-imported' ? resultTexts.unreadable : resultTexts.failed(label);
}
