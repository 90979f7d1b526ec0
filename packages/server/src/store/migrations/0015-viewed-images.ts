import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds a column that states whether a slide was opened in the viewer in an image session (a credential for pixels), or
 * only its thumbnail was shown. Earlier, only viewed slides were recorded, so all existing rows count as viewed.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('image_openings')
    .addColumn('is_viewed', 'integer', (c) => c.notNull().defaultTo(1))
    .execute();
}
