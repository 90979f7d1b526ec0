import { auditActionLabel } from '@lamina/contract';

export const texts = {
  heading: 'Denetim Kaydı',
  hint: 'Kim, ne zaman, nereden, ne yaptı. Kayıtlar değiştirilemez; süresi dolanlar silinir ve bu da kaydedilir.',
  filters: 'Süzgeç',
  who: 'Kişi',
  whoHint: 'E-posta veya kullanıcı kimliği',
  action: 'İşlem',
  anyAction: 'Hepsi',
  result: 'Sonuç',
  anyResult: 'Hepsi',
  slide: 'Slayt',
  anySlide: 'Hepsi',
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
};

export const chainTexts = {
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
};

export const detailTexts = {
  status: 'Durum',
  role: 'Rol',
  fields: 'Alanlar',
  call: 'Çağrı',
  count: (count: string) => `${count} kez`,
  pruned: (entries: string) => `${entries} kayıt silindi`,
  changed: 'Değişen ayarlar',
  firstSettings: 'İlk başlangıç ayarları',
};

/** Names of the fields of a catalogue entry, as an administrator knows them. */
export const fieldLabels: Readonly<Record<string, string>> = {
  file_name: 'ad',
  dataset_name: 'veri kümesi',
  organ_type: 'organ',
};

/** 'Giriş · Reddedildi' reads worse than one sentence. */
const refusedSentences: Readonly<Record<string, string>> = {
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
};

const sameWhenRefused = new Set([
  'access-refused',
  'token-refused',
  'throttled',
  'refusals-summed-up',
  'image-missing',
]);

export function sentenceOf({ action, result }: { readonly action: string; readonly result: string }): string {
  const label = auditActionLabel(action);
  if (result === 'done' || sameWhenRefused.has(action)) return label;
  if (result === 'refused') return refusedSentences[action] ?? `${label}: reddedildi`;
  return action === 'image-imported' ? 'Slayt dosyası okunamadı' : `${label}: başarısız`;
}
