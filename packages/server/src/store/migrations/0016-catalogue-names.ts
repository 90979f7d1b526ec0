import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds the canonical spellings of datasets and organs, so that different spellings are one name; the known metadata
 * files, so that a scan notices a missing file; and, for each entry, why scans do not apply the metadata files to the
 * entry.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('catalogue_names')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('catalogue_names_key', ['kind', 'key'])
    .execute();
  await db.schema
    .createTable('metadata_files')
    .addColumn('root', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('seen_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('metadata_files_key', ['root', 'path'])
    .execute();
  await db.schema.alterTable('images').addColumn('metadata_hold', 'text').execute();
}
