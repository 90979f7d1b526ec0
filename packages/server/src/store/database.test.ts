import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change, isUniqueViolation, openDatabase } from './database.ts';
import { databaseKinds, openTestDatabase } from './testing/test-database.ts';
import { findUser, insertUser, listUsers } from './users.ts';

function folder(): string {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-database-'));
  onTestFinished(() => fs.rmSync(temporary, { recursive: true }));
  return temporary;
}

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

describe('the embedded SQLite database', () => {
  it('commits durably (WAL, synchronous FULL) and can be read during writes', async () => {
    const db = await openDatabase({ url: null, file: path.join(folder(), 'data', 'lamina.db') });
    onTestFinished(() => db.destroy());
    const pragma = async (name: string) => (await sql.raw(`pragma ${name}`).execute(db)).rows[0];
    expect(await pragma('journal_mode')).toEqual({ journal_mode: 'wal' });
    expect(await pragma('synchronous')).toEqual({ synchronous: 2 });
    expect(await pragma('foreign_keys')).toEqual({ foreign_keys: 1 });
    expect(await pragma('secure_delete')).toEqual({ secure_delete: 1 });
  });

  it('keeps its rows across restarts', async () => {
    const file = path.join(folder(), 'lamina.db');
    const first = await openDatabase({ url: null, file });
    await insertUser(first, user('u1'));
    await first.destroy();
    const second = await openDatabase({ url: null, file });
    onTestFinished(() => second.destroy());
    expect(await listUsers(second)).toEqual([user('u1')]);
  });

  it('is rejected when the file is not a database', async () => {
    const file = path.join(folder(), 'lamina.db');
    fs.writeFileSync(file, 'This is no database, but a text that is long enough to be read as one.');
    await expect(openDatabase({ url: null, file })).rejects.toThrow('file is not a database');
  });
});

describe('a database that cannot be reached', () => {
  it('causes an error that says that it is unreachable', async () => {
    await expect(openDatabase({ url: 'postgres://127.0.0.1:1/lamina', file: null })).rejects.toThrow(
      'The database cannot be opened.',
    );
  });
});

describe.each(databaseKinds)('transaction by change(), on %s', (kind) => {
  it('rolls back all writes when it fails', async () => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    const half = change(db, 'accounts', async (tx) => {
      await insertUser(tx, user('u1'));
      throw new Error('the rest failed');
    });
    await expect(half).rejects.toThrow('the rest failed');
    expect(await findUser(db, 'u1')).toBeNull();
  });

  it('does not overlap with another change that holds the same lock', async () => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    const addOne = () =>
      change(db, 'accounts', async (tx) => {
        const known = await listUsers(tx);
        await insertUser(tx, user(`u${known.length}`));
      });
    await Promise.all(Array.from({ length: 20 }, addOne));
    expect(await listUsers(db)).toHaveLength(20);
  });

  it('throws a unique violation for an e-mail address that another account has', async () => {
    const { db, close } = await openTestDatabase(kind);
    onTestFinished(close);
    await insertUser(db, user('u1', 'Ayse@example.org'));
    const again = insertUser(db, user('u2', ' AYSE@EXAMPLE.ORG'));
    await expect(again).rejects.toSatisfy(isUniqueViolation);
  });
});
