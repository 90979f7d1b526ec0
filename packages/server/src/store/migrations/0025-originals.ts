import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds a column for the right of an account to download original files of a granted dataset, and one for the setting of
 * a dataset that allows the download of files from which labels or patient data cannot be removed. Both are off for
 * existing rows.
 */
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
