/**
 * Stores in the database which metadata files (`catalogue.csv`, `dataset.json`) exist, so that a later scan notices a missing file
 * even after a restart.
 */
import { type Database, runLockedTransaction } from '../store/database.ts';
import { deleteMetadataFiles, insertMetadataFiles, listMetadataFiles } from '../store/metadata-files.ts';
import type { SlideRoot } from '../store/schema.ts';
import type { Scan } from './scan.ts';

const filesPerTransaction = 500;

/**
 * Adds the metadata files that a scan found to the stored list. Deletes a missing file from the list when the scan could read its
 * folder and found no slide in this folder or below it.
 *
 * @param at time of the scan, ISO 8601
 */
export async function updateKnownMetadataFiles(
  db: Database,
  { root, slides, metadataFiles, unread }: Scan & { readonly root: SlideRoot },
  at: string,
): Promise<void> {
  const storedFiles = await listMetadataFiles(db, root);
  const foundFiles = new Set(metadataFiles);
  const unreadPaths = new Set(unread); // folders and files that the scan could not read
  const isObsolete = (file: string) => {
    const folder = file.slice(0, file.lastIndexOf('/') + 1);
    return !isInOrBelowAny(file, unreadPaths) && !slides.some(({ path }) => path.startsWith(folder));
  };
  const newFiles = metadataFiles.filter((file) => !storedFiles.has(file));
  // Without any slide, nothing is deleted: an empty root may be a disk that is not mounted.
  const obsoleteFiles =
    slides.length === 0 ? [] : [...storedFiles].filter((file) => !foundFiles.has(file) && isObsolete(file));
  for (let start = 0; start < Math.max(newFiles.length, obsoleteFiles.length); start += filesPerTransaction) {
    await runLockedTransaction(db, 'catalogue', async (tx) => {
      await insertMetadataFiles(tx, root, newFiles.slice(start, start + filesPerTransaction), at);
      await deleteMetadataFiles(tx, root, obsoleteFiles.slice(start, start + filesPerTransaction));
    });
  }
}

/** Returns whether a path is one of the `parents` or below one of them. The path '' is the slide root. */
export function isInOrBelowAny(path: string, parents: ReadonlySet<string> | undefined): boolean {
  if (parents === undefined || parents.size === 0) return false;
  if (parents.has('') || parents.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (parents.has(path.slice(0, end))) return true;
  }
  return false;
}
