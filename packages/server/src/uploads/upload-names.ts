/** What uploads and their files may be called. */
import {
  AppError,
  checkUploadPath,
  hasSlideName,
  type InBothLanguages,
  mayBeDicomByContent,
  nameFaults,
} from '@lamina/contract';

const sentences = {
  noSlide: {
    tr: 'Bu bir slayt dosyası değil: adı tanınan bir uzantıyla bitmiyor.',
    en: 'This is no slide: its name does not end like that of a format that can be read.',
  },
  slashInDataset: {
    tr: 'Veri kümesinin adı eğik çizgi içeremez.',
    en: 'The name of the dataset may not have a slash.',
  },
} as const satisfies Readonly<Record<string, InBothLanguages>>;

/** The folders of a path and what lies in them, one by one. @throws AppError invalid_request, with what is wrong with it */
export function namesOf(asked: string, field: string): readonly string[] {
  const checked = checkUploadPath(asked);
  if ('fault' in checked) {
    throw new AppError('invalid_request', { field, message: nameFaults[checked.fault] });
  }
  return checked.names;
}

/** @throws AppError invalid_request when it is none of a single folder */
export function datasetNameOf(asked: string): string {
  const [name, ...more] = namesOf(asked, 'dataset');
  if (name === undefined || more.length > 0) {
    throw new AppError('invalid_request', { field: 'dataset', message: sentences.slashInDataset });
  }
  return name;
}

/** @throws AppError invalid_request */
export function requireSlideName(name: string): void {
  if (hasSlideName(name) || mayBeDicomByContent(name)) return;
  throw new AppError('invalid_request', { field: 'path', message: sentences.noSlide });
}

/** On some file systems these are one file. */
export const isSamePlace = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
