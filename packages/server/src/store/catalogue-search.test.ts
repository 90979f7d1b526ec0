import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { analyzeImages, prepareSearch } from './catalogue-search.ts';
import { connectDatabase } from './database.ts';
import { insertImages } from './images.ts';
import { everyDatabaseKind, openTestDatabase } from './testing/test-database.ts';

it('prepareSearch and analyzeImages, which prepare the catalogue search on PostgreSQL, report no error on SQLite', async () => {
  const { db, close } = await openTestDatabase('SQLite');
  onTestFinished(close);
  expect(await prepareSearch(db)).toBeNull();
  await analyzeImages(db);
});

describe.skipIf(!everyDatabaseKind.includes('PostgreSQL'))(
  'prepareSearch for the catalogue search on PostgreSQL (needs TEST_DATABASE_URL)',
  () => {
    it('creates the trigram index only once in three calls, of which two run concurrently', async () => {
      const { db, close } = await openTestDatabase('PostgreSQL');
      onTestFinished(close);
      expect(await Promise.all([prepareSearch(db), prepareSearch(db)])).toEqual([null, null]);
      expect(await prepareSearch(db)).toBeNull();
      const { rows } = await sql`select 1 from pg_indexes where indexname = 'images_by_words'`.execute(db);
      expect(rows).toHaveLength(1);
      await analyzeImages(db);
    });

    it('computes statistics of the table images when PostgreSQL has none', async () => {
      const { db, close } = await openTestDatabase('PostgreSQL');
      onTestFinished(close);
      const file = {
        root: 'slides',
        path: 'a.svs',
        members: '[]',
        fingerprint: null,
        file_name: 'a.svs',
      } as const;
      const entry = { id: randomUUID(), ...file, size_bytes: 1, dataset_name: null, organ_type: null };
      await insertImages(db, [entry], new Date().toISOString());
      expect(await prepareSearch(db)).toBeNull();
      const { rows } =
        await sql`select 1 from pg_stats where tablename = 'images' and schemaname = current_schema()`.execute(
          db,
        );
      expect(rows).not.toHaveLength(0);
    });

    it('returns the error when the database user may not create the index', async () => {
      const { db, url, close } = await openTestDatabase('PostgreSQL');
      onTestFinished(close);
      await sql`drop index if exists images_by_words`.execute(db);
      const guest = `guest_${randomBytes(4).toString('hex')}`;
      await sql`create role ${sql.id(guest)} login password 'glass'`.execute(db);
      onTestFinished(async () => {
        await sql`drop role ${sql.id(guest)}`.execute(db);
      });
      const guestUrl = new URL(url ?? '');
      guestUrl.username = guest;
      guestUrl.password = 'glass';
      const guestDb = await connectDatabase({ url: guestUrl.href, file: null });
      onTestFinished(() => guestDb.destroy());
      expect(await prepareSearch(guestDb)).toMatchObject({
        message: expect.stringMatching(/permission|owner/),
      });
    });
  },
);
