import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds the change that made an annotation layer private, so that resumed event streams can report this change. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('annotation_layers').addColumn('hidden_change_no', 'bigint').execute();
}
