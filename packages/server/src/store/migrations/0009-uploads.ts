import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds tables for the uploads of administrators (columns: see schema.ts), and the lock for their storage quota. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('uploads')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('uid', 'text', (c) => c.notNull())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull()) // file or folder, relative to the dataset
    .addColumn('is_folder', 'integer', (c) => c.notNull())
    .addColumn('file_count', 'integer', (c) => c.notNull()) // as announced by the client, like the size
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull()) // `open`, `placing` or `done`
    .addColumn('problem', 'text') // why the upload does not continue
    .addColumn('place_key', 'text', (c) => c.unique()) // normalised destination; null once it is free again
    .addColumn('leased_until', 'text') // until then, one process moves the files
    .addColumn('begun_at', 'text', (c) => c.notNull())
    .addColumn('touched_at', 'text', (c) => c.notNull()) // time of the last progress
    .execute();
  await db.schema.createIndex('uploads_by_uid').on('uploads').column('uid').execute();
  await db.schema
    .createTable('upload_files')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('upload_id', 'text', (c) => c.notNull().references('uploads.id').onDelete('cascade'))
    .addColumn('path', 'text', (c) => c.notNull()) // relative to the uploaded folder
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('modified_ms', 'bigint', (c) => c.notNull()) // modification time on the client's disk
    .addColumn('sha256', 'text') // null until all bytes have arrived
    .addColumn('state', 'text', (c) => c.notNull()) // `open`, `checking`, `checked` or `refused`
    .addColumn('leased_until', 'text') // until then, one process checks the file
    .addUniqueConstraint('upload_files_one_each', ['upload_id', 'path'])
    .execute();
  await db.schema.createIndex('upload_files_by_state').on('upload_files').column('state').execute();
  await db.insertInto('locks').values({ name: 'uploads', taken: 0 }).execute();
}
