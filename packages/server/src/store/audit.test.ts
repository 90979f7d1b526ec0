import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chainStart, verifyChainLinks } from '../domain/audit-chain.ts';
import {
  countAuditActions,
  deletePrunedAuditRows,
  findAuditLogEnds,
  insertAuditRow,
  listAuditRows,
  listChainedRows,
  pruneAuditRowsBefore,
} from './audit.ts';
import {
  type Database,
  type DatabaseLocation,
  type DatabaseTransaction,
  openDatabase,
  runLockedTransaction,
} from './database.ts';
import { removeAuditTriggers } from './testing/audit-triggers.ts';
import { type DatabaseKind, everyDatabaseKind, openTestDatabase } from './testing/test-database.ts';
import type { Task } from './testing/write-entries.ts';

/** Fields of an entry. Tests that need other values override them. */
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

/** Opens a database that is closed after the test. */
async function openDatabaseOf(kind: DatabaseKind): Promise<Database> {
  const { db, close } = await openTestDatabase(kind);
  onTestFinished(close);
  return db;
}

/** Opens a database that worker threads can open too. */
async function openSharedDatabase(kind: DatabaseKind): Promise<[Database, DatabaseLocation]> {
  if (kind === 'PostgreSQL') {
    const { db, url, close } = await openTestDatabase(kind);
    onTestFinished(close);
    return [db, { url, file: null }];
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-audit-'));
  const location = { url: null, file: path.join(folder, 'lamina.db') };
  const db = await openDatabase(location);
  onTestFinished(async () => {
    await db.destroy();
    fs.rmSync(folder, { recursive: true });
  });
  return [db, location];
}

/** Runs a worker thread that writes entries, and waits for its end. */
async function runWriter(task: Task): Promise<void> {
  const thread = new Worker(new URL('./testing/write-entries.ts', import.meta.url), { workerData: task });
  const [code] = (await once(thread, 'exit')) as [number];
  expect(code).toBe(0);
}

type EntryChanges = Partial<Parameters<typeof insertAuditRow>[1]>;
/** Appends an entry with the default fields of `row`, except for the given changes. */
const write = (db: Database, changes: EntryChanges = {}) =>
  runLockedTransaction(db, 'audit', (tx) => insertAuditRow(tx, { ...row, ...changes }));

/** Returns the time this number of minutes after midnight on 1 May 2026, UTC. */
const minute = (number: number) => new Date(Date.UTC(2026, 4, 1, 0, number)).toISOString();
/** Appends entries at the minutes 1, 2, 3 …, with the changes that the callback returns for each minute. */
async function insertEntries(
  db: Database,
  entries: number,
  changes: (number: number) => EntryChanges = () => ({}),
): Promise<void> {
  for (let number = 1; number <= entries; number++)
    await write(db, { at: minute(number), ...changes(number) });
}

/** Returns the numbers of all entries that have rows. */
const numbersOf = async (db: Database) => (await listChainedRows(db, 0, 1000)).map(({ seq }) => seq);

describe.each(everyDatabaseKind)('the audit log (database: %s)', (kind) => {
  it('has consecutive numbers and a valid hash chain after concurrent writers and failed transactions', async () => {
    const [db, location] = await openSharedDatabase(kind);
    // Of 3 × 30 transactions, every third fails, so 60 entries remain.
    await Promise.all(['a', 'b', 'c'].map((writer) => runWriter({ location, writer, changes: 30 })));
    const rows = await listChainedRows(db, 0, 1000);
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    expect(new Set(rows.map(({ actor_uid }) => actor_uid)).size).toBe(60);
    const { lastPruned, last } = await findAuditLogEnds(db);
    expect(verifyChainLinks(lastPruned, rows)).toEqual(last);
    expect(lastPruned).toEqual({ seq: 0, hash: chainStart });
  });

  it('contains no entry of a transaction that was rolled back', async () => {
    const db = await openDatabaseOf(kind);
    const failing = runLockedTransaction(db, 'accounts', async (tx) => {
      await insertAuditRow(tx, row);
      throw new Error('the change failed');
    });
    await expect(failing).rejects.toThrow('the change failed');
    expect(await numbersOf(db)).toEqual([]);
    expect(await findAuditLogEnds(db)).toMatchObject({ last: { seq: 0 } });
  });

  it('rejects SQL statements that update an entry, or delete one that is not marked as pruned', async () => {
    const db = await openDatabaseOf(kind);
    await insertEntries(db, 2);
    await expect(db.updateTable('audit').set({ actor_uid: 'x' }).execute()).rejects.toThrow(/never change/);
    await expect(db.deleteFrom('audit').where('seq', '=', 1).execute()).rejects.toThrow(
      /until they are pruned/,
    );
    await expect(db.deleteFrom('audit').execute()).rejects.toThrow(/until they are pruned/);
    expect(await numbersOf(db)).toEqual([1, 2]);
  });

  it('does not reuse the number of the last entry after its row was deleted directly in the database', async () => {
    const db = await openDatabaseOf(kind);
    await insertEntries(db, 3);
    const restoreTriggers = await removeAuditTriggers(db, kind);
    await db.deleteFrom('audit').where('seq', '=', 3).execute();
    await restoreTriggers();
    await write(db);
    expect(await numbersOf(db)).toEqual([1, 2, 4]);
  });
});

describe.each(everyDatabaseKind)('pruning of the audit log (database: %s)', (kind) => {
  it('deletes the oldest entries and leaves the hash chain of the others valid', async () => {
    const db = await openDatabaseOf(kind);
    await insertEntries(db, 5);
    const [fourthEntry] = await listChainedRows(db, 3, 1);
    const recorded: unknown[] = [];
    const count = await pruneAuditRowsBefore(db, minute(4), async (tx, pruned) => {
      recorded.push(pruned);
      await insertAuditRow(tx, { ...row, at: minute(9), action: 'audit-pruned' });
    });
    expect(count).toBe(3);
    expect(recorded).toEqual([{ upTo: { seq: 3, hash: fourthEntry?.previous_hash }, entries: 3 }]);
    while (await deletePrunedAuditRows(db));
    const rows = await listChainedRows(db, 0, 10);
    expect(rows.map(({ seq, action }) => [seq, action])).toEqual([
      [4, 'sign-in'],
      [5, 'sign-in'],
      [6, 'audit-pruned'],
    ]);
    const { lastPruned, last } = await findAuditLogEnds(db);
    expect(verifyChainLinks(lastPruned, rows)).toEqual(last);
  });

  it('stops at the first entry within the retention period, and never deletes the last entry', async () => {
    const db = await openDatabaseOf(kind);
    await write(db, { at: minute(9) }); // entry 1, before entries at the minutes 1 to 3
    await insertEntries(db, 3);
    const record = async () => {};
    expect(await pruneAuditRowsBefore(db, minute(5), record)).toBe(0);
    expect(await pruneAuditRowsBefore(db, minute(30), record)).toBe(3);
    expect(await pruneAuditRowsBefore(db, minute(30), record)).toBe(0);
  });

  it('removes entries from lists as soon as they are marked as pruned, before their rows are deleted', async () => {
    const db = await openDatabaseOf(kind);
    await insertEntries(db, 3);
    await pruneAuditRowsBefore(db, minute(3), async () => {});
    expect((await listAuditRows(db, {}, 10)).map(({ seq }) => seq)).toEqual([3]);
  });

  // Two connections of one thread to SQLite would block each other.
  it.runIf(kind === 'PostgreSQL')(
    'deletes each expired entry once when two processes prune at the same time',
    async () => {
      const [db, location] = await openSharedDatabase(kind);
      const other = await openDatabase(location);
      onTestFinished(() => other.destroy());
      await insertEntries(db, 3);
      const record = async (tx: DatabaseTransaction) => {
        await insertAuditRow(tx, { ...row, at: minute(9), action: 'audit-pruned' });
      };
      const counts = await Promise.all([
        pruneAuditRowsBefore(db, minute(3), record),
        pruneAuditRowsBefore(other, minute(3), record),
      ]);
      expect(counts.sort()).toEqual([0, 2]);
      expect((await listAuditRows(db, {}, 10)).map(({ seq }) => seq)).toEqual([4, 3]);
    },
  );
});

describe.each(everyDatabaseKind)('listing the audit log (database: %s)', (kind) => {
  /**
   * Opens a log of 12 entries at the minutes 1 to 12. The actors berk and ayse alternate, and the target of entry 11 is ayse. Every
   * third entry opens a slide, and every fourth is refused.
   */
  async function openFilledLog(): Promise<Database> {
    const db = await openDatabaseOf(kind);
    await insertEntries(db, 12, (number) => {
      const opensSlide = number % 3 === 0;
      const otherTarget = number === 11 ? 'ayse' : null;
      return {
        actor_uid: number % 2 === 0 ? 'ayse' : 'berk',
        target: opensSlide ? 'slide' : otherTarget,
        action: opensSlide ? 'image-opened' : 'sign-in',
        result: number % 4 === 0 ? 'refused' : 'done',
      };
    });
    return db;
  }
  const listSeqs = async (db: Database, query: Parameters<typeof listAuditRows>[1], limit = 100) =>
    (await listAuditRows(db, query, limit)).map(({ seq }) => seq);

  it.each([
    ['no condition', {}, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ['an account as actor or target', { uid: 'ayse' }, [12, 11, 10, 8, 6, 4, 2]],
    ['an action', { action: 'image-opened' }, [12, 9, 6, 3]],
    ['a result (refused)', { result: 'refused' }, [12, 8, 4]],
    ['a slide', { target: 'slide' }, [12, 9, 6, 3]],
    ['a time span', { from: minute(4), to: minute(6) }, [5, 4]],
    ['an account and an action', { uid: 'ayse', action: 'image-opened' }, [12, 6]],
    ['an account and a slide', { uid: 'berk', target: 'slide' }, [9, 3]],
    ['an action and a result', { action: 'image-opened', result: 'refused' }, [12]],
    ['a slide and a time span', { target: 'slide', from: minute(6), to: minute(10) }, [9, 6]],
    ['an account without entries', { uid: 'cem' }, []],
    ['a highest entry number (2)', { upToSeq: 2 }, [2, 1]],
  ] as const)(
    'returns the matching entries, newest first, for a query with %s',
    async (_, query, numbers) => {
      expect(await listSeqs(await openFilledLog(), query)).toEqual(numbers);
    },
  );

  it.each([{}, { uid: 'ayse' }, { action: 'sign-in' }, { result: 'done' as const }, { target: 'slide' }])(
    'returns the same entries in pages of two as in a single list for the filter %o ({}: no filter)',
    async (query) => {
      const db = await openFilledLog();
      for (let i = 0; i < 5; i++) await write(db, { at: minute(12), actor_uid: 'ayse', target: 'slide' });
      const atOnce = await listSeqs(db, query);
      const paged: number[] = [];
      for (let after: { at: string; seq: number } | undefined; ; ) {
        const page = await listAuditRows(db, { ...query, after }, 2);
        paged.push(...page.map(({ seq }) => seq));
        after = page.at(-1);
        if (after === undefined) break;
      }
      expect(paged).toEqual(atOnce);
    },
  );

  it('counts the entries with the action image-opened and the result done in each of several time spans', async () => {
    const db = await openFilledLog();
    const spans = [
      { from: minute(0), to: minute(6) },
      { from: minute(6), to: minute(7) },
      { from: minute(20), to: minute(30) },
      { from: minute(7), to: minute(20) },
    ];
    // Entries 3, 6 and 9 open a slide; entry 12 does, too, but is refused.
    expect(await countAuditActions(db, 'image-opened', spans)).toEqual([1, 1, 0, 1]);
    expect(await countAuditActions(db, 'image-opened', [])).toEqual([]);
  });
});
