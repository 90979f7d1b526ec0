/** Which images have been opened in which image sessions: gone when the session is. */
import type { Change } from './database.ts';

/** @returns whether it is the first time. @throws when the session has ended (`isMissingReference`) */
export async function insertOpening(tx: Change, sessionHash: string, imageId: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('image_openings')
    .values({ session_hash: sessionHash, image_id: imageId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}
