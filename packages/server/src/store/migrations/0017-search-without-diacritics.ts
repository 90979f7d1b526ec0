import { type Kysely, PostgresAdapter, sql } from 'kysely';
import { searchTextOf } from '../../domain/catalogue-order.ts';
import type { Tables } from '../schema.ts';

/** Number of rows per statement. A row has two values, so the total stays below SQLite's limit of 32,766 parameters. */
const batchSize = 500;

/**
 * Computes the search text of every entry again, now without diacritics, so that a search finds words that are typed
 * without them. On SQLite, also creates the index for lists and counts (`images_to_search`) again, now with size and
 * creation time, so that it contains all columns by which datasets are counted and sorted.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  if (!isPostgres) {
    await db.schema.dropIndex('images_to_search').execute();
    await db.schema.dropIndex('images_by_words').execute();
  }
  for (let afterId = ''; ; ) {
    const rows = await db
      .selectFrom('images')
      .select(['id', 'file_name', 'dataset_name', 'organ_type', 'search_text'])
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(batchSize)
      .execute();
    const changed = rows.flatMap((row) => {
      const text = searchTextOf(row);
      return text === row.search_text ? [] : [sql`(${row.id}, ${text})`];
    });
    if (changed.length > 0) {
      await sql`
        with folded (id, search_text) as (values ${sql.join(changed)})
        update images set search_text = folded.search_text from folded where images.id = folded.id`.execute(
        db,
      );
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) break;
    afterId = last.id;
  }
  if (isPostgres) return;
  await db.schema.createIndex('images_by_words').on('images').columns(['search_text', 'id']).execute();
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
      'size_bytes',
      'created_at',
      'search_text',
    ])
    .execute();
}
