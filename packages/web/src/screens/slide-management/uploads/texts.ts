import { type NameFault, nameFaults, type UploadProblem } from '@lamina/contract';
import { languageNow, wording } from '../../../language.ts';
import { formatNumber } from '../../../numbers.ts';
import type { Refusal } from './group-files.ts';

export const texts = wording({
  mixed: 'tr',
  tr: {
    heading: 'Slayt yükle',
    hint: 'Büyük dosyalar parça parça gönderilir; ağ kesilirse veya sayfa kapanırsa kaldığı yerden sürer.',
    dataset: 'Veri kümesi',
    datasetHint: 'Var olanı seçin veya yeni bir ad yazın.',
    datasetMissing: 'Önce bir veri kümesi seçin veya yazın.',
    datasetSlash: 'Veri kümesinin adı eğik çizgi içeremez.',
    pending: (count: number) => `${formatNumber(count)} yükleme veri kümesini bekliyor.`,
    start: 'Yüklemeyi başlat',
    drop: 'Dosyaları veya klasörleri buraya bırakın',
    dropNow: 'Bırakınca yükleme başlar',
    dropHint:
      'Tek dosyalık slaytlar ayrı ayrı, DICOM ve MRXS gibi çok dosyalı slaytlar klasörüyle birlikte gönderilir.',
    chooseFiles: 'Dosya seç',
    chooseFolder: 'Klasör seç',
    largest: (size: string) => `Bir yükleme en çok ${size} olabilir.`,

    refusedHeading: 'Şunlar gönderilmeyecek',
    refusedMore: (count: number) => `ve ${formatNumber(count)} tane daha`,
    dismiss: 'Anladım',
    noSlide: 'Tanınan bir slayt biçimi değil.',
    nothing: 'Dosya boş.',
    needsFolder: 'Yanındaki klasör de gerekli: slayt dosyasını ve klasörünü birlikte bırakın.',
    tooMany: 'Klasörde çok fazla dosya var.',
    unreadable: 'Dosya okunamadı; seçildikten sonra değişmiş veya silinmiş olabilir.',
    dropUnreadable: 'Bırakılan dosyalar okunamadı.',
    failed: 'Yükleme başarısız oldu.',
    giveUpFailed: 'Yükleme iptal edilemedi.',
    loadFailed: 'Yüklemeler alınamadı.',

    list: 'Yüklemeler',
    overall: 'Toplam ilerleme',
    overallOf: (sent: string, all: string) => `Gönderilen: ${sent} / ${all}`,
    progressOf: (name: string) => `İlerleme: ${name}`,
    sentOf: (sent: string, all: string) => `${sent} / ${all}`,
    filesOf: (sent: number, all: number) => `${formatNumber(sent)} / ${formatNumber(all)} dosya`,
    nowSending: (path: string) => `Gönderiliyor: ${path}`,
    into: (dataset: string) => `Veri kümesi: ${dataset}`,

    waiting: 'Sırada',
    sending: 'Gönderiliyor',
    offline: 'Sunucuya ulaşılamıyor; kendiliğinden yeniden denenecek',
    paused: 'Duraklatıldı',
    refused: 'Gönderilmedi',
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
    exists: 'Bu adda bir dosya veya klasör bu arada oluşmuş; üzerine yazılmadı.',
    storage: 'Yerine konulamadı; sunucu yeniden deneyecek.',

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
    hint: 'Large files are sent in parts; when the network fails or the page is closed, they go on where they stopped.',
    dataset: 'Dataset',
    datasetHint: 'Choose one that there is, or type a new name.',
    datasetMissing: 'Choose or type a dataset first.',
    datasetSlash: 'The name of the dataset may not have a slash.',
    pending: (count: number) =>
      count === 1
        ? 'One upload waits for its dataset.'
        : `${formatNumber(count)} uploads wait for their dataset.`,
    start: 'Begin the upload',
    drop: 'Drop files or folders here',
    dropNow: 'Let go to begin the upload',
    dropHint:
      'Slides of one file are sent one by one; those of many files, such as DICOM and MRXS, with their folder.',
    chooseFiles: 'Choose files',
    chooseFolder: 'Choose a folder',
    largest: (size: string) => `One upload can have ${size} at most.`,

    refusedHeading: 'These will not be sent',
    refusedMore: (count: number) => `and ${formatNumber(count)} more`,
    dismiss: 'Understood',
    noSlide: 'Not a slide format that can be read.',
    nothing: 'The file is empty.',
    needsFolder: 'The folder beside it is needed, too: drop the slide and its folder together.',
    tooMany: 'The folder has too many files.',
    unreadable: 'The file cannot be read; it may have been changed or deleted since it was chosen.',
    dropUnreadable: 'What was dropped cannot be read.',
    failed: 'The upload has failed.',
    giveUpFailed: 'The upload could not be given up.',
    loadFailed: 'The uploads could not be loaded.',

    list: 'Uploads',
    overall: 'Overall progress',
    overallOf: (sent: string, all: string) => `${sent} of ${all} sent`,
    progressOf: (name: string) => `Progress: ${name}`,
    sentOf: (sent: string, all: string) => `${sent} of ${all}`,
    filesOf: (sent: number, all: number) => `${formatNumber(sent)} of ${formatNumber(all)} files`,
    nowSending: (path: string) => `Sending: ${path}`,
    into: (dataset: string) => `Dataset: ${dataset}`,

    waiting: 'Waiting',
    sending: 'Sending',
    offline: 'The server is out of reach; it will be tried again by itself',
    paused: 'Paused',
    refused: 'Not sent',
    interrupted: 'Unfinished',
    interruptedHint: 'Choose the same files again to go on.',
    checking: 'The server is checking it',
    placing: 'Being taken into the catalogue',
    reading: 'Being read',
    ready: 'Ready',
    readyOf: (count: number) => `${formatNumber(count)} slides ready`,
    unread: 'The slide cannot be read',
    noSlideFound: 'No slide that can be read was found in it',
    checksum: 'What arrived is not what was sent. Send it again.',
    exists: 'A file or folder of this name has come to be meanwhile; it was not overwritten.',
    storage: 'It could not be put into place; the server will try again.',

    pause: 'Pause',
    resume: 'Go on',
    sendAgain: 'Send again',
    cancel: 'Give up',
    hide: 'Remove from the list',
    pauseAll: 'Pause all',
    resumeAll: 'Go on with all',
    actionOn: (action: string, name: string) => `${action}: ${name}`,
  },
});

export function refusalSentence(reason: Refusal): string {
  return Object.hasOwn(nameFaults, reason)
    ? nameFaults[reason as NameFault][languageNow('tr')]
    : texts[reason as Exclude<Refusal, NameFault>];
}

export function problemSentence(problem: UploadProblem): string {
  return texts[problem];
}
