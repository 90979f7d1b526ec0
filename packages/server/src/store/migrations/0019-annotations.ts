import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds tables for layers of annotations, their history, and the classes of each dataset (columns: see schema.ts). */
export async function up(db: Kysely<Tables>): Promise<void> {
  await createLayers(db);
  await createAnnotations(db);
  await db.schema
    .createTable('annotation_classes')
    .addColumn('dataset', 'text', (c) => c.primaryKey())
    .addColumn('classes', 'text', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
}

async function createLayers(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('annotation_images')
    .addColumn('image_id', 'text', (c) => c.primaryKey().references('images.id').onDelete('cascade'))
    .addColumn('change_no', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('annotation_layers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('image_id', 'text', (c) => c.notNull().references('images.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('owner_uid', 'text')
    .addColumn('visibility', 'text', (c) => c.notNull())
    .addColumn('editing', 'text', (c) => c.notNull())
    .addColumn('locked_by', 'text')
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addColumn('deleted_at', 'text')
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('change_no', 'bigint', (c) => c.notNull())
    .addColumn('annotation_count', 'integer', (c) => c.notNull())
    .addColumn('vertex_count', 'bigint', (c) => c.notNull())
    .addColumn('next_position', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('annotation_layers_by_image')
    .on('annotation_layers')
    .columns(['image_id', 'change_no'])
    .execute();
  await db.schema
    .createIndex('annotation_layers_by_owner')
    .on('annotation_layers')
    .column('owner_uid')
    .execute();
  await db.schema
    .createIndex('annotation_layers_by_deletion')
    .on('annotation_layers')
    .column('deleted_at')
    .execute();
}

async function createAnnotations(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('annotations')
    .addColumn('layer_id', 'text', (c) => c.notNull().references('annotation_layers.id').onDelete('cascade'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('feature', 'text', (c) => c.notNull())
    .addColumn('object_type', 'text', (c) => c.notNull())
    .addColumn('class_name', 'text')
    .addColumn('class_color', 'text')
    .addColumn('min_x', 'double precision', (c) => c.notNull())
    .addColumn('min_y', 'double precision', (c) => c.notNull())
    .addColumn('max_x', 'double precision', (c) => c.notNull())
    .addColumn('max_y', 'double precision', (c) => c.notNull())
    .addColumn('vertices', 'integer', (c) => c.notNull())
    .addColumn('revision', 'integer', (c) => c.notNull())
    .addColumn('change_no', 'bigint', (c) => c.notNull())
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_by', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addColumn('deleted_at', 'text')
    .addPrimaryKeyConstraint('annotations_key', ['layer_id', 'id'])
    .execute();
  const indexes = {
    annotations_in_order: ['layer_id', 'position'],
    annotations_by_change: ['layer_id', 'change_no'],
    annotations_by_class: ['layer_id', 'deleted_at', 'class_name', 'class_color'],
    annotations_by_deletion: ['deleted_at'],
  } as const;
  for (const [name, columns] of Object.entries(indexes)) {
    await db.schema
      .createIndex(name)
      .on('annotations')
      .columns([...columns])
      .execute();
  }
  await db.schema
    .createTable('annotation_revisions')
    .addColumn('layer_id', 'text', (c) => c.notNull().references('annotation_layers.id').onDelete('cascade'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('revision', 'integer', (c) => c.notNull())
    .addColumn('change', 'text', (c) => c.notNull())
    .addColumn('feature', 'text')
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('author', 'text', (c) => c.notNull())
    .addColumn('at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('annotation_revisions_key', ['layer_id', 'id', 'revision'])
    .execute();
  await db.schema
    .createIndex('annotation_revisions_in_order')
    .on('annotation_revisions')
    .columns(['layer_id', 'version', 'id'])
    .execute();
}
