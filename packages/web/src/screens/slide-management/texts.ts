import type { ImportedField, ManagedStatus } from '@lamina/contract';
import { formatNumber } from '../../formatting/numbers.ts';
import { chosenLanguageOr, wording } from '../../language/language.ts';

const slidesInEnglish = (count: number) => (count === 1 ? '1 slide' : `${formatNumber(count)} slides`);
const formatPixelSize = (value: number) =>
  value.toLocaleString(chosenLanguageOr('tr'), { maximumSignificantDigits: 4 });

/**
 * Texts of the slides screen. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'Slaytlar',
    hint: 'Katalogdaki kayıtları düzenleyin, taşıyın, gizleyin, kaldırın. Slayt dosyaları değiştirilmez.',
    catalogueFile: 'Katalog dosyası (CSV)',
    upload: 'Slayt yükle',
    list: 'Slayt listesi',
    refresh: 'Yenile',
    loading: 'Slaytlar yükleniyor…',
    loadFailed: 'Slaytlar yüklenemedi.',
    empty: 'Bu filtrelere uyan slayt yok.',
    clearFilters: 'Filtreleri temizle',
    none: 'Henüz slayt yok.',
    noneHint: 'Yukarıdaki düğmeyle slayt yükleyin veya dosyaları slayt klasörüne kopyalayın.',
    more: 'Devamını göster',
    moreFailed: 'Devamı yüklenemedi.',
    shown: (shown: number, all: number) =>
      shown === all
        ? `${formatNumber(all)} slaydın tümü gösteriliyor`
        : `${formatNumber(all)} slayttan ${formatNumber(shown)} tanesi gösteriliyor`,
    search: 'Ara',
    searchHint: 'Dosya adı, kimlik, organ veya veri kümesi',
    dataset: 'Veri kümesi',
    anyDataset: 'Tümü',
    noDataset: 'Veri kümesi yok',
    status: 'Durum',
    ofMany: (status: string, count: number) => `${status} (${formatNumber(count)})`,

    slide: 'Slayt',
    state: 'Durum',
    format: 'Biçim',
    size: 'Boyut',
    scale: 'Ölçek',
    actions: 'İşlemler',
    /** @param value µm per pixel */
    micrometres: (value: number) => `${formatPixelSize(value)} µm/piksel`,
    estimated: (value: string) => `${value} (tahmini)`,
    entered: (value: string) => `${value} (elle girildi)`,
    pixelSize: 'Piksel boyutu (µm)',
    objectivePower: 'Objektif (×)',
    calibrationHint:
      'Yalnızca dosyadaki ölçek eksik veya yanlışsa doldurun: ölçümler bununla yapılır ve işaretlenir. Boş bırakırsanız dosyadaki değerler kullanılır.',
    calibrationInvalid: 'Piksel boyutu 0,001–1000, objektif 0,1–1000 arasında bir sayı olmalı.',
    unknown: 'Bilinmiyor',
    noOrgan: 'Organ belirtilmemiş',
    kept: (dataset: string) =>
      `Dosyalara göre veri kümesi: ${dataset}. Orada daha çok kişi görebileceği için slayt burada tutuldu. Onaylamak için slaydı taşıyın.`,
    waiting:
      'Bir catalogue.csv veya dataset.json dosyası kullanılamadığı için slayt gizlendi. Dosyayı düzeltin ya da slaydı üyelere gösterin.',

    select: (name: string) => `Seç: ${name}`,
    selectShown: 'Gösterilenlerin tümünü seç',
    selected: (count: number) => `${formatNumber(count)} slayt seçili`,
    selectMore: (count: number) => `İlk ${formatNumber(count)} slaydı seç`,
    mostAtOnce: (count: number) => `Tek seferde en fazla ${formatNumber(count)} slayt değiştirilebilir.`,
    clearSelection: 'Seçimi temizle',
    selection: 'Seçili slaytlar',

    actionsOf: (name: string) => `İşlemler: ${name}`,
    open: 'Görüntüleyicide aç',
    records: 'Denetim kayıtları',
    edit: 'Düzenle',
    move: 'Taşı',
    hide: 'Üyelerden gizle',
    show: 'Üyelere göster',
    remove: 'Katalogdan kaldır',
    restore: 'Kataloğa geri al',
    reingest: 'Yeniden oku',

    editTitle: 'Slaydı düzenle',
    fileName: 'Gösterilen ad',
    fileNameHint: 'Dosyanın kendi adı değişmez.',
    fileNameRequired: 'Bir ad gerekli.',
    organ: 'Organ',
    optional: 'İsteğe bağlı',
    save: 'Kaydet',
    cancel: 'Vazgeç',

    moveTitle: 'Veri kümesine taşı',
    moveHint: (count: number) =>
      `${formatNumber(count)} slayt bu veri kümesine taşınır. Dosyalar yerinde kalır.`,
    moveNew:
      'Yeni bir ad yazarsanız tüm üyelere açık yeni bir veri kümesi oluşur. Boş bırakırsanız slayt hiçbir veri kümesine ait olmaz.',

    setOrgan: 'Organı değiştir',
    organTitle: 'Organı değiştir',
    organHint: (count: number) =>
      `${formatNumber(count)} slaydın organı değişir. Boş bırakılırsa organ bilgisi silinir.`,

    removeTitle: 'Katalogdan kaldırılsın mı?',
    removeOne: (name: string) => `${name} katalogdan kaldırılır ve artık kimseye gösterilmez.`,
    removeMany: (count: number) =>
      `${formatNumber(count)} slayt katalogdan kaldırılır ve artık kimseye gösterilmez.`,
    removeHint: 'Dosya silinmez; kaydı istediğiniz zaman geri alabilirsiniz.',

    fileHint:
      'Ad, veri kümesi ve organ bilgilerini bir elektronik tablodan toplu olarak değiştirin. Önce ne değişeceği gösterilir; siz uygulayana dek hiçbir şey değişmez.',
    fileColumns:
      'Sütunlar: id, file_name, dataset_name, organ_type. Slaytlar önce id ile, id yoksa file_name sütunundaki yol veya adla eşleştirilir. Boş hücre mevcut değeri değiştirmez. Sütunlar virgül, noktalı virgül veya sekmeyle ayrılabilir.',
    download: 'Kataloğu indir',
    downloaded: 'Katalog indirildi.',
    downloadFailed: 'Katalog indirilemedi.',
    downloadName: (day: string) => `katalog-${day}.csv`,
    choose: 'CSV dosyası seç',
    chooseAnother: 'Başka dosya seç',
    tooLarge: 'Dosya 10 MB’tan büyük. Lütfen bölüp ayrı ayrı yükleyin.',
    checking: 'Dosya inceleniyor…',
    checkFailed: 'Dosya incelenemedi. Lütfen tekrar deneyin.',
    preview: (name: string) => `Önizleme: ${name}`,
    readAsTurkish:
      'Dosya UTF-8 değil, Windows-1254 (Türkçe) olarak okundu. Harflerin aşağıda doğru göründüğünü kontrol edin.',
    rows: 'Satır',
    changed: 'Değişecek',
    unchanged: 'Aynı kalacak',
    unknownRows: 'Katalogda bulunmayan',
    wrongRows: 'Hatalı',
    changesList: 'Değişecek olanlar',
    unknownList: 'Katalogda bulunmayan satırlar',
    wrongList: 'Hatalı satırlar',
    line: (line: number) => `${formatNumber(line)}. satır`,
    firstOnly: (shown: number, all: number) =>
      `${formatNumber(all)} satırdan ilk ${formatNumber(shown)} tanesi listeleniyor; hepsi uygulanır.`,
    firstProblemsOnly: (shown: number, all: number) =>
      `${formatNumber(all)} satırdan ilk ${formatNumber(shown)} tanesi listeleniyor.`,
    to: 'yeni:',
    correctFirst: 'Hatalı satırlar varken dosya uygulanamaz. Dosyayı düzeltip yeniden seçin.',
    nothingToApply: 'Bu dosyanın değiştireceği bir şey yok.',
    apply: (count: number) => `${formatNumber(count)} değişikliği uygula`,
    changedMeanwhile: 'Katalog bu arada değişti',
    changedMeanwhileHint: 'Aşağıda yeni önizleme var. İnceleyip yeniden uygulayın.',
  },
  en: {
    heading: 'Slides',
    hint: 'Edit, move, hide and remove entries of the catalogue. The slide files themselves never change.',
    catalogueFile: 'Catalogue file (CSV)',
    upload: 'Upload slides',
    list: 'List of slides',
    refresh: 'Refresh',
    loading: 'Loading slides…',
    loadFailed: 'The slides could not be loaded.',
    empty: 'No slides match these filters.',
    clearFilters: 'Clear filters',
    none: 'There are no slides yet.',
    noneHint: 'Upload slides with the button above, or copy the files to the slide folder.',
    more: 'Show more',
    moreFailed: 'The rest could not be loaded.',
    shown: (shown, all) => `Showing ${formatNumber(shown)} of ${slidesInEnglish(all)}`,
    search: 'Search',
    searchHint: 'File name, id, organ or dataset',
    dataset: 'Dataset',
    anyDataset: 'All',
    noDataset: 'No dataset',
    status: 'Status',
    ofMany: (status, count) => `${status}: ${formatNumber(count)}`,

    slide: 'Slide',
    state: 'Status',
    format: 'Format',
    size: 'Size',
    scale: 'Scale',
    actions: 'Actions',
    micrometres: (value) => `${formatPixelSize(value)} µm per pixel`,
    estimated: (value) => `${value} (estimated)`,
    entered: (value) => `${value} (entered by hand)`,
    pixelSize: 'Pixel size (µm)',
    objectivePower: 'Objective (×)',
    calibrationHint:
      'Enter a scale only if the scale of the file is missing or wrong. Measurements then use your values and are marked. Leave both fields empty to use the values of the file.',
    calibrationInvalid: 'The pixel size must be a number from 0.001 to 1000, the objective from 0.1 to 1000.',
    unknown: 'Unknown',
    noOrgan: 'No organ given',
    kept: (dataset) =>
      `The files name the dataset: ${dataset}. More people could see the slide there, so it was kept here. Move the slide to confirm.`,
    waiting:
      'Hidden because a catalogue.csv or dataset.json file cannot be used. Correct the file, or show the slide to members.',

    select: (name) => `Select: ${name}`,
    selectShown: 'Select all that are shown',
    selected: (count) => `${slidesInEnglish(count)} selected`,
    selectMore: (count) => `Select the first ${formatNumber(count)} slides`,
    mostAtOnce: (count) => `At most ${formatNumber(count)} slides can be changed at once.`,
    clearSelection: 'Clear selection',
    selection: 'Selected slides',

    actionsOf: (name) => `Actions: ${name}`,
    open: 'Open in the viewer',
    records: 'Audit entries',
    edit: 'Edit',
    move: 'Move',
    hide: 'Hide from members',
    show: 'Show to members',
    remove: 'Remove from the catalogue',
    restore: 'Put back into the catalogue',
    reingest: 'Read again',

    editTitle: 'Edit the slide',
    fileName: 'Name that is shown',
    fileNameHint: 'The file itself keeps its name.',
    fileNameRequired: 'A name is required.',
    organ: 'Organ',
    optional: 'Optional',
    save: 'Save',
    cancel: 'Cancel',

    moveTitle: 'Move to a dataset',
    moveHint: (count) =>
      `${slidesInEnglish(count)} will be moved to this dataset. The files stay where they are.`,
    moveNew:
      'A dataset with a new name is open to all members. If you leave the field empty, the selected slides will not belong to any dataset.',

    setOrgan: 'Set organ',
    organTitle: 'Set the organ',
    organHint: (count) => `The organ of ${slidesInEnglish(count)} will change. An empty field removes it.`,

    removeTitle: 'Remove from the catalogue?',
    removeOne: (name) => `${name} will be removed from the catalogue and no longer shown.`,
    removeMany: (count) =>
      `${slidesInEnglish(count)} will be removed from the catalogue and no longer shown.`,
    removeHint: 'No file is deleted; you can put the entry back at any time.',

    fileHint:
      'Change names, datasets and organs of many slides from a spreadsheet. First you are shown what would change; nothing changes before you apply it.',
    fileColumns:
      'Columns: id, file_name, dataset_name, organ_type. A slide is found by its id or, without one, by its path or name in file_name. A cell that is left empty changes nothing. Separated by commas, semicolons or tabs.',
    download: 'Download the catalogue',
    downloaded: 'The catalogue has been downloaded.',
    downloadFailed: 'The catalogue could not be downloaded.',
    downloadName: (day) => `catalogue-${day}.csv`,
    choose: 'Choose a CSV file',
    chooseAnother: 'Choose another file',
    tooLarge: 'The file is larger than 10 MB. Please split it and send the parts.',
    checking: 'Checking the file…',
    checkFailed: 'The file could not be checked. Please try again.',
    preview: (name) => `Preview: ${name}`,
    readAsTurkish:
      'The file is not UTF-8; it was read as Windows-1254 (Turkish). Please check that the characters below are correct.',
    rows: 'Lines',
    changed: 'Will change',
    unchanged: 'Unchanged',
    unknownRows: 'Not in the catalogue',
    wrongRows: 'With errors',
    changesList: 'Changes',
    unknownList: 'Lines that match no slide of the catalogue',
    wrongList: 'Lines with errors',
    line: (line) => `Line ${formatNumber(line)}`,
    firstOnly: (shown, all) =>
      `The first ${formatNumber(shown)} of ${formatNumber(all)} lines are listed; all are applied.`,
    firstProblemsOnly: (shown, all) =>
      `The first ${formatNumber(shown)} of ${formatNumber(all)} lines are listed.`,
    to: 'after:',
    correctFirst: 'The file cannot be applied while lines are wrong. Correct it and choose it again.',
    nothingToApply: 'This file contains no changes.',
    apply: (count) => (count === 1 ? 'Apply 1 change' : `Apply ${formatNumber(count)} changes`),
    changedMeanwhile: 'The catalogue has changed meanwhile',
    changedMeanwhileHint: 'Below is a new preview. Please look at it and apply it again.',
  },
});

