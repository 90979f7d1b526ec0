import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds to accounts and registrations a column for the language of e-mails. Earlier, all e-mails were Turkish. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const table of ['users', 'registrations'] as const) {
    await db.schema
      .alterTable(table)
      .addColumn('language', 'text', (column) => column.notNull().defaultTo('tr'))
      .execute();
  }
}
