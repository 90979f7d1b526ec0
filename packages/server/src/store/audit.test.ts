import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chainStart, followChain } from '../domain/audit-chain.ts';
import {
  countDone,
  deleteGivenUpRows,
  findTrailEnds,
  giveUpRowsBefore,
  insertAuditRow,
  listAuditRows,
  listChainedRows,
} from './audit.ts';
import { type Change, change, type Database, type DatabaseLocation, openDatabase } from './database.ts';
import { removeGuard } from './testing/remove-guard.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from './testing/test-database.ts';
import type { Task } from './testing/write-entries.ts';

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

async function opened(kind: DatabaseKind): Promise<Database> {
  const { db, close } = await openTestDatabase(kind);
  onTestFinished(close);
  return db;
}

/** Where threads of their own find it, too. */
async function openedForMany(kind: DatabaseKind): Promise<[Database, DatabaseLocation]> {
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

async function runWriter(task: Task): Promise<void> {
  const thread = new Worker(new URL('./testing/write-entries.ts', import.meta.url), { workerData: task });
  const [code] = (await once(thread, 'exit')) as [number];
  expect(code).toBe(0);
}

type Said = Partial<Parameters<typeof insertAuditRow>[1]>;
const write = (db: Database, said: Said = {}) =>
  change(db, 'audit', (tx) => insertAuditRow(tx, { ...row, ...said }));

const minute = (number: number) => new Date(Date.UTC(2026, 4, 1, 0, number)).toISOString();
/** One entry a minute, from minute 1. */
async function filled(
  db: Database,
  entries: number,
  said: (number: number) => Said = () => ({}),
): Promise<void> {
  for (let number = 1; number <= entries; number++) await write(db, { at: minute(number), ...said(number) });
}

const numbersOf = async (db: Database) => (await listChainedRows(db, 0, 1000)).map(({ seq }) => seq);

describe.each(databaseKinds)('the audit trail, on %s', (kind) => {
  it('numbers and chains its rows without a gap, whoever writes at once and whatever fails between', async () => {
    const [db, location] = await openedForMany(kind);
    await Promise.all(['a', 'b', 'c'].map((writer) => runWriter({ location, writer, changes: 30 })));
    const rows = await listChainedRows(db, 0, 1000);
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    expect(new Set(rows.map(({ actor_uid }) => actor_uid)).size).toBe(60);
    const { before, last } = await findTrailEnds(db);
    expect(followChain(before, rows)).toEqual(last);
    expect(before).toEqual({ seq: 0, hash: chainStart });
  });

  it('keeps no row of a change that failed', async () => {
    const db = await opened(kind);
    const failing = change(db, 'accounts', async (tx) => {
      await insertAuditRow(tx, row);
      throw new Error('the change failed');
    });
    await expect(failing).rejects.toThrow('the change failed');
    expect(await numbersOf(db)).toEqual([]);
    expect(await findTrailEnds(db)).toMatchObject({ last: { seq: 0 } });
  });

  it('has a database that refuses to change a row, or to delete one that is kept', async () => {
    const db = await opened(kind);
    await filled(db, 2);
    await expect(db.updateTable('audit').set({ actor_uid: 'x' }).execute()).rejects.toThrow(/never change/);
    await expect(db.deleteFrom('audit').where('seq', '=', 1).execute()).rejects.toThrow(
      /until they are pruned/,
    );
    await expect(db.deleteFrom('audit').execute()).rejects.toThrow(/until they are pruned/);
    expect(await numbersOf(db)).toEqual([1, 2]);
  });

  it('leaves a gap for ever where the last row was taken away', async () => {
    const db = await opened(kind);
    await filled(db, 3);
    const restoreGuard = await removeGuard(db, kind);
    await db.deleteFrom('audit').where('seq', '=', 3).execute();
    await restoreGuard();
    await write(db);
    expect(await numbersOf(db)).toEqual([1, 2, 4]);
  });
});

describe.each(databaseKinds)('old entries, on %s', (kind) => {
  it('are given up from the beginning of the trail, which goes on from there', async () => {
    const db = await opened(kind);
    await filled(db, 5);
    const fourth = (await listChainedRows(db, 3, 1))[0];
    const told: unknown[] = [];
    const count = await giveUpRowsBefore(db, minute(4), async (tx, givenUp) => {
      told.push(givenUp);
      await insertAuditRow(tx, { ...row, at: minute(9), action: 'audit-pruned' });
    });
    expect(count).toBe(3);
    expect(told).toEqual([{ upTo: { seq: 3, hash: fourth?.previous_hash }, entries: 3 }]);
    while (await deleteGivenUpRows(db));
    const rows = await listChainedRows(db, 0, 10);
    expect(rows.map(({ seq, action }) => [seq, action])).toEqual([
      [4, 'sign-in'],
      [5, 'sign-in'],
      [6, 'audit-pruned'],
    ]);
    const { before, last } = await findTrailEnds(db);
    expect(followChain(before, rows)).toEqual(last);
  });

  it('stay as long as one before them is young, and the last entry always stays', async () => {
    const db = await opened(kind);
    await write(db, { at: minute(9) });
    await filled(db, 3);
    const record = async () => {};
    expect(await giveUpRowsBefore(db, minute(5), record)).toBe(0);
    expect(await giveUpRowsBefore(db, minute(30), record)).toBe(3);
    expect(await giveUpRowsBefore(db, minute(30), record)).toBe(0);
  });

  it('are not listed between being given up and being deleted', async () => {
    const db = await opened(kind);
    await filled(db, 3);
    await giveUpRowsBefore(db, minute(3), async () => {});
    expect((await listAuditRows(db, {}, 10)).map(({ seq }) => seq)).toEqual([3]);
  });

  // Two connections of one thread to SQLite would wait for each other.
  it.runIf(kind === 'PostgreSQL')('are given up once by two processes that begin together', async () => {
    const [db, location] = await openedForMany(kind);
    const other = await openDatabase(location);
    onTestFinished(() => other.destroy());
    await filled(db, 3);
    const record = async (tx: Change) => {
      await insertAuditRow(tx, { ...row, at: minute(9), action: 'audit-pruned' });
    };
    const counts = await Promise.all([
      giveUpRowsBefore(db, minute(3), record),
      giveUpRowsBefore(other, minute(3), record),
    ]);
    expect(counts.sort()).toEqual([0, 2]);
    expect((await listAuditRows(db, {}, 10)).map(({ seq }) => seq)).toEqual([4, 3]);
  });
});

describe.each(databaseKinds)('asking the trail, on %s', (kind) => {
  /** ayse and berk sign in in turn; ayse opens a slide every third time, and every fourth thing is refused. */
  async function inhabited(): Promise<Database> {
    const db = await opened(kind);
    await filled(db, 12, (number) => ({
      actor_uid: number % 2 === 0 ? 'ayse' : 'berk',
      target: number % 3 === 0 ? 'slide' : number === 11 ? 'ayse' : null,
      action: number % 3 === 0 ? 'image-opened' : 'sign-in',
      result: number % 4 === 0 ? 'refused' : 'done',
    }));
    return db;
  }
  const asked = async (db: Database, query: Parameters<typeof listAuditRows>[1], limit = 100) =>
    (await listAuditRows(db, query, limit)).map(({ seq }) => seq);

  it.each([
    ['everything', {}, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ['what somebody did and had done', { uid: 'ayse' }, [12, 11, 10, 8, 6, 4, 2]],
    ['an action', { action: 'image-opened' }, [12, 9, 6, 3]],
    ['a result', { result: 'refused' }, [12, 8, 4]],
    ['a slide', { target: 'slide' }, [12, 9, 6, 3]],
    ['a time', { from: minute(4), to: minute(6) }, [5, 4]],
    ['somebody and an action', { uid: 'ayse', action: 'image-opened' }, [12, 6]],
    ['somebody and a slide', { uid: 'berk', target: 'slide' }, [9, 3]],
    ['an action and a result', { action: 'image-opened', result: 'refused' }, [12]],
    ['a slide and a time', { target: 'slide', from: minute(6), to: minute(10) }, [9, 6]],
    ['what nobody did', { uid: 'cem' }, []],
    ['only up to a number', { upToSeq: 2 }, [2, 1]],
  ] as const)('for %s', async (_, query, numbers) => {
    expect(await asked(await inhabited(), query)).toEqual(numbers);
  });

  it.each([{}, { uid: 'ayse' }, { action: 'sign-in' }, { result: 'done' as const }, { target: 'slide' }])(
    'page by page gives the same as at once: %o',
    async (query) => {
      const db = await inhabited();
      for (let i = 0; i < 5; i++) await write(db, { at: minute(12), actor_uid: 'ayse', target: 'slide' });
      const atOnce = await asked(db, query);
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

  it('counts what was done in spans of time', async () => {
    const db = await inhabited();
    const spans = [
      { from: minute(0), to: minute(6) },
      { from: minute(6), to: minute(7) },
      { from: minute(20), to: minute(30) },
      { from: minute(7), to: minute(20) },
    ];
    expect(await countDone(db, 'image-opened', spans)).toEqual([1, 1, 0, 1]);
    expect(await countDone(db, 'image-opened', [])).toEqual([]);
  });
});
