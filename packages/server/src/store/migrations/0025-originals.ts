import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** The right to download originals by dataset, given to nobody; and which datasets allow identifiable originals. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('dataset_grants')
    .addColumn('may_download', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('datasets')
    .addColumn('identifiable_originals', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
}
