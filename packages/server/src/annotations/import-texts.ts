/**
 * Errors for annotation files that an import rejects as a whole, and messages in Turkish and English for single features
 * that it rejects (`refused` in the API) or changes. The package `annotations`, which parses the files, returns only codes and parameters.
 */
import type {
  ImportErrorCode,
  ImportResult,
  ImportWarningCode,
  Rejection,
  RejectionCode,
} from '@lamina/annotations';
import { AppError, type AppErrorDetail, type Bilingual, type RefusedFeature } from '@lamina/contract';
import type { Translate } from '../domain/translate.ts';

type FileError = Extract<ImportResult, { readonly ok: false }>['error'] | 'not_gzip' | 'too_large';

const fileReasons: Readonly<
  Record<Exclude<ImportErrorCode, 'too_large'>, NonNullable<AppErrorDetail['reason']>>
> = {
  not_text: 'annotation_file_not_text',
  not_json: 'annotation_file_not_json',
  not_xml: 'annotation_file_not_xml',
  document_type: 'annotation_file_document_type',
  unknown_format: 'annotation_file_format',
  nested_too_deeply: 'annotation_file_too_complex',
  too_many_values: 'annotation_file_too_complex',
  too_many_vertices: 'annotation_file_too_many_vertices',
  too_many_features: 'annotation_file_too_many_features',
};

/** Returns the error for a file that is rejected as a whole. */
export function fileErrorOf(error: FileError): AppError {
  if (error === 'too_large') return new AppError('too_large');
  if (error === 'not_gzip') return new AppError('invalid_request', { reason: 'annotation_file_not_gzip' });
  const { code, params } = error;
  if (code === 'too_large') return new AppError('too_large');
  // The message of a reason contains at most one number: the line of a syntax error, or the exceeded limit.
  const limit = params.line ?? params.limit;
  return new AppError('invalid_request', {
    reason: fileReasons[code],
    ...(typeof limit === 'number' && { limit }),
  });
}

const rejectionTexts: Readonly<Record<RejectionCode, Bilingual>> = {
  not_an_object: { tr: 'GeoJSON nesnesi değil.', en: 'This is not a GeoJSON object.' },
  missing: { tr: '{path} eksik.', en: '{path} is missing.' },
  wrong_type: { tr: '{path} beklenen türde değil.', en: '{path} does not have the expected type.' },
  unknown_value: { tr: '{path} bilinmeyen bir değer içeriyor.', en: '{path} has an unknown value.' },
  id_not_uuid: { tr: '{path} bir UUID değil.', en: '{path} is not a UUID.' },
  parent_is_self: {
    tr: 'Bir işaretleme kendi üst ögesi olamaz.',
    en: 'An annotation cannot be its own parent.',
  },
  geometry_type: { tr: 'Bu geometri türü desteklenmiyor.', en: 'This type of geometry is not supported.' },
  not_a_position: { tr: '{path} bir koordinat değil.', en: '{path} is not a coordinate.' },
  not_finite: { tr: '{path} sonlu bir sayı değil.', en: '{path} is not a finite number.' },
  outside_extent: { tr: '{path} slaydın çok dışında.', en: '{path} is too far outside the slide.' },
  too_few_positions: { tr: '{path} yeterli nokta içermiyor.', en: '{path} has too few positions.' },
  ring_not_closed: { tr: '{path}: halka kapalı değil.', en: '{path}: the ring is not closed.' },
  ring_too_short: {
    tr: '{path}: halkada en az dört nokta olmalı.',
    en: '{path}: a ring needs at least four positions.',
  },
  too_many_vertices: {
    tr: 'Köşe noktası sayısı {limit} sınırını aşıyor.',
    en: 'There are more than {limit} vertices.',
  },
  too_many_parts: { tr: 'Parça sayısı {limit} sınırını aşıyor.', en: 'There are more than {limit} parts.' },
  ellipse_not_polygon: { tr: 'Yalnızca bir çokgen elips olabilir.', en: 'Only a polygon can be an ellipse.' },
  not_a_color: { tr: '{path} bir renk değil.', en: '{path} is not a colour.' },
  text_too_long: {
    tr: '{path} en fazla {limit} karakter olabilir.',
    en: '{path} may have at most {limit} characters.',
  },
  text_characters: {
    tr: '{path} geçersiz karakter içeriyor.',
    en: '{path} contains characters that are not allowed.',
  },
  too_many_entries: {
    tr: '{path} en fazla {limit} öge içerebilir.',
    en: '{path} may have at most {limit} entries.',
  },
  out_of_range: { tr: '{path} izin verilen aralığın dışında.', en: '{path} is out of range.' },
  duplicate_id: {
    tr: 'Dosyada bu kimliği taşıyan başka bir işaretleme var.',
    en: 'Another annotation in the file has the same id.',
  },
  unsupported_element: { tr: 'Bu öge desteklenmiyor.', en: 'This element is not supported.' },
};

/** Returns a rejected feature with its message. In the message, `{path}` and `{limit}` are replaced by their values. */
export function refusedFeatureOf(
  { feature, line, code, path, params }: Rejection,
  translate: Translate,
): RefusedFeature {
  const values: Readonly<Record<string, string | number>> = { path, ...params };
  const message = translate(rejectionTexts[code]).replaceAll(/\{(\w+)\}/g, (placeholder, key: string) =>
    String(values[key] ?? placeholder),
  );
  return { feature, line, code, path, message };
}

const warningTexts: Readonly<Record<ImportWarningCode, Bilingual>> = {
  id_replaced: {
    tr: 'Kimlik UUID olmadığı için yenisi verildi.',
    en: 'The id was not a UUID and was replaced.',
  },
  unknown_object_type: {
    tr: 'Bilinmeyen nesne türü, işaretleme olarak alındı.',
    en: 'An unknown object type became an annotation.',
  },
  class_color_chosen: {
    tr: 'Sınıfın rengi yoktu, bir renk seçildi.',
    en: 'The class had no colour; one was chosen.',
  },
  color_ignored: { tr: 'Renk okunamadı.', en: 'The colour could not be read.' },
  measurement_ignored: {
    tr: 'Sayı olmayan bir ölçüm alınmadı.',
    en: 'A measurement that is not a number was left out.',
  },
  text_cleaned: {
    tr: 'Geçersiz karakterler metinden çıkarıldı.',
    en: 'Characters that are not allowed were removed from a text.',
  },
  properties_kept_as_metadata: {
    tr: 'Bilinmeyen özellikler meta veri olarak saklandı.',
    en: 'Unknown properties were kept as metadata.',
  },
  spline_as_polygon: { tr: 'Eğri, çokgen olarak alındı.', en: 'A spline became a polygon.' },
  parent_missing: {
    tr: 'Üst öge alınmadığı için bağlantı kaldırıldı.',
    en: 'The parent was not imported; the link to it was removed.',
  },
};

/** Returns the message about a change that the import made to the content of the file. */
export function warningTextOf(code: ImportWarningCode): Bilingual {
  return warningTexts[code];
}
