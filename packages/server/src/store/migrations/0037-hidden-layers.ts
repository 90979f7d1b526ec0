import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds a column for the number of the last change that made an annotation layer private. An event stream that a client
 * resumes reports this change, so that the client removes the layer.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('annotation_layers').addColumn('hidden_change_no', 'bigint').execute();
}
