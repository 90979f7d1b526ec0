import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds tables for cases, which group slides of one specimen, and for transforms that align two slides of a case. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('cases')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('dataset', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('sort_key', 'text', (c) => c.notNull()) // position in the list: dataset, then name
    .addColumn('version', 'integer', (c) => c.notNull()) // number of changes
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('cases_in_order').on('cases').columns(['sort_key', 'id']).execute();
  await db.schema
    .createTable('case_slides')
    .addColumn('case_id', 'text', (c) => c.notNull().references('cases.id').onDelete('cascade'))
    .addColumn('image_id', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('stain', 'text')
    .addColumn('block', 'text') // tissue block from which the slide was cut
    .addColumn('note', 'text')
    .addPrimaryKeyConstraint('case_slides_pk', ['case_id', 'image_id'])
    .execute();
  await db.schema.createIndex('case_slides_by_image').on('case_slides').column('image_id').execute();
  await db.schema
    .createTable('case_registrations')
    .addColumn('case_id', 'text', (c) => c.notNull().references('cases.id').onDelete('cascade'))
    .addColumn('from_image', 'text', (c) => c.notNull())
    .addColumn('to_image', 'text', (c) => c.notNull())
    .addColumn('points', 'text', (c) => c.notNull()) // JSON of the pairs of points that a user has set
    .addColumn('matrix', 'text', (c) => c.notNull()) // JSON of the transform from `from_image` to `to_image`
    .addColumn('residual_um', 'double precision') // remaining error in micrometres
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('case_registrations_pk', ['case_id', 'from_image', 'to_image'])
    .execute();
}
