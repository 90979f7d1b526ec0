import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a column that states which of pixel size and magnification was derived from the other; lists mark such values. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('images').addColumn('derived_scale', 'text').execute();
  // A slide without a fingerprint is read again by the next scan, which derives the missing value of slides that have only one of the two.
  await db
    .updateTable('images')
    .set({ fingerprint: null, status: 'pending' })
    .where('status', '=', 'ready')
    .where((eb) => eb.or([eb('mpp_x', 'is', null), eb('objective_power', 'is', null)]))
    .where((eb) => eb.or([eb('mpp_x', 'is not', null), eb('objective_power', 'is not', null)]))
    .execute();
}
