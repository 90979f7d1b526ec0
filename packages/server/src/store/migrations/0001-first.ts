import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Creates the tables of the first version (columns: see schema.ts): accounts with their identities, sign-ins,
 * image sessions (credentials for pixels) and password resets; catalogue entries; the audit log; and the named locks,
 * under which processes change these tables one after the other.
 */
// oxlint-disable-next-line lamina/max-own-lines -- one statement for each table and index
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('users')
    .addColumn('uid', 'text', (c) => c.primaryKey())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('email_key', 'text', (c) => c.notNull().unique())
    .addColumn('display_name', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('admin_approved', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addColumn('approval_date', 'text')
    .execute();

  await db.schema
    .createTable('identities')
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('provider', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('password_hash', 'text')
    .addPrimaryKeyConstraint('identities_pk', ['provider', 'subject'])
    .execute();
  await db.schema.createIndex('identities_by_uid').on('identities').column('uid').execute();

  await db.schema
    .createTable('tokens')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_used_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('tokens_by_uid').on('tokens').column('uid').execute();

  await db.schema
    .createTable('image_sessions')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('prefix', 'text', (c) => c.notNull())
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('token_hash', 'text', (c) => c.notNull().references('tokens.hash').onDelete('cascade'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('request_count', 'integer', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('image_sessions_by_uid').on('image_sessions').column('uid').execute();
  await db.schema.createIndex('image_sessions_by_token').on('image_sessions').column('token_hash').execute();

  await db.schema
    .createTable('password_resets')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('password_resets_by_uid').on('password_resets').column('uid').execute();

  await db.schema
    .createTable('images')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('root', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('members', 'text', (c) => c.notNull())
    .addColumn('fingerprint', 'text')
    .addColumn('file_name', 'text', (c) => c.notNull())
    .addColumn('dataset_name', 'text')
    .addColumn('organ_type', 'text')
    .addColumn('sort_key', 'text', (c) => c.notNull())
    .addColumn('search_text', 'text', (c) => c.notNull())
    .addColumn('edited_fields', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('error', 'text')
    .addColumn('width', 'bigint')
    .addColumn('height', 'bigint')
    .addColumn('mpp_x', 'double precision')
    .addColumn('mpp_y', 'double precision')
    .addColumn('objective_power', 'double precision')
    .addColumn('vendor', 'text')
    .addColumn('format', 'text')
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addColumn('removed_at', 'text')
    .addColumn('missing_since', 'text')
    .addUniqueConstraint('images_one_per_file', ['root', 'path'])
    .execute();
  await db.schema.createIndex('images_in_order').on('images').columns(['sort_key', 'id']).execute();

  await db.schema
    .createTable('audit')
    .addColumn('seq', 'bigint', (c) => c.primaryKey())
    .addColumn('at', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('result', 'text', (c) => c.notNull())
    .addColumn('actor_uid', 'text')
    .addColumn('target', 'text')
    .addColumn('detail', 'text', (c) => c.notNull())
    .addColumn('address', 'text')
    .addColumn('request_id', 'text')
    .execute();
  await db.schema.createIndex('audit_by_actor').on('audit').columns(['actor_uid', 'seq']).execute();
  await db.schema.createIndex('audit_by_target').on('audit').columns(['target', 'seq']).execute();

  await db.schema
    .createTable('locks')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('taken', 'bigint', (c) => c.notNull())
    .execute();
  await db
    .insertInto('locks')
    .values([
      { name: 'accounts', taken: 0 },
      { name: 'audit', taken: 0 },
      { name: 'catalogue', taken: 0 },
    ])
    .execute();
}
