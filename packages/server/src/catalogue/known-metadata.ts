/** Stores the list of metadata files, so that a later scan notices a missing one even after a restart. */
import { type Database, runLockedTransaction } from '../store/database.ts';
import { deleteMetadataFiles, insertMetadataFiles, listMetadataFiles } from '../store/metadata-files.ts';
import type { SlideRoot } from '../store/schema.ts';
import type { Scan } from './scan.ts';

const batchSize = 500;

/** Adds the files that a scan found; deletes missing ones from the list if no slide is in their folder or below it. */
export async function rememberMetadataFiles(
  db: Database,
  { root, slides, metadataFiles, unread }: Scan & { readonly root: SlideRoot },
  at: string,
): Promise<void> {
  const known = await listMetadataFiles(db, root);
  const found = new Set(metadataFiles);
  const unreadPlaces = new Set(unread);
  const isObsolete = (file: string) => {
    const folder = file.slice(0, file.lastIndexOf('/') + 1);
    return !isBelowAny(file, unreadPlaces) && !slides.some(({ path }) => path.startsWith(folder));
  };
  const added = metadataFiles.filter((file) => !known.has(file));
  // An empty root may be a disk that is not mounted.
  const obsolete =
    slides.length === 0 ? [] : [...known].filter((file) => !found.has(file) && isObsolete(file));
  for (let start = 0; start < Math.max(added.length, obsolete.length); start += batchSize) {
    await runLockedTransaction(db, 'catalogue', async (tx) => {
      await insertMetadataFiles(tx, root, added.slice(start, start + batchSize), at);
      await deleteMetadataFiles(tx, root, obsolete.slice(start, start + batchSize));
    });
  }
}

/** Returns whether a path is one of these places or below one of them. */
export function isBelowAny(path: string, places: ReadonlySet<string> | undefined): boolean {
  if (places === undefined || places.size === 0) return false;
  if (places.has('') || places.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (places.has(path.slice(0, end))) return true;
  }
  return false;
}
