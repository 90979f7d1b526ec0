import { isErrorReason, reasonText, type UploadProblem } from '@lamina/contract';
import { formatNumber } from '../../../formatting/numbers.ts';
import { chosenLanguageOr, wording } from '../../../language/language.ts';
import type { RejectionReason } from './group-uploads.ts';

/**
 * Texts of the upload panel. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'Slayt yükle',
    hint: 'Büyük dosyalar parça parça gönderilir; ağ kesilirse veya sayfa kapanırsa kaldığı yerden sürer.',
    datasetHint: 'Var olanı seçin veya yeni bir ad yazın.',
    datasetMissing: 'Önce bir veri kümesi seçin veya yazın.',
    datasetsFailed: 'Veri kümeleri yüklenemedi; yükleme başlatılmadı. Lütfen tekrar deneyin.',
    newDatasetTitle: 'Yeni veri kümesi oluşturulsun mu?',
    newDatasetHint: (name: string) => `“${name}” adlı bir veri kümesi yok; bu yüklemeyle oluşturulacak.`,
    newDatasetQuestion: 'Slaytları kimler görsün?',
    newDatasetAccess: { restricted: 'Yalnızca erişim verdiklerim', open: 'Tüm üyeler' },
    newDatasetAccessHint: {
      restricted:
        'Veri kümesi önce kısıtlı olarak oluşturulur; erişimi Veri Kümeleri sayfasından verirsiniz.',
      open: 'Slaytlar okunur okunmaz bütün aktif kullanıcılara görünür.',
    },
    datasetSlash: 'Veri kümesinin adı eğik çizgi içeremez.',
    pending: (count: number) => `${formatNumber(count)} dosya hazır; yüklemek için veri kümesi seçin.`,
    start: 'Yüklemeyi başlat',
    drop: 'Dosyaları veya klasörleri buraya bırakın',
    dropNow: 'Bırakınca yükleme başlar',
    dropHint:
      'Tek dosyalık slaytlar ayrı ayrı, DICOM ve MRXS gibi çok dosyalı slaytlar klasörüyle birlikte gönderilir.',
    chooseFiles: 'Dosya seç',
    chooseFolder: 'Klasör seç',
    largest: (size: string) => `Yükleme başına üst sınır: ${size}.`,

    rejectedHeading: 'Yüklenmeyecek dosyalar',
    rejectedMore: (count: number) => `ve ${formatNumber(count)} tane daha`,
    dismiss: 'Anladım',
    noSlide: 'Tanınan bir slayt biçimi değil.',
    nothing: 'Dosya boş.',
    needsFolder: 'Yanındaki klasör de gerekli: slayt dosyasını ve klasörünü birlikte bırakın.',
    tooMany: 'Klasörde çok fazla dosya var.',
    unreadable: 'Dosya okunamadı; seçildikten sonra değişmiş veya silinmiş olabilir.',
    dropUnreadable: 'Bırakılan dosyalar okunamadı.',
    failed: 'Yükleme başarısız oldu.',
    cancelFailed: 'Yükleme iptal edilemedi.',
    loadFailed: 'Yüklemeler alınamadı.',

    list: 'Yüklemeler',
    overall: 'Toplam ilerleme',
    overallOf: (sent: string, all: string) => `Gönderilen: ${sent} / ${all}`,
    progressOf: (name: string) => `İlerleme: ${name}`,
    sentOf: (sent: string, all: string) => `${sent} / ${all}`,
    perSecond: (amount: string) => `${amount}/sn`,
    /** @param seconds estimated time until the upload is complete */
    remaining: (seconds: number) =>
      seconds < 60 ? 'bir dakikadan az kaldı' : `yaklaşık ${formatNumber(Math.ceil(seconds / 60))} dk kaldı`,
    filesOf: (sent: number, all: number) => `${formatNumber(sent)} / ${formatNumber(all)} dosya`,
    nowSending: (path: string) => `Gönderiliyor: ${path}`,
    into: (dataset: string) => `Veri kümesi: ${dataset}`,

    waiting: 'Sırada',
    sending: 'Gönderiliyor',
    offline: 'Sunucuya ulaşılamıyor; kendiliğinden yeniden denenecek',
    paused: 'Duraklatıldı',
    rejected: 'Gönderilmedi',
    interrupted: 'Yarım kaldı',
    interruptedHint: 'Sürdürmek için aynı dosyaları yeniden seçin.',
    checking: 'Sunucu denetliyor',
    placing: 'Kataloğa alınıyor',
    reading: 'Okunuyor',
    ready: 'Hazır',
    readyOf: (count: number) => `${formatNumber(count)} slayt hazır`,
    unread: 'Slayt okunamadı',
    noSlideFound: 'İçinde okunabilir bir slayt bulunamadı',
    checksum: 'Gelen dosya gönderilenle aynı değil. Yeniden gönderin.',
    exists: 'Bu adda bir dosya veya klasör bu arada oluşturulmuş; üzerine yazılmadı.',
    storage: 'Kataloğa taşınamadı; sunucu yeniden deneyecek.',

    pause: 'Duraklat',
    resume: 'Sürdür',
    sendAgain: 'Yeniden gönder',
    cancel: 'İptal et',
    hide: 'Listeden kaldır',
    pauseAll: 'Hepsini duraklat',
    resumeAll: 'Hepsini sürdür',
    actionOn: (action: string, name: string) => `${action}: ${name}`,
  },
  en: {
    heading: 'Upload slides',
    hint: 'Large files are sent in parts; when the network fails or the page is closed, they resume where they stopped.',
    datasetHint: 'Choose a dataset, or type a new name.',
    datasetMissing: 'Choose or type a dataset first.',
    datasetsFailed: 'The datasets could not be loaded, so the upload did not start. Please try again.',
    newDatasetTitle: 'Create a new dataset?',
    newDatasetHint: (name: string) => `There is no dataset “${name}”; this upload will create it.`,
    newDatasetQuestion: 'Who may see the slides?',
    newDatasetAccess: { restricted: 'Only people to whom I give access', open: 'All members' },
    newDatasetAccessHint: {
      restricted: 'The dataset is created as restricted first; you give access on the Datasets page.',
      open: 'All active members see the slides as soon as they have been read.',
    },
    datasetSlash: 'The name of the dataset must not contain a slash.',
    pending: (count: number) =>
      count === 1
        ? '1 file is ready; choose a dataset to upload it.'
        : `${formatNumber(count)} files are ready; choose a dataset to upload them.`,
    start: 'Start upload',
    drop: 'Drop files or folders here',
    dropNow: 'Release to start the upload',
    dropHint:
      'Slides of one file are sent one by one; those of many files, such as DICOM and MRXS, with their folder.',
    chooseFiles: 'Choose files',
    chooseFolder: 'Choose a folder',
    largest: (size: string) => `Maximum size of one upload: ${size}.`,

    rejectedHeading: 'Files that will not be uploaded',
    rejectedMore: (count: number) => `and ${formatNumber(count)} more`,
    dismiss: 'OK',
    noSlide: 'Not a slide format that can be read.',
    nothing: 'The file is empty.',
    needsFolder: 'The folder beside it is needed, too: drop the slide and its folder together.',
    tooMany: 'The folder has too many files.',
    unreadable: 'The file cannot be read; it may have been changed or deleted since it was chosen.',
    dropUnreadable: 'The dropped files cannot be read.',
    failed: 'The upload failed.',
    cancelFailed: 'The upload could not be cancelled.',
    loadFailed: 'The uploads could not be loaded.',

    list: 'Uploads',
    overall: 'Overall progress',
    overallOf: (sent: string, all: string) => `${sent} of ${all} sent`,
    progressOf: (name: string) => `Progress: ${name}`,
    sentOf: (sent: string, all: string) => `${sent} of ${all}`,
    perSecond: (amount: string) => `${amount}/s`,
    remaining: (seconds: number) =>
      seconds < 60 ? 'less than a minute left' : `about ${formatNumber(Math.ceil(seconds / 60))} min left`,
    filesOf: (sent: number, all: number) => `${formatNumber(sent)} of ${formatNumber(all)} files`,
    nowSending: (path: string) => `Sending: ${path}`,
    into: (dataset: string) => `Dataset: ${dataset}`,

    waiting: 'Waiting',
    sending: 'Sending',
    offline: 'The server does not respond; the upload will be retried automatically',
    paused: 'Paused',
    rejected: 'Not sent',
    interrupted: 'Unfinished',
    interruptedHint: 'Choose the same files again to resume.',
    checking: 'Being checked by the server',
    placing: 'Moving into the catalogue',
    reading: 'Reading',
    ready: 'Ready',
    readyOf: (count: number) => `${formatNumber(count)} slides ready`,
    unread: 'The slide cannot be read',
    noSlideFound: 'No readable slide was found in this upload',
    checksum: 'The received file differs from the one that was sent. Send it again.',
    exists: 'A file or folder with this name was created meanwhile; it was not overwritten.',
    storage: 'The upload could not be moved into the catalogue. The server will try again.',

    pause: 'Pause',
    resume: 'Resume',
    sendAgain: 'Send again',
    cancel: 'Cancel',
    hide: 'Remove from the list',
    pauseAll: 'Pause all',
    resumeAll: 'Resume all',
    actionOn: (action: string, name: string) => `${action}: ${name}`,
  },
});

/** Returns why the browser does not upload a file. For an invalid name, the sentence is that of the server's error reason. */
export function rejectionSentence(reason: RejectionReason): string {
  return isErrorReason(reason) ? reasonText(reason, chosenLanguageOr('tr')) : texts[reason];
}

/** Returns a sentence that says why the server did not accept an upload. */
export function problemSentence(problem: UploadProblem): string {
  return texts[problem];
}
