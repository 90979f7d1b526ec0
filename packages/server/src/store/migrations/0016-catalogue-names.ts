import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds a table of the canonical spellings of datasets and organs, so that different spellings are one name; a table of
 * the known metadata files (catalogue.csv, dataset.json), so that a scan notices a missing file; and a column that
 * states why scans do not apply the metadata files to an entry.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('catalogue_names')
    .addColumn('kind', 'text', (column) => column.notNull()) // `dataset` or `organ`
    .addColumn('key', 'text', (column) => column.notNull()) // what all spellings have in common
    .addColumn('name', 'text', (column) => column.notNull()) // the canonical spelling
    .addPrimaryKeyConstraint('catalogue_names_key', ['kind', 'key'])
    .execute();
  await db.schema
    .createTable('metadata_files')
    .addColumn('root', 'text', (column) => column.notNull()) // storage location, such as the slide folder
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('seen_at', 'text', (column) => column.notNull()) // when a scan first found the file
    .addPrimaryKeyConstraint('metadata_files_key', ['root', 'path'])
    .execute();
  await db.schema.alterTable('images').addColumn('metadata_hold', 'text').execute(); // JSON of the reason; null: scans apply the files
}
