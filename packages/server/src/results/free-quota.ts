import type { Config } from '../platform/config.ts';
import type { Database } from '../store/database.ts';
import { sumQuotaUse } from '../store/quota.ts';

/** Free bytes when there is no quota. It also limits the size of one layer. */
const freeBytesWithoutQuota = 2 ** 40;

/** Returns the bytes of UPLOAD_QUOTA_BYTES that slides and result layers do not use; negative when they exceed the quota. */
export async function freeQuotaBytes(
  { uploadQuotaBytes }: Pick<Config, 'uploadQuotaBytes'>,
  db: Database,
): Promise<number> {
  if (uploadQuotaBytes === 0) return freeBytesWithoutQuota;
  return uploadQuotaBytes - (await sumQuotaUse(db)).usedBytes;
}
