import { type Kysely, PostgresAdapter } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds indexes for lists of one organ and for the names of datasets, so that neither query scans 100,000 entries. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createIndex('images_by_organ')
    .on('images')
    .columns(['organ_type', 'sort_key', 'id'])
    .execute();
  await db.schema.createIndex('images_by_dataset').on('images').column('dataset_name').execute();
  // PostgreSQL uses a trigram index instead, where its extension is available: see catalogue-search.ts.
  if (db.getExecutor().adapter instanceof PostgresAdapter) return;
  // A search scans this index, which is a third as large as the index for lists (images_to_search).
  await db.schema.createIndex('images_by_words').on('images').columns(['search_text', 'id']).execute();
}
