import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a table of the images that each image session (credential for pixels) has shown, to audit each only once. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('image_openings')
    .addColumn('session_hash', 'text', (c) =>
      c.notNull().references('image_sessions.hash').onDelete('cascade'),
    )
    .addColumn('image_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('image_openings_pk', ['session_hash', 'image_id'])
    .execute();
}
