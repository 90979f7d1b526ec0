/** Creates the tables of a database from rows of a backup or of another database. */
import { checkChain } from '../audit/chain-check.ts';
import type { Change } from '../store/database.ts';
import {
  createEmptyTables,
  digestOf,
  insertRows,
  migrateTables,
  type TableDigest,
  type TableShape,
  type Values,
} from '../store/table-rows.ts';

/** The expected contents of a table. */
export interface ExpectedTable {
  readonly shape: TableShape;
  rows(): AsyncIterable<readonly Values[]>;
  /** Expected row count and hash, independent of `rows`. */
  digest(): Promise<TableDigest>;
}

/** Prints a sentence for the operator. */
export type Say = (sentence: string) => void;

/**
 * Creates and fills the tables, compares row counts and hashes with the expected ones, and applies newer migrations. The
 * caller's transaction makes all of it visible at once.
 *
 * @param shapes all tables; those without `contents` stay empty
 * @returns the number of rows
 * @throws Error with one sentence when a table differs from the expected contents
 */
export async function fillTables(
  tx: Change,
  version: string,
  shapes: readonly TableShape[],
  contents: readonly ExpectedTable[],
  say: Say,
): Promise<number> {
  await createEmptyTables(tx, version, shapes);
  for (const { shape, rows } of contents) {
    for await (const batch of rows()) await insertRows(tx, shape, batch);
  }
  let count = 0;
  for (const { shape, digest } of contents) {
    const [expected, actual] = [await digest(), await digestOf(tx, shape)];
    if (expected.rows !== actual.rows || expected.sha256 !== actual.sha256) {
      throw new Error(
        `Table ${shape.name} differs after filling: ${actual.rows} of ${expected.rows} rows, with another hash. Nothing has been changed.`,
      );
    }
    count += actual.rows;
  }
  say(`${contents.length} tables with ${count} rows: counts and hashes agree.`);
  await migrateTables(tx);
  await sayWhetherIntact(tx, say);
  return count;
}

async function sayWhetherIntact(tx: Change, say: Say): Promise<void> {
  const { state, entries, brokenAt } = await checkChain(tx);
  if (state === 'intact') say(`The audit log is intact: ${entries} entries.`);
  else say(`Warning: the audit log is broken at entry ${brokenAt}, as it was in its source.`);
}
