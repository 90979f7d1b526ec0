import { describe, expect, it, onTestFinished } from 'vitest';
import { insertAuditRow } from './audit.ts';
import { change, type Database, openDatabase } from './database.ts';
import { databaseKinds, openTestDatabase } from './testing/test-database.ts';

const row = {
  at: '2026-05-01T00:00:00.000Z',
  action: 'sign-in',
  result: 'done',
  actor_uid: null,
  target: null,
  detail: '{}',
  address: null,
  request_id: null,
} as const;

const numbersOf = async (db: Database) =>
  (await db.selectFrom('audit').select('seq').orderBy('seq').execute()).map(({ seq }) => seq);

describe.each(databaseKinds)('the audit trail, on %s', (kind) => {
  it('numbers its rows without a gap, whoever writes at once and whatever fails between', async () => {
    const { db, url, close } = await openTestDatabase(kind);
    onTestFinished(close);
    // Where the database has a server, half of the rows come from a second process.
    const other = url === null ? db : await openDatabase({ url, file: null });
    if (other !== db) onTestFinished(() => other.destroy());
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, i) =>
        change(i % 2 === 0 ? db : other, 'audit', async (tx) => {
          await insertAuditRow(tx, row);
          if (i % 5 === 0) throw new Error('the change failed');
        }),
      ),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(8);
    expect(await numbersOf(db)).toEqual(Array.from({ length: 32 }, (_, i) => i + 1));
  });

  it('keeps no row of a change that failed', async () => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    const failing = change(db, 'accounts', async (tx) => {
      await insertAuditRow(tx, row);
      throw new Error('the change failed');
    });
    await expect(failing).rejects.toThrow('the change failed');
    expect(await numbersOf(db)).toEqual([]);
  });
});
