import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds which of pixel size and magnification was derived from the other, because lists mark derived values. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('images').addColumn('derived_scale', 'text').execute();
  // Slides for which only one of the two values is stored are read again, which derives the other.
  await db
    .updateTable('images')
    .set({ fingerprint: null, status: 'pending' })
    .where('status', '=', 'ready')
    .where((eb) => eb.or([eb('mpp_x', 'is', null), eb('objective_power', 'is', null)]))
    .where((eb) => eb.or([eb('mpp_x', 'is not', null), eb('objective_power', 'is not', null)]))
    .execute();
}
