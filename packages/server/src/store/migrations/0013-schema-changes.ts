import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';

/** Adds a table of the program versions that ran migrations, so that an older version can name the newer one. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('schema_changes')
    .addColumn('migration', 'text', (c) => c.primaryKey()) // name, for example `0013-schema-changes`
    .addColumn('program_version', 'text', (c) => c.notNull())
    .addColumn('at', 'text', (c) => c.notNull())
    .execute();
}
