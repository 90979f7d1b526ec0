/** Validation of the names of uploads and their files. */
import { AppError, checkUploadPath } from '@lamina/contract';
import { hasSlideName, mayBeDicomByContent } from '@lamina/slide/names';

/** Returns the validated segments of a path. @param field name of the field in the request body @throws AppError invalid_request */
export function namesOf(requested: string, field: string): readonly string[] {
  const checked = checkUploadPath(requested);
  if ('fault' in checked) {
    throw new AppError('invalid_request', { field, reason: checked.fault });
  }
  return checked.names;
}

/** Returns the validated name of a dataset. @throws AppError invalid_request unless a folder can have this name */
export function datasetNameOf(requested: string): string {
  const [name, ...more] = namesOf(requested, 'dataset');
  if (name === undefined || more.length > 0) {
    throw new AppError('invalid_request', { field: 'dataset', reason: 'upload_dataset_slash' });
  }
  return name;
}

/** Returns the name of a dataset as a folder name; null when no folder can have it. */
export function folderNameOf(dataset: string): string | null {
  const checked = checkUploadPath(dataset);
  return 'names' in checked && checked.names.length === 1 ? (checked.names[0] ?? null) : null;
}

/** Checks that a file with this name can be a slide. @throws AppError invalid_request */
export function requireSlideName(name: string): void {
  if (hasSlideName(name) || mayBeDicomByContent(name)) return;
  throw new AppError('invalid_request', { field: 'path', reason: 'upload_not_slide' });
}

/** Returns whether two paths are equal on file systems that ignore case. */
export const isSamePlace = (pathA: string, pathB: string) => pathA.toLowerCase() === pathB.toLowerCase();
