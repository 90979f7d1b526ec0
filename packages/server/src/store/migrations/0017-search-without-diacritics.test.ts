import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { insertImages } from '../images.ts';
import { everyDatabaseKind, openTestDatabase } from '../testing/test-database.ts';
import { up } from './0017-search-without-diacritics.ts';

it.each(everyDatabaseKind)(
  'migration 0017 removes diacritics from the search text of all entries (database: %s)',
  async (kind) => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    // More images than the migration changes in two batches.
    const images = Array.from({ length: 1201 }, (_, i) => ({
      id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      root: 'slides' as const,
      path: `${i}`,
      members: '[]',
      fingerprint: null,
      file_name: i % 2 === 0 ? `Şüpheli ${i}.svs` : `plain ${i}.svs`,
      dataset_name: null,
      organ_type: 'Akciğer',
      size_bytes: 1,
    }));
    for (let from = 0; from < images.length; from += 100) {
      await insertImages(db, images.slice(from, from + 100), '2026-11-22T00:00:00.000Z');
    }
    const expected = await db.selectFrom('images').select(['id', 'search_text']).orderBy('id').execute();
    await sql`update images set search_text = 'şüpheli'`.execute(db);
    await up(db);
    expect(await db.selectFrom('images').select(['id', 'search_text']).orderBy('id').execute()).toEqual(
      expected,
    );
    expect(expected[0]?.search_text).toContain('supheli 0.svs');
  },
);
