/**
 * Queries for second factors: the encrypted secret of the one-time codes (TOTP), and the hashes of the recovery codes. An account
 * has at most one second factor.
 */
import type { Connection, DatabaseTransaction } from './database.ts';
import type { Row } from './schema.ts';

/** Finds the second factor of an account, confirmed by a first code or not yet; null when the account has none. */
export async function findSecondFactor(db: Connection, uid: string): Promise<Row<'second_factors'> | null> {
  const row = await db.selectFrom('second_factors').selectAll().where('uid', '=', uid).executeTakeFirst();
  return row ?? null;
}

/** Inserts a second factor. It replaces a previous factor of the account and its recovery codes. */
export async function replaceSecondFactor(
  tx: DatabaseTransaction,
  row: Row<'second_factors'>,
): Promise<void> {
  await deleteSecondFactor(tx, row.uid);
  await tx.insertInto('second_factors').values(row).execute();
}

/** Changes `confirmed_at` (time of the confirmation) or `last_step` (30-second time step of the last accepted code). */
export async function updateSecondFactor(
  tx: DatabaseTransaction,
  uid: string,
  changes: Partial<Pick<Row<'second_factors'>, 'confirmed_at' | 'last_step'>>,
): Promise<void> {
  await tx.updateTable('second_factors').set(changes).where('uid', '=', uid).execute();
}

/** Deletes the second factor of an account and, by a foreign key, its recovery codes. @returns false when the account had none */
export async function deleteSecondFactor(tx: DatabaseTransaction, uid: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('second_factors').where('uid', '=', uid).executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function insertRecoveryCodes(
  tx: DatabaseTransaction,
  uid: string,
  hashes: readonly string[],
): Promise<void> {
  await tx
    .insertInto('recovery_codes')
    .values(hashes.map((hash) => ({ uid, hash })))
    .execute();
}

export async function countRecoveryCodes(db: Connection, uid: string): Promise<number> {
  const { count } = await db
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('uid', '=', uid)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Deletes a recovery code, because it has been used. @returns false when the account does not have this code */
export async function consumeRecoveryCode(
  tx: DatabaseTransaction,
  uid: string,
  hash: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('recovery_codes')
    .where('uid', '=', uid)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
