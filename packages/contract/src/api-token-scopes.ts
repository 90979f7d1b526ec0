/** The scopes of API tokens, with their labels. */
import { z } from 'zod';
import type { Bilingual } from './languages.ts';

/** A permission of an API token. An endpoint that declares no scope rejects API tokens. */
export const ApiTokenScope = z.enum([
  'slides:read',
  'annotations:read',
  'annotations:write',
  'results:write',
  'slides:download',
  'slides:upload',
]);
export type ApiTokenScope = z.infer<typeof ApiTokenScope>;

export const apiTokenScopes: Readonly<Record<ApiTokenScope, Bilingual>> = {
  'slides:read': { tr: 'Katalog ve görüntüler: okuma', en: 'Read the catalogue and pixels' },
  'annotations:read': { tr: 'İşaretlemeler: okuma', en: 'Read annotations' },
  'annotations:write': { tr: 'İşaretlemeler: yazma', en: 'Write annotations' },
  'results:write': { tr: 'Analiz sonuçları: yazma', en: 'Write analysis results' },
  'slides:download': { tr: 'Özgün dosyalar: indirme', en: 'Download original files' },
  'slides:upload': { tr: 'Slayt yükleme', en: 'Upload slides' },
};
