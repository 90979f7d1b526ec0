import { type Kysely, PostgresAdapter } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a column for the time since which an entry is hidden: only administrators see it, but it is not removed. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('images').addColumn('hidden_at', 'text').execute();
  // This index contains all columns that are needed to count the entries of each status.
  await db.schema
    .createIndex('images_by_state')
    .on('images')
    .columns(['removed_at', 'missing_since', 'status', 'hidden_at'])
    .execute();
  if (db.getExecutor().adapter instanceof PostgresAdapter) return;
  // The index is created again, because it must contain all filter columns, now including hidden_at.
  await db.schema.dropIndex('images_to_search').execute();
  await db.schema
    .createIndex('images_to_search')
    .on('images')
    .columns([
      'sort_key',
      'id',
      'removed_at',
      'missing_since',
      'hidden_at',
      'status',
      'dataset_name',
      'organ_type',
      'search_text',
    ])
    .execute();
}
