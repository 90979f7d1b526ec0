import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds tables for saved views, and for collections (lists of slides) with readers, answers and presentations. */
// oxlint-disable-next-line lamina/max-own-lines -- one statement for each table and index
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('saved_views')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('image_id', 'text', (c) => c.notNull())
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('text', 'text')
    .addColumn('field', 'text', (c) => c.notNull()) // JSON of the visible part of the slide
    .addColumn('colours', 'text') // JSON of display settings
    .addColumn('layers', 'text') // JSON of settings of layers
    .addColumn('version', 'integer', (c) => c.notNull()) // number of changes
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('saved_views_by_uid').on('saved_views').column('uid').execute();
  await db.schema
    .createTable('collections')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade')) // owner
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('readers', 'text', (c) => c.notNull()) // `members`, or `listed`: see `collection_readers`
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('collections_by_uid').on('collections').column('uid').execute();
  const collectionId = ['collection_id', 'text'] as const;
  await db.schema
    .createTable('collection_items')
    .addColumn(...collectionId, (c) => c.notNull().references('collections.id').onDelete('cascade'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull()) // `slide`, `case` or `view`
    .addColumn('target_id', 'text', (c) => c.notNull()) // id of the slide, case or saved view
    .addColumn('text', 'text')
    .addColumn('question', 'text') // JSON with the correct answer; null: no question
    .addPrimaryKeyConstraint('collection_items_pk', ['collection_id', 'position'])
    .execute();
  await db.schema
    .createTable('collection_readers')
    .addColumn(...collectionId, (c) => c.notNull().references('collections.id').onDelete('cascade'))
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addPrimaryKeyConstraint('collection_readers_pk', ['collection_id', 'uid'])
    .execute();
  await db.schema.createIndex('collection_readers_by_uid').on('collection_readers').column('uid').execute();
  await db.schema
    .createTable('collection_answers')
    .addColumn(...collectionId, (c) => c.notNull().references('collections.id').onDelete('cascade'))
    .addColumn('item_key', 'text', (c) => c.notNull()) // identifies the item even in another order
    .addColumn('person', 'text', (c) => c.notNull()) // uid, or hash of a visitor's image session
    .addColumn('uid', 'text', (c) => c.references('users.uid').onDelete('cascade')) // null for a visitor
    .addColumn('answer', 'text', (c) => c.notNull()) // JSON
    .addColumn('is_correct', 'integer') // null for a question without a correct answer
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('answered_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('collection_answers_pk', ['collection_id', 'item_key', 'person'])
    .execute();
  await db.schema.createIndex('collection_answers_by_uid').on('collection_answers').column('uid').execute();
  await db.schema
    .createTable('presentations')
    .addColumn(...collectionId, (c) => c.primaryKey().references('collections.id').onDelete('cascade'))
    .addColumn('seq', 'integer', (c) => c.notNull()) // number of changes
    .addColumn('state', 'text', (c) => c.notNull()) // JSON of what the presenter shows now
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
}
