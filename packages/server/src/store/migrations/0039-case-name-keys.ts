import { nameKey } from '@lamina/contract';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** Number of rows per statement. A row has two values, so the total stays below SQLite's limit of 32,766 parameters. */
const batchSize = 500;

/** Adds a column with the key of the name of each case, by which scans find a case in any spelling of its name. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('cases')
    .addColumn('name_key', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  for (let afterId = ''; ; ) {
    const rows = await db
      .selectFrom('cases')
      .select(['id', 'name'])
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(batchSize)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) break;
    const keys = rows.map(({ id, name }) => sql`(${id}, ${nameKey(name)})`);
    await sql`
      with keyed (id, name_key) as (values ${sql.join(keys)})
      update cases set name_key = keyed.name_key from keyed where cases.id = keyed.id`.execute(db);
    afterId = last.id;
  }
  await db.schema.createIndex('cases_by_name').on('cases').column('name_key').execute();
}
