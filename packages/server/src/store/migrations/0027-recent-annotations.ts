import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds an index of annotation layers by their last change, for the list on the dashboard. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createIndex('annotation_layers_by_update')
    .on('annotation_layers')
    .columns(['updated_at', 'id'])
    .execute();
}
