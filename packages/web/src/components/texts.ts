/** Texts of shared components. `languageBeforeChoice` is their language until the user chooses one (language/language.ts). */
import { wording, wordingByScreenLanguage } from '../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    undo: 'Geri Al',
    clear: 'Temizle',
  },
  en: {
    undo: 'Undo',
    clear: 'Clear',
  },
});

/** Dialogs and password fields, by the language that their screen has until the user chooses one. */
export const dialogTexts = wordingByScreenLanguage({
  tr: { cancel: 'Vazgeç', close: 'Kapat', showTyped: 'Şifreyi göster' },
  en: { cancel: 'Cancel', close: 'Close', showTyped: 'Show password' },
});

/** API tokens, in the lists of their owners and of administrators. */
export const apiTokenTexts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'API Anahtarları',
    listFailed: 'API anahtarları yüklenemedi.',
    allDatasets: 'Anahtar sahibinin görebildiği tüm veri kümeleri',
    datasets: (names: string) => `Veri kümeleri: ${names}`,
    ends: (at: string) => `Bitiş: ${at}`,
    lastUsed: (at: string) => `Son kullanım: ${at}`,
    neverUsed: 'Henüz kullanılmadı',
    revoke: 'İptal Et',
    revokeOf: (name: string) => `İptal et: ${name}`,
    revokeQuestion: 'API anahtarı iptal edilsin mi?',
    revokeHint: (name: string) =>
      `“${name}” anahtarını kullanan programlar hemen erişimini yitirir. Bu işlem geri alınamaz.`,
  },
  en: {
    heading: 'API Tokens',
    listFailed: 'The API tokens could not be loaded.',
    allDatasets: 'Every dataset that the owner may see',
    datasets: (names) => `Datasets: ${names}`,
    ends: (at) => `Ends: ${at}`,
    lastUsed: (at) => `Last used: ${at}`,
    neverUsed: 'Not used yet',
    revoke: 'Revoke',
    revokeOf: (name) => `Revoke: ${name}`,
    revokeQuestion: 'Revoke the API token?',
    revokeHint: (name) => `Programs that use “${name}” lose their access at once. You cannot undo this.`,
  },
});

/** Theme choice in the user menu, by the language of that menu until the user chooses one: `tr` in the admin area, otherwise `en`. */
export const themeTexts = {
  tr: wording({
    languageBeforeChoice: 'tr',
    tr: { theme: 'Görünüm', auto: 'Sistem ayarı', light: 'Açık', dark: 'Koyu' },
    en: { theme: 'Theme', auto: 'System setting', light: 'Light', dark: 'Dark' },
  }),
  en: wording({
    languageBeforeChoice: 'en',
    tr: { theme: 'Görünüm', auto: 'Sistem ayarı', light: 'Açık', dark: 'Koyu' },
    en: { theme: 'Theme', auto: 'System setting', light: 'Light', dark: 'Dark' },
  }),
};

export const shareLinkTexts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    none: 'Paylaşım bağlantısı yok.',
    listFailed: 'Paylaşım bağlantıları yüklenemedi.',
    kinds: { slide: 'Slayt', case: 'Vaka', collection: 'Koleksiyon', view: 'Kayıtlı görünüm' },
    openings: (count: number, max: number | null) =>
      max === null ? `${count} kez açıldı` : `${count} / ${max} kez açıldı`,
    until: (date: string) => `${date} tarihine kadar`,
    ended: 'Sona erdi',
    usedUp: 'Açılış hakkı doldu',
    withPassword: 'Şifre korumalı',
    end: 'Sonlandır',
    endOf: (title: string) => `“${title}” bağlantısını sonlandır`,
  },
  en: {
    none: 'There are no share links.',
    listFailed: 'The share links could not be loaded.',
    kinds: { slide: 'Slide', case: 'Case', collection: 'Collection', view: 'Saved view' },
    openings: (count: number, max: number | null) => {
      if (max !== null) return `Opened ${count} of ${max === 1 ? '1 time' : `${max} times`}`;
      return count === 1 ? 'Opened once' : `Opened ${count} times`;
    },
    until: (date: string) => `until ${date}`,
    ended: 'Ended',
    usedUp: 'No openings left',
    withPassword: 'With a password',
    end: 'End',
    endOf: (title: string) => `End the link “${title}”`,
  },
});

/** Texts of the dialog that creates a share link, by the language that its screen has until the user chooses one. */
export const shareDialogTexts = wordingByScreenLanguage({
  tr: {
    shareTitle: 'Başlık',
    shareTitleHint: 'Bağlantıyı açanlar dosya adını değil, bu başlığı görür.',
    shareTitleRequired: 'Bir başlık yazın.',
    shareDays: 'Kaç gün geçerli olsun?',
    shareNumber: (min: number, max: number) =>
      `${min} ile ${max.toLocaleString('tr')} arasında bir tam sayı yazın.`,
    shareOpenings: 'En fazla kaç kez açılsın? (isteğe bağlı)',
    sharePassword: 'Şifre (isteğe bağlı)',
    shareMake: 'Bağlantı oluştur',
    shareMade: 'Bağlantı hazır',
    shareAddress: 'Bağlantı',
    shareOnce: 'Bağlantı yalnızca bir kez gösterilir. Şimdi kopyalayın.',
    shareCopy: 'Kopyala',
    shareCopied: 'Kopyalandı',
    shareDone: 'Kapat',
    shareMovement: 'Ziyaretçiler görüntüyü kaydırıp yakınlaştırabilsin',
    shareAnnotations: 'İşaretlemeler görünsün',
    shareAnnotationsHint: 'Özel katmanlar ve adlar hiçbir zaman gösterilmez.',
  },
  en: {
    shareTitle: 'Title',
    shareTitleHint: 'Visitors see this title, not the name of the file.',
    shareTitleRequired: 'Enter a title.',
    shareDays: 'Days until it ends',
    shareNumber: (min, max) => `Enter a whole number from ${min} to ${max.toLocaleString('en')}.`,
    shareOpenings: 'Maximum number of openings (optional)',
    sharePassword: 'Password (optional)',
    shareMake: 'Create link',
    shareMade: 'The link is ready',
    shareAddress: 'Link',
    shareOnce: 'The link is shown only now. Copy it now.',
    shareCopy: 'Copy',
    shareCopied: 'Copied',
    shareDone: 'Close',
    shareMovement: 'Visitors may move and zoom',
    shareAnnotations: 'Show annotations',
    shareAnnotationsHint: 'Private layers and names of people are never shown.',
  },
});
