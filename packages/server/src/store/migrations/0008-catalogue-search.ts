import { type Kysely, PostgresAdapter } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Everything a list is narrowed by, in the order of the list: a search among 100,000 entries reads this alone.
 * PostgreSQL keeps no value of more than 2.7 kB in an index, and searches its table quickly enough.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) return;
  await db.schema
    .createIndex('images_to_search')
    .on('images')
    .columns([
      'sort_key',
      'id',
      'removed_at',
      'missing_since',
      'status',
      'dataset_name',
      'organ_type',
      'search_text',
    ])
    .execute();
}