/** Labels of the status filter. */
export const statusLabels = wording<Record<ManagedStatus, string>>({
  languageBeforeChoice: 'tr',
  tr: {
    listed: 'Katalogdakiler',
    ready: 'Hazır olanlar',
    pending: 'Okunuyor',
    failed: 'Okunamadı',
    hidden: 'Üyelerden gizlenenler',
    held: 'Karar bekleyenler',
    missing: 'Dosyası bulunamayanlar',
    removed: 'Katalogdan kaldırılanlar',
  },
  en: {
    listed: 'In the catalogue',
    ready: 'Ready',
    pending: 'Being read',
    failed: 'Cannot be read',
    hidden: 'Hidden from members',
    held: 'Waiting for a decision',
    missing: 'File not found',
    removed: 'Removed from the catalogue',
  },
});

/** Labels of the states of a slide in its row. `listed` and `held` have no label here, because they are filters and not states. */
export const stateLabels = wording<Record<Exclude<ManagedStatus, 'listed' | 'held'>, string>>({
  languageBeforeChoice: 'tr',
  tr: {
    ready: 'Hazır',
    pending: 'Okunuyor',
    failed: 'Okunamadı',
    hidden: 'Gizli',
    missing: 'Dosyası yok',
    removed: 'Kaldırıldı',
  },
  en: {
    ready: 'Ready',
    pending: 'Being read',
    failed: 'Failed',
    hidden: 'Hidden',
    missing: 'No file',
    removed: 'Removed',
  },
});

/** Labels of the fields that a catalogue file changes. */
export const fieldLabels = wording<Record<ImportedField, string>>({
  languageBeforeChoice: 'tr',
  tr: { file_name: 'Ad', dataset_name: 'Veri kümesi', organ_type: 'Organ' },
  en: { file_name: 'Name', dataset_name: 'Dataset', organ_type: 'Organ' },
});
