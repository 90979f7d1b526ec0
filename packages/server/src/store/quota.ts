import type { Connection } from './database.ts';
import { sumResultBytes } from './result-layers.ts';
import { sumUnfinishedUploads, sumUploadedSlides } from './uploads.ts';

/**
 * Returns the bytes that count for the storage quota UPLOAD_QUOTA_BYTES, which uploaded slides and result layers share, and the number
 * of unfinished uploads of slides.
 */
export async function sumQuotaUse(
  db: Connection,
): Promise<{ readonly usedBytes: number; readonly unfinishedUploads: number }> {
  const unfinished = await sumUnfinishedUploads(db);
  const usedBytes = unfinished.bytes + (await sumUploadedSlides(db)) + (await sumResultBytes(db));
  return { usedBytes, unfinishedUploads: unfinished.uploads };
}
