import { type Kysely, PostgresAdapter, sql } from 'kysely';
import { chainHash, chainStart } from '../../domain/audit-chain.ts';
import type { Tables } from '../schema.ts';

/** Number of rows that are read at once. */
const rowsPerRead = 1000;

/**
 * Adds to the audit log: a hash chain, which reveals changed or deleted entries; indexes for the filters of its list;
 * and triggers that reject changes of its rows.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('audit_chain') // both ends of the chain, in a single row
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('before_seq', 'bigint', (c) => c.notNull()) // last pruned entry; 0 before the first pruning
    .addColumn('before_hash', 'text', (c) => c.notNull())
    .addColumn('last_seq', 'bigint', (c) => c.notNull()) // newest entry
    .addColumn('last_hash', 'text', (c) => c.notNull())
    .execute();

  for (const column of ['previous_hash', 'hash']) {
    await db.schema
      .alterTable('audit')
      .addColumn(column, 'text', (c) => c.notNull().defaultTo(''))
      .execute();
  }
  await chainExistingRows(db);

  // Lists sort the log by time, so every index now contains `at`. With `result` at the end of `audit_by_action`,
  // statistics count entries without reading rows.
  await db.schema.dropIndex('audit_by_actor').execute();
  await db.schema.dropIndex('audit_by_target').execute();
  await db.schema.createIndex('audit_by_time').on('audit').columns(['at', 'seq']).execute();
  await db.schema.createIndex('audit_by_actor').on('audit').columns(['actor_uid', 'at', 'seq']).execute();
  await db.schema.createIndex('audit_by_target').on('audit').columns(['target', 'at', 'seq']).execute();
  await db.schema
    .createIndex('audit_by_action')
    .on('audit')
    .columns(['action', 'at', 'seq', 'result'])
    .execute();
  await db.schema.createIndex('audit_by_result').on('audit').columns(['result', 'at', 'seq']).execute();

  const triggers = db.getExecutor().adapter instanceof PostgresAdapter ? postgresTriggers : sqliteTriggers;
  for (const trigger of triggers) await sql.raw(trigger).execute(db);
}

async function chainExistingRows(db: Kysely<Tables>): Promise<void> {
  let last = { seq: 0, hash: chainStart };
  for (;;) {
    const rows = await db
      .selectFrom('audit')
      .selectAll()
      .where('seq', '>', last.seq)
      .orderBy('seq')
      .limit(rowsPerRead)
      .execute();
    for (const row of rows) {
      const hash = chainHash(last.hash, row);
      await db
        .updateTable('audit')
        .set({ previous_hash: last.hash, hash })
        .where('seq', '=', row.seq)
        .execute();
      last = { seq: row.seq, hash };
    }
    if (rows.length < rowsPerRead) break;
  }
  if (last.seq === 0) return;
  await db
    .insertInto('audit_chain')
    .values({
      name: 'audit',
      before_seq: 0,
      before_hash: chainStart,
      last_seq: last.seq,
      last_hash: last.hash,
    })
    .execute();
}

/** SQL condition under which the triggers reject a deletion: the row comes after the last pruned row (`before_seq`). */
const isNotPruned = "old.seq > coalesce((select before_seq from audit_chain where name = 'audit'), 0)";

const sqliteTriggers = [
  `create trigger audit_rows_never_change before update on audit
   begin select raise(abort, 'rows of the audit trail never change'); end`,
  `create trigger audit_rows_stay before delete on audit when ${isNotPruned}
   begin select raise(abort, 'rows of the audit trail stay until they are pruned'); end`,
];

const postgresTriggers = [
  `create function refuse_audit_change() returns trigger language plpgsql as $$
   begin
     if tg_op = 'UPDATE' then raise exception 'rows of the audit trail never change'; end if;
     if ${isNotPruned} then raise exception 'rows of the audit trail stay until they are pruned'; end if;
     return old;
   end $$`,
  `create trigger audit_rows_stay before update or delete on audit
   for each row execute function refuse_audit_change()`,
];
