/** Makes a database anew from rows that come from elsewhere: from a backup, or from another database. */
import { checkChain } from '../auditing/chain-check.ts';
import type { Change } from '../store/database.ts';
import {
  bringTablesUpToDate,
  digestOf,
  insertRows,
  makeEmptyTables,
  type TableDigest,
  type TableShape,
  type Values,
} from '../store/table-rows.ts';

/** What a table is to hold. */
export interface TableContent {
  readonly shape: TableShape;
  rows(): AsyncIterable<readonly Values[]>;
  /** Found out apart from `rows`. */
  digest(): Promise<TableDigest>;
}

/** Tells the person who waits. */
export type Say = (sentence: string) => void;

/**
 * Fills tables that are not there yet, compares what is in them then with what should be, and brings them up to date.
 * In one transaction: nothing is there before all of it is right.
 *
 * @param shapes of all tables; those that `contents` does not name stay empty
 * @returns how many rows there are
 * @throws Error with one sentence when a table differs from what it should be
 */
export async function fillTables(
  tx: Change,
  version: string,
  shapes: readonly TableShape[],
  contents: readonly TableContent[],
  say: Say,
): Promise<number> {
  await makeEmptyTables(tx, version, shapes);
  for (const { shape, rows } of contents) {
    for await (const some of rows()) await insertRows(tx, shape, some);
  }
  let count = 0;
  for (const { shape, digest } of contents) {
    const [wanted, found] = [await digest(), await digestOf(tx, shape)];
    if (wanted.rows !== found.rows || wanted.sha256 !== found.sha256) {
      throw new Error(
        `Table ${shape.name} came out differently: ${found.rows} of ${wanted.rows} rows, with another hash. Nothing has been changed.`,
      );
    }
    count += found.rows;
  }
  say(`${contents.length} tables with ${count} rows: counts and hashes agree.`);
  await bringTablesUpToDate(tx);
  await sayWhetherIntact(tx, say);
  return count;
}

async function sayWhetherIntact(tx: Change, say: Say): Promise<void> {
  const { state, entries, brokenAt } = await checkChain(tx);
  if (state === 'intact') say(`The audit trail is intact: ${entries} entries.`);
  else say(`Warning: the audit trail is broken at entry ${brokenAt}, as it was where it came from.`);
}
