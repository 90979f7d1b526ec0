import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a column for the number of the change that made an annotation layer private, which resumed event streams report. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('annotation_layers').addColumn('hidden_change_no', 'bigint').execute();
}
