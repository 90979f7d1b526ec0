import { type Kysely, PostgresAdapter, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds a table of share links, through which visitors without an account view slides; a column for the setting of a
 * dataset that allows share links; and a column for image sessions (credentials for pixels) that belong to a link
 * instead of a sign-in.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('datasets')
    .addColumn('is_shared', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable('share_links')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('secret_hash', 'text', (c) => c.notNull().unique()) // SHA-256 of the secret in the link's URL
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade')) // account that created the link
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('target_type', 'text', (c) => c.notNull()) // `slide`, `case`, `view` or `collection`
    .addColumn('target_id', 'text', (c) => c.notNull())
    .addColumn('password_hash', 'text') // null: no password
    .addColumn('shows_annotations', 'integer', (c) => c.notNull())
    .addColumn('allows_movement', 'integer', (c) => c.notNull()) // 1: visitors may move and zoom
    .addColumn('max_openings', 'integer') // null: no limit
    .addColumn('openings', 'integer', (c) => c.notNull()) // number of openings so far
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('ended_at', 'text') // null unless ended before its expiry
    .execute();
  await db.schema.createIndex('share_links_by_uid').on('share_links').column('uid').execute();
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    await db.schema
      .alterTable('image_sessions')
      .alterColumn('token_hash', (c) => c.dropNotNull())
      .execute();
    await db.schema
      .alterTable('image_sessions')
      .addColumn('share_link_id', 'text', (c) => c.references('share_links.id').onDelete('cascade'))
      .execute();
  } else {
    await recreateSessions(db);
  }
  await db.schema
    .createIndex('image_sessions_by_link')
    .on('image_sessions')
    .column('share_link_id')
    .execute();
}

/**
 * Makes `token_hash` nullable and adds `share_link_id`. SQLite cannot drop a NOT NULL constraint, so this copies
 * `image_sessions`, and `image_openings`, which refers to it.
 */
async function recreateSessions(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('new_image_sessions')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('prefix', 'text', (c) => c.notNull())
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('token_hash', 'text', (c) => c.references('tokens.hash').onDelete('cascade'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('request_count', 'integer', (c) => c.notNull())
    .addColumn('share_link_id', 'text', (c) => c.references('share_links.id').onDelete('cascade'))
    .execute();
  await db.schema
    .createTable('new_image_openings')
    .addColumn('session_hash', 'text', (c) =>
      c.notNull().references('new_image_sessions.hash').onDelete('cascade'),
    )
    .addColumn('image_id', 'text', (c) => c.notNull())
    .addColumn('is_viewed', 'integer', (c) => c.notNull().defaultTo(1))
    .addPrimaryKeyConstraint('image_openings_pk', ['session_hash', 'image_id'])
    .execute();
  await sql`insert into new_image_sessions
    select hash, prefix, uid, token_hash, created_at, expires_at, request_count, null from image_sessions`.execute(
    db,
  );
  await sql`insert into new_image_openings
    select session_hash, image_id, is_viewed from image_openings`.execute(db);
  await db.schema.dropTable('image_openings').execute();
  await db.schema.dropTable('image_sessions').execute();
  // Renaming a table also changes the foreign key that refers to it.
  await sql`alter table new_image_sessions rename to image_sessions`.execute(db);
  await sql`alter table new_image_openings rename to image_openings`.execute(db);
  await db.schema.createIndex('image_sessions_by_uid').on('image_sessions').column('uid').execute();
  await db.schema.createIndex('image_sessions_by_token').on('image_sessions').column('token_hash').execute();
}
