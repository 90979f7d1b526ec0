import { wording } from '../../language/language.ts';

/** Reasons why a slide file cannot be read, by the error code of `packages/slide`. */
export const slideErrors: Readonly<Record<string, string>> = wording({
  languageBeforeChoice: 'tr',
  tr: {
    FORMAT_NOT_RECOGNISED: 'Dosya biçimi tanınmadı.',
    FORMAT_NOT_SUPPORTED: 'Dosya biçiminin bu türü desteklenmiyor.',
    NOT_A_SLIDE: 'Dosya bir slayt görüntüsü değil.',
    FILE_TRUNCATED: 'Dosya eksik: son bölümü yok. Yeniden kopyalayın.',
    FILE_CORRUPT: 'Dosya bozuk: içeriği tutarsız.',
    LIMIT_EXCEEDED: 'Dosya bir sınırı aşıyor.',
    FILE_MISSING: 'Slaydın bir dosyası eksik veya okunamıyor.',
    FILE_CHANGED: 'Dosya okunurken değişti.',
    DECODE_FAILED: 'Dosyanın okunması çok uzun sürdü veya yarıda kesildi.',
  },
  en: {
    FORMAT_NOT_RECOGNISED: 'The file is in none of the formats that can be read.',
    FORMAT_NOT_SUPPORTED: 'This variant of the file format is not supported.',
    NOT_A_SLIDE: 'The file is not an image of a slide.',
    FILE_TRUNCATED: 'The file is incomplete: its end is missing. Copy it again.',
    FILE_CORRUPT: 'The file is damaged: it contradicts itself.',
    LIMIT_EXCEEDED: 'The file exceeds a limit.',
    FILE_MISSING: 'A file of the slide is missing or cannot be read.',
    FILE_CHANGED: 'The file changed while it was read.',
    DECODE_FAILED: 'Reading the file took too long or was cut short.',
  },
});
