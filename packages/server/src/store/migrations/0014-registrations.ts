import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds a table of registrations whose e-mail address is not confirmed yet. With REGISTRATION_HIDE_EXISTING=on, the
 * server creates an account only when the address is confirmed.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('registrations')
    .addColumn('hash', 'text', (c) => c.primaryKey()) // SHA-256 of the e-mailed code
    .addColumn('uid', 'text', (c) => c.notNull()) // of the future account
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('email_key', 'text', (c) => c.notNull()) // normalised address; may occur several times
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('display_name', 'text')
    .addColumn('affiliation', 'text')
    .addColumn('purpose', 'text')
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('registrations_by_email').on('registrations').column('email_key').execute();
  await db.schema.createIndex('registrations_by_end').on('registrations').column('expires_at').execute();
}
