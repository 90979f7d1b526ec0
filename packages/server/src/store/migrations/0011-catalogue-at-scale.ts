import { type Kysely, PostgresAdapter } from 'kysely';
import type { Tables } from '../schema.ts';

/** A list of one organ, and the names of the datasets, without a look at each of 100,000 entries. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createIndex('images_by_organ')
    .on('images')
    .columns(['organ_type', 'sort_key', 'id'])
    .execute();
  await db.schema.createIndex('images_by_dataset').on('images').column('dataset_name').execute();
  // PostgreSQL has a better one where the extension for it can be made: see catalogue-search.ts.
  if (db.getExecutor().adapter instanceof PostgresAdapter) return;
  // A word is looked for in this alone: a third of what the list is walked in.
  await db.schema.createIndex('images_by_words').on('images').columns(['search_text', 'id']).execute();
}
