import { type Kysely, PostgresAdapter } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Creates, on SQLite only, an index that is sorted like lists and contains all filter columns, so that a search among
 * 100,000 entries reads only the index. PostgreSQL cannot index values above 2.7 kB, and scans its table fast enough.
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
