import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a table of result layers (heat maps or objects that a program computed for a slide). Files store the content. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('result_layers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('image_id', 'text', (c) => c.notNull().references('images.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('owner_uid', 'text')
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('source_path', 'text')
    .addColumn('source_version', 'text')
    .addColumn('registration', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('percent', 'integer', (c) => c.notNull())
    .addColumn('problem', 'text')
    .addColumn('upload_bytes', 'bigint')
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('object_count', 'bigint')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('result_layers_by_image').on('result_layers').column('image_id').execute();
  await db.schema.createIndex('result_layers_by_owner').on('result_layers').column('owner_uid').execute();
  await db.schema.createIndex('result_layers_by_state').on('result_layers').column('state').execute();
}
