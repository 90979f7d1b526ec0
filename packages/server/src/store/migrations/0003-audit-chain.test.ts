import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { verifyChainLinks } from '../../domain/audit-chain.ts';
import { findAuditLogEnds, listChainedRows } from '../audit.ts';
import type { Tables } from '../schema.ts';
import { up as first } from './0001-first.ts';
import { up } from './0003-audit-chain.ts';

it('migration 0003 adds a valid hash chain to the existing entries of the audit log', async () => {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new SqliteDatabase(':memory:') }) });
  onTestFinished(() => db.destroy());
  await first(db);
  // One entry more than the migration reads at once.
  for (let seq = 1; seq <= 1001; seq++) {
    await sql`insert into audit values (${seq}, '2026-05-01T00:00:00.000Z', 'sign-in', 'done', 'ayse', null, '{}', null, null)`.execute(
      db,
    );
  }
  await up(db);
  const rows = await listChainedRows(db, 0, 2000);
  expect(rows).toHaveLength(1001);
  const { lastPruned, last } = await findAuditLogEnds(db);
  expect(verifyChainLinks(lastPruned, rows)).toEqual(last);
});
