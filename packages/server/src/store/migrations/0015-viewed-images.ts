import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Records whether a slide was viewed. Before, only opened descriptors were recorded, so existing rows are
 * views.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('image_openings')
    .addColumn('is_viewed', 'integer', (c) => c.notNull().defaultTo(1))
    .execute();
}
