import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds a table of the cases that scans import from metadata files (catalogue.csv, dataset.json), with the fields as the
 * last scan imported them, so that a scan does not overwrite fields that an administrator has edited.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('cases_of_files')
    .addColumn('key', 'text', (c) => c.primaryKey()) // normalised names of dataset and case
    .addColumn('case_id', 'text', (c) => c.notNull()) // the case may have been deleted since
    .addColumn('written', 'text', (c) => c.notNull()) // JSON of the imported fields
    .execute();
}
