import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a table of result layers (heat maps or objects that a program computed for a slide). Files store the content. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('result_layers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('image_id', 'text', (c) => c.notNull().references('images.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull()) // `raster` or `vector`
    .addColumn('owner_uid', 'text')
    .addColumn('source', 'text', (c) => c.notNull()) // `upload`, `api`, or `folder`: found beside the slide
    .addColumn('source_path', 'text') // of a file that was found beside the slide
    .addColumn('source_version', 'text') // size and time, or ETag, of that file
    .addColumn('registration', 'text') // JSON of the place on the slide; null: all of it
    .addColumn('state', 'text', (c) => c.notNull()) // `uploading`, `queued`, `importing`, `ready` or `failed`
    .addColumn('percent', 'integer', (c) => c.notNull()) // progress of the import
    .addColumn('problem', 'text') // code of the reason for `failed`
    .addColumn('upload_bytes', 'bigint') // size that the client announced
    .addColumn('size_bytes', 'bigint', (c) => c.notNull()) // size of the imported layer on the disk
    .addColumn('object_count', 'bigint')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('result_layers_by_image').on('result_layers').column('image_id').execute();
  await db.schema.createIndex('result_layers_by_owner').on('result_layers').column('owner_uid').execute();
  await db.schema.createIndex('result_layers_by_state').on('result_layers').column('state').execute();
}
