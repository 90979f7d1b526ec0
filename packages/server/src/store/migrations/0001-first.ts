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
    .addColumn('email_key', 'text', (c) => c.notNull().unique()) // normalised `email`: one account per address
    .addColumn('display_name', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('admin_approved', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addColumn('approval_date', 'text') // time of the first approval
    .execute();

  await db.schema
    .createTable('identities')
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('provider', 'text', (c) => c.notNull()) // `embedded`, or the issuer of an external provider
    .addColumn('subject', 'text', (c) => c.notNull()) // the user's id at the provider; for `embedded` the uid
    .addColumn('password_hash', 'text') // null for an external provider
    .addPrimaryKeyConstraint('identities_pk', ['provider', 'subject'])
    .execute();
  await db.schema.createIndex('identities_by_uid').on('identities').column('uid').execute();

  await db.schema
    .createTable('tokens') // bearer tokens, one for each sign-in
    .addColumn('hash', 'text', (c) => c.primaryKey()) // SHA-256 of the token
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_used_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('tokens_by_uid').on('tokens').column('uid').execute();

  await db.schema
    .createTable('image_sessions')
    .addColumn('hash', 'text', (c) => c.primaryKey()) // SHA-256 of the session id
    .addColumn('prefix', 'text', (c) => c.notNull()) // first characters of the session id, shown to the owner
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('token_hash', 'text', (c) => c.notNull().references('tokens.hash').onDelete('cascade')) // token of the sign-in
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('request_count', 'integer', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('image_sessions_by_uid').on('image_sessions').column('uid').execute();
  await db.schema.createIndex('image_sessions_by_token').on('image_sessions').column('token_hash').execute();

  await db.schema
    .createTable('password_resets')
    .addColumn('hash', 'text', (c) => c.primaryKey()) // SHA-256 of the e-mailed code
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('password_resets_by_uid').on('password_resets').column('uid').execute();

  await db.schema
    .createTable('images')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('root', 'text', (c) => c.notNull()) // storage location, such as the slide folder
    .addColumn('path', 'text', (c) => c.notNull()) // main file, relative to the root
    .addColumn('members', 'text', (c) => c.notNull()) // JSON array of the slide's other files
    .addColumn('fingerprint', 'text') // changes whenever a file of the slide changes
    .addColumn('file_name', 'text', (c) => c.notNull())
    .addColumn('dataset_name', 'text')
    .addColumn('organ_type', 'text')
    .addColumn('sort_key', 'text', (c) => c.notNull()) // position in the catalogue: dataset, then file name
    .addColumn('search_text', 'text', (c) => c.notNull()) // normalised text that searches compare
    .addColumn('edited_fields', 'text', (c) => c.notNull()) // JSON array of the fields that scans do not overwrite
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('error', 'text')
    .addColumn('width', 'bigint')
    .addColumn('height', 'bigint')
    .addColumn('mpp_x', 'double precision') // micrometres per pixel
    .addColumn('mpp_y', 'double precision')
    .addColumn('objective_power', 'double precision')
    .addColumn('vendor', 'text')
    .addColumn('format', 'text')
    .addColumn('size_bytes', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .addColumn('removed_at', 'text') // when an administrator removed the entry
    .addColumn('missing_since', 'text') // time since which scans do not find the file
    .addUniqueConstraint('images_one_per_file', ['root', 'path'])
    .execute();
  await db.schema.createIndex('images_in_order').on('images').columns(['sort_key', 'id']).execute();

  await db.schema
    .createTable('audit')
    .addColumn('seq', 'bigint', (c) => c.primaryKey()) // 1, 2, 3 … without gaps
    .addColumn('at', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('result', 'text', (c) => c.notNull())
    .addColumn('actor_uid', 'text') // account that acted
    .addColumn('target', 'text') // id of the account, image or other object
    .addColumn('detail', 'text', (c) => c.notNull()) // JSON with further facts
    .addColumn('address', 'text') // IP address of the client
    .addColumn('request_id', 'text')
    .execute();
  await db.schema.createIndex('audit_by_actor').on('audit').columns(['actor_uid', 'seq']).execute();
  await db.schema.createIndex('audit_by_target').on('audit').columns(['target', 'seq']).execute();

  await db.schema
    .createTable('locks')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('taken', 'bigint', (c) => c.notNull()) // number of transactions that have acquired the lock
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
