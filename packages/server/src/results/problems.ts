/**
 * The problems for which an import rejects a result file (the output of an analysis program), with messages for users.
 * The database stores the key of the problem; the response contains its message in the language of the request.
 */
import type { Bilingual } from '@lamina/contract';

export const problems = {
  unknown_format: {
    tr: 'Dosya biçimi tanınmadı veya katmanın türüne uymuyor.',
    en: 'The file has an unknown format, or one that does not fit the kind of the layer.',
  },
  unsupported: {
    tr: 'Dosyanın bu çeşidi desteklenmiyor: tek bantlı TIFF, geçmeli olmayan PNG, DICOM etiket haritaları ve koordinatları görüntünün bütününe göre piksel olarak verilen DICOM açıklamaları okunur.',
    en: 'This variant of the format is not supported. Supported are TIFF with one band, PNG without interlacing, DICOM label maps and DICOM annotations in pixels of the whole image.',
  },
  damaged: { tr: 'Dosya bozuk veya eksik.', en: 'The file is damaged or incomplete.' },
  too_large: {
    tr: 'Sonuç, izin verilen en büyük boyutu aşıyor.',
    en: 'The result is larger than the maximum allowed size.',
  },
  too_many_objects: {
    tr: 'Bir katmanda en fazla 10 milyon nesne olabilir.',
    en: 'A layer holds at most 10 million objects.',
  },
  too_many_classes: {
    tr: 'Bir katmanda en fazla 250 sınıf olabilir.',
    en: 'A layer has at most 250 classes.',
  },
  too_complex: {
    tr: 'Bir nesne 24 MB’tan büyük, çok fazla değer içeriyor veya çok derin iç içe.',
    en: 'An object is larger than 24 MB, has too many values or is nested too deeply.',
  },
  bad_geometry: {
    tr: 'Bir nesnenin koordinatları geçersiz.',
    en: 'The coordinates of an object are not valid.',
  },
  not_registered: {
    tr: 'Yerleştirme için slaydın piksel boyutu gerekli, ama bilinmiyor.',
    en: 'The registration needs the pixel size of the slide, which is unknown.',
  },
  quota_exceeded: {
    tr: 'Yüklemelere ayrılan alan buna yetmiyor.',
    en: 'The space reserved for uploads is not large enough.',
  },
  file_missing: { tr: 'Dosya artık yerinde değil.', en: 'The file no longer exists.' },
  internal: {
    tr: 'Sunucuda bir hata oluştu. Lütfen yeniden deneyin.',
    en: 'An error occurred on the server. Please try again.',
  },
} as const satisfies Readonly<Record<string, Bilingual>>;

export type Problem = keyof typeof problems;

/** Thrown by an import that rejects its file. The message is for the log; users get the message of the problem. */
export class ImportRejectedError extends Error {
  override readonly name = 'ImportRejectedError';
  readonly problem: Problem;

  constructor(problem: Problem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Returns whether a stored code is a problem that this version knows. */
export function isProblem(code: string): code is Problem {
  return Object.hasOwn(problems, code);
}
