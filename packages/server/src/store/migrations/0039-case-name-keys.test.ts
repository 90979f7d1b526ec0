import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { everyDatabaseKind, openTestDatabase } from '../testing/test-database.ts';
import { up } from './0039-case-name-keys.ts';

it.each(everyDatabaseKind)(
  'migration 0039 stores the same name key for all spellings of a case name (database: %s)',
  async (kind) => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    // Removes what the migration adds, because the test database already has it.
    await db.schema.dropIndex('cases_by_name').execute();
    await db.schema.alterTable('cases').dropColumn('name_key').execute();
    const spellings = ['Olgu 1', 'olgu  1', 'OLGU\u200b 1'];
    // More cases than the migration changes in two batches.
    const names = Array.from({ length: 1201 }, (_, i) => spellings[i] ?? `Olgu ${i}`);
    const rows = names.map((name, i) => sql`(${String(i).padStart(4, '0')}, 'Set', ${name}, '', 1, '', '')`);
    await sql`insert into cases (id, dataset, name, sort_key, version, created_at, updated_at)
      values ${sql.join(rows)}`.execute(db);
    await up(db);
    const stored = await db.selectFrom('cases').select('name_key').orderBy('id').execute();
    expect(stored.slice(0, 3).map(({ name_key }) => name_key)).toEqual(['olgu 1', 'olgu 1', 'olgu 1']);
    expect(stored.slice(3).map(({ name_key }) => name_key)).toEqual(
      names.slice(3).map((name) => name.toLowerCase()),
    );
  },
);
