import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds columns and tables that make sign-ins safer: an end date of accounts, address and browser of each sign-in, rate
 * limiting, second factors with recovery codes, and the outbox of e-mails (table `letters`).
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('users').addColumn('expires_at', 'text').execute();

  await db.schema.alterTable('tokens').addColumn('address', 'text').execute();
  await db.schema.alterTable('tokens').addColumn('browser', 'text').execute();

  await db.schema
    .createTable('throttles')
    .addColumn('key', 'text', (c) => c.primaryKey())
    .addColumn('count', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('blocked_until', 'text')
    .execute();
  await db.schema.createIndex('throttles_by_end').on('throttles').column('expires_at').execute();

  await db.schema
    .createTable('second_factors')
    .addColumn('uid', 'text', (c) => c.primaryKey().references('users.uid').onDelete('cascade'))
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('confirmed_at', 'text')
    .addColumn('last_step', 'bigint', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('recovery_codes')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('uid', 'text', (c) => c.notNull().references('second_factors.uid').onDelete('cascade'))
    .execute();
  await db.schema.createIndex('recovery_codes_by_uid').on('recovery_codes').column('uid').execute();

  await db.schema
    .createTable('letters')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('due_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('letters_by_due').on('letters').column('due_at').execute();

  await db.insertInto('locks').values({ name: 'throttle', taken: 0 }).execute();
}
