/** Creates the tables of a database, and fills them with the rows of a backup or of another database. */
import { checkChain } from '../audit/chain-check.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import {
  createEmptyTables,
  digestOf,
  insertRows,
  migrateTables,
  type RowValues,
  type TableDigest,
  type TableShape,
} from '../store/table-rows.ts';

/** The rows that a table must have: their source, and their expected count and hash. */
export interface ExpectedTable {
  readonly shape: TableShape; // name, columns and key of the table
  rows(): AsyncIterable<readonly RowValues[]>;
  /** Returns the expected row count and hash, which are computed independently of `rows`. */
  digest(): Promise<TableDigest>;
}

/** Prints a sentence for the operator, on one line of the standard output. */
export type PrintLine = (sentence: string) => void;

/**
 * Creates and fills the tables, compares their row counts and hashes with the expected ones, and applies newer migrations. All of
 * this happens in the caller's transaction.
 *
 * @param version schema version of the rows: the name of the last applied migration
 * @param shapes all tables; tables without `contents` stay empty
 * @returns the number of rows
 * @throws Error with a sentence for the operator when a table differs from the expected contents
 */
export async function fillTables(
  tx: DatabaseTransaction,
  version: string,
  shapes: readonly TableShape[],
  contents: readonly ExpectedTable[],
  printLine: PrintLine,
): Promise<number> {
  await createEmptyTables(tx, version, shapes);
  for (const { shape, rows } of contents) {
    for await (const batch of rows()) await insertRows(tx, shape, batch);
  }
  let rowCount = 0;
  for (const { shape, digest } of contents) {
    const [expected, actual] = [await digest(), await digestOf(tx, shape)];
    if (expected.rows !== actual.rows || expected.sha256 !== actual.sha256) {
      throw new Error(
        `Table ${shape.name} was not copied correctly: ${actual.rows} of ${expected.rows} rows are in the copy, or their contents differ. Nothing has been changed.`,
      );
    }
    rowCount += actual.rows;
  }
  printLine(`${contents.length} tables with ${rowCount} rows: counts and hashes agree.`);
  await migrateTables(tx);
  await reportChainCheck(tx, printLine);
  return rowCount;
}

/** Verifies the hash chain of the audit log and prints the result. */
async function reportChainCheck(tx: DatabaseTransaction, printLine: PrintLine): Promise<void> {
  const { state, entries, brokenAt } = await checkChain(tx);
  if (state === 'intact') printLine(`The audit log is intact: ${entries} entries.`);
  else
    printLine(`Warning: the audit log is broken at entry ${brokenAt}; it was already broken in the source.`);
}
