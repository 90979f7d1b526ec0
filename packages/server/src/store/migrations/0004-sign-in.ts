import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/**
 * Adds columns and tables that make sign-ins safer: an end date of accounts, address and browser of each sign-in, rate
 * limiting, second factors with recovery codes, and the outbox of e-mails (table `letters`).
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('users').addColumn('expires_at', 'text').execute(); // null: the access does not end

  await db.schema.alterTable('tokens').addColumn('address', 'text').execute(); // IP address
  await db.schema.alterTable('tokens').addColumn('browser', 'text').execute(); // for example `Firefox · Windows`

  await db.schema
    .createTable('throttles') // counters of limited attempts
    .addColumn('key', 'text', (c) => c.primaryKey()) // hash of the kind of attempt, account and network
    .addColumn('count', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('blocked_until', 'text') // null: no limit is reached
    .execute();
  await db.schema.createIndex('throttles_by_end').on('throttles').column('expires_at').execute();

  await db.schema
    .createTable('second_factors')
    .addColumn('uid', 'text', (c) => c.primaryKey().references('users.uid').onDelete('cascade'))
    .addColumn('secret', 'text', (c) => c.notNull()) // encrypted secret of the one-time codes
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('confirmed_at', 'text') // null until the user has entered a first code
    .addColumn('last_step', 'bigint', (c) => c.notNull()) // time step of the last accepted one-time code, against replay
    .execute();

  await db.schema
    .createTable('recovery_codes')
    .addColumn('hash', 'text', (c) => c.primaryKey()) // SHA-256 of uid and code
    .addColumn('uid', 'text', (c) => c.notNull().references('second_factors.uid').onDelete('cascade'))
    .execute();
  await db.schema.createIndex('recovery_codes_by_uid').on('recovery_codes').column('uid').execute();

  await db.schema
    .createTable('letters') // e-mails that have not been sent yet
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('content', 'text', (c) => c.notNull()) // encrypted JSON
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull()) // number of attempts to send
    .addColumn('due_at', 'text', (c) => c.notNull()) // time of the next attempt
    .execute();
  await db.schema.createIndex('letters_by_due').on('letters').column('due_at').execute();

  // A transaction that changes counters of `throttles` locks this row first, so concurrent attempts are counted one by one.
  await db.insertInto('locks').values({ name: 'throttle', taken: 0 }).execute();
}
