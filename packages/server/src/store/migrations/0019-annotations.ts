import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds tables for layers of annotations, their history, and the classes of each dataset (columns: see schema.ts). */
export async function up(db: Kysely<Tables>): Promise<void> {
  await createLayers(db);
  await createAnnotations(db);
  await db.schema
    .createTable('annotation_classes') // a dataset without a row has the default classes
    .addColumn('dataset', 'text', (c) => c.primaryKey())
    .addColumn('classes', 'text', (c) => c.notNull()) // JSON array of names, colours and shortcuts
    .addColumn('version', 'bigint', (c) => c.notNull()) // number of changes
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
}

async function createLayers(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('annotation_images')
    .addColumn('image_id', 'text', (c) => c.primaryKey().references('images.id').onDelete('cascade'))
    .addColumn('change_no', 'bigint', (c) => c.notNull()) // number of changes of the slide's annotations
    .execute();
  await db.schema
    .createTable('annotation_layers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('image_id', 'text', (c) => c.notNull().references('images.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('owner_uid', 'text') // null: administrators own the layer
    .addColumn('visibility', 'text', (c) => c.notNull()) // who sees the layer: `private` or `members`
    .addColumn('editing', 'text', (c) => c.notNull()) // who may change annotations: `owner` or `members`
    .addColumn('locked_by', 'text') // `owner` or `admin`; null: not locked
    .addColumn('source', 'text', (c) => c.notNull()) // `manual`, `import` or `api`
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addColumn('deleted_at', 'text')
    .addColumn('version', 'bigint', (c) => c.notNull()) // number of changes of the layer
    .addColumn('change_no', 'bigint', (c) => c.notNull()) // `annotation_images.change_no` of the last change
    .addColumn('annotation_count', 'integer', (c) => c.notNull())
    .addColumn('vertex_count', 'bigint', (c) => c.notNull())
    .addColumn('next_position', 'bigint', (c) => c.notNull()) // `position` of the next new annotation
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
    .addColumn('id', 'text', (c) => c.notNull()) // chosen by the client
    .addColumn('position', 'bigint', (c) => c.notNull()) // order of creation in the layer
    .addColumn('feature', 'text', (c) => c.notNull()) // GeoJSON
    .addColumn('object_type', 'text', (c) => c.notNull()) // a term of QuPath, such as `detection`
    .addColumn('class_name', 'text')
    .addColumn('class_color', 'text') // JSON array of red, green and blue
    .addColumn('min_x', 'double precision', (c) => c.notNull()) // bounds in pixels of full resolution
    .addColumn('min_y', 'double precision', (c) => c.notNull())
    .addColumn('max_x', 'double precision', (c) => c.notNull())
    .addColumn('max_y', 'double precision', (c) => c.notNull())
    .addColumn('vertices', 'integer', (c) => c.notNull()) // number of vertices
    .addColumn('revision', 'integer', (c) => c.notNull()) // number of changes of the annotation
    .addColumn('change_no', 'bigint', (c) => c.notNull()) // `annotation_images.change_no` of the last change
    .addColumn('created_by', 'text', (c) => c.notNull()) // uid
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
    .createTable('annotation_revisions') // history; rows are only added
    .addColumn('layer_id', 'text', (c) => c.notNull().references('annotation_layers.id').onDelete('cascade'))
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('revision', 'integer', (c) => c.notNull())
    .addColumn('change', 'text', (c) => c.notNull()) // `create`, `change`, `delete` or `restore`
    .addColumn('feature', 'text') // GeoJSON after the change; null for a deletion
    .addColumn('version', 'bigint', (c) => c.notNull()) // of the layer after the change
    .addColumn('author', 'text', (c) => c.notNull()) // uid
    .addColumn('at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('annotation_revisions_key', ['layer_id', 'id', 'revision'])
    .execute();
  await db.schema
    .createIndex('annotation_revisions_in_order')
    .on('annotation_revisions')
    .columns(['layer_id', 'version', 'id'])
    .execute();
}
