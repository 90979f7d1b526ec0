/**
 * Reasons of errors, which are more specific than error codes, with their texts in both languages. Names in braces, such as
 * `{limit}`, are parameters of the error, which `errorText` replaces by their values.
 */
import type { Bilingual } from './languages.ts';

export const reasonTexts = {
  // Texts that users enter
  text_characters: {
    tr: 'Metin geçersiz karakter içeriyor.',
    en: 'The text contains characters that are not allowed.',
  },
  text_too_long: { tr: 'En fazla {limit} karakter olabilir.', en: 'Enter at most {limit} characters.' },
  decision_reason_required: { tr: 'Gerekçe gerekli.', en: 'A reason is required.' },
  request_reason_required: {
    tr: 'Lütfen neden gerektiğini yazın.',
    en: 'Please say why you need it.',
  },
  email_required: { tr: 'E-posta adresi gerekli.', en: 'An e-mail address is required.' },
  email_format: { tr: 'Geçersiz e-posta formatı.', en: 'This is not an e-mail address.' },

  // Passwords and codes; {password} is the name of the field
  password_required: { tr: '{password} gerekli.', en: '{password} is required.' },
  password_too_many_bytes: { tr: '{password} çok uzun.', en: '{password} is too long.' },
  password_too_short: {
    tr: '{password} en az {limit} karakter olmalı.',
    en: '{password} must have at least {limit} characters.',
  },
  password_too_long: {
    tr: '{password} en fazla {limit} karakter olabilir.',
    en: '{password} may have at most {limit} characters.',
  },
  password_common: {
    tr: 'Bu şifre çok yaygın ve kolayca tahmin edilebilir. Lütfen başka bir şifre seçin.',
    en: 'This password is very common and easily guessed. Please choose another.',
  },
  password_personal: {
    tr: 'Şifreniz e-posta adresiniz veya adınız olamaz. Lütfen başka bir şifre seçin.',
    en: 'Your password cannot be your e-mail address or your name. Please choose another.',
  },
  current_password_wrong: { tr: 'Mevcut şifreniz hatalı.', en: 'Your current password is wrong.' },
  registration_password_wrong: {
    tr: 'Bu, kayıt olurken belirlediğiniz şifre değil.',
    en: 'This is not the password that you chose when you registered.',
  },
  second_factor_code_format: { tr: 'Doğrulama kodu geçersiz.', en: 'The verification code is not valid.' },
  second_factor_code_required: {
    tr: 'Doğrulama kodu gerekli.',
    en: 'A verification code is required.',
  },

  // Sign-in; {wait} is `retryAfterSeconds` in seconds or minutes
  too_many_attempts: {
    tr: 'Çok fazla deneme yapıldı. Lütfen {wait} sonra yeniden deneyin.',
    en: 'Too many attempts. Please try again in {wait}.',
  },
  account_deactivated: {
    tr: 'Hesabınız devre dışı bırakılmış.',
    en: 'Your account has been deactivated.',
  },
  external_sign_in_only: {
    tr: 'Burada giriş yalnızca kurum hesabıyla yapılır.',
    en: 'Here you can sign in only with the account of your institution.',
  },
  external_email_missing: {
    tr: 'Kimlik doğrulama hizmeti e-posta adresinizi bildirmedi.',
    en: 'The sign-in service did not provide your e-mail address.',
  },
  external_identity_not_linked: {
    tr: 'Bu e-posta adresiyle açılmış, dış kimliğinize bağlı olmayan bir hesap var. Lütfen bir yöneticiyle iletişime geçin.',
    en: 'There is an account with this e-mail address that is not linked to your external identity. Please contact an administrator.',
  },
  external_identity_differs: {
    tr: 'Bu e-posta adresinin hesabı, kurumunuzdaki başka bir kimliğe bağlı. Lütfen bir yöneticiyle iletişime geçin.',
    en: 'The account with this e-mail address is linked to another identity of your institution. Please contact an administrator.',
  },

  // Administration of accounts
  expiry_in_past: { tr: 'Bitiş tarihi gelecekte olmalı.', en: 'The end date must be in the future.' },
  expiry_of_admin: {
    tr: 'Yönetici hesaplarının bitiş tarihi olamaz.',
    en: 'Accounts of administrators cannot have an end date.',
  },
  dataset_not_restricted: {
    tr: '"{name}" kısıtlı bir veri kümesi değil.',
    en: '"{name}" is not a restricted dataset.',
  },

  // Requests
  parameter_repeated: { tr: '{field}: birden çok kez gönderilmiş.', en: '{field}: sent more than once.' },
  cursor_invalid: {
    tr: '{field}: Bu listenin devam işareti değil.',
    en: '{field}: This is not a cursor of this list.',
  },
  file_type: { tr: 'Dosya {name} türünde olmalı.', en: 'The file must be of type {name}.' },

  // Annotation file
  annotation_file_empty: { tr: 'Dosya boş.', en: 'The file is empty.' },
  annotation_file_not_text: { tr: 'Dosya UTF-8 metni değil.', en: 'The file is not UTF-8 text.' },
  annotation_file_not_gzip: {
    tr: 'Dosyanın sıkıştırması bozuk.',
    en: 'The compression of the file is damaged.',
  },
  annotation_file_not_json: { tr: 'Dosya geçerli bir JSON değil.', en: 'The file is not valid JSON.' },
  annotation_file_not_xml: {
    tr: 'Dosya geçerli bir XML değil (satır {limit}).',
    en: 'The file is not valid XML (line {limit}).',
  },
  annotation_file_document_type: {
    tr: 'Belge türü tanımı (DTD) içeren XML dosyaları kabul edilmez.',
    en: 'XML files with a document type definition (DTD) are not accepted.',
  },
  annotation_file_format: {
    tr: 'Dosyada işaretleme bulunamadı. QuPath, ASAP, Aperio ImageScope ve Digital Slide Archive dosyaları okunabilir.',
    en: 'The file does not contain annotations. Files of QuPath, ASAP, Aperio ImageScope and the Digital Slide Archive can be read.',
  },
  annotation_file_too_complex: {
    tr: 'Dosyanın yapısı çok derin veya çok büyük.',
    en: 'The structure of the file is too deep or too large.',
  },
  annotation_file_too_many_features: {
    tr: 'Bir katman en fazla {count} işaretleme alabilir.',
    en: 'A layer holds at most {count} annotations.',
  },
  annotation_file_too_many_vertices: {
    tr: 'Bir katman en fazla 5 milyon köşe noktası alabilir.',
    en: 'A layer holds at most 5 million vertices.',
  },
  annotation_file_refused: {
    tr: 'Dosyada geçersiz {count} işaretleme var; hiçbir şey içe aktarılmadı.',
    en: 'Annotations that are not valid: {count}. Nothing was imported.',
  },

  // Catalogue file
  catalogue_file_empty: { tr: 'Dosya boş.', en: 'The file is empty.' },
  catalogue_file_not_text: {
    tr: 'Bu bir CSV dosyası değil. Elektronik tablonuzda “CSV UTF-8” olarak kaydedip yeniden deneyin.',
    en: 'This is not a CSV file. Save it as “CSV UTF-8” in your spreadsheet program and try again.',
  },
  catalogue_file_without_key: {
    tr: 'İlk satırda “id” ya da “file_name” adlı bir sütun yok.',
    en: 'The first line has neither a column “id” nor a column “file_name”.',
  },
  catalogue_file_column_repeated: {
    tr: 'İlk satırda aynı sütun iki kez geçiyor.',
    en: 'The first line names a column twice.',
  },
  catalogue_file_too_many_rows: {
    tr: 'Dosyada {count} satırdan fazlası var. Lütfen bölüp ayrı ayrı yükleyin.',
    en: 'The file has more than {count} lines. Please split it and upload the parts.',
  },
  catalogue_file_has_errors: {
    tr: 'Dosyada hatalı satırlar var. Önce onları düzeltin.',
    en: 'Some lines of the file have errors. Please correct them first.',
  },

  // Cases
  slide_repeated: {
    tr: 'Aynı slayt birden çok kez yazılmış.',
    en: 'The same slide is named more than once.',
  },
  registration_same_slide: {
    tr: 'Bir slayt kendisiyle hizalanamaz.',
    en: 'A slide cannot be registered with itself.',
  },
  registration_points: {
    tr: 'Noktalar birbirinden uzak olmalı ve üç ya da daha fazlası tek bir doğru üzerinde bulunmamalı.',
    en: 'The points must be apart from each other, and three or more of them must not lie on one line.',
  },

  // Share links
  share_end_past: { tr: 'Bitiş tarihi gelecekte olmalı.', en: 'The end date must be in the future.' },
  share_end_late: {
    tr: 'Bir bağlantı en fazla bir yıl geçerli olabilir.',
    en: 'A link can last for one year at most.',
  },

  // Uploads
  upload_dataset_required: { tr: 'Bir veri kümesi seçin veya yazın.', en: 'Choose or enter a dataset.' },
  upload_dataset_slash: {
    tr: 'Veri kümesinin adı eğik çizgi içeremez.',
    en: 'The name of the dataset may not contain a slash.',
  },
  upload_not_slide: {
    tr: 'Bu bir slayt dosyası değil: adı tanınan bir uzantıyla bitmiyor.',
    en: 'This is not a slide file: its name does not end with a known extension.',
  },
  upload_differs: {
    tr: 'Dosya, yüklemenin başında bildirilenlerle uyuşmuyor.',
    en: 'The file does not match what was announced when the upload started.',
  },
  upload_name_empty: { tr: 'Ad boş olamaz.', en: 'The name is empty.' },
  upload_name_long: { tr: 'Ad çok uzun.', en: 'The name is too long.' },
  upload_name_deep: { tr: 'Klasörler çok derin.', en: 'The folders are nested too deeply.' },
  upload_name_hidden: {
    tr: 'Noktayla başlayan adlar kabul edilmez.',
    en: 'Names that start with a dot are not accepted.',
  },
  upload_name_absolute: {
    tr: 'Ad eğik çizgiyle veya sürücü harfiyle başlayamaz.',
    en: 'The name may not start with a slash or a drive letter.',
  },
  upload_name_character: {
    tr: 'Ad kabul edilmeyen bir karakter içeriyor (denetim karakterleri ve \\ : * ? " < > |).',
    en: 'The name contains a character that is not accepted (control characters and \\ : * ? " < > |).',
  },
  upload_name_edge: {
    tr: 'Ad boşlukla başlayamaz, boşlukla veya noktayla bitemez.',
    en: 'The name may not start with a space, nor end with a space or a dot.',
  },
  upload_name_reserved: {
    tr: 'Bu ad Windows tarafından ayrılmıştır (CON, PRN, AUX, NUL, COM1, LPT1 gibi).',
    en: 'This name is reserved by Windows (such as CON, PRN, AUX, NUL, COM1, LPT1).',
  },
} as const satisfies Readonly<Record<string, Bilingual>>;

export type ErrorReason = keyof typeof reasonTexts;

export function isErrorReason(text: string): text is ErrorReason {
  return Object.hasOwn(reasonTexts, text);
}

/** Returns its argument; the compiler checks that it is a reason. Schemas use reasons as messages, which the HTTP layer translates. */
export function reason<Reason extends ErrorReason>(key: Reason): Reason {
  return key;
}
