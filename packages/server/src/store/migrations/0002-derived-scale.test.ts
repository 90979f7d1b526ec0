import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import type { Tables } from '../schema.ts';
import { up as first } from './0001-first.ts';
import { up as derivedScale } from './0002-derived-scale.ts';

it('migration 0002 marks slides that have only one of pixel size and magnification as pending (to be read again)', async () => {
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: new SqliteDatabase(':memory:') }),
  });
  onTestFinished(() => db.destroy());
  await first(db);
  const entries = [
    { id: 'both', mpp_x: 0.5, objective_power: 20 },
    { id: 'neither', mpp_x: null, objective_power: null },
    { id: 'pixel size', mpp_x: 0.5, objective_power: null },
    { id: 'magnification', mpp_x: null, objective_power: 20 },
  ];
  for (const entry of entries) {
    await sql`
      insert into images (id, root, path, members, fingerprint, file_name, sort_key, search_text, edited_fields,
        status, mpp_x, objective_power, size_bytes, created_at, updated_at)
      values (${entry.id}, 'slides', ${entry.id}, '[]', 'f', '', '', '', '[]',
        'ready', ${entry.mpp_x}, ${entry.objective_power}, 1, '', '')
    `.execute(db);
  }
  await derivedScale(db);
  const readSlides = db.selectFrom('images').select('id').where('fingerprint', 'is not', null);
  expect(await readSlides.where('status', '=', 'ready').orderBy('id').execute()).toEqual([
    { id: 'both' },
    { id: 'neither' },
  ]);
  const unreadSlides = db.selectFrom('images').select('id').where('fingerprint', 'is', null);
  expect(await unreadSlides.where('status', '=', 'pending').execute()).toHaveLength(2);
});
