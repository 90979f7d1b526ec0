import type { Config } from '../platform/config.ts';
import type { Database } from '../store/database.ts';
import { sumResultBytes } from '../store/result-layers.ts';
import { sumUnfinishedUploads, sumUploadedSlides } from '../store/uploads.ts';

/** Free bytes when there is no quota. It also limits the size of one layer. */
const freeBytesWithoutQuota = 2 ** 40;

/** Returns the bytes of UPLOAD_QUOTA_BYTES that slides and result layers do not use; negative when they exceed the quota. */
export async function freeQuotaBytes(
  { uploadQuotaBytes }: Pick<Config, 'uploadQuotaBytes'>,
  db: Database,
): Promise<number> {
  if (uploadQuotaBytes === 0) return freeBytesWithoutQuota;
  const { bytes: unfinishedBytes } = await sumUnfinishedUploads(db);
  return uploadQuotaBytes - unfinishedBytes - (await sumUploadedSlides(db)) - (await sumResultBytes(db));
}
