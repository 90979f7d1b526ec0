import { describe, expect, it, onTestFinished } from 'vitest';
import { chainHash } from '../domain/audit-chain.ts';
import { insertAuditRow } from '../store/audit.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { removeAuditTriggers } from '../store/testing/audit-triggers.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../store/testing/test-database.ts';
import { checkChain } from './chain-check.ts';

/** Returns a database whose audit log has this many events, without the triggers that prevent changes of the audit log. */
async function databaseWithEvents(kind: DatabaseKind, entries: number): Promise<Database> {
  const { db, close } = await openTestDatabase(kind);
  const restoreTriggers = await removeAuditTriggers(db, kind);
  onTestFinished(async () => {
    await restoreTriggers();
    await close();
  });
  await runLockedTransaction(db, 'audit', async (tx) => {
    for (let i = 1; i <= entries; i++) {
      await insertAuditRow(tx, {
        at: '2026-05-01T00:00:00.000Z',
        action: 'sign-in',
        result: 'done',
        actor_uid: `uid-${i}`,
        target: null,
        detail: '{}',
        address: null,
        request_id: null,
      });
    }
  });
  return db;
}

describe.each(databaseKinds)(
  'checkChain (checks the hash chain of the whole audit log; database: %s)',
  (kind) => {
    it('reports an unchanged audit log of 1,203 events as intact', async () => {
      // checkChain reads chunks of 500 events: here, two full ones and a partial one.
      const db = await databaseWithEvents(kind, 1203);
      expect(await checkChain(db)).toMatchObject({ state: 'intact', entries: 1203, brokenAt: null });
    });

    it('reports an empty audit log as intact', async () => {
      expect(await checkChain(await databaseWithEvents(kind, 0))).toMatchObject({
        state: 'intact',
        entries: 0,
      });
    });

    const alterEntry = (db: Database, seq: number) =>
      db.updateTable('audit').set({ actor_uid: 'another-uid' }).where('seq', '=', seq).execute();
    const removeEntry = (db: Database, seq: number) =>
      db.deleteFrom('audit').where('seq', '=', seq).execute();

    it.each([
      ['whose third entry was altered', (db: Database) => alterEntry(db, 3), 3],
      ['whose third entry was deleted', (db: Database) => removeEntry(db, 3), 3],
      ['whose first entry was deleted', (db: Database) => removeEntry(db, 1), 1],
      ['whose last entry was deleted', (db: Database) => removeEntry(db, 5), 5],
      ['whose entries were all deleted', (db: Database) => db.deleteFrom('audit').execute(), 1],
      [
        'whose second and third entries were swapped',
        async (db: Database) => {
          for (const [from, to] of [
            [2, 100],
            [3, 2],
            [100, 3],
          ] as const) {
            await db.updateTable('audit').set({ seq: to }).where('seq', '=', from).execute();
          }
        },
        2,
      ],
      [
        'whose third entry was altered and got a matching hash',
        async (db: Database) => {
          const entry = await db
            .selectFrom('audit')
            .selectAll()
            .where('seq', '=', 3)
            .executeTakeFirstOrThrow();
          const hash = chainHash(entry.previous_hash, { ...entry, actor_uid: 'another-uid' });
          const set = { actor_uid: 'another-uid', hash };
          await db.updateTable('audit').set(set).where('seq', '=', 3).execute();
        },
        4,
      ],
      [
        'whose last entry was altered and got a matching hash',
        async (db: Database) => {
          const entry = await db
            .selectFrom('audit')
            .selectAll()
            .where('seq', '=', 5)
            .executeTakeFirstOrThrow();
          const hash = chainHash(entry.previous_hash, { ...entry, actor_uid: 'another-uid' });
          const set = { actor_uid: 'another-uid', hash };
          await db.updateTable('audit').set(set).where('seq', '=', 5).execute();
        },
        5,
      ],
      [
        'whose first two entries were deleted as if pruned, without a pruning event',
        async (db: Database) => {
          const second = await db
            .selectFrom('audit')
            .selectAll()
            .where('seq', '=', 2)
            .executeTakeFirstOrThrow();
          await db.updateTable('audit_chain').set({ before_seq: 2, before_hash: second.hash }).execute();
          await db.deleteFrom('audit').where('seq', '<=', 2).execute();
        },
        3,
      ],
    ] as const)('returns broken at entry $2 for a log of five entries $0', async (_, tamper, brokenAt) => {
      const db = await databaseWithEvents(kind, 5);
      await tamper(db);
      expect(await checkChain(db)).toMatchObject({ state: 'broken', brokenAt });
    });

    it('throws an error when the AbortSignal of the caller is aborted', async () => {
      const db = await databaseWithEvents(kind, 5);
      await expect(checkChain(db, AbortSignal.abort())).rejects.toThrow();
    });
  },
);
