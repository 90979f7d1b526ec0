import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Which cases metadata files name, and what the last scan wrote of each. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('cases_of_files')
    .addColumn('key', 'text', (c) => c.primaryKey())
    .addColumn('case_id', 'text', (c) => c.notNull())
    .addColumn('written', 'text', (c) => c.notNull())
    .execute();
}
