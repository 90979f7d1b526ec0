import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds tables of API tokens and of their uses per hour, so that the audit log records each use once per hour. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('api_tokens')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('hash', 'text', (c) => c.notNull().unique()) // SHA-256 of the token
    .addColumn('prefix', 'text', (c) => c.notNull()) // first characters of the token, shown to the owner
    .addColumn('uid', 'text', (c) => c.notNull().references('users.uid').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('scopes', 'text', (c) => c.notNull()) // JSON array
    .addColumn('datasets', 'text') // JSON array; null: all that the owner may see
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('last_used_at', 'text')
    .execute();
  await db.schema.createIndex('api_tokens_by_uid').on('api_tokens').column('uid').execute();
  await db.schema
    .createTable('api_token_uses')
    .addColumn('token_id', 'text', (c) => c.notNull().references('api_tokens.id').onDelete('cascade'))
    .addColumn('target', 'text', (c) => c.notNull()) // id of an image; empty for other calls
    .addColumn('kind', 'text', (c) => c.notNull()) // `call`, `thumbnail` or `viewer`
    .addColumn('hour', 'text', (c) => c.notNull()) // start of the hour
    .addPrimaryKeyConstraint('api_token_uses_pk', ['token_id', 'target', 'kind', 'hour'])
    .execute();
}
