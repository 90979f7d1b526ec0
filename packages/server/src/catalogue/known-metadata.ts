/** Keeps the list of metadata files, so that a later scan, also after a restart, notices one that is gone. */
import { change, type Database } from '../store/database.ts';
import { deleteMetadataFiles, insertMetadataFiles, listMetadataFiles } from '../store/metadata-files.ts';
import type { SlideRoot } from '../store/schema.ts';
import type { Scan } from './scan.ts';

const batchSize = 500;

/** Adds the files that a scan has found, and deletes missing ones without a slide in their folder or below. */
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
  for (let from = 0; from < Math.max(added.length, obsolete.length); from += batchSize) {
    await change(db, 'catalogue', async (tx) => {
      await insertMetadataFiles(tx, root, added.slice(from, from + batchSize), at);
      await deleteMetadataFiles(tx, root, obsolete.slice(from, from + batchSize));
    });
  }
}

/** Whether a path is one of these places or below one. */
export function isBelowAny(path: string, places: ReadonlySet<string> | undefined): boolean {
  if (places === undefined || places.size === 0) return false;
  if (places.has('') || places.has(path)) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (places.has(path.slice(0, end))) return true;
  }
  return false;
}
