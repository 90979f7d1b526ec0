import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isUniqueViolation, openDatabase, runLockedTransaction } from './database.ts';
import { everyDatabaseKind, openTestDatabase } from './testing/test-database.ts';
import { findUser, insertUser, listUsers } from './users.ts';

/** Creates a folder that is deleted after the test. */
function createFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-database-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** Returns a pending account. */
const user = (uid: string, email = `${uid}@example.org`) => ({
  uid,
  email,
  displayName: null,
  status: 'pending' as const,
  role: 'unassigned' as const,
  adminApproved: false,
  createdAt: '2026-05-01T00:00:00.000Z',
  updatedAt: '2026-05-01T00:00:00.000Z',
  approvalDate: null,
  expiresAt: null,
});

describe('openDatabase with a file of the embedded SQLite database', () => {
  it('turns on WAL mode, full synchronisation, foreign keys and secure deletion', async () => {
    const db = await openDatabase({ url: null, file: path.join(createFolder(), 'data', 'lamina.db') });
    onTestFinished(() => db.destroy());
    const pragma = async (name: string) => (await sql.raw(`pragma ${name}`).execute(db)).rows[0];
    expect(await pragma('journal_mode')).toEqual({ journal_mode: 'wal' });
    expect(await pragma('synchronous')).toEqual({ synchronous: 2 }); // FULL
    expect(await pragma('foreign_keys')).toEqual({ foreign_keys: 1 });
    expect(await pragma('secure_delete')).toEqual({ secure_delete: 1 });
  });

  it('opens an existing database with the rows that were inserted before it was closed', async () => {
    const file = path.join(createFolder(), 'lamina.db');
    const first = await openDatabase({ url: null, file });
    await insertUser(first, user('u1'));
    await first.destroy();
    const second = await openDatabase({ url: null, file });
    onTestFinished(() => second.destroy());
    expect(await listUsers(second)).toEqual([user('u1')]);
  });

  it('throws an error when the file is not a database', async () => {
    const file = path.join(createFolder(), 'lamina.db');
    fs.writeFileSync(file, 'This is no database, but a text that is long enough to be read as one.');
    await expect(openDatabase({ url: null, file })).rejects.toThrow('file is not a database');
  });
});

describe('openDatabase with the URL of an unreachable PostgreSQL server', () => {
  it('throws the error "The database cannot be opened."', async () => {
    await expect(openDatabase({ url: 'postgres://127.0.0.1:1/lamina', file: null })).rejects.toThrow(
      'The database cannot be opened.',
    );
  });
});

describe.each(everyDatabaseKind)('runLockedTransaction and insertUser (database: %s)', (kind) => {
  it('a transaction rolls back all its writes when its function throws', async () => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    const failing = runLockedTransaction(db, 'accounts', async (tx) => {
      await insertUser(tx, user('u1'));
      throw new Error('the second write failed');
    });
    await expect(failing).rejects.toThrow('the second write failed');
    expect(await findUser(db, 'u1')).toBeNull();
  });

  it('a transaction starts only after another transaction with the same lock has ended', async () => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    // Without the lock, two transactions would count the same accounts and insert the same uid.
    const insertNextUser = () =>
      runLockedTransaction(db, 'accounts', async (tx) => {
        const existing = await listUsers(tx);
        await insertUser(tx, user(`u${existing.length}`));
      });
    await Promise.all(Array.from({ length: 20 }, insertNextUser));
    expect(await listUsers(db)).toHaveLength(20);
  });

  it('insertUser fails with a unique violation for an e-mail address that differs only in case and spaces from an existing one', async () => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    await insertUser(db, user('u1', 'Ayse@example.org'));
    const insertion = insertUser(db, user('u2', ' AYSE@EXAMPLE.ORG'));
    await expect(insertion).rejects.toSatisfy(isUniqueViolation);
  });
});
