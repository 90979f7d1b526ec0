import type { Connection } from './database.ts';
import { sumResultBytes } from './result-layers.ts';
import { sumUnfinishedUploads, sumUploadedSlides } from './uploads.ts';

/** Returns the bytes that uploads of slides and result layers, which share UPLOAD_QUOTA_BYTES, use, and the number of unfinished uploads of slides. */
export async function sumQuotaUse(
  db: Connection,
): Promise<{ readonly usedBytes: number; readonly unfinishedUploads: number }> {
  const unfinished = await sumUnfinishedUploads(db);
  const usedBytes = unfinished.bytes + (await sumUploadedSlides(db)) + (await sumResultBytes(db));
  return { usedBytes, unfinishedUploads: unfinished.uploads };
}
